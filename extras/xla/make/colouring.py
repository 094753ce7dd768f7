"""Edges of a bipartite multigraph in matchings: of one edge each (D. König, 1916), or of several edges of each pair (G. Birkhoff,
1946)."""

from collections import Counter
from collections.abc import Sequence

Pair = tuple[int, int]


def largest_degree(pairs: Counter[Pair]) -> int:
    """The most edges that leave one source or come to one target; `pairs`: (source, target) with how many edges join them."""
    leaving, coming = Counter[int](), Counter[int]()
    for (source, target), count in pairs.items():
        leaving[source] += count
        coming[target] += count
    return max([*leaving.values(), *coming.values()], default=0)


def coloured(edges: Sequence[Pair]) -> list[int]:
    """For each edge (source, target) its colour, from 0 on: two edges with one end in common have different ones, and there are as
    many as the largest degree. The same edges give the same colours. O(edges · ends).

    An edge takes a colour that is free at both ends. Where there is none, two colours change places along the path on which they
    alternate: it starts at the target and cannot come back to the source, as sources are entered by the colour that is free there.
    """
    used: list[dict[int, dict[int, int]]] = [{}, {}]  # by side and end: colour -> edge
    colour = [-1] * len(edges)
    for number, (source, target) in enumerate(edges):
        at_source, at_target = used[0].setdefault(source, {}), used[1].setdefault(target, {})
        first, second = _free(at_source), _free(at_target)
        if first in at_target:
            _swap(edges, used, colour, target, first, second)
        colour[number] = first
        at_source[first] = at_target[first] = number
    return colour


def weighted(pairs: Counter[Pair]) -> list[tuple[int, list[Pair]]]:
    """Matchings with numbers of rows: the edges of each pair in one or more of them. The rows add up to the largest degree, and no
    matching has fewer than one, so there are at most that many; where pairs have many edges there are far fewer.

    The matrix of the edges is filled up until all rows and columns add up to the degree; then a perfect matching of what is left is
    taken as often as its least entry allows, until nothing is left. O(pairs · (ends + matchings)).
    """
    ends = sorted({end for pair in pairs for end in pair})
    number, count, degree = {end: at for at, end in enumerate(ends)}, len(ends), largest_degree(pairs)
    left: list[dict[int, int]] = [{} for _ in range(2 * count)]
    spare = [degree] * (2 * count)
    for (source, target), edges in sorted(pairs.items()):
        line, column = number[source], number[target]
        left[line][column] = left[count + column][count + line] = edges
        spare[line] -= edges
        spare[count + column] -= edges
    for end in range(count):
        left[end][count + end], left[count + end][end] = spare[end], spare[count + end]
    left = [{column: edges for column, edges in line.items() if edges} for line in left]
    of_line: dict[int, int] = {}
    of_column: dict[int, int] = {}
    found = []
    while degree:
        for line in range(2 * count):
            if line not in of_line:
                _augment(left, line, of_line, of_column)
        rows = min(left[line][column] for line, column in of_line.items())
        matched = sorted((line, column) for line, column in of_line.items() if line < count and column < count)
        if matched:
            found.append((rows, [(ends[line], ends[column]) for line, column in matched]))
        for line, column in list(of_line.items()):
            left[line][column] -= rows
            if not left[line][column]:
                del left[line][column], of_line[line], of_column[column]
        degree -= rows
    return found


def _augment(left: Sequence[dict[int, int]], line: int, of_line: dict[int, int], of_column: dict[int, int]) -> None:
    """Match one more line, along the shortest alternating path."""
    came: dict[int, int] = {}
    queue = [line]
    for one in queue:
        for column in left[one]:
            if column in came:
                continue
            came[column] = one
            if column in of_column:
                queue.append(of_column[column])
                continue
            while True:
                at = came[column]
                before = of_line.get(at)
                of_line[at], of_column[column] = column, at
                if before is None:
                    return
                column = before  # noqa: PLW2901
    raise AssertionError("lines and columns with equal sums have a perfect matching")


def _free(taken: dict[int, int]) -> int:
    return next(one for one in range(len(taken) + 1) if one not in taken)


def _swap(
    edges: Sequence[Pair], used: list[dict[int, dict[int, int]]], colour: list[int], target: int, first: int, second: int
) -> None:
    """Exchange two colours along the path that starts at a target with the first one."""
    path, side, end, wanted = [], 1, target, first
    while (number := used[side][end].get(wanted)) is not None:
        path.append(number)
        side = 1 - side
        end = edges[number][side]
        wanted = second if wanted == first else first
    for number in path:
        for side, end in enumerate(edges[number]):
            del used[side][end][colour[number]]
    for number in path:
        colour[number] = second if colour[number] == first else first
        for side, end in enumerate(edges[number]):
            used[side][end][colour[number]] = number
