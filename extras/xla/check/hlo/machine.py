"""Execution of a StableHLO program on all devices at once, with events in place of data.

All devices execute the same operations. Numbers that the program computes from constants and from the number of a device are
computed; what would depend on data is refused. Where devices choose different branches, all of these are executed, and each device
keeps what its own one gives.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from certree.extras.xla.check.hlo.events import Int64, UnfoldableError
from certree.extras.xla.check.hlo.folds import FEWEST, MOST, Fold, counted, is_of_turn
from certree.extras.xla.check.hlo.moves import MOVES, broadcast
from certree.extras.xla.check.hlo.numbers import WHOLE, whole
from certree.extras.xla.check.hlo.operations import RETURNS, SUMS, Environment, Operations
from certree.extras.xla.check.hlo.tensors import Tensor, compact, known
from certree.extras.xla.model.hlo import HloBlock, HloFunction, HloOperation
from certree.models.common.budget import PYTHON, hold, spend
from certree.models.common.errors import InputError

MOST_NESTED = 120  # calls, loops and branches in each other; each of them recurses
_COLLECTIVES = {
    f"stablehlo.{name}"
    for name in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_broadcast", "send", "recv")
}
SAME = ("stablehlo.optimization_barrier",)


class Machine(Operations):
    """All operations, control flow among them."""

    def __init__(
        self,
        functions: dict[str, HloFunction],
        devices: int,
        grain: int,
        *,
        everything: bool,
        are_replicas: bool = False,
        folds: bool = False,
    ) -> None:
        super().__init__(devices, grain, everything=everything, are_replicas=are_replicas)
        self.functions, self.depth, self.folds = functions, 0, folds
        #: the loop whose first turn is executed, and stands for all
        self.fold: Fold | None = None
        self.is_in_fold = False
        self.handlers |= {
            "stablehlo.while": self._while,
            "stablehlo.case": self._case,
            "stablehlo.if": self._case,
            "func.call": self._call,
        }

    def block(self, block: HloBlock, arguments: Sequence[Tensor], environment: Environment) -> list[Tensor]:
        """The results of a block. `environment`: the values that it may use, to which its own are added."""
        if self.depth >= MOST_NESTED:
            raise InputError(f"more than {MOST_NESTED} calls, loops and branches in each other")
        self.depth += 1
        environment.update(zip(block.arguments, arguments, strict=True))
        for operation in block.operations:
            operands = [environment[one] for one in operation.operands]
            if operation.name in RETURNS:
                self.depth -= 1
                return operands
            environment.update(zip(operation.results, self._told(operation, operands, environment), strict=True))
        raise InputError(f"{block.operations[-1] if block.operations else 'a block'}: it does not return")

    def _told(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> Sequence[Tensor]:
        """The results of an operation, and where histories are told, what its indices and numbers come from."""
        if not self.events.everything:
            return self._in_turns(operation, operands, environment)
        sources = frozenset[str]().union(*(one.sources for one in operands))
        self.events.sources = sources
        results = self._in_turns(operation, operands, environment)
        if operation.blocks or operation.name == "func.call":
            return results
        return [one if one.is_data else replace(one, sources=sources | {operation.where}) for one in results]

    def _in_turns(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> Sequence[Tensor]:
        """The results of an operation, in a loop whose first turn stands for all with the numbers of all turns."""
        if self.fold is None or not self.is_in_fold:
            return self.executed(operation, operands, environment)
        return self.fold.results(operation, operands, lambda one, given: self.executed(one, given, environment))

    def executed(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> Sequence[Tensor]:
        """The results of an operation."""
        name = operation.name
        entries = sum(one.array.size if one.is_data else compact(one.array).size for one in operands)
        spend(10 * PYTHON + entries, f"{operation} and the operations before it")
        if name in self.handlers:
            return self.handlers[name](operation, operands, environment)
        if name in SAME:
            return operands
        if name in MOVES:
            return [self.moved(operation, operands)]
        if name in SUMS and any(one.is_data for one in operands):
            return [self.sum(operation, operands)]
        if name in WHOLE and not any(one.is_data for one in operands):
            return [Tensor(whole(operation, operands), operation.types[0])]
        if name in _COLLECTIVES:
            raise InputError(f"{operation}: how it is done is left to XLA; supported are programs of collective_permute")
        what = "of data " if any(one.is_data for one in operands) else ""
        raise InputError(f"{operation} {what}is not supported; data are moved by {_listed(MOVES)}, and added by {_listed(SUMS)}")

    def _while(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        body = operation.blocks[1]
        if self.folds and self.fold is None and (done := self._folded(operation, operands, environment)) is not None:
            return done
        carried = list(operands)
        for turn in count():
            spend(10 * PYTHON, f"{operation} and the operations before it")
            goes_on = self._condition(operation, carried, environment)
            if not goes_on.array.flat[0]:
                self.events.sources = goes_on.sources
                break
            self.events.turns.append((operation, turn))
            carried = self.block(body, carried, environment)
            self.events.turns.pop()
        return [self.traced(operation, one) for one in carried]

    def _condition(self, operation: HloOperation, carried: list[Tensor], environment: Environment) -> Tensor:
        """Whether a loop goes on, which is the same on all devices."""
        (goes_on,) = self.block(operation.blocks[0], carried, environment)
        numbers = known(goes_on, f"{operation}: whether it goes on")
        if goes_on.turns:
            raise UnfoldableError
        if (numbers != numbers.flat[0]).any():
            raise InputError(f"{operation}: devices end it after different numbers of turns")
        return goes_on

    def _folded(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor] | None:
        """The results of a loop whose first turn stands for all; None where that is not tried. UnfoldableError where it does
        not."""
        condition, body = operation.blocks
        made = {result: one for one in body.operations for result in one.results}
        numbers = {place: [operands[place]] for place in counted(body, operands)}
        if self._permutes(condition) or not is_of_turn(operation, numbers):
            return None
        turns = 0
        while numbers:
            carried = [numbers[place][-1] if place in numbers else one for place, one in enumerate(operands)]
            spend(10 * PYTHON, f"{operation} and the operations before it")
            if not self._condition(operation, carried, environment).array.flat[0]:
                break
            for place, found in numbers.items():
                adds = made[body.operations[-1].operands[place]]
                given = [
                    found[-1] if one == body.arguments[place] else self.executed(made[one], [], environment)[0]
                    for one in adds.operands
                ]
                found.append(self.executed(adds, given, environment)[0])
            turns += 1
            if turns > MOST:
                return None
        if turns < FEWEST:
            return None
        self.fold = Fold(operands, [*environment.values()], numbers, self.events, turns)
        before, sent = self.permutes, self.sent.copy()
        self.events.turns.append((operation, 0))
        self.is_in_fold = True
        results = self.block(body, self.fold.carried, environment)
        self.is_in_fold = False
        self.events.turns.pop()
        found = self.fold.ends(results, numbers, is_told=self.events.everything)
        self.permutes += (turns - 1) * (self.permutes - before)
        self.sent += (turns - 1) * (self.sent - sent)
        self.events.is_folded = True
        return found

    def _case(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        numbers = known(operands[0], f"{operation}: which branch it takes").reshape(-1).astype(np.int64)
        last = len(operation.blocks) - 1
        if operation.name == "stablehlo.if":
            numbers = 1 - numbers
        numbers = np.where((numbers < 0) | (numbers > last), last, numbers)
        taken = sorted(set(numbers.tolist()))
        if len(taken) == 1:
            return self.block(operation.blocks[taken[0]], (), environment)
        if any(self._permutes(operation.blocks[one]) for one in taken):
            raise InputError(f"{operation}: devices take different branches, of which some permute: they would wait for each other")
        results = [self.block(operation.blocks[one], (), environment) for one in taken]
        return [
            self._chosen(operation, list(found), np.searchsorted(taken, numbers), operands[0].sources)
            for found in zip(*results, strict=True)
        ]

    def _chosen(self, operation: HloOperation, found: list[Tensor], which: Int64, sources: frozenset[str]) -> Tensor:
        """The tensor of the branch of each device."""
        if self.fold is not None and self.is_in_fold:
            self.fold.require_own(found)
        if any(one.is_data for one in found):
            found = [self.data(one, operation) for one in found]
        arrays = [broadcast(one.array, self.devices) for one in found]
        hold(8 * arrays[0].size, f"{operation} of {arrays[0].size:,} numbers or blocks")
        self.events.sources = sources
        joined = np.stack([arrays[at][device] for device, at in enumerate(which.tolist())])
        return self.traced(operation, replace(found[0], array=joined))

    def _permutes(self, block: HloBlock) -> bool:
        """Whether a block has a permute, in functions that it calls as well."""
        open_, seen = [block], set[str]()
        while open_:
            for one in open_.pop().operations:
                if one.name == "stablehlo.collective_permute":
                    return True
                open_ += one.blocks
                callee = one.attributes.get("callee")
                if callee in self.functions and callee not in seen:
                    seen.add(callee)
                    open_.append(self.functions[callee].body)
        return False

    def _call(self, operation: HloOperation, operands: list[Tensor], environment: Environment) -> list[Tensor]:
        name = operation.attributes["callee"]
        if name not in self.functions:
            raise InputError(f"{operation}: there is no function {name}")
        return self.block(self.functions[name].body, operands, {})


def _listed(names: Sequence[str] | dict[str, Any]) -> str:
    return ", ".join(one.partition(".")[2] for one in names)
