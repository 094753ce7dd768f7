"""The columns of tables, checked: shapes, ranges, and what goes with what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import check_range, whole_column
from certree.models.common.errors import InputError, TableFormatError, UnsupportedError, short
from certree.models.common.quantities import MAX_SIZE
from certree.models.common.shown import Shown
from certree.models.demand import MAX_GRANULES
from certree.models.machine.machine import Machine
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule_columns import (
    BUFFER_COLUMNS,
    MAX_BUFFERS,
    MAX_CHANNELS,
    MAX_CHUNKS,
    MAX_REPEATS,
    MAX_SLOT_CYCLES,
    MAX_STEPS,
)

NIL = -1
_WIDE = ("addr", "size", "arrival_addr")  # the columns of 64 bits
MAX_TABLE_STEPS = 1 << 24  # of one iteration: the schedule of the rows lists the length of every step
MAX_BYTES = 1 << 60  # sums of addresses stay within 64 bits
MAX_WAIT = 1 << 20  # arrivals of one cell
SLOTTED, LOCKSTEP = "slotted", "lockstep"
CONTROLS = (SLOTTED, LOCKSTEP)  # of the interface that the tables are for
EPOCH_BITS = 16
MAX_EPOCH = (1 << EPOCH_BITS) - 1
COUNTS = {  # field -> largest value allowed
    "chunks": MAX_CHUNKS,
    "delay": MAX_STEPS,
    "period": MAX_STEPS,
    "repeats": MAX_REPEATS,
    "message_bytes": MAX_SIZE,
    "chunk_bytes": MAX_BYTES,
    "slot_cycles": MAX_BYTES,
}


class Profile(StrEnum):
    """The features that a network interface must support to execute tables (`docs/reference/tables.md`, "Profiles")."""

    TREES = "trees"
    BLOCKS = "blocks"
    BUFFERS = "buffers"


class RowOp(IntEnum):
    """Opcodes of table rows."""

    NOP = 0
    REDUCE = 1
    GATHER = 2


#: all columns of rows and of arrivals
ROW_COLUMNS = ("node", "op", "flow", "parent", "wait", "src_buffer", "dst_buffer", "children", "step", "addr", "size", "route")
ARRIVAL_COLUMNS = (
    "arrival_node", "arrival_op", "arrival_flow", "arrival_peer", "arrival_buffer", "arrival_count", "arrival_addr",
)  # fmt: skip
#: columns of `blocks` and `buffers`, and what they say in tables of `trees`, which leave them out
COUNTED_COLUMNS = {"wait": 0, "src_buffer": 0, "dst_buffer": 0}
COUNTED_ARRIVALS = {"arrival_buffer": 0, "arrival_count": 1, "arrival_addr": 0}


def _left_out() -> NDArray[Any]:
    return np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class TableColumns(Shown):
    """The fields of `Tables`, where each is described. The constructor checks them (TableFormatError)."""

    topology: Topology
    collective: Collective
    machine: Machine
    chunks: int
    delay: int
    period: int | None
    repeats: int
    message_bytes: int
    chunk_bytes: int
    slot_cycles: int
    schedule_digest: str
    node: Int32
    op: Int32
    flow: Int32
    parent: Int32
    children: Int32
    step: Int32
    addr: NDArray[np.int64]
    size: NDArray[np.int64]
    route: Int32
    arrival_node: Int32
    arrival_op: Int32
    arrival_flow: Int32
    arrival_peer: Int32
    routes: tuple[tuple[int, ...], ...] = ()
    profile: Profile = Profile.TREES
    buffers: int = 1
    in_flight: int = 1
    wait: Int32 = field(default_factory=_left_out)
    src_buffer: Int32 = field(default_factory=_left_out)
    dst_buffer: Int32 = field(default_factory=_left_out)
    arrival_buffer: Int32 = field(default_factory=_left_out)
    arrival_count: Int32 = field(default_factory=_left_out)
    arrival_addr: NDArray[np.int64] = field(default_factory=_left_out)
    chunk_root: Int32 | None = None
    chunk_target: Int32 | None = None
    virtual_channel: Int32 | None = None
    epoch: int | None = None
    fine_slots: bool = False
    waits: tuple[tuple[int, ...], ...] | None = None
    chunk_granules: Int32 | None = None
    additions: str | None = None
    control: str = SLOTTED

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "collective", self.collective.fitted(self.topology))
        except InputError as error:
            raise TableFormatError(str(error)) from None
        for name, high in (COUNTS | {"buffers": MAX_BUFFERS, "in_flight": self.repeats}).items():
            value = getattr(self, name)
            if not (name == "period" and value is None) and (type(value) is not int or not 1 <= value <= high):
                raise TableFormatError(f"{name} is {short(value)}; allowed: whole numbers from 1 to {high}")
        if self.epoch is not None and (type(self.epoch) is not int or not 0 <= self.epoch <= MAX_EPOCH):
            raise TableFormatError(f"epoch is {short(self.epoch)}; allowed: whole numbers from 0 to {MAX_EPOCH}")
        self._check_control()
        last, flows, numbers = len(self.topology.kind) - 1, (0, self.chunks - 1), (0, np.iinfo(np.int64).max)
        rows = {"node": (0, last), "op": (0, 2), "flow": flows, "parent": (NIL, last), "children": (NIL, last)}
        rows |= {"step": (0, MAX_TABLE_STEPS - 1), "addr": numbers, "size": numbers, "route": (NIL, len(self.routes) - 1)}
        arrivals = {"arrival_node": (0, last), "arrival_op": (1, 2), "arrival_flow": flows, "arrival_peer": (0, last)}
        self._check_profile()
        self._check_channels()
        self._check_fine_slots()
        self._check_sizes()
        if self.is_counted:
            rows |= {"parent": (NIL, NIL), "wait": (0, MAX_WAIT), **dict.fromkeys(BUFFER_COLUMNS, (0, self.buffers - 1))}
            arrivals |= {"arrival_op": (0, 0), "arrival_peer": (NIL, NIL), "arrival_buffer": (0, self.buffers - 1)}
            arrivals |= {"arrival_count": (1, MAX_WAIT), "arrival_addr": numbers}
        else:
            self._leave_out(COUNTED_COLUMNS, len(self.node))
            self._leave_out(COUNTED_ARRIVALS, len(self.arrival_node))
        self._check_columns(rows)
        self._check_columns(arrivals)

        if (last + 1) ** 2 * self.chunks * self.buffers * len(RowOp) >= 1 << 63:
            raise UnsupportedError(f"{last + 1} nodes and {self.chunks} chunks are more than tables can number")

    def _check_control(self) -> None:
        """Check that an interface without slots states no order of additions."""
        if self.control not in CONTROLS:
            raise TableFormatError(f"control is {short(self.control)}; allowed: {', '.join(CONTROLS)}")
        if self.control == LOCKSTEP and self.additions is not None:
            raise TableFormatError(f"additions are stated; with control {LOCKSTEP} tables have none: no slot fixes their order")

    def _check_profile(self) -> None:
        """Refuse fields that the profile does not have, and roots and targets of another collective."""
        if self.collective.has_targets != (self.profile is Profile.BLOCKS):
            raise TableFormatError(f"profile {self.profile}: not for {self.collective.kind}; blocks are for chunks with targets")
        if self.collective.members is not None and not self.is_counted:
            raise TableFormatError(f"members are named in tables of profile {self.profile}, which has none")
        if self.buffers > 1 and self.profile is not Profile.BUFFERS:
            raise TableFormatError(f"buffers is {self.buffers}; allowed in profile {self.profile}: 1")
        if self.in_flight > 1 and not self.is_counted:
            raise TableFormatError(f"in_flight is {self.in_flight}; allowed in profile {self.profile}: 1")
        last = len(self.topology.kind) - 1
        for name, due in (
            ("chunk_root", self.is_counted and self.collective.is_rooted),
            ("chunk_target", self.collective.has_targets),
        ):
            given = getattr(self, name)
            if due != (given is not None):
                raise TableFormatError(
                    f"{name} is {'missing' if due else 'given'} in tables of {self.profile} of {self.collective.kind}"
                )
            if given is not None:
                column = whole_column(given, name, np.int32, TableFormatError)
                if len(column) != self.chunks:
                    raise TableFormatError(f"{name} has {len(column)} rows; there are {self.chunks} chunks")
                check_range(column, name, 0, last, TableFormatError)
                strangers = np.flatnonzero(~np.isin(column, self.members))
                if len(strangers):
                    what = "an endpoint" if self.collective.members is None else "a member"
                    raise TableFormatError(f"{name} row {strangers[0]}: node {column[strangers[0]]} is not {what}")
                object.__setattr__(self, name, column)

    def _leave_out(self, columns: Mapping[str, int], length: int) -> None:
        """Put constants in place of columns that the profile does not have: they take no memory."""
        for name, value in columns.items():
            object.__setattr__(self, name, np.broadcast_to(np.array(value, np.int32), length))

    @property
    def members(self) -> Int32:
        """The ids of the endpoints that take part in the collective, ascending."""
        return self.collective.members_of(self.topology)

    @property
    def is_counted(self) -> bool:
        """Whether rows wait for numbers of arrivals, not for named peers."""
        return self.profile != Profile.TREES

    def _check_channels(self) -> None:
        """Check that there is one virtual channel for each route; none where all are 0."""
        if self.virtual_channel is None:
            return
        column = whole_column(self.virtual_channel, "virtual_channel", np.int32, TableFormatError)
        if len(column) != len(self.routes):
            raise TableFormatError(f"virtual_channel has {len(column)} entries; routes has {len(self.routes)}")
        check_range(column, "virtual_channel", 0, MAX_CHANNELS - 1, TableFormatError)
        object.__setattr__(self, "virtual_channel", column if column.any() else None)

    def _check_fine_slots(self) -> None:
        """Check that fine slots have the delay 1, and only they have waits: one for each router between the links of a route."""
        if not self.fine_slots and self.waits is None:
            return
        for wrong, reason in (
            (not self.fine_slots, "waits are given without fine slots"),
            (self.delay != 1, f"delay is {self.delay}; allowed with fine slots: 1"),
            (
                self.slot_cycles > MAX_SLOT_CYCLES,
                f"slot_cycles is {self.slot_cycles}; allowed in fine slots: 1 to {MAX_SLOT_CYCLES}",
            ),
        ):
            if wrong:
                raise TableFormatError(reason)
        if self.waits is not None and not any(map(any, self.waits)):
            object.__setattr__(self, "waits", None)
        if self.waits is not None and [len(entry) + 1 for entry in self.waits] != [len(route) for route in self.routes]:
            raise TableFormatError("waits are not one list for each route, with a number for each router between its links")

    def _check_sizes(self) -> None:
        """Check that chunks have sizes with a demand, and only there; such tables have fine slots and one iteration."""
        if (self.collective.demand is None) != (self.chunk_granules is None):
            what = "given" if self.collective.demand is None else "missing"
            raise TableFormatError(f"chunk_granules is {what}; chunks have sizes in tables for a demand, and only there")
        if self.chunk_granules is None:
            return
        if not self.fine_slots or self.period is not None:
            raise TableFormatError("tables for a demand have fine slots, and do not repeat")
        column = whole_column(self.chunk_granules, "chunk_granules", np.int32, TableFormatError)
        if len(column) != self.chunks:
            raise TableFormatError(f"chunk_granules has {len(column)} rows; there are {self.chunks} chunks")
        check_range(column, "chunk_granules", 1, MAX_GRANULES, TableFormatError)
        object.__setattr__(self, "chunk_granules", column)

    def _check_columns(self, limits: Mapping[str, tuple[int, int]]) -> None:
        """Make the columns of a table read-only, once they are whole numbers within the limits, of one length, of endpoints."""
        nodes, *_ = limits
        for name, (low, high) in limits.items():
            dtype = np.int64 if name in _WIDE else np.int32
            column = whole_column(getattr(self, name), name, dtype, TableFormatError, 2 if name == "children" else 1)
            object.__setattr__(self, name, column)
            if len(column) != len(getattr(self, nodes)):
                raise TableFormatError(f"{name} has {len(column)} rows; {nodes} has {len(getattr(self, nodes))}")
            check_range(column, name, low, high, TableFormatError)
        owner = getattr(self, nodes)
        strangers = np.flatnonzero(self.topology.rank[owner] < 0)
        if len(strangers):
            raise TableFormatError(f"{nodes} row {strangers[0]}: node {owner[strangers[0]]} is not an endpoint")
