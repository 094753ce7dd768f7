"""Interface to CaDiCaL: a formula, a budget of conflicts, and its answer as a Status with a model or a proof.

Conflicts, not seconds, are counted, so that the same formula gives the same answer everywhere; only a monitor's deadline is wall
time.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.exact.formula import Formula

FIRST_SLICE = 2_000  # conflicts between two looks at the clock; doubled each time


@dataclass(frozen=True)
class Answer:
    """FEASIBLE with `model` (true and false literals), INFEASIBLE with `proof` (lines of DRAT text), or UNKNOWN with neither."""

    status: Status
    model: tuple[int, ...] = ()
    proof: str = ""


def solve(formula: Formula, budget: Budget, monitor: Monitor, most: int, *, with_proof: bool) -> Answer:
    """Ask CaDiCaL, within `most` conflicts, the budget (in conflicts) and the monitor's deadline. KeyboardInterrupt passes through.

    The solver runs in a separate thread: in the main one pysat would abort it on Ctrl-C in an inconsistent state.
    """
    from pysat.solvers import Cadical195  # noqa: PLC0415 - a binary of its own

    with ThreadPoolExecutor(max_workers=1) as thread, Cadical195(with_proof=with_proof) as solver:
        for clause in formula.clauses:
            solver.add_clause(clause)
        left, part = min(most, int(budget.left)), FIRST_SLICE
        while left > 0 and not monitor.expired:
            before = solver.accum_stats()["conflicts"]
            solver.conf_budget(min(part, left))
            decided = thread.submit(solver.solve_limited).result()
            spent = max(1, solver.accum_stats()["conflicts"] - before)
            budget.spend(spent)
            left, part = left - spent, 2 * part
            if decided is True:
                return Answer(Status.FEASIBLE, model=tuple(solver.get_model()))
            if decided is False:
                return Answer(Status.INFEASIBLE, proof="".join(f"{line}\n" for line in solver.get_proof()) if with_proof else "")
    return Answer(Status.UNKNOWN)
