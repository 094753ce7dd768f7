"""Draws: no schedule of any method is better than a bound whose class it belongs to (`bounded`)."""

from collections import Counter

import pytest

from tests.end_to_end.draws import bounded
from tests.end_to_end.draws.every_method import cases

NETWORKS = 3


@pytest.mark.parametrize("seed", range(NETWORKS))
def test_no_schedule_is_below_a_bound(seed: int) -> None:
    compared: Counter[str] = Counter()
    wrong = [f"{case.text}\n  {line}" for case in cases(seed) for line in bounded.check(case, compared)]
    assert not wrong, "\n".join(wrong)
    assert compared["schedules"] >= 30, compared
    assert compared["slotted run with flow"] >= 30, compared
