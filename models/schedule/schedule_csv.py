"""Schedules in CSV files, written by hand."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from certree.models.common.errors import InputError, ScheduleFormatError, located, unknown_name
from certree.models.common.files import Opened, csv_rows, read_bytes
from certree.models.network.dimension_order import DimensionOrder
from certree.models.network.routing import DIRECT, routes_between
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.paths import links_along
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import BUFFER_COLUMNS, MAX_BUFFERS, MAX_CHUNKS, OPS

CSV_HEADER = ["chunk", "op", "src", "dst", "step"]
_CSV_PATHS = ("path", "route")  # names of a column that may follow, in front of those of the buffers
CSV_ROUTINGS = ("shortest", "dimension-order")


def load_schedule_csv(path: Path | Opened, topology: Topology, collective: Collective, routing: str | None = None) -> Schedule:
    """Read a hand-written schedule: header `chunk,op,src,dst,step`, op `reduce` or `copy`, whole numbers, delay 1.

    K is one more than the largest chunk. The owner of chunk c follows from its number, as in `chunk_owners`; the members, where
    not all endpoints take part, are those of `collective`. A column `path` or
    `route` may follow: the nodes from source to destination joined by `>`, or nothing. Rows without one whose ends are not
    neighbours take the routes of `routing`, one of CSV_ROUTINGS; without it no link carries them, and the schedule is invalid.
    Columns `src_buffer,dst_buffer` may follow these: `buffers` is then one more than the largest number in them.
    """
    collective.require_equal_blocks(f"{path}: a CSV does not say the sizes of chunks")
    if routing not in (None, *CSV_ROUTINGS):
        raise InputError(unknown_name("routing", routing, CSV_ROUTINGS))
    lines = csv_rows(read_bytes(path), str(path))
    header = [cell.strip() for cell in lines[0]] if lines else []
    buffered = header[-2:] == [*BUFFER_COLUMNS]
    paths = (header[:-2] if buffered else header)[len(CSV_HEADER) :]
    if header[: len(CSV_HEADER)] != CSV_HEADER or paths not in ([], *([name] for name in _CSV_PATHS)):
        more = f"or with {' or '.join(_CSV_PATHS)} after it, or {','.join(BUFFER_COLUMNS)} after these"
        raise ScheduleFormatError(f"{path}: line 1: expected the header {','.join(CSV_HEADER)}, {more}")
    link = {pair: number for number, pair in enumerate(zip(topology.src.tolist(), topology.dst.tolist(), strict=True))}
    last = [*BUFFER_COLUMNS] if buffered else []
    columns: dict[str, list[int]] = {name: [] for name in [*CSV_HEADER, "route", *last]}
    routes: dict[tuple[int, ...], int] = {}
    for number, cells in enumerate(lines[1:], start=2):
        if cells:
            where = f"{path}: line {number}"
            if len(cells) != len(header):
                raise ScheduleFormatError(f"{where}: {len(cells)} fields; expected {len(header)}")
            row = _csv_row(CSV_HEADER, cells[: len(CSV_HEADER)], len(topology.kind), where)
            route = _csv_route(cells[len(CSV_HEADER) :][: len(paths)], (row[2], row[3]), link, where)
            row.append(routes.setdefault(route, len(routes)) if route else DIRECT)
            row += _csv_row(last, cells[len(cells) - len(last) :], len(topology.kind), where)
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
    if not columns["chunk"]:
        raise ScheduleFormatError(f"{path}: no transfers")
    chunks, steps = max(columns["chunk"]) + 1, max(columns["step"]) + 1
    with located(str(path), ScheduleFormatError):
        root, target = chunk_owners(topology, collective, chunks)
    arrays = {name: np.array(values, np.int32) for name, values in columns.items()}
    taken = tuple(routes)
    if routing is not None:
        with located(str(path), ScheduleFormatError):
            arrays["route"], taken = _routed(topology, arrays, taken, routing)
    return Schedule(
        topology=topology,
        collective=collective,
        chunk_root=root,
        chunk_target=target,
        rounds=np.ones(steps, np.int32),
        routes=taken,
        provenance={"method": "csv"},
        buffers=1 + max((max(columns[name]) for name in last), default=0),
        **arrays,  # type: ignore[arg-type]
    )


def _routed(
    topology: Topology, columns: Mapping[str, np.ndarray], routes: tuple[tuple[int, ...], ...], routing: str
) -> tuple[np.ndarray, tuple[tuple[int, ...], ...]]:
    """The `route` column and the routes, with one for each row that has none and whose ends are not neighbours."""
    src, dst, column = columns["src"], columns["dst"], columns["route"].copy()
    far = np.flatnonzero((column == DIRECT) & (src != dst) & (topology.pair_index(src, dst) < 0))
    if routing == "dimension-order":
        order, found = DimensionOrder(topology), dict[tuple[int, ...], int]()
        for row in far.tolist():
            route = order.route(int(src[row]), int(dst[row]))
            column[row] = len(routes) + found.setdefault(route, len(found))
        return column, (*routes, *found)
    fresh, more = routes_between(topology, src[far], dst[far])
    column[far] = np.where(fresh == DIRECT, DIRECT, fresh + len(routes))
    return column, (*routes, *more)


def _csv_row(names: list[str], cells: list[str], nodes: int, where: str) -> list[int]:
    limits = {"src": nodes, "dst": nodes} | dict.fromkeys(BUFFER_COLUMNS, MAX_BUFFERS)
    row = []
    for name, cell in zip(names, (cell.strip() for cell in cells), strict=True):
        if name == "op":
            if cell not in OPS:
                raise ScheduleFormatError(f"{where}: op {cell!r}; allowed: reduce, copy")
            row.append(int(OPS[cell]))
        else:
            high = limits.get(name, MAX_CHUNKS) - 1
            if not (cell.isascii() and cell.isdigit() and len(cell) < 10 and int(cell) <= high):
                raise ScheduleFormatError(f"{where}: {name} {cell!r}; allowed: whole numbers from 0 to {high}")
            row.append(int(cell))
    return row


def _csv_route(cells: list[str], ends: tuple[int, int], link: dict[tuple[int, int], int], where: str) -> tuple[int, ...]:
    """The links of a row's path; empty without a path and between neighbours."""
    text = "".join(cells).strip()
    if not text:
        return ()
    names = [name.strip() for name in text.split(">")]
    if not all(name.isascii() and name.isdigit() and len(name) < 10 for name in names):
        raise ScheduleFormatError(f"{where}: path {text!r}; allowed: nodes joined by >, such as 0>4>1")
    nodes = [int(name) for name in names]
    if (nodes[0], nodes[-1]) != ends:
        raise ScheduleFormatError(f"{where}: path {text!r} does not lead from {ends[0]} to {ends[1]}")
    return links_along(nodes, link, f"{where}: path {text!r}") if len(nodes) > 2 else ()
