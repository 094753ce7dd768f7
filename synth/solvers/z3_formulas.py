"""z3 as a back end of formulas: clauses as they are, counters as pseudo-Boolean constraints."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from certree.models.common.errors import ToolMissingError
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import BACK_ENDS, BackEnd, clauses_and_limits
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.exact.formula import Formula

if TYPE_CHECKING:
    import z3


@BACK_ENDS.register("z3")
class Z3(BackEnd):
    """z3: counters become pseudo-Boolean constraints. Its refutations have no proof."""

    most_clauses = 1_000_000

    def encode(self, formula: Formula, *, with_proof: bool) -> None:
        """A Boolean for each variable of a clause or a limit, in a context of its own."""
        try:
            import z3  # noqa: PLC0415 - optional
        except ModuleNotFoundError:
            raise ToolMissingError("the solver z3 is not installed: pip install 'certree[smt]'") from None
        self._z3, self._context, self._variables = z3, z3.Context(), dict[int, z3.BoolRef]()
        self._solver = z3.SolverFor("QF_FD", ctx=self._context)
        self._model: z3.ModelRef | None = None
        clauses, limits = clauses_and_limits(formula)
        for clause in clauses:
            self._solver.add(z3.Or([self._literal(literal) for literal in clause], self._context))
        for total, literals, most in limits:
            counted = z3.PbLe([(self._literal(literal), 1) for literal in literals], most)
            self._solver.add(z3.Or(self._literal(total), counted))

    def _literal(self, literal: int) -> z3.BoolRef:
        variable, z3 = self._variables.get(abs(literal)), self._z3
        if variable is None:
            variable = self._variables[abs(literal)] = z3.Bool(f"x{abs(literal)}", self._context)
        return variable if literal > 0 else z3.Not(variable)

    def solve(self, budget: Budget, monitor: Monitor, most: int) -> Status:
        """One search, in a separate thread: Python cannot see Ctrl-C while z3 runs in the main one."""
        limit = min(most, int(budget.left))
        if limit < 1 or monitor.expired:
            return Status.UNKNOWN
        self._solver.set(max_conflicts=limit, ctrl_c=False)
        with ThreadPoolExecutor(max_workers=1) as thread:
            search = thread.submit(self._solver.check)
            try:
                while not search.done():
                    wait([search], timeout=0.1)
                    if monitor.expired:
                        self._context.interrupt()
            except KeyboardInterrupt:
                while not search.done():  # an interrupt is lost on a search that has not begun
                    self._context.interrupt()
                    wait([search], timeout=0.05)
                raise
        answer, statistics = search.result(), self._solver.statistics()
        spent = next((statistics.get_key_value(key) for key in statistics.keys() if key == "sat conflicts"), 0)  # noqa: SIM118
        budget.spend(max(1, int(spent)))
        if answer == self._z3.sat:
            self._model = self._solver.model()
            return Status.FEASIBLE
        return Status.INFEASIBLE if answer == self._z3.unsat else Status.UNKNOWN

    def decode(self) -> tuple[int, ...]:
        """The variables that are true."""
        model, z3 = self._model, self._z3
        return () if model is None else tuple(number for number, one in self._variables.items() if z3.is_true(model[one]))
