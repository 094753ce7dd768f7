"""Orders of additions as expressions over ranks, such as ((0,1),(2,3)): read, compared, written."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from certree.models.common.errors import InputError, short

_TOKEN = re.compile(r"[(),]|[0-9]{1,9}|\s+")


@dataclass(frozen=True)
class Expression:
    """A binary expression in which each rank of `ranks` (ascending) stands once; operands have no order.

    Vertex i is rank number i for i below N, and above it the sum of the two vertices `parts[i - N]`, which come before it; the last
    one is the whole. Equal orders have equal expressions: of two operands that with the lowest rank is the first, and sums come in
    the order in which the text closes them.
    """

    ranks: tuple[int, ...]
    parts: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, ranks: Sequence[int], sums: Iterable[tuple[int, int]]) -> "Expression":
        """The expression with these sums, each of two vertices before it, numbered as in `parts`."""
        count, given = len(ranks), list(sums)
        lowest = list(range(count))
        for a, b in given:
            lowest.append(min(lowest[a], lowest[b]))
        number, found = {vertex: vertex for vertex in range(count)}, list[tuple[int, int]]()
        left = [count + len(given) - 1]
        while left:
            vertex = left[-1]
            if vertex in number:
                left.pop()
                continue
            first, second = sorted(given[vertex - count], key=lambda part: lowest[part])
            missing = [part for part in (second, first) if part not in number]
            if missing:
                left += missing
                continue
            number[vertex] = count + len(found)
            found.append((number[first], number[second]))
        return cls(tuple(ranks), tuple(found))

    @property
    def text(self) -> str:
        """The expression in words, as `order.expression` of reports has it."""
        words = [str(rank) for rank in self.ranks]
        for a, b in self.parts:
            words.append(f"({words[a]},{words[b]})")
        return words[-1]

    @property
    def is_nested(self) -> bool:
        """Whether the sum of the first 1, 2, 4, ... ranks is a part of it."""
        size, last = [1] * len(self.ranks), list(range(len(self.ranks)))
        for a, b in self.parts:
            size.append(size[a] + size[b])
            last.append(max(last[a], last[b]))
        first = {count for count, end in zip(size, last, strict=True) if end == count - 1}
        return all(1 << power in first for power in range(len(self.ranks).bit_length()))


def read_expression(text: str, ranks: Sequence[int]) -> Expression:
    """The expression of a text over exactly these ranks. InputError names what is not an expression, missing or repeated."""
    place = {rank: number for number, rank in enumerate(ranks)}
    sums, stack, at = list[tuple[int, int]](), list[int | str](), 0
    seen = set[int]()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise InputError(f"order: {short(text[at:])} is not a part of an expression such as ((0,1),(2,3))")
        token, at = found.group(), found.end()
        if token.isdigit():
            rank = int(token)
            if rank not in place or rank in seen:
                wrong = "stands twice" if rank in seen else "is none of those that add"
                raise InputError(f"order: rank {rank} {wrong}; each of the {len(ranks)} ranks must stand once")
            seen.add(rank)
            stack.append(place[rank])
        elif token == ")":
            if len(stack) < 4 or stack[-4] != "(" or stack[-2] != "," or "(" in stack[-3::2] or "," in stack[-3::2]:
                raise InputError(
                    f"order: {short(text[:at])} closes what is not a pair; expected an expression such as ((0,1),(2,3))"
                )
            sums.append((int(stack[-3]), int(stack[-1])))
            stack[-4:] = [len(ranks) + len(sums) - 1]
        elif not token.isspace():
            stack.append(token)
    if len(stack) != 1 or not isinstance(stack[0], int):
        raise InputError(f"order: {short(text)} is not one expression such as ((0,1),(2,3))")
    if len(seen) != len(ranks):
        missing = next(rank for rank in ranks if rank not in seen)
        raise InputError(f"order: rank {missing} is missing; each of the {len(ranks)} ranks must stand once")
    return Expression.of(ranks, sums)
