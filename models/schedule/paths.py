"""The links that transfers pass, and the cycles that messages take over them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat, ranges
from certree.models.common.errors import InputError, ScheduleFormatError
from certree.models.machine.machine import Machine
from certree.models.machine.speeds import contradiction
from certree.models.network.routing import DIRECT
from certree.models.network.topology import UNKNOWN_LATENCY, Topology
from certree.models.schedule.schedule import Schedule

Int64 = NDArray[np.int64]


def links_along(nodes: Sequence[int], link: Mapping[tuple[int, int], int], what: str) -> tuple[int, ...]:
    """The links that lead from each of these nodes to the next. `link`: their numbers by their ends. ScheduleFormatError, which
    begins with `what`, where there is none."""
    for tail, head in pairwise(nodes):
        if (tail, head) not in link:
            raise ScheduleFormatError(f"{what}: the network has no link {tail}>{head}")
    return tuple(link[hop] for hop in pairwise(nodes))


def nodes_along(topology: Topology, links: Sequence[int]) -> list[int]:
    """The nodes of a route, from its source to its destination."""
    return [int(topology.src[links[0]]), *topology.dst[list(links)].tolist()]


def path_cycles(machine: Machine, wire: int, hops: int = 1) -> int:
    """The number of cycles from firing to the ejection of the head flit over `hops` links that each have the latency `wire`."""
    return machine.interface_cycles + (hops + 1) * machine.router_cycles + hops * wire


def path_latency(schedule: Schedule, machine: Machine) -> Int64:
    """Cycles from the firing of each row to the ejection of its head flit: interfaces, (hops + 1)·router and wires, parallel links
    counting with the slowest; 0 within a node. O(rows + hops + links). Raises InputError for a transfer without link, and as
    `slot_timing` does."""
    schedule.require_equal_slots("closed-form times")
    topology = schedule.topology
    if (wrong := contradiction(topology, machine)) is not None:
        raise InputError(wrong)
    local = is_local(schedule)
    if (schedule.pair[(schedule.route == DIRECT) & ~local] < 0).any():
        raise InputError("a transfer has no link; verify the schedule first")
    wire = link_cycles(topology, machine)
    if not schedule.routes and (wire == wire[0]).all() and not local.any():  # the usual case: one number, however many rows
        return np.broadcast_to(path_cycles(machine, wire[0]), schedule.transfers)
    row, pairs = hops(schedule)
    latency = np.full(schedule.transfers, machine.interface_cycles + machine.router_cycles, np.int64)
    np.add.at(latency, row, wire[pairs] + machine.router_cycles)
    latency[local] = 0
    return latency


def is_local(schedule: Schedule) -> NDArray[np.bool_]:
    """Whether each row moves data between two buffers of a node. O(rows), O(1) memory where there is one buffer."""
    if schedule.buffers == 1:
        return np.broadcast_to(np.False_, schedule.transfers)
    return np.asarray(schedule.src == schedule.dst)


def copies_before(schedule: Schedule, iterations: Int64) -> Int64:
    """For each of the iterations (ascending, up to the last) and each row, 0 unless it is local: how many messages the copy unit of
    its node takes before it in its slot, in table order (`docs/reference/tables.md`, M8). O(iterations · rows · log)."""
    before = np.zeros((len(iterations), schedule.transfers), np.int64)
    local = np.flatnonzero(is_local(schedule))
    if not len(local) or schedule.src_buffer is None or schedule.dst_buffer is None:
        return before
    slot = iterations[:, None] * (schedule.period or schedule.steps) + schedule.step[local]
    columns = (schedule.dst_buffer, schedule.src_buffer, schedule.chunk, schedule.op, schedule.step)
    keys = [np.tile(column[local], len(iterations)) for column in columns]
    node = np.tile(schedule.src[local].astype(np.int64), len(iterations))
    order = np.lexsort((*keys, slot.ravel(), node))
    group = (node * (int(slot.max()) + 1) + slot.ravel())[order]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - np.searchsorted(group, group)
    before[:, local] = place.reshape(len(iterations), -1)
    return before


def link_cycles(topology: Topology, machine: Machine) -> Int64:
    """Latency of each joined pair, in `pair_index` order: that of the slowest of its parallel links. O(links)."""
    stated = topology.latency.astype(np.int64)
    wire = np.where(stated == UNKNOWN_LATENCY, machine.link_latency_cycles, stated)
    slowest = np.zeros(len(topology.pair_capacity), np.int64)
    np.maximum.at(slowest, topology.pair_of_link, wire)
    return slowest


def hops(schedule: Schedule) -> tuple[Int64, Int64]:
    """The `far_hops` of a schedule whose steps all have slots of one length, so that hops are loads; else UnsupportedError."""
    schedule.require_equal_slots("loads of links")
    return far_hops(schedule)


def far_hops(schedule: Schedule) -> tuple[Int64, Int64]:
    """The result of `route_of` for the rows of a schedule that go to another node."""
    local = is_local(schedule)
    if not local.any():
        return route_of(schedule.topology, schedule.src, schedule.dst, schedule.route, schedule.routes)
    far = np.flatnonzero(~local)
    row, pair = route_of(schedule.topology, schedule.src[far], schedule.dst[far], schedule.route[far], schedule.routes)
    return far[row], pair


def route_of(
    topology: Topology, src: NDArray[Any], dst: NDArray[Any], route: NDArray[Any], routes: tuple[tuple[int, ...], ...]
) -> tuple[Int64, Int64]:
    """(row, joined pair) of each hop of transfers: rows ascending, the hops of a row in the order of its route. O(rows + hops).

    A row that goes to a neighbour without a link to it has pair -1.
    """
    pair = topology.pair_index(src, dst)
    if (route == DIRECT).all():
        return np.arange(len(src)), pair
    # one list of pairs for each route, and behind them an empty place that direct rows (route -1) fill with their own pair
    links, begin = flat(routes)
    of_routes = np.append(topology.pair_of_link[links], 0)
    row, place = ranges(begin[route], np.diff(begin, append=len(links) + 1)[route])
    return row, np.where(route[row] == DIRECT, pair[row], of_routes[place])


def link_stagger(schedule: Schedule, machine: Machine) -> int:
    """The most cycles by which messages that pass one link differ in the time from their slot's opening to that link. O(hops)."""
    if not schedule.routes:
        return 0
    row, pairs = hops(schedule)
    if not (np.diff(row) == 0).any():
        return 0
    hop_cycles = link_cycles(schedule.topology, machine)[pairs] + machine.router_cycles
    before = np.cumsum(hop_cycles) - hop_cycles
    before -= before[np.searchsorted(row, row)]
    latest = np.zeros(len(schedule.topology.pair_capacity), np.int64)
    np.maximum.at(latest, pairs, before)
    earliest = latest.copy()
    np.minimum.at(earliest, pairs, before)
    return int((latest - earliest).max())
