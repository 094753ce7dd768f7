"""How far the timestep counters of neighbours can be apart in a paced run, by the chains of waits between rows, at any timing."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.tables.table_columns import NIL, RowOp
from certree.models.tables.tables import Tables

Entry = tuple[int, int]  # a node, and the place in its program from 0 on
Cell = tuple[int, int, int, int]  # node, flow, buffer, iteration
Past = Mapping[Entry, NDArray[np.int64]]
Awaited = Mapping[Entry, list[Entry]]

#: firings up to which chains of waits are followed, and firings times nodes: 128 MiB
MOST_ENTRIES, MOST_KNOWN = 1 << 17, 1 << 24


def are_few(tables: Tables) -> bool:
    """Whether chains of waits of these tables are followed: a vector of all nodes is kept for each firing."""
    entries = tables.repeats * len(tables.node)
    return entries <= MOST_ENTRIES and entries * len(tables.topology.kind) <= MOST_KNOWN


@dataclass(frozen=True)
class Program:
    """The rows that each node executes in some iterations, in order: the slot, the table row and the iteration of each entry."""

    tables: Tables
    entries: Mapping[int, Sequence[tuple[int, int, int]]]

    @classmethod
    def of(cls, tables: Tables, period: int, repeats: int) -> "Program":
        """The program of the first `repeats` iterations. O(rows · repeats)."""
        found: dict[int, list[tuple[int, int, int]]] = {node: [] for node in tables.topology.endpoints.tolist()}
        for row, (node, step) in enumerate(zip(tables.node.tolist(), tables.step.tolist(), strict=True)):
            found[node] += [(step + i * period, row, i) for i in range(repeats)]
        return cls(tables, {node: sorted(entries) for node, entries in found.items()})

    def in_time(self) -> list[Entry]:
        """The entries in the order of their slots."""
        every = ((self.entries[node][k][0], node, k) for node in self.entries for k in range(len(self.entries[node])))
        return [(node, k) for _, node, k in sorted(every)]

    def slot(self, entry: Entry) -> int:
        """The slot of an entry."""
        return self.entries[entry[0]][entry[1]][0]

    def cell(self, entry: Entry) -> Cell:
        """The cell that an entry reads."""
        node, k = entry
        _, row, iteration = self.entries[node][k]
        return node, int(self.tables.flow[row]), _of(self.tables.src_buffer, row), iteration

    def senders(self) -> dict[Cell, list[tuple[Entry, RowOp]]]:
        """The entries that send into each cell, in the order of their slots, with their operation."""
        into: dict[Cell, list[tuple[Entry, RowOp]]] = defaultdict(list)
        for entry in self.in_time():
            _, row, iteration = self.entries[entry[0]][entry[1]]
            for target in self._targets(row):
                cell = target, int(self.tables.flow[row]), _of(self.tables.dst_buffer, row), iteration
                into[cell].append((entry, RowOp(int(self.tables.op[row]))))
        return into

    def _targets(self, row: int) -> list[int]:
        tables = self.tables
        if not tables.is_counted and tables.op[row] == RowOp.REDUCE:
            return [int(tables.parent[row])]
        return [child for child in tables.children[row].tolist() if child != NIL]

    def awaited(self, entry: Entry, into: list[tuple[Entry, RowOp]], *, partly: bool) -> list[Entry]:
        """The entries whose messages have counted when this one fires. `partly`: if a row waits for a part of what comes into its
        cell, that it is the part that is sent first."""
        tables, row = self.tables, self.entries[entry[0]][entry[1]][1]
        if tables.is_counted:
            many = int(tables.wait[row])
            first = [sender for sender, _ in into[:many]]
            whole = many == len(into)
            is_certain = whole or (partly and self.slot(into[many - 1][0]) < self.slot(into[many][0])) if many else False
            return first if is_certain else []
        if tables.op[row] == RowOp.REDUCE:
            children = set(tables.children[row].tolist())
            return [sender for sender, op in into if op == RowOp.REDUCE and sender[0] in children]
        parent = int(tables.parent[row])
        kind = RowOp.REDUCE if parent == NIL else RowOp.GATHER
        return [sender for sender, op in into if op == kind and parent in (NIL, sender[0])]


def _of(column: NDArray[np.int32] | None, row: int) -> int:
    return 0 if column is None else int(column[row])


def past_of(program: Program) -> Past:
    """How many entries of each node have fired whenever an entry has, for tables whose waits come in order.

    It is the `Past` of `specs/CheckNIPaced.tla`. O(entries · (nodes + waits)) time and memory.
    """
    return chains_of(program)[0]


def chains_of(program: Program) -> tuple[Past, Awaited]:
    """`past_of`, and for each entry those whose messages have counted when it fires. O(entries · (nodes + waits))."""
    past, awaited, is_right = _chains(program, partly=True)
    return (past, awaited) if is_right else _chains(program, partly=False)[:2]


def _chains(program: Program, *, partly: bool) -> tuple[Past, Awaited, bool]:
    into, past, known_of = program.senders(), dict[Entry, NDArray[np.int64]](), dict[Entry, list[Entry]]()
    place = {node: index for index, node in enumerate(program.entries)}
    supposed: list[tuple[Entry, list[Entry]]] = []
    for entry in program.in_time():
        node, k = entry
        here = into[program.cell(entry)]
        awaited = known_of[entry] = program.awaited(entry, here, partly=partly)
        if program.tables.is_counted and awaited:
            supposed.append((entry, [sender for sender, _ in here[len(awaited) :]]))
        known = past[node, k - 1].copy() if k else np.zeros(len(place), np.int64)
        for sender in awaited:
            if sender in past and program.slot(sender) < program.slot(entry):
                np.maximum(known, past[sender], out=known)
        known[place[node]] = k + 1
        past[entry] = known
    return past, known_of, all(past[later][place[node]] > k for (node, k), others in supposed for later in others)


def steps_apart(program: Program, pairs: Sequence[tuple[int, int]]) -> int:
    """The most steps by which the counters of two nodes of a pair can be apart while both have rows to fire.

    A node's counter shows at most the step of its next row, and then the other one's at least that of the last row which has fired
    whenever the row before has. Where waits come in order some run has this distance. O(pairs · entries of a node).
    """
    past, place, most = past_of(program), {node: index for index, node in enumerate(program.entries)}, 0
    for ahead, behind in [*pairs, *((b, a) for a, b in pairs)]:
        others = program.entries[behind]
        for k, (slot, _, _) in enumerate(program.entries[ahead]):
            passed = int(past[ahead, k - 1][place[behind]]) if k else 0
            if passed < len(others):
                most = max(most, slot - (others[passed - 1][0] if passed else 0))
    return most
