"""Permute programs: what devices that all execute one program send to each other, step by step.

Every device keeps rows of data of one size. In a step it sends some rows in permutes, in each of which a device sends to at most
one device and receives from at most one, and then applies rows that arrived: it copies them to rows of its own or adds them. All
permutes of a step read the rows as they were when the step began. Tables say by step and device which rows these are, so that all
devices have the same code.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.extras.runtimes.model.layout import Layout
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind

Int64 = NDArray[np.int64]
NOTHING, ADD, COPY = 0, 1, 2  # what a device does with a row that it takes
MODES = 3


@dataclass(frozen=True)
class Permute:
    """One permute: every source sends `rows` rows to its target."""

    rows: int
    pairs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Stretch:
    """Consecutive steps with the same permutes.

    `own`: rows of the inbox that a device fills with rows of its own. `send`: by step, device and row of the inbox the row that
    goes there; of a device that sends nothing in a permute, any. `take`: by step, device and turn the row that is applied: rows of
    the step are 0 to `width` - 1 of the program, those of the step before it follow. `put`: likewise MODES * row + mode, in the
    order in which rows are applied.
    """

    permutes: tuple[Permute, ...]
    own: int
    send: Int64
    take: Int64
    put: Int64

    @property
    def steps(self) -> int:
        """How many steps it has."""
        return int(self.send.shape[0])

    @property
    def rows(self) -> int:
        """The number of rows of the inbox that a step fills."""
        return sum(one.rows for one in self.permutes) + self.own


@dataclass(frozen=True, eq=False)
class PermuteProgram:
    """One iteration of a collective. `repeats`: into how many parts a message is cut, one for each iteration. `about`: the schedule
    in a few words. `width`: rows of the inbox that a step fills at most. `depth`: for how many steps an inbox is kept. `load`: by
    device and row the chunk of the input with which the row begins, or -1; `store`: by device and chunk of the output the row that
    it is at the end, or -1."""

    layout: Layout
    repeats: int
    about: str
    width: int
    depth: int
    load: Int64
    store: Int64
    stretches: tuple[Stretch, ...]

    @property
    def kind(self) -> CollectiveKind:
        """The kind of the collective."""
        return self.layout.kind

    @property
    def ranks(self) -> int:
        """The devices."""
        return self.layout.ranks

    @property
    def permutes(self) -> int:
        """How many permutes one iteration executes."""
        return sum(len(one.permutes) * one.steps for one in self.stretches)

    @property
    def rows_sent(self) -> int:
        """How many rows a device sends in one iteration at most: those of all permutes, used or not."""
        return sum(sum(permute.rows for permute in one.permutes) * one.steps for one in self.stretches)

    @property
    def steps(self) -> int:
        """The number of steps of one iteration."""
        return sum(one.steps for one in self.stretches)

    def require_fits(self) -> None:
        """Raise InputError where a table has another shape than the program needs, a number is out of range, or a device sends or
        receives twice in a permute."""
        ranks, cells = self.load.shape
        inputs, outputs = (max(self.layout.sizes(rank)[side] for rank in range(self.ranks)) for side in (0, 1))
        if ranks != self.ranks or self.store.shape != (ranks, outputs):
            raise InputError(f"tables of the input and output are for {ranks} and {len(self.store)} devices, not {self.ranks}")
        _require(self.load, -1, inputs - 1, "of the input")
        _require(self.store, -1, cells - 1, "of the output")
        inbox = self.width * self.depth
        for number, one in enumerate(self.stretches):
            where = f"stretch {number}"
            if one.rows > self.width:
                raise InputError(f"{where}: {one.rows} rows in a step; the inbox has {self.width}")
            steps = one.send.shape[0]
            if (
                one.send.shape != (steps, ranks, one.rows)
                or one.take.shape[:2] != (steps, ranks)
                or one.take.shape != one.put.shape
            ):
                raise InputError(f"{where}: tables are of {one.send.shape}, {one.take.shape} and {one.put.shape} numbers")
            _require(one.send, 0, cells - 1, f"of what {where} sends")
            _require(one.take, 0, inbox - 1, f"of what {where} takes")
            _require(one.put, 0, MODES * cells - 1, f"of where {where} puts it")
            for permute in one.permutes:
                for side, ends in zip(("sends", "receives"), zip(*permute.pairs, strict=True), strict=True):
                    if len(set(ends)) < len(ends) or not 0 <= min(ends) <= max(ends) < ranks:
                        raise InputError(
                            f"{where}: a permute of {list(permute.pairs)[:4]}: a device {side} twice, or there is none"
                        )


def _require(table: Int64, low: int, high: int, what: str) -> None:
    wrong = (table < low) | (table > high)
    if wrong.any():
        raise InputError(f"a number {what} is {int(table[wrong][0])}; allowed: {low} to {high}")
