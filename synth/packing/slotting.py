"""Slots for the transfers of a tree family: modulo list scheduling with compaction (kernels in `synth/native/slots`), and the times
of such schedules over all numbers of repeats."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.machine.machine import Machine
from certree.models.network.topology import Int32
from certree.models.routers.transparency import pass_without_waiting
from certree.models.schedule.paths import link_cycles, link_stagger, path_cycles, path_latency
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.schedule.timing import ceil_div, chunk_bytes_of, message_flits, slot_length
from certree.synth import _native
from certree.synth.method import Request
from certree.synth.packing.trees import TreeFamily

MAX_REPEATS = 1 << 16


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
        {"chunk": rows.chunk, "op": rows.op, "step": slots, "src": rows.src, "dst": rows.dst, "route": rows.route, **rows.buffers},
        routes=family.routes,
        buffers=1 + max((int(column.max()) for column in rows.buffers.values()), default=0),
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
        """The reach of all schedules of the family, by `models.schedule.paths`."""
        rows = family.transfers
        schedule = slotted_schedule(family, np.zeros(len(rows.chunk), np.int32), SlotRules(1, None, 0), 1, {})
        return cls(int(path_latency(schedule, machine).max()), link_stagger(schedule, machine))


def slowest_route(request: Request, hops: int, spread: int = 0) -> Reach:
    """The reach of routes over that many links when all are as slow as the slowest; up to a common link, two of them pass at most
    `spread` links more or fewer."""
    wire = int(link_cycles(request.topology, request.machine).max())
    return Reach(path_cycles(request.machine, wire, hops), spread * (wire + request.machine.router_cycles))


class Clock:
    """Closed-form times (`slot_length`) over whole arrays of repeats, for choosing; `Request.cycles` decides."""

    def __init__(self, request: Request, reach: Reach) -> None:
        self.request, self.reach = request, reach
        most = max(1, min(MAX_REPEATS, request.message_bytes // request.machine.flit_bytes))
        grown = [1]
        while grown[-1] < most:
            grown.append(min(most, grown[-1] + max(1, grown[-1] // 8)))
        self.repeats = np.array(grown, np.int64)
        self._may_wait = not self._pass(np.array([1 << 40])).all()
        self._distinct: dict[int, NDArray[np.int64]] = {}  # trees -> the numbers of repeats that can be best
        self._lengths: dict[tuple[int, int, int, bytes], tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def cycles(self, trees: int, rules: SlotRules, slots: int, peak: int, repeats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Cycles of a schedule of `slots` slots per iteration, for each entry of `repeats`."""
        slot, behind = self._length(trees, rules.delay, peak, repeats)
        return ((repeats - 1) * (rules.period or 0) + slots - 1) * slot + behind

    def _length(self, trees: int, delay: int, peak: int, repeats: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Cycles of a slot, and from the opening of the last one to the end; kept, since many periods ask for the same."""
        key = (trees, delay, peak, repeats.tobytes())
        if key not in self._lengths:
            request, reach = self.request, self.reach
            chunk = chunk_bytes_of(request.message_bytes, trees, repeats, request.machine)
            ser, red, _, slot = slot_length(
                chunk,
                request.machine,
                delay=delay,
                peak=peak,
                lat=reach.latency,
                stagger=reach.stagger,
                scale=request.topology.scale,
            )
            self._lengths[key] = slot, ser + reach.latency + (0 if request.collective.gathers else red)
        return self._lengths[key]

    def best(self, trees: int, rules: SlotRules, slots: int, peak: int) -> tuple[int, int]:
        """(cycles, repeats) of the best number of repeats; with a period at least two where the message has the flits."""
        repeats = self.repeats[1:] if rules.period and len(self.repeats) > 1 else self.repeats[:1]
        repeats = self._passing(trees, repeats)
        cycles = self.cycles(trees, rules, slots, peak, repeats)
        index = int(cycles.argmin())
        if rules.period and 0 < index < len(repeats) - 1:  # the grid is coarse there: try the numbers between
            repeats = self._passing(trees, np.arange(repeats[index - 1], repeats[index + 1] + 1))
            cycles = self.cycles(trees, rules, slots, peak, repeats)
            index = int(cycles.argmin())
        return int(cycles[index]), int(repeats[index])

    def passes(self, trees: int, repeats: NDArray[np.int64]) -> NDArray[np.bool_]:
        """For each number of repeats whether messages pass routers without waiting for credits (`pass_without_waiting`)."""
        if not self._may_wait:
            return np.ones(len(repeats), np.bool_)
        request = self.request
        chunk = chunk_bytes_of(request.message_bytes, trees, repeats, request.machine)
        return self._pass(message_flits(chunk, request.machine))

    def _pass(self, flits: NDArray[np.int64]) -> NDArray[np.bool_]:
        return pass_without_waiting(self.request.topology, self.request.machine, flits)

    def _passing(self, trees: int, repeats: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of repeats whose messages do not wait for credits, and the least of them; all of them where none does."""
        if self.passes(trees, repeats).all():
            return repeats
        machine = self.request.machine
        granules = ceil_div(self.request.message_bytes, trees * machine.flit_bytes)
        enough = ceil_div(granules, max(1, machine.vc_buffer_flits - machine.head_flits))
        more = np.union1d(repeats, np.clip(enough, repeats[0], repeats[-1]))
        passes = self.passes(trees, more)
        return more[passes] if passes.any() else repeats

    def least(self, trees: int, rules: SlotRules, slots: int, peak: int) -> int:
        """The fewest cycles of any number of repeats, exactly; `best` looks at a grid and may miss it.

        Between two numbers that give chunks of the same size the smaller one is faster: O(sqrt(flits of a tree's share)) are left.
        """
        if not (rules.period and len(self.repeats) > 1):
            return int(self.cycles(trees, rules, slots, peak, self.repeats[:1])[0])
        if trees not in self._distinct:
            granules = ceil_div(self.request.message_bytes, trees * self.request.machine.flit_bytes)
            small = np.arange(1, isqrt(granules) + 2, dtype=np.int64)
            self._distinct[trees] = np.unique(np.clip(np.concatenate((small, -(-granules // small))), 2, self.repeats[-1]))
        return int(self.cycles(trees, rules, slots, peak, self._distinct[trees]).min())
