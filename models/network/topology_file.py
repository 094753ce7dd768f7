"""Topologies in files: certree's own JSON here; networkx node-link JSON and GraphML in `topology_graph`."""

from pathlib import Path
from typing import Any

import numpy as np

from certree.models.common.columns import int_column
from certree.models.common.errors import TopologyError
from certree.models.common.files import canonical_json, check_format, read_json, write_atomically
from certree.models.network.topology import MAX_CAPACITY, MAX_LATENCY, MAX_NODES, UNKNOWN_LATENCY, NodeKind, Topology

FORMAT, VERSION = "certree-topology", 1
MAX_COORDINATE = 1 << 30
FILE_SUFFIXES = (".json", ".json.gz", ".graphml", ".graphml.gz")
_KIND_NAMES = {NodeKind.ENDPOINT: "endpoint", NodeKind.SWITCH: "switch", NodeKind.ABSENT: "absent"}
_KINDS = {name: kind for kind, name in _KIND_NAMES.items()}


def load_topology(path: Path) -> Topology:
    """Read a topology file; TopologyError or InputError says what is wrong and where."""
    if _is_graphml(path):
        from certree.models.network.topology_graph import read_graphml  # noqa: PLC0415 - networkx is slow to load, and seldom needed

        return read_graphml(path)
    document = read_json(path)
    if isinstance(document, dict) and "format" not in document and "nodes" in document:
        from certree.models.network.topology_graph import from_node_link  # noqa: PLC0415

        return from_node_link(document, str(path))
    return topology_from_document(document, str(path))


def _is_graphml(path: Path) -> bool:
    return path.name.lower().endswith((".graphml", ".graphml.gz"))


def topology_document(topology: Topology) -> dict[str, Any]:
    """The JSON document of a topology (schema: models/schemas/topology.schema.json)."""
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
            "capacity": topology.capacity.tolist(),
            "latency": topology.latency.tolist() if known else None,
        },
    }


def save_topology(topology: Topology, path: Path, *, force: bool = False) -> None:
    """Write a topology: GraphML when the name ends in .graphml, otherwise its JSON document; .gz compresses, with a fixed time
    stamp. GraphML keeps neither link order nor drawing, bandwidth and clock."""
    if _is_graphml(path):
        from certree.models.network.topology_graph import graphml_bytes  # noqa: PLC0415

        data = graphml_bytes(topology)
    else:
        data = canonical_json(topology_document(topology))
    write_atomically(path, data, force=force)


def topology_from_document(document: Any, where: str) -> Topology:
    """The topology in a parsed JSON document of our own format."""
    document = check_format(document, FORMAT, VERSION, where)
    _only_keys(document, {"format", "version", "name", "bandwidth", "clock", "nodes", "links"}, where)
    nodes, links = (_object(document, key, where) for key in ("nodes", "links"))
    _only_keys(nodes, {"kind", "reducing", "coordinates", "labels"}, f"{where}: nodes")
    _only_keys(links, {"src", "dst", "capacity", "latency"}, f"{where}: links")
    kinds = nodes.get("kind")
    if not isinstance(kinds, list) or not all(isinstance(kind, str) and kind in _KINDS for kind in kinds):
        raise TopologyError(f"{where}: nodes.kind must be a list of {', '.join(_KINDS)}")
    count = len(kinds)
    src = int_column(links, "src", f"{where}: links", 0, MAX_NODES, None, TopologyError)
    size = len(src)
    reducing = np.zeros(count, np.bool_)
    reducing[int_column(nodes, "reducing", f"{where}: nodes", 0, count - 1, None, TopologyError, default=[])] = True
    latency = links.get("latency")
    fields: dict[str, Any] = {
        "name": _string(document.get("name"), f"{where}: name"),
        "kind": np.array([_KINDS[kind] for kind in kinds], np.int8),
        "src": src,
        "dst": int_column(links, "dst", f"{where}: links", 0, MAX_NODES, size, TopologyError),
        "capacity": int_column(links, "capacity", f"{where}: links", 1, MAX_CAPACITY, size, TopologyError),
        "latency": np.full(size, UNKNOWN_LATENCY, np.int32)
        if latency is None
        else int_column(links, "latency", f"{where}: links", UNKNOWN_LATENCY, MAX_LATENCY, size, TopologyError),
        "reducing": reducing,
        "coordinates": _coordinates(nodes.get("coordinates"), count, where),
        "labels": _labels(nodes.get("labels"), count, where),
        "bandwidth": _optional_count(document.get("bandwidth"), f"{where}: bandwidth"),
        "clock": _optional_count(document.get("clock"), f"{where}: clock"),
    }
    try:
        return Topology(**fields)
    except TopologyError as error:
        raise TopologyError(f"{where}: {error}") from None


def _object(document: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    value = document.get(key)
    if not isinstance(value, dict):
        raise TopologyError(f"{where}: {key} must be an object")
    return value


def _only_keys(document: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(document.keys() - known)
    if unknown:
        raise TopologyError(f"{where}: unknown fields {unknown}; known: {sorted(known)}")


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise TopologyError(f"{where} must be a string")
    return value


def _optional_count(value: Any, where: str) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise TopologyError(f"{where} must be null or a positive whole number")
    return value


def _coordinates(value: Any, count: int, where: str) -> np.ndarray | None:
    if value is None:
        return None
    rows = value if isinstance(value, list) else []
    widths = {len(row) if isinstance(row, list) else -1 for row in rows}
    if (
        len(rows) != count
        or len(widths) != 1
        or -1 in widths
        or not all(type(x) is int and abs(x) <= MAX_COORDINATE for row in rows for x in row)
    ):
        raise TopologyError(
            f"{where}: nodes.coordinates must hold {count} lists of whole numbers of one length, up to {MAX_COORDINATE}"
        )
    return np.array(rows, np.int32)


def _labels(value: Any, count: int, where: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != count or not all(isinstance(label, str) for label in value):
        raise TopologyError(f"{where}: nodes.labels must be a list of {count} strings")
    return tuple(value)
