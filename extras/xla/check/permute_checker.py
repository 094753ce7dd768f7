"""`verify_permutes`: a permute program in, a verdict out.

All devices execute the same steps one after the other, so one execution with contributions in place of numbers shows what every run
does. Iterations execute the same program on other data.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from certree.extras.runtimes.check.checker import add_wrong_data
from certree.extras.runtimes.check.execution import Arrival
from certree.extras.runtimes.check.sums import Sums, Value, program_additions
from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.runtimes.model.program import Buffer
from certree.extras.xla.model.permute_program import ADD, MODES, NOTHING, PermuteProgram, Stretch
from certree.models.common.budget import PYTHON, budgeted, spend
from certree.verify.order.additions import Additions
from certree.verify.verdict import Findings, Verdict

_Row = tuple[Value, Cell, int]  # what a row of an inbox holds, the place it was read from, and when


@dataclass(frozen=True)
class PermuteVerdict:
    """The verdict on a permute program. `additions`: of a valid one that adds, in which order."""

    program: PermuteProgram
    layout: Layout
    verdict: Verdict
    additions: Additions | None = None

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return self.verdict.valid

    def sizes(self) -> dict[str, Any]:
        """The sizes of the program, for its report. `rows_sent`: by a device in the permutes of an iteration, used or not;
        `rows_used`: the most that a device sends which are used."""
        program, used = self.program, Counter[int]()
        for one in self.run().arrivals:
            used[one.src[0]] += one.src[0] != one.dst[0]
        return {
            "in_place": False,
            "out_of_place": True,
            "ranks": program.ranks,
            "chunks": program.layout.chunks,
            "messages": used.total(),
            "permutes": program.permutes,
            "steps": program.steps,
            "stretches": len(program.stretches),
            "iterations": program.repeats,
            "device_rows": int(program.load.shape[1]),
            "rows_sent": program.rows_sent,
            "rows_used": max(used.values(), default=0),
        }

    def run(self) -> "PermuteRun":
        """One execution, for what it moves."""
        return PermuteRun(self.program, self.layout)


@budgeted()
def verify_permutes(program: PermuteProgram) -> PermuteVerdict:
    """The verdict on a permute program: rule `wrong-data` for each place of an output that does not hold what is due. Cost: as the
    tables, and the contributions of all outputs."""
    run, findings = PermuteRun(program, program.layout), Findings()
    add_wrong_data(findings, run)
    additions = None if findings.rules else program_additions([run])
    return PermuteVerdict(program, program.layout, findings.verdict(), additions)


@dataclass
class PermuteRun:
    """One execution of a permute program; `arrivals` as in `Execution`: rows of a device are places of scratch."""

    program: PermuteProgram
    layout: Layout
    in_place: bool = False
    arrivals: list[Arrival] = field(default_factory=list)
    sums: Sums = field(default_factory=Sums)
    sizes: dict[Part, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        program = self.program
        numbers = sum(one.send.size + one.take.size for one in program.stretches) + program.load.size + program.store.size
        spend(PYTHON * numbers, f"an execution with tables of {numbers:,} numbers")
        self.values: dict[Cell, Value] = {}
        self._position = self._step = 0
        #: by device, and by step and row of the inbox
        self._inbox: list[dict[int, dict[int, _Row]]] = [{} for _ in range(program.ranks)]
        for rank, offsets in enumerate(program.load.tolist()):
            for row, offset in enumerate(offsets):
                if 0 <= offset < self.layout.sizes(rank)[0]:
                    value = Value(frozenset({(rank, offset)}), rank)
                    self._copy((rank, Buffer.INPUT, offset), (rank, Buffer.SCRATCH, row), value)
        for one in program.stretches:
            self._stretch(one)
        for rank, rows in enumerate(program.store.tolist()):
            for offset, row in enumerate(rows[: self.layout.sizes(rank)[1]]):
                if row >= 0:
                    source = (rank, Buffer.SCRATCH, row)
                    self._copy(source, (rank, Buffer.OUTPUT, offset), self._held(source))

    def held(self, cell: Cell) -> Value:
        """The contents of a place at the end."""
        return self.values.get(cell, Value(fault="nothing was ever written there"))

    def _copy(self, source: Cell, target: Cell, value: Value) -> None:
        self._position += 1
        self.values[target] = value
        self.arrivals.append(Arrival(source, target, False, value, self._position, self._position, self._step))

    def _held(self, cell: Cell) -> Value:
        return self.values.get(cell, Value(fault=f"row {cell[2]} of device {cell[0]} holds nothing when it is read"))

    def _stretch(self, one: Stretch) -> None:
        sources: list[tuple[int, int, int]] = []  # (row of the inbox, source, target)
        at = 0
        for permute in one.permutes:
            sources += [(row, *pair) for row in range(at, at + permute.rows) for pair in permute.pairs]
            at += permute.rows
        sources += [(row, rank, rank) for row in range(at, at + one.own) for rank in range(self.program.ranks)]
        for send, take, put in zip(one.send.tolist(), one.take.tolist(), one.put.tolist(), strict=True):
            self._position += 1
            arrived: defaultdict[int, dict[int, _Row]] = defaultdict(dict)
            for row, source, target in sources:
                cell = (source, Buffer.SCRATCH, send[source][row])
                arrived[target][row] = (self._held(cell), cell, self._position)
            for rank, inbox in enumerate(self._inbox):
                inbox[self._step] = arrived[rank]
                self._apply(rank, take[rank], put[rank])
                inbox.pop(self._step + 1 - self.program.depth, None)
            self._step += 1

    def _apply(self, rank: int, take: list[int], put: list[int]) -> None:
        where = f"step {self._step} of device {rank}"
        for taken, entry in zip(take, put, strict=True):
            row, mode = divmod(entry, MODES)
            if mode == NOTHING:
                continue
            age, slot = divmod(taken, self.program.width)
            nothing = Value(fault=f"{where} takes row {slot}, which no device has sent {age} steps before")
            value, source, read = self._inbox[rank].get(self._step - age, {}).get(slot, (nothing, (rank, Buffer.SCRATCH, row), 0))
            target = (rank, Buffer.SCRATCH, row)
            total = self.sums.added(self._held(target), value, where) if mode == ADD else value
            self._position += 1
            self.values[target] = total
            self.arrivals.append(Arrival(source, target, mode == ADD, total, read, self._position, self._step))
