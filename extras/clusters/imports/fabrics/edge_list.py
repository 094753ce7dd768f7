"""Edge lists in CSV: two nodes in each row, and where the header has them the rate and the latency of the cable, with units."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from certree.extras.clusters.imports import description
from certree.extras.clusters.imports.box import Box, Cable
from certree.extras.clusters.imports.options import Options, matching
from certree.extras.clusters.imports.texts import decimal, decoded, text_of
from certree.models.common.errors import TopologyError, short
from certree.models.common.files import Opened
from certree.models.common.quantities import parse_bandwidth

ENDS = (("a", "b"), ("src", "dst"), ("source", "target"), ("source", "destination"), ("from", "to"), ("node1", "node2"))
_RATES = ("rate", "bandwidth", "bw", "speed", "capacity")
_LATENCIES = ("latency", "delay")
_FACTOR = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_EXACT = {
    name: Fraction(1, 10 ** (3 * index))
    for index, names in enumerate((("s",), ("ms",), ("us", "µs"), ("ns",), ("ps",)))
    for name in names
}
_COLUMN = re.compile(r"([a-z0-9]+?)(?:[ _]*[\[(]\s*([^\])]+?)\s*[\])]|_([a-zµ/]+)| in ([a-zµ/]+))?", re.IGNORECASE)
_BITS = re.compile(r"([kKmMgGtT]?)([bB]/s|[bB]ps|bits?/s|bytes?/s)")


@dataclass(frozen=True)
class _Column:
    """A column for rates or latencies: where it is, and what its numbers are multiplied with; None where cells state units."""

    index: int
    factor: Fraction | None


def _header(line: str) -> list[str]:
    return [cell.strip().strip('"').lower() for cell in line.split(",")]


def _matches(start: bytes) -> bool:
    lines = decoded(start, "replace").splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return tuple(_header(first)[:2]) in ENDS


@description("cable-csv", _matches)
def read_edges(file: Opened, options: Options) -> Box:
    """.csv - an edge list: a, b, rate, latency, with units in the header; switches=NAME+NAME marks nodes that are not endpoints."""
    where = str(file)
    rows = _rows(text_of(file, "an edge list"), where)
    (line, header), body = rows[0], rows[1:]
    columns = _columns(header, f"{where}: line {line}")
    edges = [_edge(row, columns, len(header), options, f"{where}: line {number}") for number, row in body]
    if not edges:
        raise TopologyError(f"{where}: no rows below the header")
    names = list(dict.fromkeys(name for a, b, _, _ in edges for name in (a, b)))
    is_switch = matching(names, options.switches, "switches", where)
    if not options.switches:
        options.tell("assumed", f"all {len(names)} nodes are endpoints; switches=NAME+NAME names those that are not")
    endpoints = [name for name, no_end in zip(names, is_switch, strict=True) if not no_end]
    box = Box(len(endpoints), [name for name in names if name not in set(endpoints)], names=endpoints)
    number = {name: index for index, name in enumerate([*endpoints, *box.switches])}
    one_way = _is_directed(edges, [number for number, _ in body], options, where)
    box.cables = [Cable(number[a], number[b], rate, 1, latency, one_way) for a, b, rate, latency in edges]
    return box


def _rows(text: str, where: str) -> list[tuple[int, list[str]]]:
    """(line, cells) of the rows that are neither empty nor comments."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise TopologyError(f"{where} is not CSV: {error}") from None
    found = [(line, row) for line, row in rows if any(row) and not row[0].startswith("#")]
    if not found or tuple(cell.lower() for cell in found[0][1][:2]) not in ENDS:
        raise TopologyError(f"{where}: no header that begins with a,b or src,dst")
    return found


def _columns(header: Sequence[str], at: str) -> dict[str, _Column]:
    columns: dict[str, _Column] = {}
    for index, cell in enumerate(header[2:], 2):
        match = _COLUMN.fullmatch(cell)
        name = match[1].lower() if match else ""
        unit = (match[2] or match[3] or match[4] or "") if match else ""
        kind = "rate" if name in _RATES or _bits(name) else "latency" if name in _LATENCIES else ""
        if not kind or kind in columns:
            raise TopologyError(f"{at}: column {short(cell)}; expected a, b, rate and latency, each once, with units in brackets")
        factor = (_bits(unit or name) if kind == "rate" else _EXACT.get(unit.lower())) if unit or _bits(name) else None
        if (unit or _bits(name)) and factor is None:
            allowed = "GB/s or Gb/s" if kind == "rate" else "ns, us, ms or s"
            raise TopologyError(f"{at}: the unit {short(unit)} of column {short(cell)}; expected such as {allowed}")
        columns[kind] = _Column(index, factor)
    return columns


def _bits(unit: str) -> Fraction | None:
    """Bytes per second of a unit of rates: b is a bit, B a byte."""
    match = _BITS.fullmatch(unit)
    if match is None:
        return None
    is_bytes = match[2][0] == "B" or match[2].startswith("byte")
    return Fraction(_FACTOR[match[1].lower()], 1 if is_bytes else 8)


def _edge(
    row: list[str], columns: dict[str, _Column], width: int, options: Options, at: str
) -> tuple[str, str, Fraction, Fraction | None]:
    if len(row) != width:
        raise TopologyError(f"{at}: {len(row)} cells; the header has {width}")
    a, b = row[:2]
    if not a or not b or a == b:
        raise TopologyError(f"{at}: a cable from {short(a)} to {short(b)}; expected two names")
    rate = _rate(row, columns.get("rate"), options, at)
    return a, b, rate, _latency(row, columns.get("latency"), at)


def _rate(row: list[str], column: _Column | None, options: Options, at: str) -> Fraction:
    if column is None:
        return options.speed("LINK", "a cable of the edge list")
    text = row[column.index]
    if column.factor is None:
        if decimal(text) is not None:
            raise TopologyError(f"{at}: the rate {short(text)} has no unit; give it in the header, such as rate (GB/s)")
        return parse_bandwidth(text, at, TopologyError)
    value = decimal(text)
    if not value:
        raise TopologyError(f"{at}: the rate {short(text)}; expected a positive number")
    return value * column.factor


def _latency(row: list[str], column: _Column | None, at: str) -> Fraction | None:
    if column is None or not row[column.index]:
        return None
    text, factor = row[column.index], column.factor
    if factor is None:
        match = re.fullmatch(r"([0-9.]+) ?([µa-z]{1,2})", text)
        text, factor = (match[1], _EXACT.get(match[2])) if match else (text, None)
    value = decimal(text)
    if value is None or factor is None:
        raise TopologyError(f"{at}: the latency {short(row[column.index])}; expected a number with a unit here or in the header")
    return value * factor


def _is_directed(
    edges: Sequence[tuple[str, str, Fraction, Fraction | None]], lines: list[int], options: Options, where: str
) -> bool:
    """Whether rows are single directions: each has its opposite. Otherwise rows are cables, and none has."""
    if options.links in ("cables", "directed"):
        return options.links == "directed"
    pairs = {(a, b) for a, b, _, _ in edges}
    opposed = [(b, a) in pairs for a, b, _, _ in edges]
    if any(opposed) and not all(opposed):
        line, (a, b, _, _) = next((line, edge) for line, edge, both in zip(lines, edges, opposed, strict=True) if not both)
        options.ask(
            f"whether rows are cables or directions: line {line} ({short(a)} to {short(b)}) has no opposite row, and others have;"
            " give links=cables or links=directed"
        )
    options.tell("assumed", "rows are directions: each has its opposite" if all(opposed) else "rows are cables for both directions")
    return all(opposed)
