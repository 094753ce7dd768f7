"""`verify_hlo`: a StableHLO module in, a verdict out."""

from dataclasses import dataclass
from typing import Any

from certree.extras.runtimes.check.checker import wrong_cells
from certree.extras.runtimes.check.sums import program_additions
from certree.extras.runtimes.model.layout import Cell, Layout
from certree.extras.xla.check.hlo.devices import executed
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
        used = [one for one in self.run().arrivals if one.src[0] != one.dst[0]] if self.valid else []
        return {
            "in_place": False,
            "out_of_place": True,
            "ranks": self.layout.ranks,
            "chunks": self.layout.chunks,
            "messages": len(used),
            "permutes": found.permutes,
            "block_elements": found.grain,
            "element": found.element,
            "blocks_sent": int(found.sent.max()),
            "operation": sorted(done)[0] if done else None,
            "converted": sorted(found.converted),
            "history": list(self.history),
        }


@budgeted()
def verify_hlo(module: HloModule, kind: CollectiveKind | None = None, root: int | None = None) -> HloVerdict:
    """The verdict on a module: rule `wrong-data` for each block of a result that is not what is due, the first one with the
    operations that made it. `kind`, `root`: where they are known; by default those that the module computes. InputError for what
    is not judged; UndecidedError where the budget is spent."""
    found = executed(module)
    values, findings, told = Values(found), Findings(), tuple[str, ...]()
    layout = layout_of(values, kind, root)
    run = HloRun(values, layout)
    for cell, sentence in wrong_cells(run):
        if not findings.rules:
            told = _told(module, layout, cell, found.grain)
            findings.add("wrong-data", 0, (), f"{sentence}; {history_words(told)}" if told else sentence)
        else:
            findings.add("wrong-data", 0, (), sentence)
    additions = None if findings.rules else program_additions([run])
    return HloVerdict(module, values, layout, findings.verdict(), additions, told)


def _told(module: HloModule, layout: Layout, cell: Cell, grain: int) -> tuple[str, ...]:
    """The history of a block; none where that does not fit the budget, since what is wrong stays so."""
    try:
        return history(module, layout, cell, grain)
    except (InputError, UndecidedError):
        return ()
