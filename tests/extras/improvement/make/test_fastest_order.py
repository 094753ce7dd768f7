"""CP-SAT on the order of small programs: a schedule with the cycles of its solution, and no drawn order is faster."""

import numpy as np
import pytest

from certree.extras.improvement.make import fastest_order as module
from certree.extras.improvement.make.fastest_order import fastest_order
from certree.models.fine.list_jobs import Turns
from certree.models.fine.slots import fine_times
from certree.models.schedule.made_for import MadeFor
from certree.synth.fine.booking import least_cycles
from certree.synth.fine.fine_schedule import costs_of, schedule_of
from certree.synth.fine.program import Program
from certree.synth.fine.search import Trial, searched, tried
from certree.synth.fine.shots import by_dimension, flat
from certree.synth.method import Request
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask

CASES = {  # network, message, dimensions that are scattered; None: no dimensions, all at once
    "one-shot-mesh": ("mesh:2x3", 4096, 0),
    "one-shot-switch": ("switch:4", 1000, None),
    "mixed-mesh": ("mesh:3x3", 4096, 1),
    "two-shot-mesh": ("mesh:2x3", 4096, 2),
    "two-shot-lanes": ("dgx1", 8192, None),
}


def trial_of(request: Request, program: Program) -> tuple[Trial, int]:
    costs = costs_of(request, program)
    return Trial.of(program, costs), least_cycles(program, costs)


def case(name: str) -> tuple[Request, Trial, int]:
    network, size, scattered = CASES[name]
    request = ask(network, message_bytes=size)
    programs = flat(request, True) if scattered is None else by_dimension(request, scattered)
    return request, *trial_of(request, next(iter(programs))[1])


def solved(trial: Trial, least: int) -> tuple[int, Status]:
    found, status = fastest_order(trial, trial.first, least, Budget(2.0), 0, Monitor())
    return found.end, status


@pytest.mark.parametrize("name", CASES)
def test_no_drawn_order_is_faster_than_an_optimal_one(name):
    request, trial, least = case(name)
    found, status = fastest_order(trial, trial.first, least, Budget(2.0), 0, Monitor())
    assert status is Status.OPTIMAL
    made_for = MadeFor(request.message_bytes, request.machine)
    schedule = schedule_of(trial.program, trial.order, found, 1, made_for, {})
    assert verify_schedule(schedule).valid
    assert fine_times(schedule).cycles == request.machine.ni_start_cycles + found.end
    rng, rows = np.random.default_rng(1), trial.program.rows
    for number in range(400):
        late = rng.integers(1 + rng.integers(1, trial.costs.ser), size=rows) * (number % 2)
        other = trial.whole.run(trial.costs, Turns(rng.permutation(rows).astype(np.int64), late.astype(np.int64)))
        assert other.end >= found.end


def test_faster_than_the_local_search():
    """One-shot on a mesh of 2x3 at 4 KiB: the search of the method ends at 898 cycles."""
    request, trial, least = case("one-shot-mesh")
    best = searched(trial, request, tried(trial, request), least)
    found, status = fastest_order(trial, best, least, Budget(2.0), 0, Monitor())
    assert (status, found.end) == (Status.OPTIMAL, 890)
    assert found.end < best.end


def test_a_model_without_links_finds_no_order_that_it_can_keep(monkeypatch):
    """The least cycles of the model are no schedule's, and nothing is called optimal."""
    _, trial, least = case("two-shot-mesh")
    right, status = solved(trial, least)
    assert status is Status.OPTIMAL
    monkeypatch.setattr(module, "_links", lambda *_: None)
    loose, status = solved(trial, 0)
    assert status is Status.FEASIBLE
    assert loose >= right


def test_large_programs_stay_as_they_are(monkeypatch):
    _, trial, least = case("two-shot-mesh")
    monkeypatch.setattr(module, "MOST_INTERVALS", 10)
    assert solved(trial, least) == (trial.first.end, Status.FEASIBLE)
