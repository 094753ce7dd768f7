"""Topologies as graphs: networkx node-link JSON and GraphML."""

import io
from fractions import Fraction
from typing import Any
from xml.etree.ElementTree import ParseError

import networkx as nx
import numpy as np

from certree.models.common.columns import first_repeated
from certree.models.common.elements import refuse_document_types
from certree.models.common.errors import InputError, TopologyError, short
from certree.models.common.fields import exact_number
from certree.models.common.files import Opened
from certree.models.network.capacities import ALLOWED, capacity_of, in_units
from certree.models.network.rates import Rates
from certree.models.network.topology import MAX_CAPACITY, MAX_EXACT, MAX_LATENCY, MAX_NODES, UNKNOWN_LATENCY, NodeKind, Topology

_MOST_RATE = (1 << 63) - 1


def from_node_link(document: dict[str, Any], where: str) -> Topology:
    """The topology in a parsed networkx node-link document; TopologyError says what is wrong."""
    edges = next((key for key in ("links", "edges") if key in document), None)
    if edges is None:
        raise TopologyError(f'{where}: neither a "format" field nor node-link "links" or "edges"')
    if not isinstance(document.get("graph", {}), dict):
        raise TopologyError(f"{where}: graph is {short(document['graph'])}; expected an object")
    try:
        graph = nx.node_link_graph(document, edges=edges)
    except (nx.NetworkXException, KeyError, TypeError, ValueError, AttributeError) as error:
        raise TopologyError(f"{where}: not networkx node-link JSON: {error!r}") from None
    return topology_from_graph(graph, where)


def read_graphml(file: Opened) -> Topology:
    """The topology in a GraphML file, zipped when its name ends in .gz; TopologyError or InputError says what is wrong."""
    data = file.data()
    refuse_document_types(data, str(file), TopologyError)
    try:
        graph = nx.read_graphml(io.BytesIO(data))
    except (nx.NetworkXException, ParseError, LookupError, ValueError, StopIteration) as error:
        raise TopologyError(f"{file}: not GraphML: {error}") from None
    return topology_from_graph(graph, str(file))


def topology_from_graph(graph: Any, where: str) -> Topology:
    """A topology from a networkx graph: undirected edges become a link in each direction.

    Nodes named by whole numbers keep them as ids; otherwise ids follow the file's order and the names become labels.
    Attributes: node `kind` (endpoint, switch) and `reducing`; edge `capacity` (1 when the file gives none at all) and `latency`;
    graph `bandwidth` (bytes per second of a full link), `clock` (Hz) and `unit`, the part of a full link in which schedules count.
    """
    names = [str(node) for node in graph.nodes]
    if len(set(names)) < len(names):
        raise TopologyError(f"{where}: two nodes are called {first_repeated(names)!r}")
    numbered = all(len(name) < 10 and name.isascii() and name.isdigit() and str(int(name)) == name for name in names)
    ids = {node: int(name) if numbered else index for index, (node, name) in enumerate(zip(graph.nodes, names, strict=True))}
    count = max(ids.values(), default=-1) + 1
    if count > MAX_NODES:
        raise TopologyError(f"{where}: node id {count - 1}; allowed: up to {MAX_NODES - 1}")
    kind = np.full(count, NodeKind.ABSENT, np.int8)
    reducing = np.zeros(count, np.bool_)
    for node, data in graph.nodes(data=True):
        name = str(data.get("kind", "endpoint"))
        if name not in ("endpoint", "switch"):
            raise TopologyError(f"{where}: node {node}: kind {name!r}; allowed: endpoint, switch")
        if type(data.get("reducing", False)) is not bool:
            raise TopologyError(f"{where}: node {node}: reducing is {data['reducing']!r}; allowed: true, false")
        kind[ids[node]] = NodeKind.SWITCH if name == "switch" else NodeKind.ENDPOINT
        reducing[ids[node]] = data.get("reducing", False)
    stated = {"capacity" in data for _, _, data in graph.edges(data=True)}
    if len(stated) > 1:
        raise TopologyError(f"{where}: some edges have a capacity and some have none; give all or none")
    rows: list[tuple[int, int, Fraction, int]] = []
    for tail, head, data in graph.edges(data=True):
        what = f"{where}: edge {tail} - {head}"
        capacity = capacity_of(data.get("capacity", 1))
        if capacity is None:
            raise InputError(f"{what}: capacity is {data['capacity']!r}; allowed: {ALLOWED}")
        stated_latency = data.get("latency")
        latency = UNKNOWN_LATENCY
        if stated_latency is not None:
            latency = _whole(stated_latency, UNKNOWN_LATENCY, MAX_LATENCY, f"{what}: latency")
        rows.append((ids[tail], ids[head], capacity, latency))
        if not graph.is_directed():
            rows.append((ids[head], ids[tail], capacity, latency))
    rows.sort()
    if "rounded" in graph.graph:
        raise TopologyError(f"{where}: rates were rounded by an earlier version; convert the description of the machine again")
    unit = None if "unit" not in graph.graph else exact_number(str(graph.graph["unit"]))
    if "unit" in graph.graph and (unit is None or unit <= 0):
        raise TopologyError(f"{where}: unit is {short(graph.graph['unit'])}; allowed: a number above 0, such as 1, 1/2 or 0.25")
    units, scale = in_units([capacity for _, _, capacity, _ in rows], where, MAX_CAPACITY if unit is None else MAX_EXACT)
    links = np.array([(*row[:2], unit, row[3]) for row, unit in zip(rows, units, strict=True)], np.int32).reshape(-1, 4)
    topology = Topology(
        where,
        kind,
        links[:, 0],
        links[:, 1],
        links[:, 2],
        links[:, 3],
        reducing,
        labels=None if numbered else tuple(names),
        bandwidth=_known(graph, "bandwidth", where),
        clock=_known(graph, "clock", where),
        scale=scale,
        rates=None if unit is None else Rates(links[:, 2].astype(np.int64), scale),
    )
    return topology if unit is None else topology.in_units_of(unit)


def _known(graph: Any, name: str, where: str) -> int | None:
    """A whole number among the attributes of the graph; None where it is not there."""
    value = graph.graph.get(name)
    return None if value is None else _whole(value, 1, _MOST_RATE, f"{where}: {name}")


def _whole(value: Any, low: int, high: int, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in range(low, high + 1):
        raise InputError(f"{where} is {value!r}; allowed: whole numbers from {low} to {high}")
    return int(value)


def graph_of(topology: Topology) -> Any:
    """A networkx MultiDiGraph that `topology_from_graph` turns into the same network, absent ids left out.

    Node ids are the names (labels travel as attribute `label`); links come back in the order of (src, dst).
    """
    graph = nx.MultiDiGraph()
    known = {"bandwidth": topology.bandwidth, "clock": topology.clock}
    graph.graph |= {name: value for name, value in known.items() if value is not None}
    if topology.rates is not None:
        graph.graph["unit"] = str(1 / Fraction(topology.scale))
    for node in np.flatnonzero(topology.kind != NodeKind.ABSENT).tolist():
        attributes: dict[str, Any] = {"kind": "switch" if topology.kind[node] == NodeKind.SWITCH else "endpoint"}
        if topology.reducing[node]:
            attributes["reducing"] = True
        if topology.labels is not None:
            attributes["label"] = topology.labels[node]
        graph.add_node(node, **attributes)
    exact = topology.exact
    capacities = exact.capacity.tolist() if exact.scale == 1 else [str(exact.speed(c)) for c in exact.capacity.tolist()]
    columns = (topology.src.tolist(), topology.dst.tolist(), capacities, topology.latency.tolist())
    for tail, head, capacity, latency in zip(*columns, strict=True):
        known = {} if latency == UNKNOWN_LATENCY else {"latency": latency}
        graph.add_edge(tail, head, capacity=capacity, **known)
    return graph


def graphml_bytes(topology: Topology) -> bytes:
    """The graph of `graph_of` as GraphML."""
    buffer = io.BytesIO()
    nx.write_graphml(graph_of(topology), buffer)
    return buffer.getvalue()
