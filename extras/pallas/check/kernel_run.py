"""One run of a kernel plan with contributions instead of numbers. All runs of a plan without races move the same data."""

from dataclasses import dataclass, field

from certree.extras.pallas.check.kernel_events import Events
from certree.extras.pallas.model.kernel_plan import KernelPlan, Kind, Operation, Place
from certree.extras.runtimes.check.execution import Arrival
from certree.extras.runtimes.check.sums import Sums, Value
from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.runtimes.model.program import Buffer
from certree.models.common.budget import PYTHON, spend

_BUFFERS = (Buffer.INPUT, Buffer.OUTPUT, Buffer.SCRATCH)


@dataclass
class KernelRun:
    """A run of one call, in the order in which a greedy run has its events; `arrivals` as in `Execution`. O(rows moved, and their
    contributions)."""

    plan: KernelPlan
    layout: Layout
    in_place: bool = False
    arrivals: list[Arrival] = field(default_factory=list)
    sums: Sums = field(default_factory=Sums)
    sizes: dict[Part, int] = field(default_factory=dict)
    #: the most messages that had to come one after the other
    depth: int = 0

    def __post_init__(self) -> None:
        plan = self.plan
        spend(PYTHON * sum(one.rows for _, _, one in plan), "a run of a kernel")
        self.values: dict[Cell, Value] = {}
        self._level: dict[Cell, int] = {}
        for rank in range(plan.ranks):
            for offset in range(self.layout.sizes(rank)[0]):
                self.values[rank, Buffer.INPUT, offset] = Value(frozenset({(rank, offset)}), rank)
        events = Events(plan, 1)
        operation = {event: key for key, event in events.operation.items()}
        arrived = {event: key for key, event in events.arrived.items()}
        read: dict[int, list[tuple[Cell, Value, int, int]]] = {}
        for position, event in enumerate(events.greedy()):
            if event in arrived:
                _, device, number = arrived[event]
                self._write(device, number, read.pop(events.operation[arrived[event]]), position)
            elif event in operation:
                _, device, number = operation[event]
                one = plan.operations[device][number]
                if one.read is not None:
                    rows = self._read(device, one, one.read, position)
                    if one.kind is Kind.START:
                        read[event] = rows
                    else:
                        self._write(device, number, rows, position)

    def held(self, cell: Cell) -> Value:
        """The contents of a place at the end."""
        return self.values.get(cell, Value(fault="nothing was ever written there"))

    def _read(self, device: int, one: Operation, place: Place, position: int) -> list[tuple[Cell, Value, int, int]]:
        cells = [(device, _BUFFERS[place.buffer], place.row + at) for at in range(one.rows)]
        return [(cell, self._held(cell), position, self._level.get(cell, 0)) for cell in cells]

    def _held(self, cell: Cell) -> Value:
        return self.values.get(cell, Value(fault=f"{cell[1]}[{cell[2]}] of device {cell[0]} holds nothing when it is read"))

    def _write(self, device: int, number: int, rows: list[tuple[Cell, Value, int, int]], position: int) -> None:
        one = self.plan.operations[device][number]
        assert one.written is not None
        target = one.device if one.kind is Kind.START else device
        for at, (source, value, read, level) in enumerate(rows):
            cell = (target, _BUFFERS[one.written.buffer], one.written.row + at)
            adds = one.kind is Kind.ADD
            total = self.sums.added(self._held(cell), value, self.plan.where(device, number)) if adds else value
            self.values[cell] = total
            self._level[cell] = max(level + (target != device), self._level.get(cell, 0) if adds else 0)
            self.depth = max(self.depth, self._level[cell])
            self.arrivals.append(Arrival(source, cell, adds, total, read, position, level))
