"""Binomial trees: any root, any number of endpoints, transfers and rounds by formula."""

import pytest

from certree.verify.checker import verify_schedule
from tests.synth.execution import make, rounds_of, valid


@pytest.mark.parametrize("collective", ["broadcast", "reduce", "scatter", "gather"])
def test_published_rounds_hold_where_nothing_is_shared(collective: str) -> None:
    for spec in ("switch:16", "full:16", "hypercube:4"):
        made = valid("binomial", spec, collective, root=0, options={"rounds": "published"})
        assert rounds_of(made) == (4 if collective in ("broadcast", "reduce") else 15)


def test_published_rounds_are_refuted_where_routes_meet() -> None:
    made = make("binomial", "torus:3x5", "broadcast", root=0, options={"rounds": "published"})
    assert rounds_of(made) == 4
    assert not verify_schedule(made).valid
    assert rounds_of(make("binomial", "torus:3x5", "broadcast", root=0)) == 5


def test_routes_avoid_each_other_where_there_are_several() -> None:
    made = valid("binomial", "bigraph:4x8", "broadcast", root=31, options={"rounds": "published"})
    assert rounds_of(made) == 5


def test_shares_of_the_whole_halve_on_the_way() -> None:
    assert make("binomial", "full:8", "scatter", root=2).rounds.tolist() == [4, 2, 1]
    assert make("binomial", "full:8", "gather", root=2).rounds.tolist() == [1, 2, 4]
    assert make("binomial", "full:6", "scatter", root=2).rounds.tolist() == [2, 2, 1]
