"""The checker against all interleavings of small plans, which share no code."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from certree.extras.pallas.check.kernel_checker import verify_kernel
from certree.extras.pallas.model.kernel_plan import INPUT, OUTPUT, Place
from tests.extras.pallas.kernel_interleavings import RACES, TooManyStatesError, faults
from tests.extras.pallas.small_kernels import RECEIVE, SEND, copy, drawn, exchange, pass_on, replaced, third_call, wait, wide

NAMES = {
    "semaphore-count": "count",
    "kernel-deadlock": "deadlock",
    "not-entered": "entry",
    "left-running": "left",
    "wrong-data": "data",
} | dict.fromkeys(RACES, "race")


def differences(plans: int, seed: int) -> tuple[Counter[str], int]:
    """How many plans have each fault, and for how many of them the checker differs."""
    chosen, found, differ, checked = random.Random(seed), Counter[str](), 0, 0
    while checked < plans:
        plan = drawn(chosen)
        try:
            truth = faults(plan)
        except TooManyStatesError:
            continue
        checked += 1
        said = {NAMES[rule] for rule in verify_kernel(plan).verdict.counts}
        if "deadlock" in truth:  # then the checker says no more about order
            truth &= {"count", "deadlock"}
        elif truth - {"data"}:  # then nor about data, which differ by run
            truth -= {"data"}
        found.update(truth or {"right"})
        differ += said != truth
    return found, differ


def test_small_kernels_are_right() -> None:
    for plan in (exchange(), pass_on(2), wide()):
        assert faults(plan) == set()
        assert verify_kernel(plan).valid


def test_two_calls_do_not_stand_for_three() -> None:
    """Where calls meet at a barrier, a plan is refused that needs a third one, and this one is wrong there."""
    plan = third_call()
    assert faults(plan) == set()
    assert "entry" in faults(plan, most=200_000, calls=3)
    assert verify_kernel(plan).verdict.counts.keys() == {"calls-meet"}
    assert verify_kernel(replace(plan, repeats=2)).valid


def test_a_wait_that_ends_inside_a_dma() -> None:
    """One of two rows has come, nobody knows which; or one was read, and the other one may be overwritten."""
    own = copy(Place(OUTPUT, 0), Place(OUTPUT, 0))
    early = replaced(wide(), 1, 4, wait(RECEIVE), own)
    again = replaced(wide(), 0, 7, wait(SEND), copy(Place(INPUT, 0), Place(OUTPUT, 0)), wait(SEND))
    for plan, rule in ((early, "unawaited-arrival"), (again, "early-reuse")):
        assert faults(plan) == {"race"}
        assert verify_kernel(plan).verdict.counts.keys() == {rule}
    late = replaced(wide(), 1, 5, wait(RECEIVE), own)
    assert faults(late) == set()
    assert verify_kernel(late).valid


def test_a_few() -> None:
    assert differences(20, 5)[1] == 0


@pytest.mark.parametrize("seed", range(2))
def test_any_number_of_calls(seed: int) -> None:
    """Where two calls are said to stand for any number, three calls have no other faults."""
    chosen, checked = random.Random(seed), 0
    while checked < 20:
        plan = drawn(chosen)
        if verify_kernel(plan).any_calls and plan.ranks == 2:
            checked += 1
            assert faults(plan, most=1_000_000, calls=3) == set()


@pytest.mark.parametrize("seed", range(3))
def test_a_hundred(seed: int) -> None:
    found, differ = differences(100, seed)
    assert differ == 0
    assert min(found[name] for name in ("right", "count", "deadlock", "race")) > 0
