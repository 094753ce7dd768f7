"""What a schedule does, step by step, in the terms of cost models: counted from its transfers and nothing else.

Costs of the literature are sums over communication steps: a start-up each, what the fullest link carries, what the busiest server
adds up and reads from and writes to its memory, and how many servers send over one link at a time. All of that is in the transfers.
"""

from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from math import lcm
from operator import mul

import numpy as np
from numpy.typing import NDArray

from certree.models.cost.genmodel import Profile
from certree.models.errors import InputError, UnsupportedError
from certree.models.schedule import Op, Schedule
from certree.models.timing import hops
from certree.models.topology import NodeKind, Topology

Int64 = NDArray[np.int64]
MAX_ROWS = 1 << 26  # hops of all iterations that are looked at


class LinkKind(IntEnum):
    """Where a link stands in a tree of switches; GenModel's parameters differ by it (GenTree, Table 5)."""

    SERVER = 0  # an end is an endpoint: "Middle SW"
    SWITCH = 1  # between switches: "Root SW"
    CROSS = 2  # between two switches in the middle of the network: "Cross DC"


@dataclass(frozen=True)
class Counts:
    """A run of a schedule, counted. The message is `shares` equal parts, `endpoints` servers hold it.

    `occurs`: for every step of a shortened run how often it occurs in the whole run; 0 where nothing is sent. The columns of links
    have one entry for each step, kind of link and number of communicators (senders over one link, and the receiver): `link_step`,
    `link_kind`, `link_communicators`, and `link_load`, the most that such a link carries for its capacity, in units of 1 / `scale`
    of a share over a unit link. `narrowest`: the least capacity of each kind of link, 0 where there is none. The columns of sums
    have one entry for each step and number of additions of a server: `sum_step`, `sum_additions` and `sum_accesses`, the most
    memory accesses of such a server, in shares. `sent` and `received`: shares by endpoint in the whole run.
    """

    endpoints: int
    shares: int
    occurs: Int64
    link_step: Int64
    link_kind: Int64
    link_communicators: Int64
    link_load: Int64
    scale: int
    narrowest: tuple[int, ...]
    sum_step: Int64
    sum_additions: Int64
    sum_accesses: Int64
    sent: Int64
    received: Int64

    @property
    def steps(self) -> int:
        """A: steps of the whole run in which something is sent."""
        return int(self.occurs.sum())

    @property
    def kinds(self) -> list[LinkKind]:
        """The kinds of links that anything passes."""
        return [LinkKind(kind) for kind in np.unique(self.link_kind).tolist()]

    def profile(self) -> Profile:
        """A, B, C, D and the incast of GenModel, the fullest link and the busiest server of each step counting.

        A link of capacity c takes 1/c of the time. The communicators of a step are the most that any of its links has; a single
        sender is no incast.
        """
        steps = len(self.occurs)
        load, communicators, additions, accesses = (np.zeros(steps, np.int64) for _ in range(4))
        np.maximum.at(load, self.link_step, self.link_load)
        np.maximum.at(communicators, self.link_step, self.link_communicators)
        np.maximum.at(additions, self.sum_step, self.sum_additions)
        np.maximum.at(accesses, self.sum_step, self.sum_accesses)
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


def count(schedule: Schedule) -> Counts:
    """Count a schedule, all its iterations included.

    A reduction of f terms into a cell in one step is f - 1 additions, f reads and a write (GenTree, Section 3.1); what switches add
    up costs servers nothing. Overlapping iterations meet in a step: as many of them are looked at as ever meet, and the period in
    which all meet counts as often as it is repeated. O(h log h) time and O(h) memory, h being the hops of so many iterations;
    UnsupportedError beyond MAX_ROWS, InputError for transfers that no link carries.
    """
    period = schedule.period or schedule.steps
    stages = min(-(-schedule.steps // period), schedule.repeats)
    row, pair = hops(schedule)
    if len(pair) and int(pair.min()) < 0:
        raise InputError("a transfer has no link; verify the schedule first")
    if len(row) * stages > MAX_ROWS:
        raise UnsupportedError(f"{len(row)} hops in {stages} overlapping iterations; costs are counted for up to {MAX_ROWS}")
    step = _overlapped(schedule.step.astype(np.int64), stages, period)
    links = _link_columns(
        schedule, np.tile(pair, stages), _overlapped(schedule.step[row].astype(np.int64), stages, period), row, stages
    )
    moving = np.zeros((stages - 1) * period + schedule.steps, np.int64)
    moving[step] = 1
    if schedule.repeats > stages:
        moving[(stages - 1) * period : stages * period] *= schedule.repeats - stages + 1
    rank, ends = schedule.topology.rank, len(schedule.topology.endpoints)
    sent, received = (
        np.bincount(rank[end][rank[end] >= 0], minlength=ends).astype(np.int64) * schedule.repeats
        for end in (schedule.src, schedule.dst)
    )
    shares = schedule.message_chunks * schedule.repeats
    return Counts(ends, shares, moving, *links, *_sum_columns(schedule, step, stages), sent, received)


def _overlapped(step: Int64, stages: int, period: int) -> Int64:
    """The steps of so many iterations, one after the other in the columns."""
    return (step[None, :] + (np.arange(stages) * period)[:, None]).ravel()


def _link_columns(
    schedule: Schedule, pair: Int64, step: Int64, row: Int64, stages: int
) -> tuple[Int64, Int64, Int64, Int64, int, tuple[int, ...]]:
    """step, kind, communicators, load, scale and narrowest of `Counts`, from the pair and step of every hop."""
    topology = schedule.topology
    kinds = link_kinds(topology)
    key, load = np.unique(step * np.int64(len(kinds)) + pair, return_counts=True)
    sender = np.tile(schedule.src[row], stages).astype(np.int64)
    each = np.unique(np.stack([step * np.int64(len(kinds)) + pair, sender]), axis=1)[0]
    communicators = np.unique(each, return_counts=True)[1] + 1
    at, link = np.divmod(key, len(kinds))
    capacity = topology.pair_capacity
    scale = lcm(*np.unique(capacity).tolist())
    if scale * int(load.max(initial=0)) >= 1 << 62:
        raise UnsupportedError(f"{topology.name}: links of too many capacities for costs")
    scaled = load * (scale // capacity[link])
    narrowest = tuple(min(capacity[kinds == kind].tolist(), default=0) for kind in LinkKind)
    # of the links of one step, kind and number of communicators the fullest
    order = np.lexsort((scaled, communicators, kinds[link], at))
    columns = [column[order] for column in (at, kinds[link], communicators)]
    last = np.ones(len(order), np.bool_)
    last[:-1] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    step_column, kind_column, communicator_column = (column[last].astype(np.int64) for column in columns)
    return step_column, kind_column, communicator_column, scaled[order][last], scale, narrowest


def _sum_columns(schedule: Schedule, step: Int64, stages: int) -> tuple[Int64, Int64, Int64]:
    """step, additions and accesses of `Counts`."""
    topology = schedule.topology
    reduces = (schedule.op == Op.REDUCE) & (topology.kind[schedule.dst] == NodeKind.ENDPOINT)
    picked = np.tile(reduces, stages)
    iteration = np.repeat(np.arange(stages), len(reduces))[picked]
    dst, chunk = (np.tile(column, stages)[picked].astype(np.int64) for column in (schedule.dst, schedule.chunk))
    nodes = np.int64(len(topology.kind))
    cells = np.stack([step[picked] * nodes + dst, iteration * schedule.chunks + chunk])
    cell, terms = np.unique(cells, axis=1, return_counts=True)
    server, inverse = np.unique(cell[0], return_inverse=True)
    additions = np.zeros(len(server), np.int64)
    np.add.at(additions, inverse, terms)
    accesses = additions + 2 * np.bincount(inverse, minlength=len(server))
    at = server // nodes
    order = np.lexsort((accesses, additions, at))
    at, additions, accesses = at[order], additions[order], accesses[order]
    last = np.ones(len(order), np.bool_)
    last[:-1] = (at[1:] != at[:-1]) | (additions[1:] != additions[:-1])
    return at[last], additions[last], accesses[last]


def link_kinds(topology: Topology) -> Int64:
    """The LinkKind of every joined pair, in `pair_index` order. O(switches · links)."""
    switch = topology.kind == NodeKind.SWITCH
    src, dst = topology.pair_src, topology.pair_dst
    between = switch[src] & switch[dst]
    kinds = np.where(between, LinkKind.SWITCH, LinkKind.SERVER).astype(np.int64)
    if between.any():
        inner = np.unique(src[between])
        far = np.full(len(topology.kind), len(topology.kind))
        far[inner] = [int(topology.distances(node)[topology.endpoints].max()) for node in inner.tolist()]
        central = far == far.min()
        kinds[between & central[src] & central[dst]] = LinkKind.CROSS
    return kinds
