"""The tables of several collectives as one program of the simulated machine: each node has one table with the rows of all.

Rows of a node are in the order of the cycles in which they fire. Each row, message and arrival belongs to a collective, its tag;
each collective has cells of its own in the memory of every node, and sums that take as long as its chunks.

Apart, each collective has an interface of its own at every node in place of that: interface `tag * nodes + node`, with its own
table, memory and reduction unit. The core of the engine `flit` puts interfaces that are as many nodes apart at one router.
"""

import csv
from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.hw.core_calls import MAX_ENTRY, narrowed
from certree.hw.engines.core_program import Program
from certree.hw.engines.table_rows import Rows, TableRows
from certree.hw.tables.lowering import lower
from certree.models.common.columns import numbered
from certree.models.common.errors import UnsupportedError
from certree.models.machine.clocks import Clocks
from certree.models.network.routing import DIRECT
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]


def tables_of(joint: JointSchedule) -> list[Tables]:
    """The tables of each collective alone; UnsupportedError where no rows say what it does."""
    found = []
    for part in joint.parts:
        try:
            found.append(lower(part.schedule, part.entry.size, joint.machine))
        except UnsupportedError as refused:
            raise UnsupportedError(f"{part.name}: {refused}") from None
    return found


class JointRows(Rows):
    """Rows of all collectives. `tag_of_row`: the number of the collective of each; `base`, `first_interface`: by collective its
    first cell in a node, and its interface at the first node; `parts`: the rows of each collective; `place_of_message`: of each
    message its number among those of all parts, one behind the other. `apart`: each collective has an interface of its own at every
    node.

    O(rows log rows).
    """

    def __init__(self, joint: JointSchedule, tables: Sequence[Tables], *, apart: bool = False) -> None:
        _check_begins(joint)
        self.parts = parts = [TableRows(one) for one in tables]
        self.joint, self.has_local = joint, any(part.has_local for part in parts)
        cells = [int(part.scalars["cells"]) for part in parts]
        self.base = np.zeros(len(parts), np.int64) if apart else np.cumsum([0, *cells[:-1]])
        columns = _Joined(joint, parts, self.base, apart=apart)
        self.sent, self.flits, self.tag_of_row = columns.sent, columns.flits, columns.tag_of_row
        self.place_of_message, self.first_interface = columns.place_of_message, columns.first_interface
        total = max(cells) if apart else sum(cells)
        self.scalars = dict(parts[0].scalars) | {
            "nodes": columns.nodes,
            "slot_cycles": 1,
            "period": int(columns.rows["row_step"].max(initial=0)) + 1,
            **dict.fromkeys(("cells", "stride", "work_base"), total),
            **{"chunks": total, "work_stride": 0, "in_flight": 1, "repeats": 1},
        }
        self._start = joint.machine.ni_start_cycles
        self.rows = {name: narrowed(name, column) for name, column in columns.rows.items()}
        self.set_clocks(Clocks.equal(self.scalars["nodes"]))
        self._check_counters()

    def _rows(self) -> dict[str, NDArray[np.integer]]:
        raise NotImplementedError

    def check_paced(self) -> None:
        """Raise: the slots are what keeps collectives apart."""
        raise UnsupportedError("joint schedules run in their slots")

    def describe_arrival(self, arrival: int) -> str:
        """An expected arrival in words."""
        return f"arrival {arrival}"

    def describe_row(self, row: int) -> str:
        """A row in words: its number, its collective, the cycle in which it fires."""
        tag = self.joint.parts[int(self.tag_of_row[row])].name
        return f"row {self.node_of(row)[1]} ({tag}, cycle {self.rows['row_step'][row]})"


def _check_begins(joint: JointSchedule) -> None:
    """Raise UnsupportedError for a collective whose rows fire later than cycle numbers of rows reach."""
    for part in joint.parts:
        if (last := int(part.fire.max(initial=0))) > MAX_ENTRY:
            start = f"it may start in cycle {part.entry.start}, " if part.entry.start else ""
            raise UnsupportedError(
                f"{part.name}: {start}its last row fires in cycle {last}; a run has rows up to cycle {MAX_ENTRY}"
            )


def tags_csv(joint: JointSchedule, tables: Sequence[Tables]) -> bytes:
    """The rows of all nodes as CSV: the node, the number of the row in its table of all collectives, the cycle from the opening of
    the first slot in which it fires, its collective, and its number among the rows of that in the node. O(rows log rows)."""
    rows = JointRows(joint, tables)
    node = _nodes(rows.rows["row_begin"])
    place = np.arange(len(node)) - rows.rows["row_begin"].astype(np.int64)[node]
    own = numbered(node * len(tables) + rows.tag_of_row)
    names = [part.name for part in joint.parts]
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("node", "row", "cycle", "collective", "row of collective"))
    columns = (node, place, rows.rows["row_step"], rows.tag_of_row, own)
    for at, number, cycle, tag, among in zip(*(column.tolist() for column in columns), strict=True):
        lines.writerow((at, number, cycle, names[tag], among))
    return text.getvalue().encode()


class _Joined:
    """The columns of the rows, messages and arrivals of all collectives, ordered by node."""

    def __init__(self, joint: JointSchedule, parts: Sequence[TableRows], base: Int64, *, apart: bool) -> None:
        self.first_interface = of_part = np.arange(len(parts)) * (len(joint.topology.kind) if apart else 0)
        self.nodes = nodes = int(of_part[-1]) + len(joint.topology.kind)
        self.parts, counts = parts, [len(part.rows["row_op"]) for part in parts]
        first_row = np.cumsum([0, *counts])
        stack = _Stack(parts)
        tag = np.repeat(np.arange(len(parts)), counts)
        step = np.concatenate(
            [
                part.rows["row_step"].astype(np.int64) * part.scalars["slot_cycles"] + of.begin
                for part, of in zip(parts, joint.parts, strict=True)
            ]
        )
        node = np.concatenate([_nodes(part.rows["row_begin"]) + at for part, at in zip(parts, of_part, strict=True)])
        order = np.lexsort((np.arange(len(node)), tag, step, node))
        self.tag_of_row = tag[order]
        arrival, arrival_of, arrival_begin = _by_node(parts, nodes, of_part)
        rows = {
            "row_begin": np.searchsorted(node[order], np.arange(nodes + 1)),
            "row_op": stack.column("row_op")[order],
            "row_flow": stack.column("row_flow")[order],
            "row_cell": stack.column("row_cell", base)[order],
            "row_step": step[order],
            "arrival_begin": arrival_begin,
            "arrival_count": stack.column("arrival_count")[arrival_of],
        }
        waits_begin, waits = stack.lists("row_waits", order, first_row)
        rows |= {"row_waits_begin": waits_begin, "row_needs": stack.column("row_needs")[waits]}
        rows["row_waits"] = arrival[stack.column("row_waits", stack.first("arrival_count"))[waits]]
        messages_begin, messages = stack.lists("row_messages", order, first_row)
        message = stack.column("row_messages", stack.first("message_cell"))[messages]
        rows |= {
            "row_messages_begin": messages_begin,
            "row_messages": np.arange(len(message)),
            "message_arrival": arrival[stack.column("message_arrival", stack.first("arrival_count"))[message]],
            "message_cell": stack.column("message_cell", base)[message],
            "message_cycles": stack.column("message_cycles")[message],
            "message_addition": np.repeat(
                [part.scalars["reduce_chunk_cycles"] for part in parts], [len(part.rows["message_cell"]) for part in parts]
            )[message],
            "message_turn": np.zeros(0, np.int64),
        }
        self.rows = rows
        self.flits = np.concatenate([part.flits for part in parts])[message]
        self.sent = _sent(parts, message)
        self.place_of_message = message


class _Stack:
    """Columns of several programs, one behind the other."""

    def __init__(self, parts: Sequence[TableRows]) -> None:
        self.parts = parts

    def first(self, name: str) -> Int64:
        """The place of the first entry of each program."""
        return np.cumsum([0, *(len(part.rows[name]) for part in self.parts)])[:-1]

    def column(self, name: str, base: Int64 | None = None) -> Int64:
        """A column, by program numbered from its base on."""
        bases = [0] * len(self.parts) if base is None else base.tolist()
        return np.concatenate([part.rows[name].astype(np.int64) + one for part, one in zip(self.parts, bases, strict=True)])

    def lists(self, name: str, order: Int64, first_row: Int64) -> tuple[Int64, Int64]:
        """Where the lists of rows begin in this order, and the places of their entries in the stacked column."""
        base = self.first(name)
        begin = [part.rows[f"{name}_begin"].astype(np.int64) + one for part, one in zip(self.parts, base, strict=True)]
        low, high = (np.concatenate([one[side] for one in begin])[order] for side in (slice(None, -1), slice(1, None)))
        size = high - low
        starts = np.concatenate(([0], np.cumsum(size)))
        return starts, np.repeat(low - starts[:-1], size) + np.arange(int(starts[-1]))


def _nodes(begin: NDArray[np.uint32]) -> Int64:
    """The node of each entry, of entries that begin there."""
    entry: Int64 = np.searchsorted(begin, np.arange(int(begin[-1])), side="right") - 1
    return entry


def _by_node(parts: Sequence[TableRows], nodes: int, of_part: Int64) -> tuple[Int64, Int64, Int64]:
    """Arrivals of all programs by node: of each its place, at each place which it is, and where nodes begin."""
    node = np.concatenate([_nodes(part.rows["arrival_begin"]) + at for part, at in zip(parts, of_part, strict=True)])
    order = np.argsort(node, kind="stable")
    place = np.empty(len(node), np.int64)
    place[order] = np.arange(len(node))
    return place, order, np.searchsorted(node[order], np.arange(nodes + 1))


def _sent(parts: Sequence[TableRows], message: Int64) -> dict[str, NDArray[np.integer]]:
    """The transfers in the order of messages; routes are numbered on."""
    found: dict[str, NDArray[Any]] = {
        name: np.concatenate([part.sent[name] for part in parts])[message] for name in ("src", "dst", "chunk")
    }
    base = np.cumsum([0, *(len(part.tables.routes) for part in parts)])
    route = [
        np.where(part.sent["route"] == DIRECT, DIRECT, part.sent["route"] + one) for part, one in zip(parts, base, strict=False)
    ]
    return found | {"route": np.concatenate(route)[message]}


class JointProgram(Program):
    """The program of an engine without routers for the rows of all collectives."""

    def __init__(self, joint: JointSchedule, rows: JointRows, tables: Sequence[Tables]) -> None:
        self._rows, self._topology, self._machine = rows, joint.topology, joint.machine
        self._routes = tuple(route for one in tables for route in one.routes)
        self.scalars = rows.scalars
        self.columns = rows.rows | {name: narrowed(name, column) for name, column in self._lanes().items()}
