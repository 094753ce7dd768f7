"""Orders by name: expressions over the ranks that take part in a collective."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError, UnsupportedError, short
from certree.models.common.files import Opened
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.synth.ranks.layout import layout_of
from certree.verify.bounds.witnesses.metric import distances
from certree.verify.bounds.witnesses.ordered import ORDERED
from certree.verify.order.expressions import Expression, read_expression
from certree.verify.order.wanted import WantedOrder

NAMES = ("one", "nested", "balanced", "chain", "rank")
_NEAREST = 8  # groups with which one may be paired
_Sums = list[tuple[int, int]]


def wanted_order(text: str, topology: Topology, collective: Collective) -> WantedOrder:
    """The order of a name, of an expression or of a file with one. InputError for an expression that misses or repeats a rank, and
    for a file that cannot be read; UnsupportedError for a collective that does not add."""
    if collective.kind not in ORDERED:
        raise UnsupportedError(f"order: {collective.kind} adds nothing; allowed: {', '.join(ORDERED)}")
    ranks = collective.ranks_of(topology)
    if text in ("one", "nested"):
        return WantedOrder(text, nested=text == "nested")
    if text in NAMES:
        return WantedOrder(text, _NAMED[text](topology, collective, ranks))
    if text.lstrip().startswith("("):
        return WantedOrder(short(text), read_expression(text, ranks))
    path = Path(text)
    if not path.is_file():
        raise InputError(f"order {short(text)}: neither {', '.join(NAMES)} nor an expression such as ((0,1),(2,3)) nor a file")
    return WantedOrder(text, read_expression(Opened(path).data().decode(errors="replace").strip(), ranks))


def candidates(wanted: WantedOrder, topology: Topology, collective: Collective) -> list[Expression]:
    """The expressions that a method may choose between, without repetitions."""
    ranks = collective.ranks_of(topology)
    if wanted.expression is not None:
        return [wanted.expression]
    if wanted.nested:
        found = [_balanced(topology, collective, ranks), _by_rank(topology, collective, ranks)]
        return [one for one in dict.fromkeys(found) if one.is_nested]
    makers = (_by_blocks, _balanced, _paired, _chain)
    return list(dict.fromkeys(make(topology, collective, ranks) for make in makers))


def _balanced(_: Topology, __: Collective, ranks: Sequence[int]) -> Expression:
    """Halves by rank, of which the first has a power of 2 of ranks: the sums of the first 2, 4, 8, ... are parts of it."""
    return Expression.of(ranks, _halved(list(range(len(ranks)))))


def _by_rank(_: Topology, __: Collective, ranks: Sequence[int]) -> Expression:
    """One rank after the other."""
    return Expression.of(ranks, _in_turn(range(len(ranks))))


def _chain(topology: Topology, collective: Collective, ranks: Sequence[int]) -> Expression:
    """One rank after the other along the network, the next one being the nearest that is left."""
    far = _far(topology, collective)
    walk, left = [0], np.ones(len(ranks), np.bool_)
    left[0] = False
    while left.any():
        walk.append(int(np.where(left, far[walk[-1]], far.max() + 1).argmin()))
        left[walk[-1]] = False
    return Expression.of(ranks, _in_turn(walk))


def _by_blocks(topology: Topology, collective: Collective, ranks: Sequence[int]) -> Expression:
    """Halves of the grid of the network, along its longest side first; by rank where it is none or only some take part."""
    try:
        layout = layout_of(topology, None)
    except UnsupportedError:  # groups of different sizes
        return _balanced(topology, collective, ranks)
    if collective.members is not None:
        return _balanced(topology, collective, ranks)
    grid = topology.rank[layout.nodes].reshape(layout.sizes[::-1])
    sums: _Sums = []

    def added(block: NDArray[np.int32]) -> int:
        if block.size == 1:
            return int(block.ravel()[0])
        axis = int(np.argmax(block.shape))
        half = 1 << (block.shape[axis] - 1).bit_length() - 1
        first, second = np.split(block, [half], axis=axis)
        sums.append((added(first), added(second)))
        return len(ranks) + len(sums) - 1

    added(grid)
    return Expression.of(ranks, sums)


def _paired(topology: Topology, collective: Collective, ranks: Sequence[int]) -> Expression:
    """Near groups in pairs, again and again: a matching of the least total distance at each level."""
    import networkx as nx

    far = _far(topology, collective).astype(np.float64)
    far = far + far.T
    groups, sums = [[rank] for rank in range(len(ranks))], list[tuple[int, int]]()
    number = list(range(len(ranks)))
    while len(groups) > 1:
        graph = nx.Graph()
        between = np.array([[far[np.ix_(a, b)].mean() for b in groups] for a in groups])
        for one, row in enumerate(between.round(6).tolist()):
            for other in sorted((at for at in range(len(groups)) if at != one), key=row.__getitem__)[:_NEAREST]:
                graph.add_edge(one, other, weight=row[other])
        pairs = sorted(tuple(sorted(pair)) for pair in nx.min_weight_matching(graph))
        single = sorted({*range(len(groups))} - {one for pair in pairs for one in pair})
        sums += [(number[a], number[b]) for a, b in pairs]
        fresh = range(len(ranks) + len(sums) - len(pairs), len(ranks) + len(sums))
        number = [*fresh, *(number[one] for one in single)]
        groups = [*(groups[a] + groups[b] for a, b in pairs), *(groups[one] for one in single)]
    return Expression.of(ranks, sums)


def _far(topology: Topology, collective: Collective) -> NDArray[np.int64]:
    """Hops between the endpoints that take part."""
    members = collective.members_of(topology)
    return distances(topology, np.ones(len(topology.src), np.int64), members)[:, members]


def _in_turn(ranks: Sequence[int]) -> _Sums:
    count = len(ranks)
    return [(ranks[0] if not place else count + place - 1, ranks[place + 1]) for place in range(count - 1)]


def _halved(ranks: list[int]) -> _Sums:
    """Sums of neighbours in groups of 2, 4, 8, ..., each rest by itself."""
    sums, level, count = list[tuple[int, int]](), list(ranks), len(ranks)
    while len(level) > 1:
        sums_before = len(sums)
        sums += [(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = [*range(count + sums_before, count + len(sums)), *level[len(level) - len(level) % 2 :]]
    return sums


_NAMED = {"balanced": _balanced, "chain": _chain, "rank": _by_rank}
