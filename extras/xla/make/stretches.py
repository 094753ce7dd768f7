"""Consecutive steps that have the same permutes, and which permutes these are; of many, others share these, too.

The messages of one step between two devices are rows of one permute or of several. A step sends as many rows as the largest
number of messages that a device sends or receives, which is the least possible. Where classes of pairs with equally many messages
add up to that, each class is coloured by itself, a permute for each colour; else permutes share the messages of a pair
(`weighted`).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from certree.extras.orders.make.turns import coloured
from certree.extras.xla.make.matchings import Pair, largest_degree, weighted
from certree.extras.xla.model.permute_program import Permute

FEW = 8  # stretches that are loops of their own in a module


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
    than the fewest. More than FEW stretches share permutes in the same way. O(steps · pairs · devices).
    """
    found, first, joined, degree = list[tuple[int, int, Counter[Pair], int]](), 0, Counter[Pair](), 0
    for number, pairs in enumerate(steps):
        own, more = largest_degree(pairs), joined | pairs
        if number > first and (own != degree or largest_degree(more) != degree):
            found.append((first, number, joined, degree))
            first, more = number, pairs
        joined, degree = more, own
    if steps:
        found.append((first, len(steps), joined, degree))
    shared = _shared(found) if len(found) > FEW else [pairs for _, _, pairs, _ in found]
    made: dict[int, Outline] = {}  # by the pairs that a stretch shares with others
    for (begin, end, _, most), pairs in zip(found, shared, strict=True):
        if id(pairs) not in made:
            made[id(pairs)] = _outline(begin, end, pairs, most)
        yield replace(made[id(pairs)], first=begin, end=end)


def _shared(found: Sequence[tuple[int, int, Counter[Pair], int]]) -> list[Counter[Pair]]:
    """For each stretch the pairs of which its permutes are made: the same object for those that share them. Pairs with several
    messages are not shared, which could take more permutes."""
    groups: dict[int, list[Counter[Pair]]] = {}
    places = list[tuple[int, int]]()
    for _, _, pairs, degree in found:
        mine = groups.setdefault(degree, [])
        at = len(mine)
        if max(pairs.values(), default=0) == 1:
            for number, other in enumerate(mine):
                joined = other | pairs
                if max(joined.values()) == 1 and largest_degree(joined) == degree:
                    at = number
                    break
        if at == len(mine):
            mine.append(pairs)
        mine[at] = mine[at] | pairs
        places.append((degree, at))
    return [groups[degree][at] for degree, at in places]


def _outline(first: int, end: int, pairs: Counter[Pair], degree: int) -> Outline:
    permutes: list[Permute] = []
    rows: dict[Pair, list[int]] = {}
    at = 0
    for count, found in _by_class(pairs, degree) or weighted(pairs):
        permutes.append(Permute(count, tuple(found)))
        for pair in found:
            rows.setdefault(pair, []).extend(range(at, at + count))
        at += count
    return Outline(first, end, tuple(permutes), rows)


def _by_class(pairs: Counter[Pair], degree: int) -> list[tuple[int, list[Pair]]]:
    """Matchings of pairs with equally many messages, with that number; none where they send more rows than needed."""
    by_count: dict[int, list[Pair]] = {}
    for pair, count in sorted(pairs.items()):
        by_count.setdefault(count, []).append(pair)
    if sum(count * largest_degree(Counter(found)) for count, found in by_count.items()) > degree:
        return []
    matchings = []
    for count, edges in sorted(by_count.items()):
        classes: dict[int, list[Pair]] = {}
        for pair, colour in zip(edges, coloured(edges, largest_degree(Counter(edges))), strict=True):
            classes.setdefault(colour, []).append(pair)
        matchings += [(count, found) for _, found in sorted(classes.items())]
    return matchings
