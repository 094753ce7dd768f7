"""`verify_hlo`: a StableHLO module in, a verdict out."""

from dataclasses import dataclass
from typing import Any

from certree.extras.runtimes.check.checker import wrong_cells, wrong_words
from certree.extras.runtimes.check.sums import program_additions
from certree.extras.runtimes.model.layout import Cell, Layout
from certree.extras.xla.check.hlo.devices import Executed, executed
from certree.extras.xla.check.hlo.history import history, history_words
from certree.extras.xla.check.hlo.layouts import layout_of
from certree.extras.xla.check.hlo.values import HloRun, Values
from certree.extras.xla.model.hlo import HloModule
from certree.models.common.budget import budgeted
from certree.models.common.errors import InputError, UndecidedError
from certree.models.schedule.collective import CollectiveKind
from certree.verify.order.additions import Additions
from certree.verify.verdict import Findings, Verdict


@dataclass(frozen=True)
class HloVerdict:
    """The verdict on a module; `layout`: of the collective that it computes, or misses least. `additions`: of a valid one that
    adds, in which order. `history`: of the first wrong block the operations that made it, the last one first."""

    module: HloModule
    values: Values
    layout: Layout
    verdict: Verdict
    additions: Additions | None = None
    history: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return self.verdict.valid

    def run(self) -> HloRun:
        """One execution, for what it moves."""
        return HloRun(self.values, self.layout, with_moves=True)

    def sizes(self) -> dict[str, Any]:
        """The sizes of the program, for its report. `blocks_sent`: by a device in all permutes, used or not."""
        found, done = self.values.executed, self.values.operations
        turns = 1 if found.turns is None else found.turns.count
        used = [one for one in self.run().arrivals if one.src[0] != one.dst[0]] if self.valid else []
        return {
            "in_place": False,
            "out_of_place": True,
            "ranks": self.layout.ranks,
            "chunks": self.layout.chunks,
            "messages": len(used) * turns,
            "permutes": found.permutes,
            "block_elements": found.grain,
            "element": found.element,
            "blocks_sent": int(found.sent.max()),
            "iterations": turns,
            "operation": sorted(done)[0] if done else None,
            "converted": sorted(found.converted),
            "history": list(self.history),
        }


@budgeted()
def verify_hlo(module: HloModule, kind: CollectiveKind | None = None, root: int | None = None) -> HloVerdict:
    """The verdict on a module: rule `wrong-data` for each block of a result that is not what is due, the first one with the
    operations that made it. `kind`, `root`: where they are known; by default those that the module computes. InputError for what
    is not supported; UndecidedError where the budget is spent."""
    values, layout = _computed(module, kind, root)
    findings, told, turns = Findings(), tuple[str, ...](), values.executed.turns
    run = HloRun(values, layout)
    again = "" if turns is None else f", in each of {turns.count:,} turns of a loop"
    cells = list(wrong_cells(run))
    if cells:
        told = _told(module, layout, cells[0], values.executed)

    def words(at: int) -> tuple[int, tuple[int, ...], str]:
        made = f"{again}; {history_words(told)}" if told else again
        return 0, (), f"{wrong_words(run, cells[at])}{made if at == 0 else ''}"

    findings.add_each("wrong-data", range(len(cells)), words)
    additions = None if findings.rules else program_additions([run])
    return HloVerdict(module, values, layout, findings.verdict(), additions, told)


def _computed(module: HloModule, kind: CollectiveKind | None, root: int | None) -> tuple[Values, Layout]:
    """The contents of blocks, and the layout. Where a turn of a loop stands for all, it must do so for this layout, too."""
    found = executed(module)
    if found.turns is not None:
        try:
            values = Values(found)
            layout = layout_of(values, kind, root)
            if found.turns.fits(1 if layout.roles.blocks else layout.block):
                return values, layout
        except InputError:
            pass  # what it is about is told for all turns
        found = executed(module, folds=False)
    values = Values(found)
    return values, layout_of(values, kind, root)


def _told(module: HloModule, layout: Layout, cell: Cell, found: Executed) -> tuple[str, ...]:
    """The history of a block; none where that does not fit the budget, since what is wrong stays so."""
    try:
        return history(module, layout, cell, found)
    except (InputError, UndecidedError):
        return ()
