"""Binomial trees: any root, any number of endpoints, transfers and rounds by formula."""

import pytest

from certree.verify.checker import verify_schedule
from tests.synth.execution import make, rounds_of, valid

NETWORKS = ["ring:2", "ring:3", "full:8", "mesh:3x4", "torus:4x4,without-node=3", "switch:7", "fattree:4x4", "bigraph:4x8", "dgx1"]


@pytest.mark.parametrize("collective", ["broadcast", "reduce", "scatter", "gather"])
@pytest.mark.parametrize("spec", NETWORKS)
def test_every_root(spec: str, collective: str) -> None:
    ends = make("ring", spec, options={"order": "natural"}).topology.endpoints.tolist()
    for root in (ends[0], ends[len(ends) // 2], ends[-1]):
        made = valid("binomial", spec, collective, root=root)
        assert made.steps == (len(ends) - 1).bit_length()
        if collective in ("broadcast", "reduce"):
            assert (made.chunks, made.transfers) == (1, len(ends) - 1)
        else:  # a chunk passes one edge for each bit of its place
            assert (made.chunks, made.transfers) == (len(ends) - 1, sum(place.bit_count() for place in range(len(ends))))


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
