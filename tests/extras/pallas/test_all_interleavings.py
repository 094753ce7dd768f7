"""The checker against all interleavings of small plans, which share no code."""

import random
from collections import Counter

import pytest

from certree.extras.pallas.check.kernel_checker import verify_kernel
from tests.extras.pallas.kernel_judge import RACES, TooManyStatesError, faults
from tests.extras.pallas.small_kernels import drawn, exchange, pass_on, wide

NAMES = {
    "semaphore-count": "count",
    "kernel-deadlock": "deadlock",
    "not-entered": "entry",
    "left-running": "left",
    "wrong-data": "data",
} | dict.fromkeys(RACES, "race")


def differences(plans: int, seed: int) -> tuple[Counter[str], int]:
    """How many plans have each fault, and how many of them are judged otherwise."""
    chosen, found, differ, judged = random.Random(seed), Counter[str](), 0, 0
    while judged < plans:
        plan = drawn(chosen)
        try:
            truth = faults(plan)
        except TooManyStatesError:
            continue
        judged += 1
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


def test_a_few() -> None:
    assert differences(20, 5)[1] == 0


@pytest.mark.parametrize("seed", range(2))
def test_any_number_of_calls(seed: int) -> None:
    """Where two calls are said to stand for any number, three calls have no other faults."""
    chosen, judged = random.Random(seed), 0
    while judged < 20:
        plan = drawn(chosen)
        if verify_kernel(plan).any_calls and plan.ranks == 2:
            judged += 1
            assert faults(plan, most=1_000_000, calls=3) == set()


@pytest.mark.parametrize("seed", range(3))
def test_a_hundred(seed: int) -> None:
    found, differ = differences(100, seed)
    assert differ == 0
    assert min(found[name] for name in ("right", "count", "deadlock", "race")) > 0
