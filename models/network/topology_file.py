"""Topologies as documents of certree's own JSON."""

from fractions import Fraction
from typing import Any

import numpy as np

from certree.models.common.columns import int_column
from certree.models.common.errors import TopologyError, located
from certree.models.common.fields import ABOVE_ZERO, Fields
from certree.models.network.capacities import read_capacities, written
from certree.models.network.rates import Rates, Rounding
from certree.models.network.topology import MAX_CAPACITY, MAX_EXACT, MAX_LATENCY, MAX_NODES, UNKNOWN_LATENCY, NodeKind, Topology

FORMAT, VERSION = "certree-topology", 1
MAX_COORDINATE = 1 << 30
_KIND_NAMES = {NodeKind.ENDPOINT: "endpoint", NodeKind.SWITCH: "switch", NodeKind.ABSENT: "absent"}
_KINDS = {name: kind for kind, name in _KIND_NAMES.items()}


def topology_document(topology: Topology) -> dict[str, Any]:
    """The JSON document of a topology (its form: `certree.models.schemas.networks`)."""
    known = (topology.latency != UNKNOWN_LATENCY).any()
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": topology.name,
        "bandwidth": topology.bandwidth,
        "clock": topology.clock,
        "nodes": {
            "kind": [_KIND_NAMES[NodeKind(kind)] for kind in topology.kind.tolist()],
            "reducing": np.flatnonzero(topology.reducing).tolist(),
            "coordinates": None if topology.coordinates is None else topology.coordinates.tolist(),
            "labels": None if topology.labels is None else list(topology.labels),
        },
        "links": {
            "src": topology.src.tolist(),
            "dst": topology.dst.tolist(),
            "capacity": written(topology.exact.capacity.tolist(), int(topology.exact.scale)),
            "latency": topology.latency.tolist() if known else None,
            **({} if topology.rates is None else {"unit": str(1 / Fraction(topology.scale))}),
        },
    }


def topology_from_document(parsed: Any, where: str) -> Topology:
    """The topology in a parsed JSON document of certree's own format."""
    document = Fields.of_format(parsed, FORMAT, VERSION, where, TopologyError)
    document.only("name", "nodes", "links", optional=("bandwidth", "clock", "rounded"))
    nodes = document.table_of("nodes").only("kind", optional=("reducing", "coordinates", "labels"))
    links = document.table_of("links").only("src", "dst", "capacity", optional=["latency", "unit"])
    kinds = nodes.entries("kind", empty=True)
    if not all(isinstance(kind, str) and kind in _KINDS for kind in kinds):
        nodes.refuse(f"kind must be a list of {', '.join(_KINDS)}")
    count = len(kinds)
    columns = links.columns({"src": (0, MAX_NODES), "dst": (0, MAX_NODES)})
    size = len(columns["src"])
    if "rounded" in document:  # of earlier versions
        links = _described(document.table_of("rounded").read(Rounding), links)
    unit = links.exact("unit", ABOVE_ZERO) if "unit" in links else None
    columns["capacity"], scale = _capacities(links, size, MAX_CAPACITY if unit is None else MAX_EXACT)
    rates = None if unit is None else Rates(columns["capacity"].astype(np.int64), scale)
    reducing = np.zeros(count, np.bool_)
    if "reducing" in nodes:
        reducing[nodes.column("reducing", 0, count - 1)] = True
    with located(where, TopologyError):
        topology = Topology(
            name=document.text("name"),
            kind=np.array([_KINDS[kind] for kind in kinds], np.int8),
            src=columns["src"],
            dst=columns["dst"],
            capacity=columns["capacity"],
            latency=_latencies(links, size),
            reducing=reducing,
            coordinates=_coordinates(nodes, count),
            labels=_labels(nodes, count),
            bandwidth=document.whole_or_none("bandwidth", 1),
            clock=document.whole_or_none("clock", 1),
            scale=scale,
            rates=rates,
        )
        return topology if unit is None else topology.in_units_of(unit)


def _described(rounding: Rounding, links: Fields) -> Fields:
    """The links with their exact capacities where the file has them rounded down to whole units, and lists which rate was rounded
    to which; TopologyError where that is not clear."""
    exact = {rate.used / rounding.unit: str(rate.described / rounding.unit) for rate in rounding.rates}
    written_down = links.entries("capacity", empty=True)
    rounded = sum(type(value) is int and value in exact for value in written_down)
    if len(exact) < len(rounding.rates) or rounded != sum(rate.links for rate in rounding.rates):
        links.refuse("rates were rounded to the same one as others; convert the description of the machine again")
    capacity = [exact.get(Fraction(value), value) if type(value) is int else value for value in written_down]
    return Fields({**links.table, "capacity": capacity, "unit": "1"}, links.where, TopologyError)


def _latencies(links: Fields, size: int) -> np.ndarray:
    """The column; null, for all links or one of them, is a latency that the machine decides."""
    values = links.raw("latency", None)
    if values is None:
        return np.full(size, UNKNOWN_LATENCY, np.int32)
    if isinstance(values, list) and None in values:
        values = [UNKNOWN_LATENCY if value is None else value for value in values]
    return int_column(values, f"{links.where}.latency", UNKNOWN_LATENCY, MAX_LATENCY, size, TopologyError)


def _capacities(links: Fields, size: int, most: int) -> tuple[np.ndarray, int]:
    """The column in chunk units, at most `most` for a link, and the units of a full link."""
    values = links.raw("capacity")
    if not (isinstance(values, list) and any(isinstance(value, str) for value in values)):
        return links.column("capacity", 1, MAX_CAPACITY, size), 1
    if len(values) != size:
        links.refuse(f"capacity has {len(values)} entries; expected {size}")
    units, scale = read_capacities(values, f"{links.where}.capacity", most)
    return np.array(units, np.int32), scale


def _coordinates(nodes: Fields, count: int) -> np.ndarray | None:
    if nodes.raw("coordinates", None) is None:
        return None
    rows = nodes.entries("coordinates", empty=True)
    widths = {len(row) if isinstance(row, list) else -1 for row in rows}
    right = len(rows) == count and len(widths) == 1 and -1 not in widths
    if not right or not all(type(x) is int and abs(x) <= MAX_COORDINATE for row in rows for x in row):
        nodes.refuse(f"coordinates must hold {count} lists of whole numbers of one length, up to {MAX_COORDINATE}")
    return np.array(rows, np.int32)


def _labels(nodes: Fields, count: int) -> tuple[str, ...] | None:
    if nodes.raw("labels", None) is None:
        return None
    labels = nodes.entries("labels", empty=True)
    if len(labels) != count or not all(isinstance(label, str) for label in labels):
        nodes.refuse(f"labels must be a list of {count} strings")
    return tuple(labels)
