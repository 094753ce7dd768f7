"""The expected flows of an all-reduce by reducing switches: trees and sizes, from the schedule and the size alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from certree.extras.aggregation.model.aggregation_traces import TracedFlow
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.machine.machine import Machine
from certree.models.network.topology import NodeKind
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import ceil_div
from certree.verify.rules.wiring import require_wired

_TRACED = takes("traces of reducing switches")


@dataclass(frozen=True)
class AggregatedFlow:
    """One flow: its `packets`, and the switch above each host and each switch but the root."""

    packets: int
    parent: Mapping[int, int]


def aggregated_flows(schedule: Schedule, message_bytes: int, machine: Machine) -> list[AggregatedFlow]:
    """The flows of an all-reduce along the trees of a schedule; chunks that take the same transfers are one flow.

    UnsupportedError for a schedule that is not an all-reduce along trees of reducing switches whose leaves are the endpoints,
    InputError for one with a transfer without a valid link or route. O(transfers log transfers).
    """
    schedule = _TRACED.lowered(schedule)
    if schedule.collective.kind is not CollectiveKind.ALL_REDUCE:
        raise UnsupportedError(f"reducing switches perform all-reduces; the schedule is a {schedule.collective.words}")
    require_wired(schedule)
    chunks_of: dict[frozenset[tuple[int, ...]], int] = {}
    order = np.argsort(schedule.chunk, kind="stable")
    rows = np.stack([column[order] for column in (schedule.op, schedule.src, schedule.dst, schedule.route)], axis=1)
    begin = np.searchsorted(schedule.chunk[order], np.arange(schedule.chunks + 1)).tolist()
    for first, last in pairwise(begin):
        taken = frozenset(map(tuple, rows[first:last].tolist()))
        if len({row[:3] for row in taken}) < last - first:
            raise UnsupportedError("the schedule has a chunk that goes from one node to another twice")
        chunks_of[taken] = chunks_of.get(taken, 0) + 1
    payload = _payload(message_bytes, max(chunks_of.values()), schedule.chunks, machine)
    return [
        AggregatedFlow(ceil_div(message_bytes * count, schedule.chunks * payload), _parents(schedule, taken))
        for taken, count in chunks_of.items()
    ]


def _payload(message_bytes: int, most_chunks: int, chunks: int, machine: Machine) -> int:
    """The number of bytes of a packet: whole flits, at most the machine's largest payload or the whole largest flow."""
    largest = min(machine.packet_payload_bytes, ceil_div(message_bytes * most_chunks, chunks))
    return ceil_div(largest, machine.flit_bytes) * machine.flit_bytes


def _parents(schedule: Schedule, taken: frozenset[tuple[int, ...]]) -> dict[int, int]:
    topology = schedule.topology
    up = {(src, dst) for op, src, dst, _ in taken if op == Op.REDUCE}
    parent = dict(up)
    switches = set(parent.values())
    if not all(topology.kind[node] == NodeKind.SWITCH and topology.reducing[node] for node in switches):
        raise UnsupportedError("the schedule has a chunk that is reduced at a node that is not a reducing switch")
    if len(parent) != len(up) or {(dst, src) for op, src, dst, _ in taken if op != Op.REDUCE} != up:
        raise UnsupportedError("the schedule has a chunk that does not go up one tree and down again")
    if parent.keys() - switches != set(topology.endpoints.tolist()) or len(switches - parent.keys()) != 1:
        raise UnsupportedError("the schedule has a chunk whose tree has leaves other than the endpoints, or not exactly one root")
    if not _leads_to_one_root(parent):
        raise UnsupportedError("the schedule has a chunk that switches send in a circle")
    return parent


def _leads_to_one_root(parent: Mapping[int, int]) -> bool:
    """Whether no node is above itself, given that exactly one node has nothing above it. O(nodes)."""
    below: dict[int, list[int]] = {}
    for node, above in parent.items():
        below.setdefault(above, []).append(node)
    edge, reached = [node for node in below if node not in parent], 0
    while edge:
        edge = [child for node in edge for child in below.get(node, ())]
        reached += len(edge)
    return reached == len(parent)


def check_traced_network(
    traced: Sequence[TracedFlow],
    flows: Sequence[AggregatedFlow],
    trace: Path,
    *,
    window: int | None = None,
    aggregators: int | None = None,
) -> None:
    """Raise InputError with the first statement about the network in a trace's first line that is wrong.

    `window` and `aggregators`: those of the run, where they are known.
    """
    if len(traced) != len(flows):
        raise InputError(f"{trace}, line 1: {len(traced)} flows; the given network and size make {len(flows)}")
    flows_at = np.bincount([switch for flow in flows for switch in set(flow.parent.values())])
    for index, (told, due) in enumerate(zip(traced, flows, strict=True)):
        where = f"{trace}, line 1: flow {index}"
        if (leaves := due.parent.keys() - due.parent.values()) != set(told.hosts):
            node = min(leaves ^ set(told.hosts))
            raise InputError(
                f"{where}: node {node} is {'a' if node in told.hosts else 'no'} host; on the network that is given "
                f"{'there is no such one' if node in told.hosts else 'it is one'}"
            )
        for node in sorted(told.parent.keys() | due.parent.keys()):
            above, below = due.parent.get(node), told.parent.get(node)
            if above != below:
                raise InputError(f"{where}: node {node} {_place(below)}; on the network that is given it {_place(above)}")
        sizes = {"packets": (told.packets, due.packets)}
        if window is not None:
            sizes["window"] = (told.window, min(window, due.packets))
        if aggregators is not None:
            sizes["places"] = (told.places, aggregators // int(flows_at.max()))
        for name, (stated, right) in sizes.items():
            if stated != right:
                raise InputError(f"{where}: {name} is {stated}; expected {right}")


def _place(switch: int | None) -> str:
    return "has no switch above it" if switch is None else f"is below switch {switch}"
