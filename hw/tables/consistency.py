"""Whether columns are tables at all: ranges, order, addresses, and arrivals that match the rows one to one."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TableFormatError, UnsupportedError
from certree.models.network.topology import NodeKind
from certree.models.schedule.schedule import MAX_STEPS
from certree.models.schedule.timing import chunk_bytes_of
from certree.models.tables import NIL, RowOp, Tables


def check_tables(tables: Tables) -> None:
    """Raise TableFormatError for the first row or arrival that the contract does not allow.

    This is about form; whether the rows play a right and contention-free collective is the verifier's to say.
    O(rows log rows) time.
    """
    if len(tables.topology.kind) ** 2 * tables.chunks * 3 >= 1 << 63:
        raise UnsupportedError(f"{len(tables.topology.kind)} nodes and {tables.chunks} chunks are more than tables can number")
    _check_ranges(tables)
    _check_size(tables)
    _check_shape(tables)
    _check_order(tables)
    _check_routes(tables)
    _check_arrivals(tables)


def _first(wrong: NDArray[np.bool_]) -> int | None:
    return int(np.argmax(wrong)) if wrong.any() else None


def _check_size(tables: Tables) -> None:
    chunk = chunk_bytes_of(tables.message_bytes, tables.chunks, tables.repeats, tables.machine)
    if tables.chunk_bytes != chunk:
        raise TableFormatError(f"chunk_bytes is {tables.chunk_bytes}; {tables.message_bytes} bytes in K chunks make {chunk}")
    size = chunk // tables.machine.flit_bytes
    row = _first((tables.size != size) | (tables.addr != tables.flow.astype(np.int64) * size))
    if row is not None:
        raise TableFormatError(
            f"row {row}: addr {tables.addr[row]}, size {tables.size[row]}; "
            f"K and the chunk size make them {int(tables.flow[row]) * size} and {size}"
        )


def _check_ranges(tables: Tables) -> None:
    last = len(tables.topology.kind) - 1
    ids, ids_or_nil, flows, ops = (0, last), (NIL, last), (0, tables.chunks - 1), (int(RowOp.REDUCE), int(RowOp.GATHER))
    routes = (NIL, len(tables.routes) - 1)
    for what, limits in (
        (
            "row",
            {
                "node": ids,
                "op": ops,
                "flow": flows,
                "parent": ids_or_nil,
                "children": ids_or_nil,
                "step": (0, MAX_STEPS),
                "route": routes,
            },
        ),
        ("arrival", {"arrival_node": ids, "arrival_op": ops, "arrival_flow": flows, "arrival_peer": ids}),
    ):
        for name, (low, high) in limits.items():
            column = getattr(tables, name)
            wrong = (column < low) | (column > high)
            row = _first(wrong.any(axis=1) if wrong.ndim == 2 else wrong)
            if row is not None:
                raise TableFormatError(f"{what} {row}: {name} is {column[row]}; allowed: {low} to {high}")


def _check_shape(tables: Tables) -> None:
    """Rows belong to endpoints; REDUCE rows have a parent, GATHER rows a child; children are ascending and nil comes last."""
    children = tables.children
    left, right = children[:, :-1], children[:, 1:]
    for wrong, what in (
        (tables.topology.kind[tables.node] != NodeKind.ENDPOINT, "belongs to no endpoint"),
        ((tables.op == RowOp.REDUCE) & (tables.parent == NIL), "is a REDUCE without parent"),
        ((tables.op == RowOp.GATHER) & (children == NIL).all(axis=1), "is a GATHER without children"),
        (((right != NIL) & ((left == NIL) | (left >= right))).any(axis=1), "has children that are not ascending"),
        (_shares_a_route(tables), "has a source route and several destinations; a route leads to one"),
    ):
        row = _first(wrong)
        if row is not None:
            raise TableFormatError(f"row {row} of node {tables.node[row]} {what}")


def _check_order(tables: Tables) -> None:
    rows = (tables.node, tables.step, tables.op, tables.flow, tables.first_destination)
    arrivals = (tables.arrival_node, tables.arrival_op, tables.arrival_flow, tables.arrival_peer)
    for what, columns in (("row", rows), ("arrival", arrivals)):
        ahead = np.zeros(max(0, len(columns[0]) - 1), np.bool_)
        equal = np.ones_like(ahead)
        for column in columns:
            ahead |= equal & (column[:-1] < column[1:])
            equal &= column[:-1] == column[1:]
        row = _first(~ahead)
        if row is not None:
            raise TableFormatError(f"{what} {row + 1} of node {columns[0][row + 1]} is out of order, or there twice")


def _shares_a_route(tables: Tables) -> NDArray[np.bool_]:
    several = (tables.op == RowOp.GATHER) & (tables.children[:, 1:] != NIL).any(axis=1)
    shared: NDArray[np.bool_] = several & (tables.route != NIL)
    return shared


def _check_routes(tables: Tables) -> None:
    """Every route is a chain of links and leads from its rows' node to their destination; without routes one row serves all
    neighbours of a step."""
    topology = tables.topology
    for number, route in enumerate(tables.routes):
        if not route or not all(0 <= link < len(topology.src) for link in route):
            raise TableFormatError(f"route {number}: {list(route)} is not a list of link numbers")
        if any(topology.dst[link] != topology.src[after] for link, after in pairwise(route)):
            raise TableFormatError(f"route {number}: {list(route)} is not a chain of links")
    ends = np.array([(topology.src[route[0]], topology.dst[route[-1]]) for route in tables.routes] + [(NIL, NIL)], np.int32)
    start, end = ends[tables.route].T
    row = _first((tables.route != NIL) & ((start != tables.node) | (end != tables.first_destination)))
    if row is not None:
        way = f"route {tables.route[row]}, which leads from node {start[row]} to node {end[row]}"
        raise TableFormatError(f"row {row} of node {tables.node[row]} takes {way}")
    keys = np.stack([column.astype(np.int64) for column in (tables.node, tables.step, tables.op, tables.flow)])
    alike = (np.diff(keys[:, tables.route == NIL], axis=1) == 0).all(axis=0)
    row = _first(alike)
    if row is not None:
        number = np.flatnonzero(tables.route == NIL)[row + 1]
        raise TableFormatError(f"row {number} of node {tables.node[number]} is out of order, or there twice")


def _check_arrivals(tables: Tables) -> None:
    """Every transfer that the rows command is expected at its destination, and nothing else is; so is what a row waits for."""
    stranger = _first(tables.topology.kind[tables.arrival_node] != NodeKind.ENDPOINT)
    if stranger is not None:
        raise TableFormatError(f"arrival {stranger} of node {tables.arrival_node[stranger]} belongs to no endpoint")
    commanded, expected = np.sort(transfer_keys(tables)), arrival_keys(tables)
    if not np.array_equal(commanded, expected):
        _tell_difference(tables, commanded, expected)
    for name, row, awaited in dependencies(tables):
        place = np.minimum(np.searchsorted(expected, awaited), len(expected) - 1)
        lost = _first(expected[place] != awaited if len(expected) else np.ones(len(awaited), np.bool_))
        if lost is not None:
            where = f"row {row[lost]} of node {tables.node[row[lost]]}"
            raise TableFormatError(f"{where}: {name} {_named(tables, int(awaited[lost]))} is not expected")


def _tell_difference(tables: Tables, commanded: NDArray[np.int64], expected: NDArray[np.int64]) -> None:
    """Raise TableFormatError for what only one of two ascending columns of keys holds, or the first holds twice."""
    for ours, others, fault in (
        (commanded, expected, "is sent, but not expected"),
        (expected, commanded, "is expected, but no row sends it"),
    ):
        lone = ours[~np.isin(ours, others)]
        if len(lone):
            raise TableFormatError(f"{_named(tables, int(lone.min()))} {fault}")
    twice = commanded[1:][commanded[1:] == commanded[:-1]]
    raise TableFormatError(f"{_named(tables, int(twice[0]))} is sent by two rows")


def dependencies(tables: Tables) -> list[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    """The arrivals that rows name: (field, row numbers, keys), the keys as `arrival_keys` gives them."""
    reduces, column = np.nonzero((tables.op == RowOp.REDUCE)[:, None] & (tables.children != NIL))
    gathers = np.flatnonzero((tables.op == RowOp.GATHER) & (tables.parent != NIL))
    found = []
    for name, op, row, peer in (
        ("child", RowOp.REDUCE, reduces, tables.children[reduces, column]),
        ("parent", RowOp.GATHER, gathers, tables.parent[gathers]),
    ):
        found.append((name, row, _keys(tables, tables.node[row], np.full(len(row), op), tables.flow[row], peer)))
    return found


def transfer_keys(tables: Tables) -> NDArray[np.int64]:
    """The arrival that each of `tables.transfers()` causes, numbered as by `arrival_keys`."""
    sent = tables.transfers()
    op = np.array([RowOp.REDUCE, RowOp.GATHER])[sent["op"]]
    return _keys(tables, sent["dst"], op, sent["chunk"], sent["src"])


def arrival_keys(tables: Tables) -> NDArray[np.int64]:
    """One ascending number per expected arrival."""
    return _keys(tables, tables.arrival_node, tables.arrival_op, tables.arrival_flow, tables.arrival_peer)


def _keys(tables: Tables, node: Any, op: Any, flow: Any, peer: Any) -> NDArray[np.int64]:
    """(node, op, flow, peer) in one number, in the order of the arrival columns."""
    nodes = len(tables.topology.kind)
    key: NDArray[np.int64] = ((np.asarray(node, np.int64) * (RowOp.GATHER + 1) + op) * tables.chunks + flow) * nodes + peer
    return key


def _named(tables: Tables, key: int) -> str:
    key, peer = divmod(key, len(tables.topology.kind))
    key, flow = divmod(key, tables.chunks)
    node, op = divmod(key, RowOp.GATHER + 1)
    return f"the {RowOp(op).name} of flow {flow} from node {peer} to node {node}"
