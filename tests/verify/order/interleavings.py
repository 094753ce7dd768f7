"""All runs of a small schedule, by brute force: whatever time messages take, a node fires its units in order, each once its cell
has as many arrivals as its place in the schedule says. Shares nothing with `certree.verify.order`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from tests.verify.build import COPY, REDUCE

Cell = tuple[int, int]  # node, buffer
Sum = frozenset[tuple[str, int]]  # names of summands, and how often each is in the sum
Transfer = tuple[int, int, Cell, Cell]  # step, op, from, into: of one chunk
Unit = tuple[int, int, Cell, tuple[Cell, ...]]  # step, op, the cell that it reads, the cells that it is for


def drawn(rng: Random, nodes: int, buffers: int, transfers: int, steps: int) -> list[Transfer] | None:
    """Transfers at random; None where two into one cell in one step are not both reductions."""
    cells = [(node, buffer) for node in range(nodes) for buffer in range(buffers)]
    moved: set[Transfer] = set()
    for _ in range(transfers):
        source, into = rng.sample(cells, 2)
        if source[0] != into[0]:
            moved.add((rng.randrange(steps), rng.choice((REDUCE, REDUCE, COPY)), source, into))
    for step in range(steps):
        landing = [row for row in moved if row[0] == step]
        into = Counter(row[3] for row in landing)
        if any(into[row[3]] > 1 and row[1] == COPY for row in landing):
            return None
    return sorted(moved)


def next_steps(moved: list[Transfer]) -> list[int]:
    """The step in which each transfer has landed where all slots are equal and the delay is 1."""
    return [row[0] + 1 for row in moved]


def in_slots(moved: list[Transfer], cells: list[Cell], lands: Sequence[int]) -> dict[Cell, Sum]:
    """What all cells hold in the end where every message comes in its slot."""
    held, sent = {cell: frozenset({(str(cell), 1)}) for cell in cells}, {}
    for step in sorted({row[0] for row in moved} | set(lands)):
        for (_, op, _, into), value in [(row, sent[row]) for row, landed in zip(moved, lands, strict=True) if landed == step]:
            held[into] = value if op == COPY else _sum(held[into], value)
        sent |= {row: held[row[2]] for row in moved if row[0] == step}
    return held


def at_any_time(moved: list[Transfer], cells: list[Cell], lands: Sequence[int], most: int = 200_000) -> Iterator[dict[Cell, Sum]]:
    """What all cells hold at the end of each possible run; runs that stall or miscount end early. At most `most` states."""
    units = _units(moved)
    needs = {
        (node, place): sum(row[3] == unit[2] and landed <= unit[0] for row, landed in zip(moved, lands, strict=True))
        for node, own in units.items()
        for place, unit in enumerate(own)
    }
    first = (tuple(0 for _ in units), (), tuple((frozenset({(str(cell), 1)}), 0) for cell in cells))
    place_of = {cell: number for number, cell in enumerate(cells)}
    names = sorted(units)
    seen, stack = {first}, [first]
    while stack:
        assert len(seen) < most, "too many states"
        fired, flying, state = stack.pop()
        following = []
        for number, node in enumerate(names):
            if fired[number] == len(units[node]):
                continue
            _, op, source, into = units[node][fired[number]]
            value, count = state[place_of[source]]
            if count >= needs[node, fired[number]]:
                later = tuple(place + (index == number) for index, place in enumerate(fired))
                following.append((later, tuple(sorted((*flying, *((op, cell, value) for cell in into)), key=str)), state))
        for number, (op, cell, value) in enumerate(flying):
            held, count = state[place_of[cell]]
            now = (value if op == COPY else _sum(held, value), count + 1)
            landed = tuple(now if index == place_of[cell] else one for index, one in enumerate(state))
            following.append((fired, flying[:number] + flying[number + 1 :], landed))
        if not following:
            yield {cell: state[place_of[cell]][0] for cell in cells}
        for one in following:
            if one not in seen:
                seen.add(one)
                stack.append(one)


def _units(moved: list[Transfer]) -> dict[int, list[Unit]]:
    """The units of each node, in the order of its table."""
    found: dict[tuple[int, int, Cell, int], list[Cell]] = {}
    for step, op, source, into in moved:
        found.setdefault((step, op, source, into[1]), []).append(into)
    units: dict[int, list[Unit]] = {}
    for (step, op, source, _), into in sorted(found.items(), key=lambda item: (item[0][0], item[0][1], item[0][2][1], item[0][3])):
        units.setdefault(source[0], []).append((step, op, source, tuple(into)))
    return units


def _sum(one: Sum, other: Sum) -> Sum:
    total = Counter(dict(one))
    total.update(dict(other))
    return frozenset(total.items())
