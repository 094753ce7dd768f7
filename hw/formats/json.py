"""The format `json`: `table.json`, with readable rows."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from certree.hw.formats import EPOCH_COLUMN, FORMATS, ROUTE_COLUMN, Columns
from certree.hw.formats.bit_layout import MAX_BITS, Widths
from certree.hw.formats.source_routes import EJECT, route_ports
from certree.models.common.budget import hold
from certree.models.common.columns import int_column
from certree.models.common.errors import TableFormatError, short
from certree.models.common.files import parse_json
from certree.models.network.topology import MAX_NODES
from certree.models.tables.table_columns import MAX_EPOCH, NIL, RowOp
from certree.models.tables.tables import Tables

FILE = "table.json"
_OPS = {op.name: int(op) for op in RowOp}
_NULLABLE = ("parent", "route")
_WIDE = ("addr", "size", "arrival_addr")


@FORMATS.register("json")
class JsonFormat:
    """Only table.json: one row per line, columns named once, nil as null."""

    has_trace: ClassVar[bool] = False

    def files(self, tables: Tables, widths: Widths) -> dict[str, bytes]:
        """`table.json`; of the widths only the names of the columns are used."""
        return {FILE: readable(tables, widths, epochs=tables.epoch is not None)}

    def columns(self, files: Mapping[str, bytes], widths: Widths, endpoints: list[int]) -> Columns:
        """The columns in `table.json`."""
        if set(files) != {FILE}:
            raise TableFormatError(f"the json format has one file, {FILE}, not {', '.join(sorted(files))}")
        document = parse_json(files[FILE], FILE)
        expected = {"row_columns", "rows", "arrival_columns", "arrivals"} | ({"routes"} if widths.hops > 1 else set())
        if not isinstance(document, dict) or set(document) - {EPOCH_COLUMN} != expected:
            raise TableFormatError(f"{FILE} must hold {', '.join(sorted(expected))}")
        columns = _table(document, "row_columns", "rows", widths.row_columns, widths)
        columns |= _table(document, "arrival_columns", "arrivals", widths.arrival_columns, widths)
        routes = document.get("routes", [])
        if not isinstance(routes, list):
            raise TableFormatError(f"{FILE}: routes must be a list of lists of ports")
        epochs = _epochs(document.get(EPOCH_COLUMN, []), endpoints)
        return columns | {EPOCH_COLUMN: epochs, ROUTE_COLUMN: _number_lists("routes", routes, widths.route_fields, 1 << 30)}

    def check(self, files: Mapping[str, bytes], tables: Tables, widths: Widths) -> None:
        """Check nothing, since the file has the columns only."""


def readable(tables: Tables, widths: Widths, *, epochs: bool) -> bytes:
    """The contents of `table.json`, with the epoch of the table of each node where these are not in headers."""
    names, arriving = widths.row_columns, widths.arrival_columns
    rows = zip(*(_written(name, getattr(tables, name)) for name in names), strict=True)
    arrivals = zip(*(_written(name, getattr(tables, name)) for name in arriving), strict=True)
    stated = [[node, tables.epoch] for node in tables.topology.endpoints.tolist()]
    text = (
        f'{{"row_columns": {json.dumps(names)},\n"rows": [\n{_lines(rows)}],\n'
        f'"arrival_columns": {json.dumps(arriving)},\n"arrivals": [\n{_lines(arrivals)}]{_routes(tables)}'
        + (f',\n"{EPOCH_COLUMN}": {json.dumps(stated)}}}\n' if epochs else "}\n")
    )
    return text.encode()


def _epochs(stated: Any, endpoints: list[int]) -> np.ndarray:
    """The epoch of the table of each endpoint; none where none is stated."""
    if stated == []:
        return np.zeros(0, np.int64)
    nodes = [line[:1] if isinstance(line, list) else line for line in stated] if isinstance(stated, list) else None
    if nodes != [[node] for node in endpoints]:
        raise TableFormatError(f"{FILE}: {EPOCH_COLUMN} must be a list of pairs, the epoch of the table of each endpoint, in order")
    return np.array([_epoch(line, node) for line, node in zip(stated, endpoints, strict=True)], np.int64)


def _epoch(line: list[Any], node: int) -> int:
    if len(line) != 2 or type(line[1]) is not int or not 0 <= line[1] <= MAX_EPOCH:
        raise TableFormatError(f"{FILE}: epoch of node {node} is {short(line[1:])}; allowed: a whole number from 0 to {MAX_EPOCH}")
    return line[1]


def _written(name: str, column: np.ndarray) -> list[Any]:
    if name in ("op", "arrival_op"):
        return [RowOp(op).name for op in column.tolist()]
    if name == "children":
        return [[child for child in line if child != NIL] for line in column.tolist()]
    return [None if value == NIL else value for value in column.tolist()] if name in _NULLABLE else column.tolist()


def _lines(rows: Any) -> str:
    return ",\n".join(json.dumps(row) for row in rows) + "\n"


def _table(document: dict[str, Any], header: str, body: str, names: tuple[str, ...], widths: Widths) -> Columns:
    rows = document[body]
    if document[header] != list(names) or not isinstance(rows, list):
        raise TableFormatError(f"{FILE}: {header} must be {list(names)}, and {body} a list")
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(names):
            raise TableFormatError(f"{FILE}: {body} row {index} must be a list of {len(names)} fields")
    return {name: _column(name, [row[place] for row in rows], widths) for place, name in enumerate(names)}


def _column(name: str, values: list[Any], widths: Widths) -> np.ndarray:
    if name in ("op", "arrival_op"):
        bad = next((row for row, value in enumerate(values) if not isinstance(value, str) or value not in _OPS), None)
        if bad is not None:
            raise TableFormatError(f"{FILE}: {name} row {bad}: {values[bad]!r}; allowed: {', '.join(_OPS)}")
        return np.array([_OPS[value] for value in values], np.int32)
    if name == "children":
        return _number_lists(name, values, widths.children, MAX_NODES)
    if name in _WIDE:
        _whole_numbers(name, values)
        return np.array(values, np.int64)
    if name in _NULLABLE:
        _whole_numbers(name, [value for value in values if value is not None])
        values = [NIL if value is None else value for value in values]
    return int_column(values, f"{FILE}.{name}", NIL if name in _NULLABLE else 0, 1 << 30, error=TableFormatError)


def _whole_numbers(name: str, values: list[Any]) -> None:
    for value in values:
        if type(value) is not int or not 0 <= value < 1 << MAX_BITS:
            raise TableFormatError(f"{FILE}: {name} holds {short(value)}; allowed: whole numbers from 0")


def _number_lists(name: str, values: list[Any], width: int, high: int) -> np.ndarray:
    """Lists of numbers as lines filled up with NIL."""
    hold(4 * len(values) * width, f"{name} of {len(values):,} rows, {width:,} fields wide")
    lines = np.full((len(values), width), NIL, np.int32)
    for row, line in enumerate(values):
        if not isinstance(line, list) or len(line) > width:
            raise TableFormatError(f"{FILE}: {name} row {row} must be a list of at most {width} numbers")
        lines[row, : len(line)] = int_column(line, f"{FILE}: row {row}.{name}", 0, high, error=TableFormatError)
    return lines


def _routes(tables: Tables) -> str:
    """The ports of every route, without the ejects; nothing for tables without routes."""
    if not tables.routes:
        return ""
    lines = ([port for port in line if port != EJECT] for line in route_ports(tables).tolist())
    return f',\n"routes": [\n{_lines(lines)}]'
