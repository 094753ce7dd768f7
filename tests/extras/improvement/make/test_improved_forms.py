"""Improvement of demands, of several buffers in equal slots, and of iterations in fine slots: right, and faster when run."""

from dataclasses import replace

import numpy as np
import pytest

import certree.api as ct
from certree.extras.improvement.make.periods import _least_period, _links_are_free
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from tests.fuzz import forms
from tests.synth.flows.demands import zipf


def cycles(made: Schedule) -> int:
    """The cycles of a run in which every node ends with its result."""
    ran = ct.simulate(made, engine="fast", without_routers=True)
    assert ran.data_ok
    return ran.cycles


def improved(made: Schedule, **options: object) -> Schedule:
    found = ct.improve(made, **options)
    assert isinstance(found, Schedule)
    assert ct.verify(found).valid
    assert found.collective == made.collective
    return found


def moves(made: Schedule) -> list[tuple[int, ...]]:
    """The transfers of a schedule, without their times."""
    return sorted(zip(*(getattr(made, name).tolist() for name in made.columns if name != "step"), strict=True))


@pytest.mark.parametrize(("network", "method", "hot"), [("switch:8", "direct", True), ("mesh:3x3", "flows", False)])
def test_demands_in_other_orders(network: str, method: str, hot: bool) -> None:
    amounts = zipf(len(ct.topology(network).endpoints), 1, 1 << 14, hot=hot)
    made = ct.synthesize(network, ct.collective("alltoallv", demand=ct.demand(amounts, network)), method=method)
    assert isinstance(made, Schedule)
    found = improved(made)
    assert moves(found) == moves(made)
    assert cycles(found) < cycles(made)
    assert improved(made).digest == found.digest


def test_a_demand_that_needs_no_other_order_stays() -> None:
    made = ct.synthesize("ring:3", ct.collective("alltoallv", demand=ct.demand([[0, 16, 0], [0, 0, 0], [0, 0, 0]], "ring:3")))
    assert moves(improved(made)) == moves(made)


@pytest.mark.parametrize("apart", [2, 3, 5])
def test_several_buffers_in_equal_slots(apart: int) -> None:
    made = forms.FORMS["buffers"]()
    assert isinstance(made, Schedule)
    slow = replace(made, step=apart * made.step, rounds=np.ones(apart * (made.steps - 1) + 1, np.int32))
    assert verify_schedule(slow).valid
    found = improved(slow)
    assert (found.steps, found.buffers) == (made.steps, 2)
    assert cycles(found) == cycles(made) < cycles(slow)


def test_buffers_with_results_that_take_longer() -> None:
    """Nothing leaves a buffer while something is on its way there, whatever the delay."""
    made = forms.FORMS["buffers"]()
    assert isinstance(made, Schedule)
    late = replace(made, step=4 * made.step, rounds=np.ones(4 * made.steps - 3, np.int32), delay=4)
    assert verify_schedule(late).valid
    assert cycles(improved(late)) <= cycles(made)


def test_iterations_closer_together() -> None:
    made = forms.FORMS["fine-repeats"]()
    assert isinstance(made, Schedule)
    found = improved(made)
    assert found.repeats == made.repeats
    assert found.period < made.period
    assert moves(found) == moves(made)
    assert cycles(found) < cycles(made)
    times = fine_times(found)
    shorter = [replace(found, period=period) for period in range(1, found.period)]
    assert _least_period(times) >= 1
    for one in shorter:  # what the search passes over is wrong
        assert not verify_schedule(one).valid
        if one.period < _least_period(times):
            assert not _links_are_free(times, one.period * times.slot)


def test_links_of_iterations() -> None:
    """Lanes are free just where the checker finds no two messages on one."""
    made = forms.FORMS["fine-repeats"]()
    assert isinstance(made, Schedule)
    times, seen = fine_times(made), set()
    for period in range(1, 120):
        free = _links_are_free(times, period * times.slot)
        rules = verify_schedule(replace(made, period=period)).counts
        assert free == ("reserved" not in rules), (period, rules)
        seen.add(free)
    assert seen == {False, True}
