"""Matchings of bipartite multigraphs with several edges of each pair (G. Birkhoff, 1946), and their largest degree."""

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
