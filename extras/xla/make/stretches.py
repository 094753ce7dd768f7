"""Consecutive steps that have the same permutes, and which permutes these are.

The messages of one step between two devices are rows of one permute (stacked) or of several (apart). Apart, a step has as many
permutes as the largest number of messages that a device sends or receives, and sends no more rows than that. Stacked, it has fewer
permutes, but every pair of a permute sends as many rows as the one with the most. Stacked is taken where no more rows are sent than
apart: where messages between devices are equally many, and where classes of equally many add up to the same.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from certree.extras.xla.make.colouring import Pair, coloured, largest_degree
from certree.extras.xla.model.permute_program import Permute


@dataclass(frozen=True)
class Outline:
    """Steps `first` to `end` - 1 and their permutes. `rows`: by pair the rows of the inbox that its messages may use."""

    first: int
    end: int
    permutes: tuple[Permute, ...]
    rows: dict[Pair, list[int]]


def outlines(steps: Sequence[Counter[Pair]]) -> Iterator[Outline]:
    """The stretches of a program; `steps`: of each step the pairs of devices with their number of messages.

    A stretch goes on as long as all its messages, taken together, need no more permutes than each of its steps: no step has more
    than the fewest. O(steps · pairs · devices).
    """
    first, joined, degree = 0, Counter[Pair](), 0
    for number, pairs in enumerate(steps):
        own, more = largest_degree(pairs), joined | pairs
        if number > first and (own != degree or largest_degree(more) != degree):
            yield _outline(first, number, joined, degree)
            first, more = number, pairs
        joined, degree = more, own
    if steps:
        yield _outline(first, len(steps), joined, degree)


def _outline(first: int, end: int, pairs: Counter[Pair], degree: int) -> Outline:
    by_count: dict[int, list[Pair]] = {}
    for pair, count in sorted(pairs.items()):
        by_count.setdefault(count, []).append(pair)
    if sum(count * largest_degree(Counter(found)) for count, found in by_count.items()) > degree:
        by_count = {1: [pair for pair, count in sorted(pairs.items()) for _ in range(count)]}
    permutes: list[Permute] = []
    rows: dict[Pair, list[int]] = {}
    at = 0
    for count, edges in sorted(by_count.items()):
        classes: dict[int, list[Pair]] = {}
        for pair, colour in zip(edges, coloured(edges), strict=True):
            classes.setdefault(colour, []).append(pair)
        for _, found in sorted(classes.items()):
            permutes.append(Permute(count, tuple(found)))
            for pair in found:
                rows.setdefault(pair, []).extend(range(at, at + count))
            at += count
    return Outline(first, end, tuple(permutes), rows)
