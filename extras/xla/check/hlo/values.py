"""The contents of blocks, from the events that they come from, and the transfers of devices, for the schedule of the program."""

from dataclasses import dataclass, field

import numpy as np

from certree.extras.runtimes.check.execution import Arrival
from certree.extras.runtimes.check.sums import Sums, Value
from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.runtimes.model.program import Buffer
from certree.extras.xla.check.hlo.devices import Executed
from certree.extras.xla.check.hlo.events import ZERO, Batch, Kind
from certree.extras.xla.check.hlo.operations import SUMS
from certree.models.common.budget import PYTHON, spend
from certree.models.common.errors import InputError


class Values:
    """The values of all blocks that are returned, and of those that they come from."""

    def __init__(self, executed: Executed) -> None:
        self.executed, self.sums = executed, Sums()
        self.by_event: dict[int, Value] = {ZERO: Value()}
        #: by event what it is a sum with: sum, max or min
        self.operation: dict[int, str] = {}
        self.needed = executed.events.needed(executed.outputs)
        for batch in executed.events.batches:
            live = np.flatnonzero(self.needed[batch.first : batch.first + len(batch.device)])
            spend(5 * PYTHON * len(live), f"{len(live):,} blocks that devices receive and add")
            for at in live.tolist():
                self.by_event[batch.first + at] = self._value(batch, at)

    @property
    def operations(self) -> set[str]:
        """The operations with which returned blocks are sums."""
        return set(self.operation.values())

    def _value(self, batch: Batch, at: int) -> Value:
        one = int(batch.one[at])
        match batch.kind:
            case Kind.CONSTANT:
                return Value() if batch.first == ZERO else Value(fault=f"it holds the constant of {batch.words()}")
            case Kind.INPUT:
                rank = int(self.executed.rank[batch.device[at]])
                return Value(frozenset({(rank, one)}), rank)
            case Kind.SUM:
                return self._sum(batch, batch.first + at, one, int(batch.two[at]))
            case _:
                if one in self.operation:
                    self.operation[batch.first + at] = self.operation[one]
                return self.by_event[one]

    def _sum(self, batch: Batch, event: int, one: int, two: int) -> Value:
        assert batch.operation is not None
        name, left, right = SUMS[batch.operation.name], self.by_event[one], self.by_event[two]
        words = batch.words()
        others = {self.operation[part] for part in (one, two) if part in self.operation} - {name}
        self.operation[event] = name
        if others:
            return Value(left.parts | right.parts, fault=f"{words} takes the {name} of what is a {others.pop()}")
        if name == "sum" and (is_nothing(left) or is_nothing(right)):
            return right if is_nothing(left) else left
        if not left.fault and not right.fault and not (left.parts and right.parts):
            return Value(left.parts | right.parts, fault=f"{words} takes a constant")
        if name != "sum" and left.parts & right.parts:
            raise InputError(f"{words} takes a contribution twice; that changes no {name}, but no schedule says it")
        return self.sums.added(left, right, words)


def is_nothing(value: Value) -> bool:
    """Whether a value is the constant zero, which changes no sum."""
    return not value.parts and not value.fault


@dataclass
class HloRun:
    """An execution that is over, of a module whose layout is known; `arrivals` as in `Execution`: every block that a device
    receives or adds up is a place of scratch of its own."""

    values: Values
    layout: Layout
    with_moves: bool = False
    in_place: bool = False
    arrivals: list[Arrival] = field(default_factory=list)
    sums: Sums = field(init=False)
    sizes: dict[Part, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        executed, self.sums = self.values.executed, self.values.sums
        self._place: dict[int, Cell] = {}
        self._device = np.argsort(executed.rank)
        self._count = [0] * self.layout.ranks
        self._permutes: dict[int, int] = {}
        if self.with_moves:
            self._move()

    def held(self, cell: Cell) -> Value:
        """The contents of a place of an output at the end."""
        return self.values.by_event[int(self.values.executed.outputs[self._device[cell[0]], cell[2]])]

    def _move(self) -> None:
        """The arrivals of all that the places of outputs come from."""
        executed, cells = self.values.executed, list[tuple[Cell, int]]()
        for rank in range(self.layout.ranks):
            ends = executed.outputs[self._device[rank], : self.layout.sizes(rank)[1]].tolist()
            cells += [((rank, Buffer.OUTPUT, offset), event) for offset, event in enumerate(ends)]
        needed = executed.events.needed(np.array([event for _, event in cells], np.int64))
        for batch in executed.events.batches:
            for at in np.flatnonzero(needed[batch.first : batch.first + len(batch.device)]).tolist():
                self._happens(batch, at)
        order = 2 * len(executed.events.batches)
        for cell, event in cells:
            self._arrive(self._place[event], cell, event, order, order, adds=False, level=order)

    def _happens(self, batch: Batch, at: int) -> None:
        event, one = batch.first + at, int(batch.one[at])
        rank = int(self.values.executed.rank[batch.device[at]])
        if batch.kind is Kind.INPUT:
            self._place[event] = (rank, Buffer.INPUT, one)
            return
        if is_nothing(self.values.by_event[event]):
            return
        parts = [part for part in (one, int(batch.two[at]))[: 2 if batch.kind is Kind.SUM else 1] if part in self._place]
        if batch.kind is Kind.MOVED or (batch.kind is Kind.SUM and len(parts) == 1):
            self._place[event] = self._place[parts[0]]
            return
        time = 2 * batch.order
        if batch.kind is Kind.RECEIVED:
            level = self._permutes.setdefault(batch.first, len(self._permutes))
            target = self._fresh(event, rank)
            self._arrive(self._place[one], target, event, time, time + 1, adds=False, level=level)
            return
        parts.sort(key=lambda part: (self._is_received(part), part))  # what came last is added to what was there
        target, level = self._fresh(event, rank), len(self._permutes)
        self._arrive(self._place[parts[0]], target, parts[0], time, time, adds=False, level=level)
        self._arrive(self._place[parts[1]], target, event, time + 1, time + 1, adds=True, level=level)

    def _is_received(self, event: int) -> bool:
        return self.values.executed.events.batch(event)[0].kind is Kind.RECEIVED

    def _fresh(self, event: int, rank: int) -> Cell:
        self._place[event] = (rank, Buffer.SCRATCH, self._count[rank])
        self._count[rank] += 1
        return self._place[event]

    def _arrive(self, source: Cell, target: Cell, event: int, read: int, written: int, *, adds: bool, level: int) -> None:
        self.arrivals.append(Arrival(source, target, adds, self.values.by_event[event], read, written, level))
