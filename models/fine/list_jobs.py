"""Input and output of the list scheduler (`certree.models.fine.list_scheduler`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.paths import link_cycles
from certree.models.schedule.timing import reduction_cycles, serialization_cycles

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

NONE = -1


class Sharing(IntEnum):
    """How the messages of a resource share its lanes: each has one for itself, BEHIND all that were booked before or BETWEEN them;
    or each MEETS fewer others than there are lanes, on any of them."""

    BEHIND = 0
    BETWEEN = 1
    MEETS = 2


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
    def of(cls, topology: Topology, chunk_bytes: int, machine: Machine, slot: int = 1) -> "Costs":
        """The costs of chunks of that many bytes on a network."""
        hop = link_cycles(topology, machine)[topology.pair_of_link] + machine.router_cycles
        ser = serialization_cycles(chunk_bytes, machine, topology.scale)
        red = reduction_cycles(chunk_bytes, machine)
        return cls(ser, red, hop.tolist(), machine.interface_cycles + machine.router_cycles, machine.reduce_start_cycles, slot)


@dataclass(frozen=True, eq=False)
class Places:
    """The resources that transfers take, ordered by `row`: a `resource`, from some cycles `after` they leave on, for `length`
    cycles. `source`: messages of one source never collide."""

    row: Int64
    resource: Int64
    source: Int64
    after: Int64
    length: Int64

    @classmethod
    def none(cls) -> "Places":
        """The places of transfers that take nothing."""
        return cls(*[np.zeros(0, np.int64)] * 5)

    def columns(self, rows: int) -> tuple[Int32, Int32, Int32, Int64, Int64]:
        """The columns of the scheduler: the number of the first place of each of `rows`, then one entry for each place."""
        begin = np.searchsorted(self.row, np.arange(rows + 1)).astype(np.int32)
        return begin, self.resource.astype(np.int32), self.source.astype(np.int32), self.after, self.length


@dataclass(frozen=True, eq=False)
class Reserved:
    """Reservations made before: a `resource`, from cycle `entry` on, for `length` cycles."""

    resource: Int64
    entry: Int64
    length: Int64

    @classmethod
    def none(cls) -> "Reserved":
        """No reservations."""
        return cls(*[np.zeros(0, np.int64)] * 3)

    @property
    def columns(self) -> tuple[Int32, Int64, Int64]:
        """The columns of the scheduler, by entry."""
        order = np.argsort(self.entry, kind="stable")
        return self.resource[order].astype(np.int32), self.entry[order], self.length[order]


@dataclass(frozen=True, eq=False)
class Rows:
    """Transfers to book: `src`, `dst`, whether a reduction unit `adds` what comes, and `routes`; of links the number of `lanes`,
    those that are `parallel`, and their numbers in the network (`links`); the number of `nodes`. `holds`: what else they take, of
    resources that are numbered after the links and have their `lanes` behind those of the links (`with_credits`)."""

    src: NDArray[Any]
    dst: NDArray[Any]
    adds: NDArray[np.uint8]
    routes: Sequence[tuple[int, ...]]
    lanes: Int32
    parallel: Sequence[Sequence[int]]
    nodes: int
    links: NDArray[np.int64]
    holds: Places = field(default_factory=Places.none)


@dataclass(frozen=True, eq=False)
class Booked:
    """The result of a booking. `fire`, `landed`: cycles, by row; `link`: of rows with one link the parallel one that was free;
    `reads_original`: by row, whether it reads the original in place of a local copy of it. `end`: when everything has landed."""

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
    """The turn of each row: of those that can leave in the same cycle that of the lowest `priority` goes first, and none leaves
    before its cycle `release`. A row whose links are taken books them for later at once, or, `patient`, only when they are free.
    `apart`: no two rows come to a reduction unit in one cycle."""

    priority: Int64
    release: Int64
    patient: bool = False
    apart: bool = False

    @classmethod
    def first_of(cls, priority: Int64, *, patient: bool = False, apart: bool = False) -> "Turns":
        """The turns in which the lowest priority goes first, without waiting."""
        return cls(priority, np.zeros(len(priority), np.int64), patient, apart)

    @classmethod
    def in_each_way(cls, priority: Int64) -> Iterator["Turns"]:
        """The turns with the lowest priority first, at once or patiently, and then the same with rows apart at reduction units."""
        return (cls.first_of(priority, patient=patient, apart=apart) for apart in (False, True) for patient in (False, True))

    def of_rows(self, block: NDArray[Any]) -> "Turns":
        """The turns of rows that each have the turn of a block."""
        return replace(self, priority=self.priority[block], release=self.release[block])


@dataclass(frozen=True, eq=False)
class Channels:
    """Virtual channels for messages that wait: by row the `layer` of its route and a number for the `route`, -1 where it passes no
    router; `parts` channels in each of the `layers`, and the flits for which a buffer has `room`."""

    layer: Int32
    route: Int32
    layers: int
    parts: int
    room: int


@dataclass(frozen=True, eq=False)
class Forwarded:
    """A booking with planned waits: `wait`, cycles before each link of the routes of all rows in turn; `channel`, by row, -1
    where it may take any. `crowded`: how many rows have no buffer to wait in; only with 0 it is valid."""

    booked: Booked
    wait: Int64
    channel: Int32
    crowded: int


@dataclass(frozen=True, eq=False)
class Ragged(Sequence[list[int]]):
    """Lists of numbers, one after the other in `values`: list i is values[begin[i]:begin[i + 1]]. Read as lists they are copied
    once. O(numbers)."""

    begin: Int32
    values: Int32

    def __len__(self) -> int:
        return len(self.begin) - 1

    def __getitem__(self, index: Any) -> Any:
        return self._lists[index]

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._lists)

    @cached_property
    def _lists(self) -> list[list[int]]:
        values, begin = self.values.tolist(), self.begin.tolist()
        return [values[low:high] for low, high in pairwise(begin)]


@dataclass(frozen=True, eq=False)
class Order:
    """The order of rows. `needs`: by gate, how many events open it; `when_sent`, `when_landed`: by row, the gates that this helps
    to open; `opens`: by gate, the rows that wait for it; `original_of`: by row, the local copy instead of which it may read the
    original, or NONE; `groups`: rows that leave together, by number of the group, and `group`: the number of each row's group, or
    NONE. `follows`: by row one that comes to the same reduction unit before it, or NONE; None: operands are added in any order."""

    needs: list[int]
    when_sent: Sequence[list[int]]
    when_landed: Sequence[list[int]]
    opens: Sequence[list[int]]
    original_of: list[int]
    groups: list[list[int]]
    group: list[int]
    follows: Sequence[int] | None = None

    @cached_property
    def waits(self) -> list[list[int]]:
        """The gates that each row waits for."""
        found: list[list[int]] = [[] for _ in self.when_sent]
        for gate, rows in enumerate(self.opens):
            for row in rows:
                found[row].append(gate)
        return found


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that transfers use in a stated order, by row: the number of the cell that each `reads` and that it `writes`;
    whether it `copies`, else it adds; the cycles from its firing until it `lands`; the first cycle, its `release`, in which it may
    leave. `begin`, `rows`: group i, of rows that leave together, is rows[begin[i]:begin[i + 1]]; groups are booked in turn."""

    reads: Int64
    writes: Int64
    copies: NDArray[np.bool_]
    lands: Int64
    begin: Int64
    rows: Int64
    release: Int64 | None = None
