"""CP-SAT as a back end of formulas: clauses as they are, counters as linear constraints."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import BACK_ENDS, BackEnd, clauses_and_limits
from certree.synth.solvers.cpsat import Budget, Status, solve_model
from certree.verify.exact.formula import Formula

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


@BACK_ENDS.register("cp-sat")
class CpSat(BackEnd):
    """CP-SAT: counters become linear constraints. Its refutations have no proof."""

    most_clauses = 1_000_000

    def encode(self, formula: Formula, *, with_proof: bool) -> None:
        """A 0-1 variable for each variable of a clause or a limit."""
        from ortools.sat.python import cp_model  # noqa: PLC0415

        self._problem, self._variables = cp_model.CpModel(), dict[int, cp_model.IntVar]()
        clauses, limits = clauses_and_limits(formula)
        for clause in clauses:
            self._problem.add_bool_or([self._literal(literal) for literal in clause])
        for total, literals, most in limits:
            counted = sum(self._literal(literal) for literal in literals)
            self._problem.add(counted <= most).only_enforce_if(self._literal(-total))

    def _literal(self, literal: int) -> cp_model.LiteralT:
        variable = self._variables.get(abs(literal))
        if variable is None:
            variable = self._variables[abs(literal)] = self._problem.new_bool_var("")
        return variable if literal > 0 else ~variable

    def solve(self, budget: Budget, monitor: Monitor, most: int) -> Status:
        """One search of a single worker."""
        limit = min(most, int(budget.left))
        if limit < 1 or monitor.expired:
            return Status.UNKNOWN
        status, self._solver = solve_model(self._problem, 0, monitor, Budget(inf), conflicts=limit)
        budget.spend(max(1, self._solver.num_conflicts))
        return Status.FEASIBLE if status.has_solution else status

    def decode(self) -> tuple[int, ...]:
        """The variables that are 1."""
        return tuple(number for number, variable in self._variables.items() if self._solver.boolean_value(variable))
