"""CaDiCaL as a back end: clauses as they are, models and proofs."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import BACK_ENDS, PROVING, BackEnd
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.exact.formula import Formula

FIRST_SLICE = 2_000  # conflicts between two looks at the clock; doubled each time


@BACK_ENDS.register(PROVING)
class Cadical(BackEnd):
    """CaDiCaL: the formula as it is; refutations come with a proof. The default."""

    most_clauses = 4_000_000
    proves = True

    def encode(self, formula: Formula, *, with_proof: bool) -> None:
        """Keep the formula; the solver exists only while it solves."""
        self._formula, self._with_proof = formula, with_proof
        self._model: tuple[int, ...] = ()

    def solve(self, budget: Budget, monitor: Monitor, most: int) -> Status:
        """Search in slices. The solver runs in a separate thread: in the main one pysat would abort it on Ctrl-C in an
        inconsistent state."""
        from pysat.solvers import Cadical195  # noqa: PLC0415 - a binary of its own

        with ThreadPoolExecutor(max_workers=1) as thread, Cadical195(with_proof=self._with_proof) as solver:
            for clause in self._formula.clauses:
                solver.add_clause(clause)
            left, part = min(most, int(budget.left)), FIRST_SLICE
            while left > 0 and not monitor.expired:
                before = solver.accum_stats()["conflicts"]
                solver.conf_budget(min(part, left))
                decided = thread.submit(solver.solve_limited).result()
                spent = max(1, solver.accum_stats()["conflicts"] - before)
                budget.spend(spent)
                left, part = left - spent, 2 * part
                if decided is not None:
                    return self._answer(solver, feasible=decided)
        return Status.UNKNOWN

    def _answer(self, solver: Any, *, feasible: bool) -> Status:
        """Keep the model or the proof."""
        if feasible:
            self._model = tuple(solver.get_model())
            return Status.FEASIBLE
        self.proof = "".join(f"{line}\n" for line in solver.get_proof()) if self._with_proof else ""
        return Status.INFEASIBLE

    def decode(self) -> tuple[int, ...]:
        """The model, true and false literals."""
        return self._model
