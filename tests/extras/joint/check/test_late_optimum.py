"""The fewest rounds with one late rank: what the search finds is right, no fewer are enough, and faults are found."""

import pytest

from tests.bench.small.late_optimum import faults, least_rounds, rounds_of_method, search


@pytest.mark.parametrize(("ranks", "chunks"), [(4, 3), (5, 2), (6, 2)])
def test_as_many_as_the_bound_and_no_fewer(ranks: int, chunks: int) -> None:
    bound = least_rounds(ranks, chunks)
    found = search(ranks, chunks, bound, 60)
    assert isinstance(found, list)
    assert faults(ranks, chunks, found) == []
    assert search(ranks, chunks, bound - 1, 60) is False
    assert any("lacks chunk" in words for words in faults(ranks, chunks, found[:-1]))
    assert faults(ranks, chunks, [*found, found[-1]])[-1].endswith("gets two")


def test_a_sum_that_is_not_there() -> None:
    """Rank 1 has no sum in the round in which it gets it."""
    assert faults(3, 1, [(0, 0, 0, 1), (1, 0, 1, 2), (1, 0, 2, 0)]) == []
    assert faults(3, 1, [(0, 0, 0, 1), (0, 0, 1, 2), (1, 0, 2, 0)]) == ["round 0: rank 1 has no sum of chunk 0"]


def test_no_round_is_idle() -> None:
    """With many chunks the plan takes a number of rounds more than the fewest that does not grow with them."""
    for ranks in (4, 5, 6, 7):
        more = {rounds_of_method(ranks, each) - least_rounds(ranks, each * (ranks - 1)) for each in (8, 16)}
        assert len(more) == 1
        assert max(more) <= 8


def test_the_method() -> None:
    """The plan of the method takes one round more than the fewest at 4 ranks, two more at 5 and 6 with a chunk for each early
    rank."""
    assert [rounds_of_method(ranks, 1) - least_rounds(ranks, ranks - 1) for ranks in (4, 5, 6)] == [1, 2, 2]
