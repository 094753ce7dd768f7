"""The layout of a schedule's flits, and the size of its tables next to those of the MultiTree paper."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from certree.api import parsing
from certree.api.artefacts import holds_schedule
from certree.api.inputs import given
from certree.api.settings import Tell, machine_for, setting, silent
from certree.api.synthesis import synthesize
from certree.api.table_export import row_bits
from certree.extras.flits.model.flit_format import DATA, FlitFormat, FlitType
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.tables.tables import Tables

PAPER_ROW_BITS = 200  # Section V-A: of a row, for 64 nodes


@dataclass(frozen=True, repr=False)
class FlitLayout(Shown):
    """The flits of a schedule on a machine, and its tables: bits of a row, and rows of the node that has most."""

    schedule: Schedule
    machine: Machine
    format: FlitFormat
    row_bits: int
    rows: int

    @property
    def nodes(self) -> int:
        """The number of endpoints of the network."""
        return len(self.schedule.topology.endpoints)

    @property
    def table_bytes(self) -> int:
        """The number of bytes of the longest table, rounded up."""
        return -(-self.row_bits * self.rows // 8)

    @property
    def trees(self) -> int:
        """The number of trees that a head can name: the chunks of an iteration."""
        return self.schedule.chunks

    @property
    def paper_row_bits(self) -> int:
        """The number of bits of a row in the paper, which states them for 64 nodes only."""
        return PAPER_ROW_BITS

    @property
    def paper_rows(self) -> int:
        """The number of rows by the paper's rule: two for each tree, one tree for each node."""
        return 2 * self.nodes

    @property
    def paper_table_bytes(self) -> int:
        """The number of bytes of a table by the paper's numbers."""
        return PAPER_ROW_BITS * self.paper_rows // 8

    def head_bits(self, kind: FlitType = FlitType.MESSAGE_HEAD) -> int:
        """The number of bits of a head that are not data."""
        return sum(field.bits for field in self.format.fields(kind) if field.name != DATA)

    def title(self) -> str:
        """The network."""
        return f"flits on {self.schedule.topology.name}"

    def facts(self) -> dict[str, object]:
        """Widths and sizes."""
        return {"flit bits": self.format.bits, "head bits": self.head_bits(), "row bits": self.row_bits, "rows": self.rows}


def flit_layout(
    source: str | Path | Topology | AnySchedule | Tables,
    *,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    tell: Tell = silent,
) -> FlitLayout:
    """The layout of flits (MultiTree, Fig. 8) for a schedule or tables, or for what `multitree` makes on a network; and its tables.

    Parameters
    ----------
    source : Schedule, Tables, Topology, str or path
        What is laid out.
    size, machine
        By default what the schedule was made for; tables have their own.
    tell : callable
        Receives a line for each that differs from what the schedule records.

    Returns
    -------
    FlitLayout

    Raises
    ------
    InputError
        Where a head does not fit into a flit of the machine, and for a size or a machine with tables.
    UnsupportedError
        For a schedule that has no tables.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.flit_layout("torus:4x4")
    <FlitLayout flits on torus:4x4: flit bits 133, head bits 25, row bits 77, rows 25>
    """
    found = _source(source, size, machine, tell)
    if isinstance(found, Tables):
        tables, schedule = found, written_out(found.schedule)
        used = MadeFor(tables.message_bytes, tables.machine)
    else:
        used = setting(found, size, machine, tell)
        schedule = written_out(found)
        tables = lower(schedule, used.message_bytes, used.machine)
    hops = max((len(route) for route in schedule.routes), default=1)
    layout = FlitFormat.of(schedule.topology, used.machine, tables.chunks, hops)
    rows = int(np.bincount(tables.node).max(initial=0))
    return FlitLayout(schedule, used.machine, layout, row_bits(tables)["row_bits"], rows)


def _source(
    source: str | Path | Topology | AnySchedule | Tables, size: int | str | None, machine: str | Path | Machine | None, tell: Tell
) -> AnySchedule | Tables:
    """The schedule or the tables of an argument; of a network the schedule of `multitree`."""
    if isinstance(source, Topology) or (isinstance(source, str | Path) and not holds_schedule(source)):
        network = parsing.topology(source)
        return synthesize(network, size=size, machine=machine_for(network, machine, tell), method="multitree")
    found = given(source)
    if isinstance(found, Tables) and (size is not None or machine is not None):
        raise InputError("size and machine are those of the tables; they are for schedules and networks")
    return found
