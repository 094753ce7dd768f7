"""Programs in which each cell adds what comes to it in the order of an expression.

What is sent into a cell between two reads is there added as the expression says. A sum of operands that all come from elsewhere is
made in a scratch buffer, from where the node itself adds it to the cell. What comes to one buffer is added in the order of rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.program import COLUMNS, Program
from certree.verify.order.expressions import Expression

#: operands that wait in buffers of their own, so that they may come in any order: none, those of sums that are made in scratch
#: buffers, all
KEEPS = ("no operand waits", "some operands wait", "all operands wait")
_COPY, _REDUCE = int(Op.COPY), int(Op.REDUCE)
_NONE = -1
_Cell = tuple[int, int, int]  # node, chunk, buffer
_Tree = int | tuple["_Tree", "_Tree"]  # a row, or _NONE for what the cell holds; or the sum of two


@dataclass
class _Held:
    """The contents of a cell, as a vertex of the expression, and the rows that were added to it since it was read, up to a
    stage."""

    vertex: int
    added: list[int] = field(default_factory=list)
    stage: int = 0


class _UnorderedError(Exception):
    """A sum is made that is not a part of the expression."""


def arranged(program: Program, expression: Expression, place: Mapping[int, int], keeps: str = KEEPS[0]) -> Program | None:
    """The program with its sums in this order; None where it makes sums that are not part of the expression. `place`: by node the
    number of its rank in the expression; `keeps`: one of KEEPS. O(rows log rows + sums²) for the sums of a cell."""
    try:
        return _Arranger(program, expression, place, KEEPS.index(keeps)).arranged()
    except _UnorderedError:
        return None


class _Arranger:
    """The rows of a program while their destinations change, and the local sums that are added to them."""

    def __init__(self, program: Program, expression: Expression, place: Mapping[int, int], keeps: int) -> None:
        self._program, self._place, self._keeps = program, place, keeps
        self._parent = [_NONE] * (len(expression.ranks) + len(expression.parts))
        for vertex, parts in enumerate(expression.parts, len(expression.ranks)):
            for part in parts:
                self._parent[part] = vertex
        self._carries = [_NONE] * program.rows  # by row a vertex
        self._held: dict[_Cell, _Held] = {}
        self._scratch: dict[tuple[int, int], int] = {}  # by node and chunk the next buffer
        most = np.bincount(np.unique(program.cells()[1], return_inverse=True)[1]).max(initial=0)
        self._wide = 2 * int(most) + 4  # stages in which what comes in one stage of the program is added
        self._columns = {name: getattr(program, name).tolist() for name in COLUMNS}
        self._stage, self._cell = 0, (0, 0, 0)  # the next stage of the sums of a cell, and the cell

    def arranged(self) -> Program:
        """The program; errors as said."""
        columns, rows = self._columns, range(self._program.rows)
        first, second = (
            list(zip(*(columns[name] for name in names), strict=True))
            for names in (("src", "chunk", "src_buffer"), ("dst", "chunk", "dst_buffer"))
        )
        reads, writes = list(columns["reads"]), list(columns["writes"])
        for name in ("reads", "writes"):
            columns[name] = [self._wide * stage for stage in columns[name]]
        copies = [op == _COPY for op in columns["op"]]
        for stage, is_write, row in sorted([*((reads[row], 0, row) for row in rows), *((writes[row], 1, row) for row in rows)]):
            if not is_write:
                self._carries[row] = self._read(first[row])
            elif copies[row]:
                self._read(second[row])
                self._held[second[row]] = _Held(self._carries[row])
            else:
                held = self._at(second[row])
                held.added.append(row)
                held.stage = stage
        for cell in list(self._held):
            self._read(cell)
        count = len(columns["op"])
        made: dict[str, Any] = {name: np.array(values, np.int8 if name == "op" else np.int32) for name, values in columns.items()}
        made["block"] = np.arange(count, dtype=np.int32)
        return replace(self._program, **made, routes=(*self._program.routes, *[()] * (count - len(rows))), in_order=True)

    def _at(self, cell: _Cell) -> _Held:
        return self._held.setdefault(cell, _Held(_NONE if cell[2] else self._place.get(cell[0], _NONE)))

    def _read(self, cell: _Cell) -> int:
        """The vertex that a cell holds, once what was added to it is in order."""
        held = self._at(cell)
        if held.added:
            trees: dict[int, _Tree] = {self._carries[row]: row for row in held.added}
            if len(trees) < len(held.added) or held.vertex in trees or min(held.vertex, *trees) < 0:
                raise _UnorderedError
            trees[held.vertex] = _NONE
            vertex, tree = self._joined(trees)
            self._stage, self._cell = held.stage * self._wide, cell
            self._add(tree, cell[2], is_base=True)
            self._held[cell] = held = _Held(vertex)
        return held.vertex

    def _joined(self, trees: dict[int, _Tree]) -> tuple[int, _Tree]:
        """The sum of vertices, and how the expression makes it of them."""
        while len(trees) > 1:
            first_of: dict[int, int] = {}
            for vertex in sorted(trees):
                other = first_of.setdefault(self._parent[vertex], vertex)
                if other != vertex and self._parent[vertex] >= 0:
                    trees[self._parent[vertex]] = (trees.pop(other), trees.pop(vertex))
                    break
            else:
                raise _UnorderedError
        return next(iter(trees.items()))

    def _add(self, tree: _Tree, buffer: int, *, is_base: bool) -> None:
        """Make a sum in a buffer; `is_base`: one of its operands is there."""
        if isinstance(tree, int):
            if tree != _NONE:
                self._write(tree, _COPY, buffer)
            return
        first, second = sorted(tree, key=lambda part: (not _has_base(part), -_size(part)))
        self._add(first, buffer, is_base=is_base)
        if isinstance(second, int) and self._keeps < 1 + is_base:
            self._write(second, _REDUCE, buffer)
            return
        node, chunk, _ = self._cell
        scratch = self._scratch.get((node, chunk), self._program.buffers)
        self._scratch[node, chunk] = scratch + 1
        self._add(second, scratch, is_base=False)
        self._stage += 1
        like = _first_row(second)
        row = {"chunk": chunk, "op": _REDUCE, "src": node, "dst": node, "src_buffer": scratch, "dst_buffer": buffer}
        row |= {"reads": self._stage, "writes": self._stage, "block": 0}
        for name in COLUMNS:
            self._columns[name].append(row[name] if name in row else self._columns[name][like])

    def _write(self, row: int, op: int, buffer: int) -> None:
        """Have a row bring what it carries into a buffer."""
        self._stage += 1
        for name, value in (("op", op), ("dst_buffer", buffer), ("writes", self._stage)):
            self._columns[name][row] = value


def _has_base(tree: _Tree) -> bool:
    return any(map(_has_base, tree)) if isinstance(tree, tuple) else tree == _NONE


def _size(tree: _Tree) -> int:
    return sum(map(_size, tree)) if isinstance(tree, tuple) else 1


def _first_row(tree: _Tree) -> int:
    return _first_row(tree[0]) if isinstance(tree, tuple) else tree
