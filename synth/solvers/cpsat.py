"""Interface to OR-Tools CP-SAT: single worker, seeded, with a deterministic budget, and its answer as a Status.

OR-Tools is imported on first use: it takes longer to load than most methods take to run.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from certree.synth.method import Request
from certree.synth.monitor import Monitor

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


class Status(Enum):
    """A solver's answer for a model. Running out of budget is UNKNOWN, never INFEASIBLE."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"
    ERROR = "error"

    @property
    def has_solution(self) -> bool:
        """Whether values can be read from the solver."""
        return self in (Status.OPTIMAL, Status.FEASIBLE)


#: CP-SAT's status names; a name that is not here raises
STATUS_MAP = {
    "OPTIMAL": Status.OPTIMAL,
    "FEASIBLE": Status.FEASIBLE,
    "INFEASIBLE": Status.INFEASIBLE,
    "UNKNOWN": Status.UNKNOWN,
    "MODEL_INVALID": Status.ERROR,
}


@dataclass
class Budget:
    """The remaining budget, in units of CP-SAT's deterministic time (about seconds, but the same on every machine)."""

    left: float

    def spend(self, amount: float) -> None:
        """Take off what a solve used."""
        self.left = max(0.0, self.left - amount)


def run(model: cp_model.CpModel, request: Request, budget: Budget, most: float | None = None) -> tuple[Status, cp_model.CpSolver]:
    """`solve_model` with the request's seed and monitor."""
    return solve_model(model, request.seed, request.monitor, budget, most)


def solve_model(
    model: cp_model.CpModel,
    seed: int,
    monitor: Monitor,
    budget: Budget,
    most: float | None = None,
    conflicts: int | None = None,
) -> tuple[Status, cp_model.CpSolver]:
    """Solve `model` within the budget, of which it may use up to `most`, and up to that many conflicts.

    A wall-clock limit of the monitor holds as well. RuntimeError when CP-SAT refuses the model: a fault of the encoder.
    """
    from ortools.sat.python import cp_model  # noqa: PLC0415

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed % (1 << 31)
    solver.parameters.max_deterministic_time = budget.left if most is None else min(most, budget.left)
    if conflicts is not None:
        solver.parameters.max_number_of_conflicts = conflicts
    if monitor.remaining is not None:
        solver.parameters.max_time_in_seconds = monitor.remaining
    # In a separate thread: CP-SAT would swallow Ctrl-C, and Python cannot see it while inside CP-SAT.
    solver.parameters.catch_sigint_signal = False
    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(int).result()  # the thread exists before the search: a Ctrl-C while one starts would lose it
        try:
            search = thread.submit(solver.solve, model)
            while not search.done():  # wake up now and then: a Ctrl-C in another thread of the system would not wake this one
                wait([search], timeout=0.1)
            code = search.result()
        except KeyboardInterrupt:
            over = thread.submit(int)  # runs once the search has ended
            while not over.done():  # a stop is lost on a search that has not begun
                solver.stop_search()
                wait([over], timeout=0.05)
            raise
    budget.spend(solver.deterministic_time)
    status = STATUS_MAP[solver.status_name(code)]
    if status is Status.ERROR:
        raise RuntimeError(f"CP-SAT refuses the model: {model.validate()}")
    return status, solver
