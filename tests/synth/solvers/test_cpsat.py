"""The door to CP-SAT: its answers, its limits, and Ctrl-C."""

import os
import signal
import threading
from collections.abc import Callable

import pytest
from ortools.sat import sat_parameters_pb2
from ortools.sat.python import cp_model

from certree.synth.solvers.cpsat import STATUS_MAP, Budget, Status, run
from tests.synth.execution import ask


def pigeons(holes: int) -> cp_model.CpModel:
    """One pigeon more than holes, in clauses: infeasible, and a long search for clause learning."""
    model = cp_model.CpModel()
    sits = [[model.new_bool_var("") for _ in range(holes)] for _ in range(holes + 1)]
    for places in sits:
        model.add_bool_or(places)
    for hole in range(holes):
        for late in range(holes + 1):
            for early in range(late):
                model.add_bool_or([~sits[early][hole], ~sits[late][hole]])
    return model


def test_answers() -> None:
    assert run(cp_model.CpModel(), ask("ring:4"), Budget(1))[0] is Status.OPTIMAL
    assert run(pigeons(3), ask("ring:4"), Budget(1))[0] is Status.INFEASIBLE
    assert run(pigeons(3), ask("ring:4"), Budget(0))[0] is Status.UNKNOWN
    assert [status for status in Status if status.has_solution] == [Status.OPTIMAL, Status.FEASIBLE]


def test_a_solve_takes_no_more_than_its_part_and_the_budget_shrinks() -> None:
    budget = Budget(100)
    assert run(pigeons(40), ask("ring:4"), budget, most=0.1)[0] is Status.UNKNOWN
    assert 90 < budget.left < 100
    budget.spend(1000)
    assert budget.left == 0


def test_every_status_of_the_solver_is_mapped_and_no_other() -> None:
    codes = {name: getattr(cp_model, name) for name in STATUS_MAP}
    assert {cp_model.CpSolver().status_name(code) for code in codes.values()} == set(STATUS_MAP)
    with pytest.raises(KeyError):
        STATUS_MAP["TIMEOUT"]


def test_a_model_that_the_solver_refuses_is_a_fault_of_the_encoder() -> None:
    model = cp_model.CpModel()
    model.new_int_var(0, 5, "x")
    model.proto.variables[0].domain[0] = 9
    with pytest.raises(RuntimeError, match="CP-SAT refuses the model"):
        run(model, ask("ring:4"), Budget(1))


class Endless:
    """In place of a solver: the search begins with a Ctrl-C and ends only when it is stopped, for which it must have begun."""

    def __init__(self, send: Callable[[], None]) -> None:
        self.parameters = sat_parameters_pb2.SatParameters()
        self.send = send
        self.stops = 0
        self.stopped = threading.Event()

    def solve(self, model: cp_model.CpModel) -> int:
        self.send()
        assert self.stopped.wait(60)
        return cp_model.UNKNOWN

    def stop_search(self) -> None:
        self.stops += 1
        if self.stops > 1:  # the first is lost, as it is on a search that has not begun
            self.stopped.set()


def to_the_process() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def to_the_searching_thread() -> None:
    """Send the signal as the system may hand it on: the main thread, which waits, is not woken."""
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


@pytest.mark.parametrize("send", [to_the_process, to_the_searching_thread])
def test_ctrl_c_ends_the_search(send: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    solver = Endless(send)
    monkeypatch.setattr(cp_model, "CpSolver", lambda: solver)
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            run(cp_model.CpModel(), ask("ring:4"), Budget(60))
    finally:
        signal.signal(signal.SIGINT, inherited)
    assert solver.stops == 2
