"""Transfers as an algorithm writes them: columns, and for each row the line of Python that wrote it."""

import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import ScheduleFormatError, short
from certree.models.schedule.schedule_columns import Op

Int64 = NDArray[np.int64]
#: a whole number, or an array of them
Numbers: TypeAlias = int | Iterable[int] | NDArray[Any]
#: (chunk, node, buffer)
Cell: TypeAlias = tuple[int, int, int]
_FOLDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class Written:
    """One or more transfers that a builder has taken. `step`: the last step in which one of them is sent. `ready`: the first step
    that can use what they bring."""

    step: int
    ready: int


def whole_numbers(name: str, given: object, low: int, high: int) -> Int64:
    """The numbers of an argument; ScheduleFormatError where they are not whole numbers from `low` to `high`."""
    try:
        found = np.asarray(list(given) if isinstance(given, range) else given)
    except ValueError:  # lists of different lengths
        found = np.array(None)
    if found.dtype.kind not in "iu":
        raise ScheduleFormatError(f"{name} is {short(given)}; allowed: whole numbers from {low} to {high}, or arrays of them")
    if found.size and (int(found.min()) < low or int(found.max()) > high):
        wrong = found[(found < low) | (found > high)].flat[0]
        raise ScheduleFormatError(f"{name} is {wrong}; allowed: whole numbers from {low} to {high}")
    return found.astype(np.int64)


def place_of_caller() -> tuple[str, int]:
    """(file, line) of the statement outside this folder that is running."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


class WrittenRows:
    """Blocks of transfers in the order in which they were written. O(1) for each block, O(rows) for `columns`."""

    names = ("chunk", "op", "step", "src", "dst", "src_buffer", "dst_buffer", "route")

    def __init__(self) -> None:
        self._blocks: list[dict[str, Int64]] = []
        self._places: list[tuple[str, int]] = []
        self._ends: list[int] = []  # by block the number of rows up to its end

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def add(self, block: Mapping[str, Int64], place: tuple[str, int]) -> None:
        """One block: a flat column for each of `names`, equally long."""
        self._ends.append(len(self) + len(block["chunk"]))
        self._blocks.append(dict(block))
        self._places.append(place)

    @property
    def columns(self) -> dict[str, Int64]:
        """The columns of all rows."""
        return {name: np.concatenate([np.zeros(0, np.int64), *(block[name] for block in self._blocks)]) for name in self.names}

    def place(self, row: int) -> str:
        """`FILE:LINE` of the statement that wrote a row."""
        file, line = self._places[bisect_right(self._ends, row)]
        return f"{Path(file).name}:{line}"


class Dependencies:
    """The first step in which a transfer can be sent without changing what the transfers written before it do.

    It reads what the writes before it to its source have brought, lands after the writes before it to its destination, where one of
    the two is a copy (sums in any order are the same), and not before what was to be read there has been read.
    """

    def __init__(self, delay: int) -> None:
        self._delay = delay
        self._read: dict[Cell, int] = {}
        self._reduced: dict[Cell, int] = {}
        self._copied: dict[Cell, int] = {}

    def first_step(self, op: Op, source: Cell, target: Cell) -> int:
        """The first step in which a row can be, at least 0."""
        arrived = max(self._reduced.get(source, -self._delay), self._copied.get(source, -self._delay)) + self._delay
        after = max(self._copied.get(target, -1), -1 if op is Op.REDUCE else self._reduced.get(target, -1)) + 1
        return max(0, arrived, after, self._read.get(target, 0) - self._delay + 1)

    def note(self, op: Op, source: Cell, target: Cell, step: int) -> None:
        """Take a transfer in a step into account for those that follow."""
        written = self._reduced if op is Op.REDUCE else self._copied
        written[target] = max(step, written.get(target, -1))
        self._read[source] = max(step, self._read.get(source, -1))
