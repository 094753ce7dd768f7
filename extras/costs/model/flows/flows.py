"""Flows of each step of a schedule: everything that one node sends another along one route in one step."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.extras.costs.model.distinct_rows import totals
from certree.extras.costs.model.server_work import chunk_shares, server_work
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.routing import routes_between
from certree.models.network.topology import Topology
from certree.models.schedule.paths import far_hops, is_local, route_of
from certree.models.schedule.schedule import Schedule

Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Flows:
    """The flows of one step, in any order, to other nodes. The message is `shares` equal parts.

    `src`, `dst`, `parts`: one entry per flow, `parts` in shares. `hop_flow`, `hop_pair`: one entry for each joined pair of nodes
    (`Topology.pair_index`) on the route of a flow, flows ascending, routes in order. `additions`, `accesses`: work of each server
    afterwards, in shares (`server_work`).
    """

    topology: Topology
    shares: int
    src: Int64
    dst: Int64
    parts: Int64
    hop_flow: Int64
    hop_pair: Int64
    additions: Int64
    accesses: Int64

    @property
    def key(self) -> bytes:
        """A key equal for steps with the same flows and sums, even of different parts of the message."""
        columns = (self.src, self.dst, self.parts, self.hop_pair, self.additions, self.accesses)
        return b"".join(len(column).to_bytes(8, "little") + column.tobytes() for column in columns)


def flows_of(schedule: Schedule) -> list[Flows]:
    """The flows of every step in which something is sent or moves within a node, in turn.

    InputError for transfers that no link carries, UnsupportedError for a schedule that repeats: its iterations overlap, and steps
    that wait for each other are what is timed here. O(h log h) time and O(h) memory, h being the hops of all transfers.
    """
    if schedule.period is not None:
        raise UnsupportedError(f"flows are timed step by step; this schedule repeats with period {schedule.period} and overlaps")
    nodes, far = np.int64(len(schedule.topology.kind)), np.flatnonzero(~is_local(schedule))
    src, dst, step = (column.astype(np.int64) for column in (schedule.src, schedule.dst, schedule.step))
    key = (((step * nodes + src) * nodes + dst) * (len(schedule.routes) + 1) + schedule.route + 1)[far]
    first = far[np.unique(key, return_index=True)[1]]
    _, parts = totals(key, chunk_shares(schedule)[schedule.chunk[far]])
    number = np.full(schedule.transfers, -1, np.int64)
    number[first] = np.arange(len(first))
    row, pair = far_hops(schedule)
    if len(pair) and int(pair.min()) < 0:
        raise InputError("a transfer has no link; verify the schedule first")
    told = number[row] >= 0
    hop_flow, hop_pair = number[row[told]], pair[told]
    order = np.argsort(hop_flow, kind="stable")
    hop_flow, hop_pair = hop_flow[order], hop_pair[order]
    servers, additions, accesses = server_work(schedule, step, 1)
    sum_step = servers // nodes
    found: list[Flows] = []
    for at in np.unique(step).tolist():
        low, high = np.searchsorted(step[first], [at, at + 1]).tolist()
        begin, end = np.searchsorted(hop_flow, [low, high]).tolist()
        summed = slice(*np.searchsorted(sum_step, [at, at + 1]).tolist())
        mine = first[low:high]
        columns = (src[mine], dst[mine], parts[low:high], hop_flow[begin:end] - low, hop_pair[begin:end])
        found.append(Flows(schedule.topology, schedule.message_chunks, *columns, additions[summed], accesses[summed]))
    return found


def flows_at_distance(topology: Topology, distance: int, shares: int, *, added: bool) -> Flows:
    """Every server sends one share to the server `distance` ranks further, around the end; `added`: receivers add it to their own.

    InputError where that is the server itself. O(servers · links · hops).
    """
    servers = topology.endpoints.astype(np.int64)
    if distance % len(servers) == 0:
        raise InputError(f"distance {distance} among {len(servers)} servers leads from each to itself")
    to = np.roll(servers, -distance)
    hop_flow, hop_pair = route_of(topology, servers, to, *routes_between(topology, servers, to))
    one = np.ones(len(servers), np.int64)
    return Flows(topology, shares, servers, to, one, hop_flow, hop_pair, one[:added], 3 * one[:added])
