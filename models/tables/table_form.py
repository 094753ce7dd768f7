"""Checks of the form of tables: of rows and arrivals by themselves, independent of the collective.

The checker reports each fault by its rule; readers of files and simulators refuse the first.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TableFormatError
from certree.models.schedule.timing import chunk_bytes_of
from certree.models.tables.table_columns import NIL, RowOp
from certree.models.tables.table_memory import NOWHERE, cell_addresses, message_chunks
from certree.models.tables.tables import Tables

Told = tuple[int, tuple[int, ...], str]  # a step, the table rows that are wrong, and a sentence that names them


@dataclass(frozen=True)
class Fault:
    """Violations of one rule (`docs/reference/rules.md`): one or more cases, each of which `tell` describes."""

    rule: str
    cases: list[int]
    tell: Callable[[int], Told]


_SOUND: WeakSet[Tables] = WeakSet()


def require_sound(tables: Tables) -> None:
    """Raise TableFormatError with the first row or arrival of wrong form: a row that commands nothing or is out of order, another
    address or size than its chunk's, arrivals that are not the transfers, a route that leads elsewhere.

    The checker checks whether the rows execute a valid and contention-free collective. Tables do not change, so each is checked
    once. O(rows log rows + hops of all routes).
    """
    if tables in _SOUND:
        return
    require_rows(tables)
    _refuse(order_faults(tables))
    _refuse(arrival_faults(tables))
    _require_expected(tables)
    _require_routes(tables)
    _SOUND.add(tables)


def require_rows(tables: Tables) -> None:
    """Raise TableFormatError with the first row that commands nothing, or has another address or size than its chunk's. O(rows)."""
    _refuse(row_faults(tables))
    _refuse(size_faults(tables))


def _refuse(faults: Iterable[Fault]) -> None:
    for fault in faults:
        raise TableFormatError(fault.tell(fault.cases[0])[-1])


def table_row_text(tables: Tables, row: int) -> str:
    """A table row in words: `table row 9 (GATHER of flow 3 at node 5, step 7)`."""
    op = RowOp(int(tables.op[row])).name
    return f"table row {row} ({op} of flow {tables.flow[row]} at node {tables.node[row]}, step {tables.step[row]})"


def faults_of_rows(
    tables: Tables, rule: str, broken: NDArray[np.bool_], rows: NDArray[Any], reason: Callable[[int], str]
) -> Iterator[Fault]:
    """A fault with the case `rows[i]` for each i that is broken, by step, in the words `reason(i)`; none where none is broken."""
    cases = np.flatnonzero(broken)
    cases = cases[np.argsort(tables.step[rows[cases]], kind="stable")]

    def tell(case: int) -> Told:
        row = int(rows[case])
        return int(tables.step[row]), (row,), f"{table_row_text(tables, row)} {reason(case)}"

    if len(cases):
        yield Fault(rule, cases.tolist(), tell)


def row_faults(tables: Tables) -> Iterator[Fault]:
    """Faults by rule `row`: every row commands something; its children ascend and nil comes after them."""
    empty = tables.children == NIL
    reduces = tables.op == RowOp.REDUCE
    sends = tables.is_counted | (tables.op == RowOp.GATHER)  # to its children
    idle = (tables.op == RowOp.NOP) | (~sends & reduces & (tables.parent == NIL)) | (sends & empty.all(axis=1))
    left, right = tables.children[:, :-1], tables.children[:, 1:]
    gap = (empty[:, :-1] & ~empty[:, 1:]).any(axis=1)
    mixed = (~empty[:, :-1] & ~empty[:, 1:] & (left >= right)).any(axis=1)
    alone = empty[:, 1:].all(axis=1)
    several = sends & (tables.route != NIL) & ~alone
    home = tables.children == tables.node[:, None]
    own = tables.is_counted & home.any(axis=1) & (~alone | (tables.route != NIL))
    rows = np.arange(len(idle))
    yield from faults_of_rows(tables, "row", idle, rows, lambda _: "commands nothing")
    yield from faults_of_rows(tables, "row", gap, rows, lambda _: "has a child after a nil")
    yield from faults_of_rows(tables, "row", mixed, rows, lambda _: "names a child twice or behind a larger one")
    yield from faults_of_rows(tables, "row", several, rows, lambda _: "has one route for several destinations")
    yield from faults_of_rows(tables, "row", own, rows, lambda _: "sends to its own node and elsewhere, or by a route")


def order_faults(tables: Tables) -> Iterator[Fault]:
    """Faults by rule `order`: rows by node, then step, op, flow, buffers, first destination; no two equal in all, and of rows to
    neighbours no two equal in all but the last, which one row could be."""
    columns = [tables.node, tables.step, tables.op, tables.flow]
    columns += [tables.src_buffer, tables.dst_buffer] if tables.buffers > 1 else []
    keys = np.stack([column.astype(np.int64) for column in (*columns, tables.first_destination)])
    direct = np.flatnonzero((tables.route == NIL) & ~(tables.is_counted & (tables.first_destination == tables.node)))
    for rows, depth in ((np.arange(len(tables.node)), len(columns) + 1), (direct, len(columns))):
        difference = np.diff(keys[:depth, rows], axis=1)
        leading = (difference != 0).argmax(axis=0)
        bad = np.flatnonzero(np.take_along_axis(difference, leading[None], axis=0)[0] <= 0)
        if len(bad):
            yield Fault("order", bad.tolist(), _order_teller(tables, rows))
            return


def _order_teller(tables: Tables, rows: NDArray[np.int64]) -> Callable[[int], Told]:
    def tell(place: int) -> Told:
        first, second = rows[place : place + 2].tolist()
        before, behind = table_row_text(tables, first), table_row_text(tables, second)
        message = f"{behind} stands behind {before}; rows are sorted by step, op and flow, and no two agree in all three"
        return int(tables.step[second]), (first, second), message

    return tell


def size_faults(tables: Tables) -> Iterator[Fault]:
    """Faults by rules `size` and `address`: chunk size from message, K, repeats and granule; addresses of the cells that rows read,
    and of those that arrivals are written to."""
    chunks = message_chunks(tables)
    needed = chunk_bytes_of(tables.message_bytes, chunks, tables.repeats, tables.machine)
    if tables.chunk_bytes != needed:
        cut = f"{tables.message_bytes} bytes in {chunks} x {tables.repeats} chunks of whole {tables.machine.flit_bytes}-byte"
        message = f"chunks of {tables.chunk_bytes} bytes; {cut} granules take {needed} each"
        yield Fault("size", [0], lambda _: (0, (), message))
    granules = needed // tables.machine.flit_bytes
    addresses, sizes = tables.flow.astype(np.int64) * granules, tables.sizes(tables.flow)
    if tables.is_counted:
        addresses = cell_addresses(tables, tables.node, tables.flow, tables.src_buffer)
    for name, column, right in (("size", tables.size, sizes), ("address", tables.addr, addresses)):
        rows = np.flatnonzero(column != right)
        reason = _wrong_number(name, column[rows], right[rows])
        yield from faults_of_rows(tables, name, np.ones(len(rows), np.bool_), rows, reason)
    if tables.is_counted:
        yield from _arrival_addresses(tables)


def _wrong_number(rule: str, column: NDArray[np.int64], right: NDArray[np.int64]) -> Callable[[int], str]:
    def reason(index: int) -> str:
        if right[index] == NOWHERE:
            return "reads a cell to which nothing is sent"
        return f"has {rule} {column[index]}; needed: {right[index]} granules"

    return reason


def _arrival_addresses(tables: Tables) -> Iterator[Fault]:
    right = cell_addresses(tables, tables.arrival_node, tables.arrival_flow, tables.arrival_buffer)
    wrong = np.flatnonzero(tables.arrival_addr != right)

    def tell(line: int) -> Told:
        node, what = _arrival_text(tables, int(tables.arrival_keys()[line]))
        return 0, (), f"node {node} writes {what} to address {tables.arrival_addr[line]}; needed: {right[line]} granules"

    if len(wrong):
        yield Fault("address", wrong.tolist(), tell)


def arrival_faults(tables: Tables) -> Iterator[Fault]:
    """Faults by rule `arrivals`: the expected arrivals are the transfers that end at each node, one to one or counted, in order."""
    due, listed = np.sort(tables.transfer_keys()), tables.arrival_keys()
    if not tables.is_counted and np.array_equal(due, listed):
        return
    kinds = np.union1d(due, listed)
    sent = np.searchsorted(due, kinds, "right") - np.searchsorted(due, kinds)
    awaited = np.zeros(len(kinds), np.int64)
    np.add.at(awaited, np.searchsorted(kinds, listed), tables.arrival_count)
    if np.array_equal(sent, awaited):
        if (np.diff(listed) < int(tables.is_counted)).any():
            keys = "node, flow and buffer, each cell once" if tables.is_counted else "node, op, flow and peer"
            yield Fault("arrivals", [0], lambda _: (0, (), f"the expected arrivals are not sorted by {keys}"))
        return

    def tell(kind: int) -> Told:
        node, what = _arrival_text(tables, int(kinds[kind]))
        if not awaited[kind]:
            return 0, (), f"node {node} does not expect {what}"
        times = f", {awaited[kind]} times; rows send it {sent[kind]} times" if sent[kind] else ", which no row sends"
        return 0, (), f"node {node} expects {what}{times}"

    yield Fault("arrivals", np.flatnonzero(sent != awaited).tolist(), tell)


def _require_expected(tables: Tables) -> None:
    """Raise TableFormatError with the first row that names an arrival which its node does not expect."""
    rows, keys = tables.awaited()
    lost = np.flatnonzero(~np.isin(keys, tables.arrival_keys()))
    if len(lost):
        node, what = _arrival_text(tables, int(keys[lost[0]]))
        raise TableFormatError(f"{table_row_text(tables, int(rows[lost[0]]))} waits for {what}, which node {node} does not expect")


def _arrival_text(tables: Tables, key: int) -> tuple[int, str]:
    """The node at which an arrival is expected, and what arrives, of a number as `Tables.arrival_keys` gives them."""
    if tables.is_counted:
        key, buffer = divmod(key, tables.buffers)
        node, flow = divmod(key, tables.chunks)
        return node, f"flow {flow}" + (f" in buffer {buffer}" if tables.buffers > 1 else "")
    key, peer = divmod(key, len(tables.topology.kind))
    key, flow = divmod(key, tables.chunks)
    node, op = divmod(key, len(RowOp))
    return node, f"a {RowOp(op).name} of flow {flow} from node {peer}"


def _require_routes(tables: Tables) -> None:
    """Raise TableFormatError with the first route that is not a chain of links, or the first row whose route leads elsewhere."""
    topology = tables.topology
    for number, route in enumerate(tables.routes):
        if not route or not all(0 <= link < len(topology.src) for link in route):
            raise TableFormatError(f"route {number}: {list(route)} is not a list of link numbers")
        if any(topology.dst[link] != topology.src[after] for link, after in pairwise(route)):
            raise TableFormatError(f"route {number}: {list(route)} is not a chain of links")
    ends = np.array([(topology.src[route[0]], topology.dst[route[-1]]) for route in tables.routes] + [(NIL, NIL)], np.int32)
    start, end = ends[tables.route].T
    wrong = np.flatnonzero((tables.route != NIL) & ((start != tables.node) | (end != tables.first_destination)))
    if len(wrong):
        row = wrong[0]
        where = f"route {tables.route[row]}, which leads from node {start[row]} to node {end[row]}"
        raise TableFormatError(f"{table_row_text(tables, row)} takes {where}")
