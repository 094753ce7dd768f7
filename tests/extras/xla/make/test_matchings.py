"""Matchings of bipartite multigraphs: as few as the largest degree, drawn ones and full ones."""

from collections import Counter

import numpy as np
import pytest

from certree.extras.orders.make.turns import coloured
from certree.extras.xla.make.matchings import largest_degree, weighted
from certree.extras.xla.make.stretches import outlines


@pytest.mark.parametrize("seed", range(40))
def test_as_few_as_the_largest_degree(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    ends = int(drawn.integers(1, 9))
    edges = [tuple(pair) for pair in drawn.integers(0, ends, (int(drawn.integers(1, 60)), 2)).tolist()]
    colours = coloured(edges, largest_degree(Counter(edges)))
    assert max(colours) + 1 == largest_degree(Counter(edges))
    for side in (0, 1):
        used = Counter((edge[side], colour) for edge, colour in zip(edges, colours, strict=True))
        assert max(used.values()) == 1


def test_steps_with_the_same_permutes_are_one_stretch() -> None:
    clockwise, back = Counter({(0, 1): 1, (1, 2): 1, (2, 0): 1}), Counter({(1, 0): 1, (2, 1): 1, (0, 2): 1})
    assert [(one.first, one.end, len(one.permutes)) for one in outlines([clockwise, clockwise, back])] == [(0, 2, 1), (2, 3, 1)]
    # a step of its own needs one permute, together they need two: never more than the fewest
    assert [(one.first, one.end) for one in outlines([clockwise, clockwise + back])] == [(0, 1), (1, 2)]


def test_messages_of_a_link_are_stacked_where_no_more_is_sent() -> None:
    (even,) = outlines([Counter({(0, 1): 2, (1, 0): 2})])
    assert [permute.rows for permute in even.permutes] == [2]
    (uneven,) = outlines([Counter({(0, 1): 2, (1, 2): 1, (2, 0): 1})])
    # stacked, classes of one and of two messages would send three rows
    assert [permute.rows for permute in uneven.permutes] == [1, 1]
    assert sorted(uneven.rows[0, 1]) == [0, 1]


@pytest.mark.parametrize("seed", range(40))
def test_weighted_matchings_send_as_many_rows_as_the_largest_degree(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    ends = int(drawn.integers(2, 9))
    pairs: Counter[tuple[int, int]] = Counter()
    for source, target in drawn.integers(0, ends, (int(drawn.integers(1, 40)), 2)).tolist():
        pairs[source, target] += int(drawn.integers(1, 1000))
    found = weighted(pairs)
    assert sum(rows for rows, _ in found) == largest_degree(pairs)
    assert len(found) <= 2 * (len(pairs) + ends)
    sent: Counter[tuple[int, int]] = Counter()
    for rows, matched in found:
        assert all(max(Counter(side).values()) == 1 for side in zip(*matched, strict=True))
        sent.update(dict.fromkeys(matched, rows))
    assert sent == pairs


def test_unequal_counts_need_few_permutes() -> None:
    (one,) = outlines([Counter({(0, 1): 2890, (1, 2): 1})])
    assert sorted(permute.rows for permute in one.permutes) == [1, 2889]


def test_many_stretches_share_permutes() -> None:
    """Where they need no more of them: a step that sends to the right, and one that sends to the left, have the same two."""
    right, left = Counter({(0, 1): 1, (2, 3): 1}), Counter({(1, 2): 1, (3, 0): 1})
    both = Counter({(0, 1): 1, (0, 2): 1})
    found = list(outlines([right, both, left] * 4))
    assert len(found) == 9  # a step to the left and the next one to the right are one stretch anyway
    assert {len(one.permutes) for one in found} == {1, 2}
    assert len({one.permutes for one in found}) == 2
    assert [one.first for one in found] == [0, *(one.end for one in found[:-1])]
    few = list(outlines([right, both, left]))
    assert len({one.permutes for one in few}) == 3
