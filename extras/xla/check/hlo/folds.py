"""Loops whose turns do the same on parts of their own: one turn is executed, and stands for all of them.

A turn may read data from outside of the loop only in slices whose place is computed from the number of the turn, and its results
may only be put in places of their own. What it does between is then the same in every turn, with the blocks of another part. That
is found out while the first turn is executed; UnfoldableError says that a loop is not of this kind, and then all of its turns
are executed. Blocks that loops put somewhere are numbered by turn and by the block of the first turn that they correspond to.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from certree.extras.xla.check.hlo.events import TURN, Events, Int64, Kind, UnfoldableError
from certree.extras.xla.check.hlo.moves import starts_of
from certree.extras.xla.check.hlo.numbers import WHOLE
from certree.extras.xla.check.hlo.tensors import Tensor
from certree.extras.xla.model.hlo import HloBlock, HloOperation
from certree.models.common.budget import hold, spend

FEWEST, MOST = 4, 1 << 20  # turns of a loop for which this is tried
MOST_BYTES = 1 << 28  # of numbers and blocks of all turns that are kept at once
#: operations on numbers of the turn that are done for each of them
_OF_NUMBERS = {
    *WHOLE,
    *(f"stablehlo.{name}" for name in ("compare", "convert", "select", "reshape", "broadcast_in_dim", "slice", "dynamic_slice")),
}
_HANDS_ON = ("func.call", "stablehlo.return", "func.return", "stablehlo.optimization_barrier")
Execute = Callable[[HloOperation, list[Tensor]], Sequence[Tensor]]


class Fold:
    """The first turn of a loop, while it is executed. `carried`: what the loop carries; `outside`: what else it may use;
    `counters`: by place in `carried` the numbers of all turns, and the one at the end."""

    def __init__(
        self, carried: Sequence[Tensor], outside: Sequence[Tensor], counters: dict[int, list[Tensor]], events: Events, turns: int
    ) -> None:
        self.turns, self.first, self.events = turns, events.count, events
        # arrays of their own, by which they are known again
        self.carried = [replace(one, array=one.array.view()) for one in carried]
        for place, numbers in counters.items():
            self.carried[place] = replace(numbers[0], turns=tuple(numbers[:turns]))
        self._carried = {id(one.array) for one in self.carried}
        self._data = {id(one.array) for one in (*self.carried, *outside) if one.is_data}
        self._kept = list(outside)  # so that no other array has the number of one of these
        self._used = set[int]()
        self._wrote: dict[int, tuple[HloOperation, list[Tensor], Tensor]] = {}
        self._bytes = 0  # of what is kept of all turns
        #: of each slice the blocks of all devices, by turn
        self.read: list[list[Int64]] = []

    def results(self, operation: HloOperation, operands: list[Tensor], execute: Execute) -> Sequence[Tensor]:
        """The results of an operation in the first turn, with the numbers of all turns where it computes with these."""
        if operation.name in _HANDS_ON:
            return execute(operation, operands)
        if any(id(one.array) in self._wrote for one in operands):
            raise UnfoldableError
        varies, is_update = any(one.turns for one in operands), operation.name == "stablehlo.dynamic_update_slice"
        is_end = is_update and varies and id(operands[0].array) in self._carried
        self._used |= {id(one.array) for one in operands[is_end:]}
        if is_end:
            return [self._written(operation, operands, execute)]
        if operation.name == "stablehlo.dynamic_slice" and varies and id(operands[0].array) in self._data:
            return [self._sliced(operation, operands, execute)]
        if any(id(one.array) in self._data for one in operands):
            raise UnfoldableError
        if not varies:
            return execute(operation, operands)
        if operation.name not in _OF_NUMBERS or any(one.is_data for one in operands):
            raise UnfoldableError
        found = self._every_turn(operation, operands, execute)
        return [replace(one[0], turns=one) for one in zip(*found, strict=True)]

    def _every_turn(self, operation: HloOperation, operands: list[Tensor], execute: Execute) -> list[Sequence[Tensor]]:
        """The results of all turns. UnfoldableError where they are too many: turns one after the other need the memory of one."""
        found = list[Sequence[Tensor]]()
        for turn in range(self.turns):
            found.append(execute(operation, _in_turn(operands, turn)))
            self._bytes += sum(one.array.nbytes for one in found[-1])
            if self._bytes > MOST_BYTES:
                raise UnfoldableError
        return found

    def require_own(self, found: Sequence[Tensor]) -> None:
        """Raise UnfoldableError where one of these comes from outside, or differs by turn."""
        if any(one.turns or id(one.array) in self._data | self._carried or id(one.array) in self._wrote for one in found):
            raise UnfoldableError

    def _sliced(self, operation: HloOperation, operands: list[Tensor], execute: Execute) -> Tensor:
        """A part of what is given from outside, which is read in every turn."""
        found = [one for (one,) in self._every_turn(operation, operands, execute)]
        self.read.append([one.array for one in found])
        return replace(found[0], array=found[0].array.copy())

    def _written(self, operation: HloOperation, operands: list[Tensor], execute: Execute) -> Tensor:
        """The carried values, with the part that this turn writes."""
        if operands[1].turns or not operands[1].is_data or id(operands[1].array) in self._data:
            raise UnfoldableError
        (found,) = execute(operation, _in_turn(operands, 0))
        self._wrote[id(found.array)] = operation, operands, found
        return found

    def ends(self, results: Sequence[Tensor], counters: dict[int, list[Tensor]], *, is_told: bool) -> list[Tensor]:
        """The results of the loop, from those of its first turn. UnfoldableError where the turns are not apart. `is_told`: with the
        blocks of the first turn alone, since histories are told."""
        found = list[Tensor]()
        for place, (before, after) in enumerate(zip(self.carried, results, strict=True)):
            if place in counters:
                found.append(counters[place][-1])
            elif after.array is before.array:
                found.append(after)
            elif id(after.array) in self._wrote and self._wrote[id(after.array)][1][0].array is before.array:
                if id(before.array) in self._used:
                    raise UnfoldableError
                found.append(after if is_told else self._all_turns(id(after.array)))
            else:
                raise UnfoldableError
        self._require_same_kind()
        return found

    def _all_turns(self, number: int) -> Tensor:
        """An array with the results of all turns."""
        operation, (_, part, *indices), found = self._wrote[number]
        array = found.array.copy()
        hold(8 * array.size, f"{operation} in {self.turns} turns")
        spend(array.size, f"{operation} in {self.turns} turns")
        for turn in range(self.turns):
            starts = starts_of(operation, found, _in_turn(indices, turn), part.shape)
            if any(len(one) > 1 for one in starts):
                raise UnfoldableError
            cut = [slice(int(one[0]), int(one[0]) + size) for one, size in zip(starts, part.array.shape[1:], strict=True)]
            array[(slice(None), *cut)] = part.array + TURN * (turn + 1)
        return replace(found, array=array)

    def _require_same_kind(self) -> None:
        """Raise UnfoldableError where turns read something else than the input of the devices, and the same constants at the same
        places, or where the turn uses a block that it did not read."""
        inputs = next(one for one in self.events.batches if one.kind is Kind.INPUT)
        end = inputs.first + len(inputs.device)
        constants = np.array(sorted(self.events.constants.values()), np.int64)
        for slices in self.read:
            is_fixed = np.isin(slices[0], constants)
            for one in slices:
                numbers = one[~is_fixed]
                if ((numbers < inputs.first) | (numbers >= end)).any() or not np.array_equal(one[is_fixed], slices[0][is_fixed]):
                    raise UnfoldableError
        allowed = np.concatenate([constants, *(one[0].reshape(-1) for one in self.read)])
        for batch in self.events.batches:
            if batch.first >= self.first and batch.kind > Kind.INPUT:
                before = np.concatenate((batch.one, batch.two))
                if not np.isin(before[before < self.first], allowed).all():
                    raise UnfoldableError

    def positions(self, devices: int) -> list[Int64]:
        """The places of the input that slices read in each turn, slice by slice. UnfoldableError where they differ by device."""
        inputs = next(one for one in self.events.batches if one.kind is Kind.INPUT)
        blocks, constants = len(inputs.device) // devices, list(self.events.constants.values())
        found: list[list[Int64]] = [[] for _ in range(self.turns)]
        for slices in self.read:
            kept = ~np.isin(slices[0], constants).reshape(len(slices[0]), -1)
            if len(kept) != devices or (kept != kept[0]).any():
                raise UnfoldableError
            for turn, one in enumerate(slices):
                places = one.reshape(devices, -1)[:, kept[0]] - inputs.first - blocks * np.arange(devices)[:, None]
                if (places != places[0]).any() or (places < 0).any() or (places >= blocks).any():
                    raise UnfoldableError
                found[turn].append(places[0])
        return [np.concatenate(one) for one in found]


@dataclass(frozen=True, eq=False)
class Turns:
    """The places of the input and of the output that belong to each turn: by turn, in an order that all turns have."""

    inputs: Int64
    outputs: Int64

    @property
    def count(self) -> int:
        """How many turns there are."""
        return len(self.inputs)

    def fits(self, block: int) -> bool:
        """Whether each turn has the same parts of all blocks of both sides, where a turn has `block` places of each."""
        part, turns = self.inputs[:, :block], self.count
        for side in (self.inputs, self.outputs):
            blocks, rest = divmod(side.shape[1], block)
            due = part[:, None, :] + block * turns * np.arange(blocks)[None, :, None]
            if rest or not np.array_equal(side, due.reshape(turns, -1)):
                return False
        return True


def turns_of(fold: Fold, outputs: Int64, blocks: int) -> tuple[Turns, Int64]:
    """The places of each turn, and by device the blocks that the first turn gives. `outputs`: the numbers of blocks by device, with
    turns; `blocks`: of the input of a device. UnfoldableError where turns have other parts, or not all of the input."""
    turn, event = outputs // TURN - 1, outputs % TURN
    read = fold.positions(len(outputs))
    first, at, back = np.unique(read[0], return_index=True, return_inverse=True)
    inputs = np.stack([one[at] for one in read])
    if any(not np.array_equal(one[at][back], one) for one in read) or (turn != turn[0]).any():
        raise UnfoldableError
    count = outputs.shape[1] // fold.turns
    if not np.array_equal(np.bincount(turn[0] + 1, minlength=fold.turns + 1), [0] + [count] * fold.turns):
        raise UnfoldableError
    places = np.argsort(turn[0], kind="stable").reshape(fold.turns, count)
    is_same = (event[:, places] == event[:, places[:1]]).all()
    if not is_same or not np.array_equal(np.sort(inputs, axis=None), np.arange(blocks)):
        raise UnfoldableError
    assert len(first) * fold.turns == blocks
    return Turns(inputs, places), event[:, places[0]]


def _in_turn(operands: Sequence[Tensor], turn: int) -> list[Tensor]:
    return [one.turns[turn] if one.turns else one for one in operands]


def is_of_turn(loop: HloOperation, counters: Collection[int]) -> bool:
    """Whether the condition of a loop is about its counters, and about what turns hand on unchanged, alone."""
    condition, body = loop.blocks
    handed_on = {place for place, one in enumerate(body.operations[-1].operands) if one == body.arguments[place]}
    others = {one for place, one in enumerate(condition.arguments) if place not in handed_on and place not in counters}
    open_ = [condition]
    while open_:
        for one in open_.pop().operations:
            if others.intersection(one.operands):
                return False
            open_ += one.blocks
    return True


def counted(body: HloBlock, carried: Sequence[Tensor]) -> Iterator[int]:
    """The places of known numbers to which a turn adds a constant."""
    made = {result: one for one in body.operations for result in one.results}
    last = body.operations[-1]
    for place, (argument, result) in enumerate(zip(body.arguments, last.operands, strict=False)):
        one = made.get(result)
        if one is None or one.name != "stablehlo.add" or argument not in one.operands or carried[place].is_data:
            continue
        others = [made.get(other) for other in one.operands if other != argument]
        if len(others) == 1 and others[0] is not None and others[0].name == "stablehlo.constant":
            yield place
