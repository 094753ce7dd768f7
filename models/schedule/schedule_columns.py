"""The columns of schedules, checked: shapes, ranges, and what goes with what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import check_range, flat, whole_column
from certree.models.common.errors import InputError, ScheduleFormatError
from certree.models.common.shown import Shown
from certree.models.demand import MAX_GRANULES
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import WITH_TARGETS, Collective, CollectiveKind
from certree.models.schedule.made_for import MadeFor

NO_ROOT = -1  # all-reduce: a chunk has no root
MAX_STEPS = 1 << 30
MAX_CHUNKS = 1 << 24
MAX_REPEATS = 1 << 30
MAX_HOPS = 1 << 25  # links of the routes of all transfers: each is checked
MAX_BUFFERS = 1 << 10
MAX_CHANNELS = 1 << 8
MAX_SLOT_CYCLES = 1 << 30
#: the columns of every transfer, and those that a schedule with several buffers has as well
TRANSFER_COLUMNS = ("chunk", "op", "step", "src", "dst", "route")
BUFFER_COLUMNS = ("src_buffer", "dst_buffer")


class Op(IntEnum):
    """The operation of the destination on an arriving chunk."""

    REDUCE = 0  # add it to the stored value
    COPY = 1  # replace the stored value


#: the operations by the words that files and commands have for them
OPS = {op.name.lower(): op for op in Op}


class Slots(StrEnum):
    """The form of the steps of a schedule.

    EQUAL: a step of r rounds lasts r times as long as a chunk needs. SIZED: chunks have sizes, and a step of r rounds lasts as long
    as r granules need. FINE: a step has a fixed number of cycles, at one message size and on one machine.
    """

    EQUAL = "equal slots"
    SIZED = "chunks of several sizes"
    FINE = "fine slots"


@dataclass(frozen=True, eq=False, repr=False)
class ScheduleColumns(Shown):
    """The fields of a `Schedule`, where each is described. The constructor checks them (ScheduleFormatError)."""

    topology: Topology
    collective: Collective
    chunk_root: Int32
    rounds: Int32
    chunk: Int32
    op: NDArray[np.int8]
    step: Int32
    src: Int32
    dst: Int32
    route: Int32
    routes: tuple[tuple[int, ...], ...] = ()
    chunk_target: Int32 | None = None
    delay: int = 1
    period: int | None = None
    repeats: int = 1
    certificate: Mapping[str, Any] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    made_for: MadeFor | None = None
    buffers: int = 1
    src_buffer: Int32 | None = None
    dst_buffer: Int32 | None = None
    virtual_channel: Int32 | None = None
    chunk_granules: Int32 | None = None
    slot_cycles: int | None = None
    waits: tuple[tuple[int, ...], ...] | None = None

    @property
    def chunks(self) -> int:
        """K: chunks of one iteration."""
        return len(self.chunk_root)

    @property
    def steps(self) -> int:
        """The number of steps of one iteration."""
        return len(self.rounds)

    @property
    def total_steps(self) -> int:
        """The number of steps from the start of the first iteration to the end of the last."""
        return (self.repeats - 1) * (self.period or 0) + self.steps

    @property
    def transfers(self) -> int:
        """The number of rows, which are the transfers of one iteration."""
        return len(self.chunk)

    def __post_init__(self) -> None:
        optional = ("chunk_target", *BUFFER_COLUMNS, "virtual_channel", "chunk_granules")
        for name in ("chunk_root", "rounds", *TRANSFER_COLUMNS, *optional):
            given = getattr(self, name)
            if given is not None or name not in optional:
                column = whole_column(given, name, np.int8 if name == "op" else np.int32, ScheduleFormatError)
                object.__setattr__(self, name, column)
        try:
            object.__setattr__(self, "collective", self.collective.fitted(self.topology))
        except InputError as error:
            raise ScheduleFormatError(f"collective.{error}") from None
        self._check_scalars()
        self._check_columns()
        self._check_buffers()
        self._check_channels()
        self._check_sizes()
        self._check_fine_slots()

    def _check_scalars(self) -> None:
        for name in ("delay", "repeats", "period", "buffers"):
            if type(getattr(self, name)) is not int and not (name == "period" and self.period is None):
                raise ScheduleFormatError(f"{name} is {getattr(self, name)!r}; allowed: whole numbers")
        for name, high in (("delay", MAX_STEPS), ("repeats", MAX_REPEATS), ("buffers", MAX_BUFFERS)):
            if not 1 <= getattr(self, name) <= high:
                raise ScheduleFormatError(f"{name} is {getattr(self, name)}; allowed: 1 to {high}")
        if self.period is None and self.repeats != 1:
            raise ScheduleFormatError(f"repeats is {self.repeats} without a period")
        if self.period is not None and not 1 <= self.period <= MAX_STEPS:
            raise ScheduleFormatError(f"period is {self.period}; allowed: null or 1 to {MAX_STEPS}")
        if self.period is not None and (self.rounds != 1).any():
            raise ScheduleFormatError("a repeating schedule has steps of one round each")
        if (self.repeats - 1) * (self.period or 0) + self.steps > MAX_STEPS:
            raise ScheduleFormatError(f"more than {MAX_STEPS} steps in all")
        if not 1 <= self.chunks <= MAX_CHUNKS:
            raise ScheduleFormatError(f"{self.chunks} chunks; allowed: 1 to {MAX_CHUNKS}")
        if not self.steps:
            raise ScheduleFormatError("no steps: rounds is empty")

    def _check_columns(self) -> None:
        nodes = len(self.topology.kind)
        for name, low, high in (
            ("chunk", 0, self.chunks - 1),
            ("op", 0, 1),
            ("step", 0, self.steps - 1),
            ("src", 0, nodes - 1),
            ("dst", 0, nodes - 1),
            ("route", DIRECT, len(self.routes) - 1),
        ):
            self._check_transfers(name, low, high)
        check_range(self.rounds, "rounds", 1, MAX_STEPS, ScheduleFormatError)
        self._check_routes()
        self._check_roots()

    def _check_transfers(self, name: str, low: int, high: int) -> None:
        column = getattr(self, name)
        if len(column) != self.transfers:
            raise ScheduleFormatError(f"transfers.{name} has {len(column)} rows; transfers.chunk has {self.transfers}")
        check_range(column, f"transfers.{name}", low, high, ScheduleFormatError)

    def _check_buffers(self) -> None:
        """Check buffers: with one, the columns say nothing and are left out; with several, they are there, in range."""
        for name in BUFFER_COLUMNS:
            if getattr(self, name) is None and self.buffers > 1:
                object.__setattr__(self, name, np.zeros(self.transfers, np.int32))
            if getattr(self, name) is not None:
                self._check_transfers(name, 0, self.buffers - 1)
            if self.buffers == 1:
                object.__setattr__(self, name, None)

    def _check_channels(self) -> None:
        """Check that there is one channel for each route; none where all are 0."""
        if self.virtual_channel is None:
            return
        if len(self.virtual_channel) != len(self.routes):
            raise ScheduleFormatError(f"virtual_channel has {len(self.virtual_channel)} entries; routes has {len(self.routes)}")
        check_range(self.virtual_channel, "virtual_channel", 0, MAX_CHANNELS - 1, ScheduleFormatError)
        if not self.virtual_channel.any():
            object.__setattr__(self, "virtual_channel", None)

    def _check_routes(self) -> None:
        """Check that routes are lists of link numbers and not too long in total."""
        if not self.routes:
            return
        links, start = self.flat_routes
        hops = np.diff(start)
        wrong = hops == 0
        wrong[np.repeat(np.arange(len(hops)), hops)[(links < 0) | (links >= len(self.topology.src))]] = True
        if wrong.any():
            index = int(wrong.argmax())
            raise ScheduleFormatError(f"routes row {index}: {list(self.routes[index])} is not a list of link numbers")
        if int(hops[self.route[self.route != DIRECT]].sum()) > MAX_HOPS:
            raise ScheduleFormatError(f"transfers pass more than {MAX_HOPS} links of routes in all")

    @cached_property
    def flat_routes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The links of all routes in one column, and where each route starts in it (one entry more than there are routes)."""
        try:
            return flat(self.routes)
        except OverflowError:
            raise ScheduleFormatError(f"routes have link numbers beyond {len(self.topology.src) - 1}") from None

    def _check_roots(self) -> None:
        """Check that roots and targets are endpoints, and match the root of a collective that has one."""
        collective = self.collective
        if collective.has_targets != (self.chunk_target is not None):
            what = "missing" if collective.has_targets else "given"
            raise ScheduleFormatError(
                f"chunks.target is {what}; every chunk has one in an {', '.join(WITH_TARGETS)}, and only there"
            )
        if not collective.is_rooted:
            self._require_ids("root", self.chunk_root, self.chunk_root == NO_ROOT, f"null in an {collective.kind}")
            return
        inwards = collective.kind is CollectiveKind.GATHER
        takes_part = np.zeros(len(self.topology.kind), np.bool_)
        takes_part[collective.members_of(self.topology)] = True
        allowed = "the id of an endpoint" if collective.members is None else "the id of a member"
        for name, column in (("root", self.chunk_root), ("target", self.chunk_target)):
            if column is None:
                continue
            inside = (column >= 0) & (column < len(self.topology.kind))
            good = inside & takes_part[np.where(inside, column, 0)]
            self._require_ids(name, column, good, allowed)
            if collective.has_one_root and (name == "target") == inwards:
                self._require_ids(name, column, column == collective.root, f"{collective.root} in a {collective.words}")

    def _check_sizes(self) -> None:
        """Check that sizes of chunks come with a demand, and that then nothing repeats."""
        if (self.collective.demand is None) != (self.chunk_granules is None):
            what = "given" if self.collective.demand is None else "missing"
            raise ScheduleFormatError(f"chunks.granules is {what}; chunks have sizes in a schedule with a demand, and only there")
        if self.chunk_granules is None:
            return
        if len(self.chunk_granules) != self.chunks:
            raise ScheduleFormatError(f"chunks.granules has {len(self.chunk_granules)} rows; chunks.root has {self.chunks}")
        check_range(self.chunk_granules, "chunks.granules", 1, MAX_GRANULES, ScheduleFormatError)
        if self.period is not None:
            raise ScheduleFormatError(f"period is {self.period}; a schedule with a demand does not repeat")

    def _check_fine_slots(self) -> None:
        """Check that fine slots are for one size and machine."""
        if self.slot_cycles is None:
            if self.waits is not None:
                raise ScheduleFormatError("waits are given without slot_cycles")
            return
        if type(self.slot_cycles) is not int or not 1 <= self.slot_cycles <= MAX_SLOT_CYCLES:
            raise ScheduleFormatError(f"slot_cycles is {self.slot_cycles!r}; allowed: 1 to {MAX_SLOT_CYCLES}")
        for wrong, reason in (
            (self.made_for is None, "made_for is missing; fine slots are for one message size and machine"),
            (self.delay != 1, f"delay is {self.delay}; allowed with slot_cycles: 1"),
            (bool((self.rounds != 1).any()), "rounds are not all 1; steps of slot_cycles have one length"),
        ):
            if wrong:
                raise ScheduleFormatError(reason)
        self._check_waits()

    def _check_waits(self) -> None:
        """Check that each route has one number for each router between its links; none where all are 0."""
        if self.waits is None:
            return
        if len(self.waits) != len(self.routes):
            raise ScheduleFormatError(f"waits has {len(self.waits)} entries; routes has {len(self.routes)}")
        for number, (waits, route) in enumerate(zip(self.waits, self.routes, strict=True)):
            if len(waits) != len(route) - 1:
                raise ScheduleFormatError(f"waits row {number} has {len(waits)} entries; its route has {len(route) - 1} routers")
            if not all(type(wait) is int and 0 <= wait <= MAX_SLOT_CYCLES for wait in waits):
                raise ScheduleFormatError(f"waits row {number}: {list(waits)}; allowed: whole cycles from 0 to {MAX_SLOT_CYCLES}")
        object.__setattr__(self, "waits", tuple(map(tuple, self.waits)) if any(map(any, self.waits)) else None)

    def _require_ids(self, name: str, column: Int32, good: NDArray[np.bool_], allowed: str) -> None:
        if len(column) != self.chunks:
            raise ScheduleFormatError(f"chunks.{name} has {len(column)} rows; chunks.root has {self.chunks}")
        bad = np.flatnonzero(~good)
        if len(bad):
            raise ScheduleFormatError(f"chunks.{name} row {bad[0]}: {column[bad[0]]}; allowed: {allowed}")
