"""Slots for the transfers of a tree family: modulo list scheduling with compaction (kernels in `synth/native/slots`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from certree.models.machine.machine import Machine
from certree.models.network.topology import Int32
from certree.models.schedule.paths import link_cycles, link_stagger, path_cycles, path_latency
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.synth import _native
from certree.synth.method import Request
from certree.synth.packing.trees import TreeFamily


@dataclass(frozen=True)
class SlotRules:
    """`delay` in slots; `period` None when nothing repeats; `reductions`: REDUCE arrivals a node takes in a slot, 0 for any."""

    delay: int
    period: int | None
    reductions: int


def assign_slots(
    family: TreeFamily, rules: SlotRules, *, tries: int = 1, work: int, stagger: int = 0, seed: int = 0
) -> tuple[Int32 | None, int]:
    """(slots, work): the slot of every transfer of `family.transfers`, few in all, or None when the rules cannot be met; and the
    transfers visited and slots probed, a measure of effort that is the same on every machine.

    Each try is a list schedule (longest remaining chain first, the first chunk favoured over the last one by `stagger` slots; where
    that finds no slots, one in the family's turns) and a compaction of about `work` units.
    Time O(tries · (slots · links + work)), memory O(links · period + transfers · hops).
    """
    rows = family.transfers
    capacity = family.channel_capacity
    uses = np.bincount(rows.channel, minlength=len(capacity))  # a link never needs more lanes than it has transfers
    order = np.argsort(rows.before, kind="stable")
    offset = np.searchsorted(rows.before[order], np.arange(len(rows.chunk) + 1)).astype(np.int32)
    slots, work = _native.schedule_jobs(
        link_offset=rows.channel_offset,
        link=rows.channel,
        reducer=np.where(rows.op == Op.REDUCE, rows.dst, -1).astype(np.int32),
        group=rows.chunk,
        successor_offset=offset,
        successor=np.ascontiguousarray(rows.after[order]),
        capacity=np.minimum(capacity, np.maximum(uses, 1)),
        reducers=len(family.topology.kind),
        delay=rules.delay,
        period=rules.period or 0,
        reductions=rules.reductions,
        tries=tries,
        work=work,
        stagger=stagger,
        seed=seed,
        turn=rows.turn if rules.period == family.turns else np.zeros(0, np.int32),
    )
    return (slots if len(slots) else None), work


def slotted_schedule(family: TreeFamily, slots: Int32, rules: SlotRules, repeats: int, provenance: Mapping[str, Any]) -> Schedule:
    """The schedule with these `slots`, repeated `repeats` times when it has a period."""
    rows = family.transfers
    return make_schedule(
        family.topology,
        family.collective,
        family.root if family.collective.is_rooted else np.full(family.chunks, NO_ROOT, np.int32),
        {"chunk": rows.chunk, "op": rows.op, "step": slots, "src": rows.src, "dst": rows.dst, "route": rows.route},
        routes=family.routes,
        delay=rules.delay,
        period=rules.period,
        repeats=repeats,
        provenance=provenance,
    )


@dataclass(frozen=True)
class Reach:
    """Routes of a family's transfers: cycles of the slowest, and the largest difference between two of them in reaching a link."""

    latency: int
    stagger: int = 0

    @classmethod
    def of(cls, family: TreeFamily, machine: Machine) -> "Reach":
        """The same for all schedules of the family, by `models.schedule.paths`."""
        rows = family.transfers
        schedule = slotted_schedule(family, np.zeros(len(rows.chunk), np.int32), SlotRules(1, None, 0), 1, {})
        return cls(int(path_latency(schedule, machine).max()), link_stagger(schedule, machine))


def slowest_way(request: Request, hops: int, spread: int = 0) -> Reach:
    """The reach of routes over that many links when all are as slow as the slowest; two of them come to a link after up to `spread`
    links more or less."""
    wire = int(link_cycles(request.topology, request.machine).max())
    return Reach(path_cycles(request.machine, wire, hops), spread * (wire + request.machine.router_cycles))
