"""HDRM: what it promises of a BiGraph, and other networks refused."""

import pytest

from certree.verify.checker import verify_schedule
from tests.synth.execution import make, rounds_of, valid

PUBLISHED = {"rounds": "published"}


@pytest.mark.parametrize("spec", ["bigraph:4x8", "bigraph:4x16", "bigraph:2x8", "bigraph:2x4", "bigraph:1x2", "bigraph:1x16"])
@pytest.mark.parametrize(("collective", "phases"), [("all-reduce", 2), ("reduce-scatter", 1), ("all-gather", 1)])
def test_it_is_free_of_contention_as_published(spec: str, collective: str, phases: int) -> None:
    made = valid("hdrm", spec, collective, options=PUBLISHED)
    nodes = len(made.topology.endpoints)
    assert (made.chunks, made.steps, rounds_of(made)) == (nodes, phases * (nodes.bit_length() - 1), phases * (nodes - 1))
    assert make("hdrm", spec, collective).rounds.tolist() == made.rounds.tolist()


def test_without_its_mapping_halving_doubling_meets_itself() -> None:
    plain = verify_schedule(make("halving-doubling", "bigraph:4x8", options=PUBLISHED))
    assert not plain.valid
    assert plain.serialized_rounds == 80
    assert rounds_of(make("halving-doubling", "bigraph:4x8")) == 80 > rounds_of(make("hdrm", "bigraph:4x8")) == 62


def test_every_exchange_joins_an_upper_and_a_lower_switch() -> None:
    made = make("hdrm", "bigraph:4x8")
    upper = 16  # endpoints 0 .. 15 hang on the upper switches
    assert ((made.src < upper) != (made.dst < upper)).all()
    assert {len(route) for route in made.routes} == {3}


def test_narrow_cables_between_switches_make_messages_take_turns() -> None:
    # 8 endpoints a switch, 2 switches a side, 1 link between two of them where 4 are needed
    assert rounds_of(make("hdrm", "bigraph:8x4")) == 4 * rounds_of(make("hdrm", "bigraph:4x8"))
    assert not verify_schedule(make("hdrm", "bigraph:8x4", options=PUBLISHED)).valid
    valid("hdrm", "bigraph:8x4")
