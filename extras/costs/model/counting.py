"""Counts of a schedule in the terms of cost models, step by step, from its transfers alone.

Cost models of the literature are sums over communication steps: a start-up each, the load of the fullest link, the additions and
memory accesses of the busiest server, and the number of servers that send over one link at a time. Transfers determine all these.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.costs.model.distinct_rows import distinct, totals
from certree.extras.costs.model.link_kinds import LinkKind, full_link, link_kinds, switches_passed
from certree.extras.costs.model.profile import Profile
from certree.extras.costs.model.server_work import chunk_shares, server_work
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.paths import far_hops, is_local
from certree.models.schedule.schedule import Schedule

Int64 = NDArray[np.int64]
COUNTED = takes("cost models", "virtual_channel", "members", "demand", "buffers")
MAX_ROWS = 1 << 26  # hops of all iterations that are counted


@dataclass(frozen=True)
class Counts:
    """A run of a schedule, counted. The message is `shares` equal parts, chunks or with a demand granules; `endpoints` servers hold
    it: those that take part.

    `occurs`: for every step of a shortened run how often it occurs in the whole run; 0 where nothing is done. The columns of links
    have one entry for each step, kind of link and number of communicators (senders over one link, and the receiver): `link_step`,
    `link_kind`, `link_communicators`, and `link_load`, the most that such a link carries for its capacity, in units of 1 / `scale`
    of a share over a full link (`link_kinds.full_link`). `narrowest`: the least capacity of each kind of link in full links, 1 at
    least, 0 where there is none. The columns of servers have one entry for each step and for what some server does in it, in
    shares: `server_step`, `server_additions`, `server_accesses` (of memory, in additions), `server_sent` (to others, or to another
    buffer of its own). Those of ports have one for each step and number of messages that some node sends or receives (everything
    from one node to another in a step is one message): `port_step`, `port_messages`, `port_shares`, their largest total. Those of
    ways (routes) have one for each step and for the switches that some transfer passes: `way_step`, `way_middle` (switches with
    endpoints), `way_root` (others), `way_cross` (cross links, each in place of the switches at its ends). `sent` and `received`:
    shares by endpoint in the whole run.
    """

    endpoints: int
    shares: int
    occurs: Int64
    link_step: Int64
    link_kind: Int64
    link_communicators: Int64
    link_load: Int64
    scale: int
    narrowest: tuple[Fraction, ...]
    server_step: Int64
    server_additions: Int64
    server_accesses: Int64
    server_sent: Int64
    port_step: Int64
    port_messages: Int64
    port_shares: Int64
    way_step: Int64
    way_middle: Int64
    way_root: Int64
    way_cross: Int64
    sent: Int64
    received: Int64

    @property
    def steps(self) -> int:
        """A: steps of the whole run in which something is sent."""
        return int(self.occurs[np.unique(self.link_step)].sum())

    @property
    def kinds(self) -> list[LinkKind]:
        """The kinds of links that are used."""
        return [LinkKind(kind) for kind in np.unique(self.link_kind).tolist()]

    def links_of(self, step: int) -> Iterator[tuple[LinkKind, int, Fraction]]:
        """(kind, communicators, shares for their capacity) of the fullest links of a step."""
        for kind, communicators, load in self._of(step, "link_step", "link_kind", "link_communicators", "link_load"):
            yield LinkKind(kind), communicators, Fraction(load, self.scale)

    def servers_of(self, step: int) -> Iterator[tuple[int, ...]]:
        """(additions, accesses, sent) of the servers of a step, in shares."""
        return self._of(step, "server_step", "server_additions", "server_accesses", "server_sent")

    def ports_of(self, step: int) -> Iterator[tuple[int, ...]]:
        """(messages, shares) of the ports of a step."""
        return self._of(step, "port_step", "port_messages", "port_shares")

    def ways_of(self, step: int) -> Iterator[tuple[int, ...]]:
        """(middle, root, cross) of the routes of a step."""
        return self._of(step, "way_step", "way_middle", "way_root", "way_cross")

    def _of(self, step: int, *names: str) -> Iterator[tuple[int, ...]]:
        """The entries of a step; the first column is the step of each."""
        low, high = np.searchsorted(getattr(self, names[0]), [step, step + 1]).tolist()
        return zip(*(getattr(self, name)[low:high].tolist() for name in names[1:]), strict=True)

    def busy_steps(self) -> Iterator[tuple[int, int]]:
        """(step, how often it occurs) of the steps in which something is sent, or done within a node."""
        for step in np.flatnonzero(self.occurs).tolist():
            yield step, int(self.occurs[step])

    def profile(self) -> Profile:
        """A, B, C, D and the incast of GenModel, the fullest link and the busiest server of each step counting.

        A link of capacity c takes 1/c of the time. The communicators of a step are the most that any of its links has; a single
        sender is no incast.
        """
        steps = len(self.occurs)
        load, communicators, additions, accesses = (np.zeros(steps, np.int64) for _ in range(4))
        np.maximum.at(load, self.link_step, self.link_load)
        np.maximum.at(communicators, self.link_step, self.link_communicators)
        np.maximum.at(additions, self.server_step, self.server_additions)
        np.maximum.at(accesses, self.server_step, self.server_accesses)
        unit = self.shares * self.scale
        incast: dict[int, Fraction] = {}
        for w, floats, times in zip(communicators.tolist(), load.tolist(), self.occurs.tolist(), strict=True):
            if w > 2 and times:
                incast[w] = incast.get(w, Fraction(0)) + Fraction(floats * times, unit)
        received, added, accessed = (
            sum(map(mul, column.tolist(), self.occurs.tolist())) for column in (load, additions, accesses)
        )  # in whole numbers of any size
        return Profile(
            self.steps,
            Fraction(received, unit),
            Fraction(added, self.shares),
            Fraction(accessed, self.shares),
            tuple(sorted(incast.items())),
        )

    def traffic(self) -> tuple[Fraction, Fraction]:
        """Parts of the message that the busiest endpoint sends and that the busiest one receives (NetReduce, Table 8)."""
        return Fraction(int(self.sent.max()), self.shares), Fraction(int(self.received.max()), self.shares)


@dataclass(frozen=True)
class Flows:
    """The load of every link in every step of a shortened run, one entry each: `step`, `pair` (as in `Topology.pair_index`),
    `load` (shares), `communicators` (nodes that send over it, and the receiver). Links that carry nothing have none."""

    step: Int64
    pair: Int64
    load: Int64
    communicators: Int64


def link_flows(schedule: Schedule) -> Flows:
    """The flows of a schedule; iterations and errors as in `count`."""
    schedule.require_equal_slots("loads of links")
    return _flows(schedule, *far_hops(schedule))


def _flows(schedule: Schedule, row: Int64, pair: Int64) -> Flows:
    """`link_flows`, from the hops."""
    period, stages = _stages(schedule)
    if len(pair) and int(pair.min()) < 0:
        raise InputError("a transfer has no link; verify the schedule first")
    if len(row) * stages > MAX_ROWS:
        raise UnsupportedError(f"{len(row)} hops in {stages} overlapping iterations; costs are counted for up to {MAX_ROWS}")
    pairs = np.int64(len(schedule.topology.pair_capacity))
    used = _overlapped(schedule.step[row], stages, period) * pairs + np.tile(pair, stages)
    key, load = totals(used, np.tile(chunk_shares(schedule)[schedule.chunk[row]], stages))
    (each, _), _ = distinct(used, np.tile(schedule.src[row], stages))
    return Flows(key // pairs, key % pairs, load, np.unique(each, return_counts=True)[1] + 1)


def count(schedule: Schedule) -> Counts:
    """Count a schedule, all its iterations included.

    What servers do is counted as `server_work` says; data that move within a node are not a message and have no start-up.
    Iterations overlap: the largest number that overlap is counted, and the period in which all of them do counts as often as it is
    repeated. O(h log h) time and O(h) memory, h being the hops of these iterations; UnsupportedError beyond MAX_ROWS, InputError
    for transfers that no link carries.
    """
    schedule = COUNTED.lowered(schedule)
    period, stages = _stages(schedule)
    row, pair = far_hops(schedule)
    kinds = link_kinds(schedule.topology)
    links = _link_columns(schedule.topology, kinds, _flows(schedule, row, pair))
    passed = switches_passed(schedule.topology, kinds, row, pair, schedule.transfers)
    step = _overlapped(schedule.step, stages, period)
    moving = np.zeros((stages - 1) * period + schedule.steps, np.int64)
    moving[step] = 1
    if schedule.repeats > stages:
        moving[(stages - 1) * period : stages * period] *= schedule.repeats - stages + 1
    rank, ends = schedule.topology.rank, len(schedule.topology.endpoints)
    far, size = ~is_local(schedule), chunk_shares(schedule)[schedule.chunk]
    sent, received = (np.zeros(ends, np.int64) for _ in range(2))
    for total, end in ((sent, rank[schedule.src]), (received, rank[schedule.dst])):
        np.add.at(total, end[far & (end >= 0)], size[far & (end >= 0)] * schedule.repeats)
    shares = schedule.message_chunks * schedule.repeats
    columns = links | _server_columns(schedule, step, stages) | _port_columns(schedule, step, stages)
    messages = np.tile(far, stages)
    ways, _ = distinct(step[messages], *np.tile(passed.T, stages)[:, messages])
    columns |= dict(zip(("way_step", "way_middle", "way_root", "way_cross"), ways, strict=True))
    servers = len(schedule.collective.members_of(schedule.topology))
    return Counts(endpoints=servers, shares=shares, occurs=moving, sent=sent, received=received, **columns)


def _stages(schedule: Schedule) -> tuple[int, int]:
    """The period, and the largest number of iterations that overlap in one."""
    period = schedule.period or schedule.steps
    return period, min(-(-schedule.steps // period), schedule.repeats)


def _overlapped(step: NDArray[np.int32], stages: int, period: int) -> Int64:
    """The steps of `stages` iterations, one after the other in the columns."""
    return (step.astype(np.int64)[None, :] + (np.arange(stages) * period)[:, None]).ravel()


def _link_columns(topology: Topology, kinds: Int64, flows: Flows) -> dict[str, Any]:
    """The columns of links of `Counts`, with `scale` and `narrowest`."""
    capacity, full = full_link(topology)
    scale = lcm(*np.unique(capacity).tolist())
    if scale * full * int(flows.load.max(initial=0)) >= 1 << 62:
        raise UnsupportedError(f"{topology.name}: links of too many capacities for costs")
    scaled = flows.load * full * (scale // capacity[flows.pair])
    narrowest = tuple(
        Fraction(max(full, min(found)), full) if (found := capacity[kinds == kind].tolist()) else Fraction(0) for kind in LinkKind
    )
    columns = _fullest(flows.step, kinds[flows.pair], flows.communicators, scaled)
    names = ("link_step", "link_kind", "link_communicators", "link_load")
    return {**dict(zip(names, columns, strict=True)), "scale": scale, "narrowest": narrowest}


def _fullest(*columns: NDArray[np.integer[Any]]) -> list[Int64]:
    """The rows with the most in the last column, one of those that agree in all others, in ascending order."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order].astype(np.int64) for column in columns]
    last = np.ones(len(order), np.bool_)
    last[:-1] = np.any([column[1:] != column[:-1] for column in ordered[:-1]], axis=0)
    return [column[last] for column in ordered]


def _server_columns(schedule: Schedule, step: Int64, stages: int) -> dict[str, Any]:
    """The columns of servers of `Counts`, from the step of every transfer."""
    ends = schedule.topology.kind == NodeKind.ENDPOINT
    nodes, from_server = np.int64(len(ends)), np.tile(ends[schedule.src], stages)
    works, *done = server_work(schedule, step, stages)
    sends, shares = totals(
        (step * nodes + np.tile(schedule.src, stages))[from_server],
        np.tile(chunk_shares(schedule)[schedule.chunk], stages)[from_server],
    )
    servers = np.unique(np.concatenate((works, sends)))
    additions, accesses, sent = (np.zeros(len(servers), np.int64) for _ in range(3))
    additions[np.searchsorted(servers, works)], accesses[np.searchsorted(servers, works)] = done
    sent[np.searchsorted(servers, sends)] = shares
    columns, _ = distinct(servers // nodes, additions, accesses, sent)
    return dict(zip(("server_step", "server_additions", "server_accesses", "server_sent"), columns, strict=True))


def _port_columns(schedule: Schedule, step: Int64, stages: int) -> dict[str, Any]:
    """The columns of ports of `Counts`, from the step of every transfer."""
    nodes, far = np.int64(len(schedule.topology.kind)), np.tile(~is_local(schedule), stages)
    src, dst = (np.tile(column, stages)[far].astype(np.int64) for column in (schedule.src, schedule.dst))
    size = np.tile(chunk_shares(schedule)[schedule.chunk], stages)[far]
    message, shares = totals((step[far] * nodes + src) * nodes + dst, size)
    found: list[tuple[Int64, Int64, Int64]] = []
    for port in (message // nodes, message // nodes**2 * nodes + message % nodes):
        node, number, messages = np.unique(port, return_inverse=True, return_counts=True)
        total = np.zeros(len(node), np.int64)
        np.add.at(total, number, shares)
        found.append((node // nodes, messages, total))
    columns = _fullest(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
    return dict(zip(("port_step", "port_messages", "port_shares"), columns, strict=True))
