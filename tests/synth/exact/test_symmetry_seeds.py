"""Schedules from symmetries are valid, in the steps and rounds that they should have."""

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact.frontier_search import FrontierSearch, place
from certree.synth.exact.symmetry_seeds import side_by_side, swaps, with_chunks
from certree.synth.method import load_methods
from certree.synth.monitor import Monitor
from certree.verify.checker import verify_schedule
from certree.verify.exact.question import Question
from tests.synth.execution import ask


def question(network: str) -> Question:
    return Question(parse_topology(network), parse_collective("all-reduce"), 1, 1, 1)


@pytest.mark.parametrize(("network", "chunks"), [("torus:4x4", [4, 8, 8, 8]), ("hypercube:3", [3, 6, 6]), ("mesh:2x2", [2, 4])])
def test_neighbours_swap_sums(network: str, chunks: list[int]) -> None:
    """The first in as many steps as there are symmetries, the others in one more each; images of it side by side on the links."""
    found = list(swaps(parse_topology(network)))
    assert len(found) == len(chunks)
    for folded, (made, most) in enumerate(zip(found, chunks, strict=True)):
        steps = len(chunks) + folded
        assert verify_schedule(made).valid
        assert place(question(network), made, 1) == (1, steps, steps)
        more = list(side_by_side(made, 8))
        assert [place(question(network), one, 8) for one in more] == [(count, steps, steps) for count in range(2, most + 1)]
        assert all(verify_schedule(one).valid for one in more)


def test_no_more_chunks_than_asked() -> None:
    assert [one.chunks for one in side_by_side(next(swaps(parse_topology("torus:4x4"))), 3)] == [2, 3]


@pytest.mark.parametrize("network", ["ring:5", "mesh:3x3", "switch:4"])
def test_where_nobody_can_swap(network: str) -> None:
    assert list(swaps(parse_topology(network))) == []


def test_some_chunks_alone() -> None:
    made = load_methods()["multitree"](ask("ring:5"))
    assert [place(question("ring:5"), with_chunks(made, count), 5) for count in range(1, 6)] == [(n, 4, 4) for n in range(1, 6)]


def test_a_frontier_starts_from_swaps() -> None:
    search = FrontierSearch(parse_topology("hypercube:3"), parse_collective("all-reduce"), 6, 1, Monitor())
    assert {(3, 3, 3), (6, 4, 4)} <= set(search.result.points)
