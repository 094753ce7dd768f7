"""A few random networks of switches; `tests/verify/deadlock/drawn.py` draws any number."""

import pytest

from tests.verify.deadlock.drawn import check_network


@pytest.mark.parametrize("seed", range(8))
def test_what_is_made_runs_and_circles_are_refused(seed: int) -> None:
    assert check_network(seed)["runs through routers"]
