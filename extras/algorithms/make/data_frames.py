"""Schedules as data frames of pandas, polars or pyarrow, a row for each transfer."""

from importlib import import_module
from types import ModuleType
from typing import Any

from certree.api.parsing import Network
from certree.extras.algorithms.make.builder import Builder
from certree.models.common.errors import InputError, ScheduleFormatError, ToolMissingError, unknown_name
from certree.models.network.routing import DIRECT
from certree.models.schedule.collective import Collective
from certree.models.schedule.paths import nodes_along
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import BUFFER_COLUMNS, OPS, Op
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule, written_out

LIBRARIES = ("pandas", "polars", "pyarrow")
_NEEDED = ("chunk", "op", "src", "dst", "step")


def to_dataframe(schedule: AnySchedule, library: str = "pandas") -> Any:
    """The transfers of one iteration as a data frame, a row for each.

    The columns are `chunk`, `op` ("reduce", "copy"), `src`, `dst`, `step`, `route`. `route` has the nodes joined by ">", or nothing
    between neighbours; with several buffers `src_buffer` and `dst_buffer` follow. O(rows + hops).

    Parameters
    ----------
    schedule : Schedule or SymmetricSchedule
        A symmetric one is written out.
    library : {"pandas", "polars", "pyarrow"}
        What the frame is of.

    Returns
    -------
    data frame

    Raises
    ------
    InputError
        For another library, and for anything that is not a schedule.
    ToolMissingError
        Without the library, or without narwhals.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.to_dataframe(ct.synthesize("ring:3", method="ring"))["op"].value_counts().to_dict()
    {'reduce': 6, 'copy': 6}
    """
    if not isinstance(schedule, Schedule | SymmetricSchedule):
        raise InputError(f"a {type(schedule).__name__} is no schedule; results of compare, sweep and designs have .frame()")
    if library not in LIBRARIES:
        raise InputError(unknown_name("library", library, LIBRARIES))
    frames = _narwhals()
    try:
        import_module(library)
    except ModuleNotFoundError:
        raise ToolMissingError(f"{library} is not installed: pip install {library}") from None
    rows = written_out(schedule)
    paths = ["", *(">".join(map(str, nodes_along(rows.topology, route))) for route in rows.routes)]
    columns: dict[str, Any] = {
        "chunk": rows.chunk,
        "op": [Op(op).name.lower() for op in rows.op.tolist()],
        "src": rows.src,
        "dst": rows.dst,
        "step": rows.step,
        "route": [paths[0 if number == DIRECT else number + 1] for number in rows.route.tolist()],
    }
    if rows.buffers > 1:
        columns |= {name: getattr(rows, name) for name in BUFFER_COLUMNS}
    return frames.from_dict(columns, backend=library).to_native()


def from_dataframe(
    frame: Any, network: Network, collective: str | Collective = "all-reduce", *, root: int | None = None, **fields: Any
) -> Schedule:
    """The schedule of a data frame with the columns that `to_dataframe` writes, checked.

    Parameters
    ----------
    frame : data frame
        Of pandas, polars, pyarrow or another library that narwhals reads as a whole. `route` and the buffers may be missing, as may
        the route of a row.
    network, collective, root
        As in `synthesize`.
    **fields
        `chunks`, `delay`, `period`, `repeats`, `roots`, `targets` of `Builder`.

    Returns
    -------
    Schedule

    Raises
    ------
    ScheduleFormatError
        Names a missing column, or the row that is wrong.
    InvalidAlgorithmError
        Names the row that makes the schedule invalid.
    ToolMissingError
        Without narwhals.

    Examples
    --------
    >>> import certree.api as ct
    >>> ring = ct.synthesize("ring:3", method="ring")
    >>> ct.from_dataframe(ct.to_dataframe(ring), "ring:3").digest == ring.digest
    True
    """
    try:
        table = _narwhals().from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(f"a {type(frame).__name__} is no data frame; allowed: those of {', '.join(LIBRARIES)}") from None
    names = table.columns
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise ScheduleFormatError(f"data frame: no column {missing[0]}; needed: {', '.join(_NEEDED)}")
    builder = Builder(network, collective, root=root, **fields)
    taken = [name for name in (*_NEEDED, "route", *BUFFER_COLUMNS) if name in names]
    for number, row in enumerate(table.select(taken).iter_rows(named=True)):
        op = row.pop("op")
        if op not in OPS:
            raise ScheduleFormatError(f"data frame: row {number}: op {op!r}; allowed: {', '.join(OPS)}")
        row["route"] = _nodes(row.get("route"), number)
        (builder.reduce if OPS[op] is Op.REDUCE else builder.copy)(**row)
    return builder.schedule()


def _narwhals() -> ModuleType:
    """narwhals, whose version 1 reads and writes the frames of all these libraries."""
    try:
        import narwhals.stable.v1 as frames
    except ImportError:
        raise ToolMissingError("data frames need narwhals: pip install 'certree[frames]'") from None
    return frames


def _nodes(route: object, number: int) -> list[int] | None:
    """The nodes of a route; None where the cell is empty."""
    if route is None or route == "" or isinstance(route, float):  # pandas has a float for a missing text
        return None
    nodes = str(route).split(">")
    if not all(node.isascii() and node.isdigit() and len(node) < 10 for node in nodes):
        raise ScheduleFormatError(f"data frame: row {number}: route {route!r}; allowed: nodes joined by >, such as 0>4>1")
    return [int(node) for node in nodes]
