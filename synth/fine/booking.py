"""List scheduling in cycles: each transfer leaves as soon as what it carries is there and every link of its way is free for it.

Events are handled in the order of their times, so that reduction units serve what arrives as `models.fine.slots` says. A transfer
that can be sent books its links at once, from the first cycle in which all of them are free: gaps between earlier bookings are
used. The scheduler is in `synth/native/fine/fine_booking.cpp`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.paths import link_cycles
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import reduction_cycles, serialization_cycles
from certree.synth._native import FineJobs
from certree.synth.fine.order import Order
from certree.synth.fine.program import Program, Way, parallel_links

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

_REFUSED = {
    1: "transfers wait for each other in a circle: no order without more buffers",
    2: "transfers that have to leave in one cycle meet on a link; more buffers would part them",
}


@dataclass(frozen=True)
class Costs:
    """Cycles on a machine: `ser` of a message on a lane, `red` of a reduction unit for a chunk, `hop` by link, from the entry
    into it to the entry into the next one, `ends`: of interfaces and the last router, `start`: of a reduction. `slot`: cycles of
    a slot."""

    ser: int
    red: int
    hop: list[int]
    ends: int
    start: int
    slot: int = 1

    @classmethod
    def of(cls, program: Program, chunk_bytes: int, machine: Machine, slot: int = 1) -> "Costs":
        """Those of a program whose chunks have that many bytes."""
        topology = program.topology
        hop = link_cycles(topology, machine)[topology.pair_of_link] + machine.router_cycles
        ser = serialization_cycles(chunk_bytes, machine, topology.scale)
        red = reduction_cycles(chunk_bytes, machine)
        return cls(ser, red, hop.tolist(), machine.interface_cycles + machine.router_cycles, machine.reduce_start_cycles, slot)


@dataclass(frozen=True, eq=False)
class Rows:
    """Transfers to book: `src`, `dst`, whether a reduction unit `adds` what comes, and `ways`; of links the number of `lanes`,
    those that are `parallel`, and their numbers in the network (`links`); the number of `nodes`."""

    src: NDArray[Any]
    dst: NDArray[Any]
    adds: NDArray[np.uint8]
    ways: Sequence[Way]
    lanes: Int32
    parallel: Sequence[Sequence[int]]
    nodes: int
    links: NDArray[np.int64]


def rows_of(program: Program) -> Rows:
    """All rows of a program."""
    topology = program.topology
    return Rows(
        src=program.src,
        dst=program.dst,
        adds=(program.op == Op.REDUCE).astype(np.uint8),
        ways=program.ways,
        lanes=topology.capacity.astype(np.int32),
        parallel=parallel_links(topology),
        nodes=len(topology.kind),
        links=np.arange(len(topology.src)),
    )


@dataclass(frozen=True, eq=False)
class Booked:
    """`fire`, `landed`: cycles, by row; `link`: of rows with one link the parallel one that was free; `reads_original`: by row,
    whether it reads the original in place of a local copy of it. `end`: when everything has landed."""

    fire: NDArray[np.int64]
    landed: NDArray[np.int64]
    link: Int32
    reads_original: NDArray[np.bool_]

    @property
    def end(self) -> int:
        """The cycle in which everything has landed."""
        return int(self.landed.max(initial=0))


@dataclass(frozen=True, eq=False)
class Turns:
    """By row: of those that can leave in the same cycle that of the lowest `priority` goes first, and none leaves before its cycle
    `release`. A row whose links are taken books them for later at once, or, `patient`, only when they are free. `apart`: no two
    rows come to a reduction unit in one cycle."""

    priority: Int64
    release: Int64
    patient: bool = False
    apart: bool = False

    @classmethod
    def first_of(cls, priority: Int64, *, patient: bool = False, apart: bool = False) -> "Turns":
        """The lowest first, without waiting."""
        return cls(priority, np.zeros(len(priority), np.int64), patient, apart)

    @classmethod
    def in_each_way(cls, priority: Int64) -> Iterator["Turns"]:
        """The lowest first, at once or patiently, and then the same with rows apart at reduction units."""
        return (cls.first_of(priority, patient=patient, apart=apart) for apart in (False, True) for patient in (False, True))

    def of_rows(self, block: NDArray[Any]) -> "Turns":
        """Those of rows that each have the turn of a block."""
        return replace(self, priority=self.priority[block], release=self.release[block])


@dataclass(frozen=True, eq=False)
class Channels:
    """Virtual channels for messages that wait: by row the `layer` of its way and a number for the `way`, -1 where it passes no
    router; `parts` channels in each of the `layers`, and the flits for which a buffer has `room`."""

    layer: Int32
    way: Int32
    layers: int
    parts: int
    room: int


@dataclass(frozen=True, eq=False)
class Forwarded:
    """A booking with planned waits: `wait`, cycles before each link of the ways of all rows in turn; `channel`, by row, -1 where it
    may take any. `crowded`: how many rows have no buffer to wait in; only with 0 it is valid."""

    booked: Booked
    wait: Int64
    channel: Int32
    crowded: int


class Booking:
    """The list scheduler for some rows (`transfers`) and what waits for what (`order`). O(rows + hops)."""

    def __init__(self, rows: Rows, order: Order) -> None:
        self.transfers, self.order = rows, order
        self._links, self.rows = rows.links, len(rows.ways)
        self.work = self.rows + sum(map(len, rows.ways))
        self._jobs = FineJobs(
            rows.src.astype(np.int32),
            rows.dst.astype(np.int32),
            rows.adds,
            _column(order.needs),
            _column(order.original_of),
            _column(order.group),
            rows.lanes,
            rows.nodes,
            [
                _ragged(column)
                for column in (rows.ways, order.when_sent, order.when_landed, order.opens, order.groups, rows.parallel)
            ],
        )

    def run(self, costs: Costs, turns: Turns | None = None) -> Booked:
        """The booking; by default in the order of the rows. UnsupportedError where transfers that have to leave together meet on a
        link. O(rows · hops · log rows)."""
        turns = Turns.first_of(np.arange(self.rows, dtype=np.int64)) if turns is None else turns
        times, hop = self._cycles(costs)
        found = self._jobs.book(times, hop, turns.priority, turns.release, turns.patient, turns.apart)
        outcome, fire, landed, link, reads = found
        if outcome:
            raise UnsupportedError(_REFUSED[outcome])
        return Booked(fire, landed, link, reads.astype(np.bool_))

    def searched(self, costs: Costs, turns: Turns, groups: tuple[Int32, Int32], tries: int, bound: int, seed: int) -> Turns:
        """The best turns that a local search finds from some on; it stops at an end of `bound`. `groups`: by row its family and
        its part of the message (`synth/native/fine/fine_search.hpp`). O(tries) times `run`."""
        times, hop = self._cycles(costs)
        first, release, patient, apart = turns.priority, turns.release, turns.patient, turns.apart
        found = self._jobs.search(times, hop, first, release, patient, apart, *groups, tries, bound, seed)
        _, priority, release = found
        return replace(turns, priority=priority, release=release)

    def forwarded(self, costs: Costs, turns: Turns, channels: Channels, rounds: int) -> Forwarded:
        """A paced run, in which messages wait at routers, first come, first served; a message without a buffer to wait in leaves
        later, for up to `rounds` times. Without groups and parallel links. UnsupportedError as `run`. O(rounds) times `run`."""
        times, hop = self._cycles(costs)
        layer, way, layers, parts = channels.layer, channels.way, channels.layers, channels.parts
        found = self._jobs.forward(times, hop, turns.priority, turns.release, layer, way, layers, parts, channels.room, rounds)
        outcome, fire, landed, reads, wait, channel, crowded = found
        if outcome:
            raise UnsupportedError(_REFUSED[outcome])
        link = np.array([way[0] if len(way) == 1 else -1 for way in self.transfers.ways], np.int32)
        return Forwarded(Booked(fire, landed, link, reads.astype(np.bool_)), wait, channel, crowded)

    def _cycles(self, costs: Costs) -> tuple[list[int], Int64]:
        times = [costs.ser, costs.red, costs.ends, costs.start, costs.slot]
        return times, np.array(costs.hop, np.int64)[self._links]


def _column(values: Sequence[int]) -> Int32:
    return np.array(values, np.int32)


def _ragged(rows: Sequence[Sequence[int]]) -> tuple[Int32, Int32]:
    """Offsets and values of rows of any lengths."""
    values, begin = flat(rows)
    return begin.astype(np.int32), values.astype(np.int32)


def least_cycles(program: Program, costs: Costs) -> int:
    """The most of three: the longest chain of transfers, each of which waits for all that came into the cell that it reads; the
    links, each of which carries its messages one after the other; and the reduction units, which add one message after the other.

    Cycles from the first message that can be on a link until everything has landed. O(hops log hops + rows log rows + stages).
    """
    if not program.rows:
        return 0
    link, begin = flat(program.ways)
    lengths = np.diff(begin)
    row = np.repeat(np.arange(program.rows), lengths)
    hop = np.array(costs.hop, np.int64)[link]
    whole = np.bincount(row, hop, program.rows).astype(np.int64)
    is_added = (program.op == Op.REDUCE) & (lengths > 0)
    flight = np.where(lengths > 0, whole + costs.ends + costs.ser, 0)  # what a local copy keeps may be read before it is made
    added = np.where(is_added, costs.start + costs.red, 0)
    sent = _earliest(program, flight + added)
    arrived = sent + flight
    passed = np.cumsum(hop) - hop
    before = passed - passed[begin[row]]
    pair, lanes = program.topology.pair_of_link[link], program.topology.pair_capacity
    links = _queues(pair, sent[row] + before, whole[row] - before + costs.ends + added[row], lanes, costs.ser)
    one = np.ones(len(program.topology.kind), np.int64)
    nodes, start = program.dst[is_added], np.full(int(is_added.sum()), costs.start)
    return max(int((arrived + added).max()), links, _queues(nodes, arrived[is_added], start, one, costs.red))


def _queues(at: NDArray[Any], since: Int64, rest: Int64, lanes: NDArray[Any], each: int) -> int:
    """When the last is through of those that queue `at` a place, `since` a cycle, take `each` cycles on one of its lanes, and then
    the `rest`: of any number that come last, at least the first has to wait for its turn."""
    if not len(at):
        return 0
    order = np.lexsort((since, at))
    at, since = at[order], since[order]
    ends = np.searchsorted(at, at, side="right")
    least = np.full(int(at[-1]) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, at, rest[order])
    turns = -(-(ends - np.arange(len(at))) // lanes[at])
    return int((since + turns * each + least[at]).max())


def _earliest(program: Program, flight: Int64) -> Int64:
    """By row the cycle in which it can be sent, if nothing queues."""
    read, written = program.cells()
    ready = np.zeros(int(max(read.max(), written.max())) + 1, np.int64)
    sent = np.zeros(program.rows, np.int64)
    after: dict[int, list[NDArray[np.intp]]] = {}
    order = np.argsort(program.reads, kind="stable")
    bounds = np.flatnonzero(np.diff(program.reads[order]) != 0) + 1
    for rows in np.split(order, bounds):
        stage = int(program.reads[rows[0]])
        for earlier in [one for one in sorted(after) if one < stage]:
            for those in after.pop(earlier):
                np.maximum.at(ready, written[those], sent[those] + flight[those])
        sent[rows] = ready[read[rows]]
        for writes in np.unique(program.writes[rows]).tolist():
            after.setdefault(writes, []).append(rows[program.writes[rows] == writes])
    return sent


def rests(program: Program, order: Order, booked: Booked) -> Int64:
    """By row the cycles from its firing to the end of all that needs it, if nothing else were under way."""
    rest = (booked.landed - booked.fire).tolist()
    waiting, opens = order.waits, [0] * len(order.needs)  # opens: by gate, the longest rest of what it opens
    for row in np.argsort(-booked.fire, kind="stable").tolist():
        own = rest[row] + max((opens[gate] for gate in order.when_landed[row]), default=0)
        rest[row] = own
        for gate in waiting[row]:
            opens[gate] = max(opens[gate], own)
    return np.array(rest, np.int64)
