"""Times of one server that adds several vectors at once, by GenModel (GenTree, Equation 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certree.extras.costs.model.formulas.genmodel import GenModel, load_genmodel
from certree.extras.costs.model.profile import factored_profile, pairwise_profile
from certree.extras.papers.experiment import EXPERIMENTS, Cell, Experiment
from certree.extras.papers.experiments.costs.gentree_picks import read_floats
from certree.extras.papers.experiments.costs.plan_costs import trend
from certree.extras.reports.make.figure import Panel, Plot, Series
from certree.models.common.fields import Fields

SECONDS, ACCESSES, SAVED, MORE = "s an addition", "accesses an addition", "accesses saved", "more one by one"


@dataclass(frozen=True)
class _VectorAdditions(Experiment):
    vectors: tuple[int, ...]
    floats: Fraction
    model: GenModel

    def cells(self, results: Sequence[Mapping[str, Any]]) -> list[Cell]:
        cells: list[Cell] = []
        for count in self.vectors:
            at_once, one_by_one = (_accesses(count, steps) for steps in (1, count - 1))
            row = f"{count} vectors"
            cells += [
                Cell(row, SECONDS, self._seconds(count)),
                Cell(row, ACCESSES, at_once),
                Cell(row, SAVED, 1 - at_once / one_by_one),
                Cell(row, MORE, one_by_one / at_once - 1),
            ]
        return [*cells, Cell("from first to last", SECONDS, trend([self._seconds(count) for count in self.vectors]))]

    def _seconds(self, count: int) -> Fraction:
        server = self.model.server
        return self.floats * (server.gamma_seconds_per_float + _accesses(count, 1) * server.delta_seconds_per_float)

    def plot(self, cells: Sequence[Cell]) -> Plot:
        points = [(float(count), float(self._seconds(count))) for count in self.vectors]
        return Plot((Panel("", (Series(SECONDS, tuple(points)),)),), x_label="vectors", y_label="s")

    def smoke(self) -> "_VectorAdditions":
        return replace(self, vectors=self.vectors[:2])


def _accesses(count: int, steps: int) -> Fraction:
    """Memory accesses for each of the count - 1 additions of a float, all in one step or one in each: those of co-located PS, or of
    a ring, with as many servers, each of which adds up a block of every one."""
    plan = factored_profile((count,)) if steps == 1 else pairwise_profile(count, 2 * steps)
    return plan.accesses * count / (count - 1)


@EXPERIMENTS.register("vector-additions")
def vector_additions(fields: Fields) -> Experiment:
    """Additions of `vectors` (numbers from 2) of `floats` (one length) at once, by the GenModel parameters `model`.

    Columns: seconds and memory accesses for each vector that is added to the first one; what part of the accesses this saves
    compared with additions one by one, and by what part those take more. Row `from first to last`: the change of the seconds.
    """
    floats = read_floats(fields)
    if len(floats) != 1:
        fields.refuse(f"floats has {len(floats)} entries; expected one")
    return _VectorAdditions(fields.wholes("vectors", 2, 999_999), Fraction(floats[0]), load_genmodel(fields.text("model")))
