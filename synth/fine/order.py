"""The order that a program needs: what has to wait until something has been sent, and until something has landed.

For each cell reads and writes alternate. A read waits until all writes before it have landed, a write until all reads before it
have been sent; what is sent into a cell between two reads lands in any order if it is all added, unless the program says otherwise.
So every row waits for two *gates* at most. Rows that wait for each other to be sent, as in an exchange between two accumulators,
leave in one cycle: a *group*.

A local copy keeps what its source holds for later. What reads the copy may read the original until the copy is made.
"""

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat
from certree.models.fine.list_jobs import NONE, Order
from certree.models.schedule.schedule_columns import Op
from certree.synth._native import strong_parts
from certree.synth.fine.program import Program


class _Gates:
    """Gates while they are collected."""

    def __init__(self, rows: int) -> None:
        self.needs: list[int] = []
        self.opens: list[list[int]] = []
        self.fed_by: list[list[int]] = []
        self.when_sent: list[list[int]] = [[] for _ in range(rows)]
        self.when_landed: list[list[int]] = [[] for _ in range(rows)]
        self.read_gate = [NONE] * rows
        self.original_of = [NONE] * rows
        self.follows = [NONE] * rows

    def new(self, rows: list[int], events: list[list[int]]) -> int:
        """A gate that opens when this has happened to all of some rows."""
        for row in rows:
            events[row].append(len(self.needs))
        self.needs.append(len(rows))
        self.opens.append([])
        self.fed_by.append(rows)
        return len(self.needs) - 1

    def wait(self, row: int, gate: int) -> None:
        """A row waits for a gate, if there is one."""
        if gate != NONE:
            self.opens[gate].append(row)


def order_of(program: Program) -> Order:
    """The gates of a program. O(rows log rows)."""
    gates = _Gates(program.rows)
    read, written = program.cells()
    cell = np.concatenate((read, written))
    stage = np.concatenate((program.reads, program.writes))
    row = np.tile(np.arange(program.rows), 2)
    writes = np.repeat([False, True], program.rows)
    order = np.lexsort((row, writes, stage, cell))
    starts = np.flatnonzero(np.append(True, np.diff(cell[order]) != 0)).tolist()
    rows, kinds = row[order].tolist(), writes[order].tolist()
    copies = (program.op == Op.COPY).tolist()
    locals_ = (program.src == program.dst).tolist()
    for low, high in zip(starts, [*starts[1:], len(rows)], strict=True):
        _add_cell(gates, rows[low:high], kinds[low:high], copies, locals_, in_order=program.in_order)
    for reader, copy in enumerate(gates.original_of):
        if copy != NONE:  # it waits for what the copy waits for; booking has it wait for the copy as well
            gates.wait(reader, gates.read_gate[copy])
    return _grouped(gates)


def _add_cell(gates: _Gates, rows: list[int], writes: list[bool], copies: list[bool], local: list[bool], *, in_order: bool) -> None:
    """The gates of one cell, from its reads and writes in their order."""
    read_gate = write_gate = original = NONE
    read: list[int] = []
    written: list[int] = []
    for row, is_write in zip(rows, writes, strict=True):
        if not is_write:
            if written:
                read_gate, read = gates.new(written, gates.when_landed), []
                original = written[0] if len(written) == 1 and copies[written[0]] and local[written[0]] else NONE
                written = []
            read.append(row)
            gates.read_gate[row] = read_gate
            if original != NONE and not local[row]:
                gates.original_of[row] = original
            else:
                gates.wait(row, read_gate)
            continue
        if read:
            write_gate, read = gates.new(read, gates.when_sent), []
        elif written and in_order and not (copies[row] or copies[written[-1]] or local[row] or local[written[-1]]):
            gates.follows[row] = written[-1]
        elif written and (in_order or copies[row] or copies[written[-1]]):
            write_gate, written = gates.new(written, gates.when_landed), []
        gates.wait(row, write_gate)
        written.append(row)


def _grouped(gates: _Gates) -> Order:
    """With rows that wait for each other joined in groups: inside a group nothing waits for what the group does."""
    rows = len(gates.when_sent)
    groups: list[list[int]] = []
    group = [NONE] * rows
    for part in _circles(gates):
        inside = sorted(node for node in part if node < rows)
        for row in inside:
            group[row] = len(groups)
        for gate in sorted(node - rows for node in part if node >= rows):
            _split(gates, gate, set(inside))
        groups.append(inside)
    follows = gates.follows if max(gates.follows, default=NONE) != NONE else None
    return Order(gates.needs, gates.when_sent, gates.when_landed, gates.opens, gates.original_of, groups, group, follows)


def _circles(gates: _Gates) -> list[set[int]]:
    """Rows, and gates numbered after them, that wait for each other. O(rows + gates)."""
    rows = len(gates.when_sent)
    waits = [_pairs(events) for events in (gates.when_sent, gates.when_landed)]
    opening, opened = _pairs(gates.opens)
    original = np.array(gates.original_of, np.int32)
    readers = np.flatnonzero(original != NONE).astype(np.int32)
    tail = np.concatenate((waits[0][0], waits[1][0], opening + rows, original[readers])).astype(np.int32)
    head = np.concatenate((waits[0][1] + rows, waits[1][1] + rows, opened, readers)).astype(np.int32)
    part = strong_parts(rows + len(gates.needs), tail, head)
    nodes = np.flatnonzero(np.bincount(part)[part] > 1)
    circles: dict[int, set[int]] = {}  # in the order of their first rows
    for node, number in zip(nodes.tolist(), part[nodes].tolist(), strict=True):
        circles.setdefault(number, set()).add(node)
    return list(circles.values())


def _pairs(events: list[list[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The number of each list, and of each of its entries."""
    values, begin = flat(events)
    return np.repeat(np.arange(len(events), dtype=np.int32), np.diff(begin)), values.astype(np.int32)


def _split(gates: _Gates, gate: int, inside: set[int]) -> None:
    """Give the rows of a group a gate of their own, which opens without them."""
    feeding = gates.fed_by[gate]
    outside = [row for row in feeding if row not in inside]
    own = [row for row in gates.opens[gate] if row in inside]
    gates.opens[gate] = [row for row in gates.opens[gate] if row not in inside]
    if outside and own:
        events = gates.when_sent if gate in gates.when_sent[outside[0]] else gates.when_landed
        gates.opens[gates.new(outside, events)] = own
