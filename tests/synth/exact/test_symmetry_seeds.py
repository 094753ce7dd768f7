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


@pytest.mark.parametrize(("network", "steps", "chunks"), [("torus:4x4", 4, 4), ("hypercube:3", 3, 3), ("mesh:2x2", 2, 2)])
def test_neighbours_swap_sums(network: str, steps: int, chunks: int) -> None:
    """In as many steps as the diameter, and images of it side by side on all links."""
    made = swaps(parse_topology(network))
    assert made is not None
    assert verify_schedule(made).valid
    assert place(question(network), made, 1) == (1, steps, steps)
    found = list(side_by_side(made, 8))
    assert [place(question(network), one, 8) for one in found] == [(count, steps, steps) for count in range(2, chunks + 1)]
    assert all(verify_schedule(one).valid for one in found)
    assert [one.chunks for one in side_by_side(made, 2)] == [2]


def test_where_nobody_can_swap() -> None:
    assert swaps(parse_topology("ring:5")) is None
    assert swaps(parse_topology("mesh:3x3")) is None
    assert swaps(parse_topology("switch:4")) is None


def test_some_chunks_alone() -> None:
    made = load_methods()["multitree"](ask("ring:5"))
    assert [place(question("ring:5"), with_chunks(made, count), 5) for count in range(1, 6)] == [(n, 4, 4) for n in range(1, 6)]


def test_a_frontier_starts_from_swaps() -> None:
    search = FrontierSearch(parse_topology("torus:4x4"), parse_collective("all-reduce"), 4, 1, Monitor())
    search.run()
    assert (list(search.result.points), search.result.undecided) == ([(count, 4, 4) for count in range(1, 5)], [])
