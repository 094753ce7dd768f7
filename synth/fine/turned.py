"""Programs that look the same from many nodes: one row for each block, on links and nodes each of which represents many.

Where the rows of each block are rotations of each other and leave together, one row represents all of them, and booking one row of
each block is faster. The caller compares whether the times are those of all rows.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import NONE, Costs, Order, Rows, Turns
from certree.models.fine.list_scheduler import ListScheduler
from certree.synth.fine.booking import rows_of
from certree.synth.fine.program import Program

Int64 = NDArray[np.int64]


def turned(program: Program, order: Order) -> tuple[Rows, Order] | None:
    """The first row of each block, and its gates; None where blocks differ in size or shape, links are parallel, or operands are
    added in a stated order. O(hops) in Python."""
    topology, block = program.topology, program.block
    lengths, count = np.array([len(route) for route in program.routes]), np.bincount(block)
    first = np.unique(block, return_index=True)[1]
    stands = first[block]
    is_even = (count == count[0]).all() and (lengths == lengths[stands]).all()
    if count[0] < 2 or not is_even or len(topology.pair_capacity) < len(topology.src) or order.follows is not None:
        return None
    rows = rows_of(program)
    ends = [zip(nodes[stands].tolist(), nodes.tolist(), strict=True) for nodes in (program.src, program.dst)]
    node = _joined(len(topology.kind), (pair for pairs in ends for pair in pairs))
    routes = ((program.routes[one], route) for one, route in zip(stands.tolist(), program.routes, strict=True))
    link = _joined(len(topology.src), (pair for one, other in routes for pair in zip(one, other, strict=True)))
    links = np.unique(link, return_index=True)[1]
    nodes, local = int(node.max()) + 1, program.src[first] == program.dst[first]
    found = Rows(
        src=np.where(local, node[program.src[first]], nodes),  # no message is local then
        dst=node[program.dst[first]],
        adds=rows.adds[first],
        routes=[tuple(link[list(program.routes[row])].tolist()) for row in first.tolist()],
        lanes=rows.lanes[links],
        parallel=[(number,) for number in range(len(links))],
        nodes=nodes + 1,
        links=links,
    )
    gates = _turned_order(order, block.tolist(), first.tolist())
    return None if gates is None else (found, gates)


def one_of_each(program: Program, order: Order, whole: ListScheduler, costs: Costs) -> ListScheduler | None:
    """A booking of one row for each block; None where its times are not those of all."""
    rows = turned(program, order)
    if rows is None:
        return None
    one, turn = ListScheduler(*rows), np.arange(int(program.block.max()) + 1, dtype=np.int64)
    for turns in Turns.in_each_way(turn):
        try:
            if (one.run(costs, turns).fire[program.block] != whole.run(costs, turns.of_rows(program.block)).fire).any():
                return None
        except UnsupportedError:
            return None
    return one


def _joined(count: int, pairs: Iterable[tuple[int, int]]) -> Int64:
    """A number from 0 on for each of `count` items; the two items of a pair have the same number."""
    head = list(range(count))

    def top(one: int) -> int:
        while head[one] != one:
            head[one] = head[head[one]]
            one = head[one]
        return one

    for one, other in pairs:
        head[top(other)] = top(one)
    return np.unique([top(one) for one in range(count)], return_inverse=True)[1].astype(np.int64)


def _turned_order(order: Order, block: list[int], first: list[int]) -> Order | None:
    """The gates of the first row of each block, opened by blocks. A row does not wait until itself, or a row that leaves together
    with it, has been sent. None where a block would belong to two groups."""
    groups = list(dict.fromkeys(tuple(sorted({block[row] for row in rows})) for rows in order.groups))
    group = {one: number for number, blocks in enumerate(groups) if len(blocks) > 1 for one in blocks}
    kept = {number: tuple(blocks) for number, blocks in enumerate(groups) if len(blocks) > 1}
    if len(group) < sum(map(len, kept.values())):
        return None
    numbers = {number: place for place, number in enumerate(kept)}
    waits = order.waits
    fed: dict[int, set[int]] = {gate: set() for row in first for gate in waits[row]}  # blocks
    landings = set()  # gates
    for is_landing, events in ((False, order.when_sent), (True, order.when_landed)):
        for row, gates in enumerate(events):
            for gate in gates:
                if gate in fed:
                    fed[gate].add(block[row])
                    if is_landing:
                        landings.add(gate)
    found: dict[tuple[bool, tuple[int, ...]], list[int]] = {}
    for one, row in enumerate(first):
        for gate in waits[row]:
            is_landing, feeding = gate in landings, fed[gate]
            if not is_landing:
                feeding = {other for other in feeding if other != one and group.get(other, NONE) != group.get(one, one)}
            if feeding:
                found.setdefault((is_landing, tuple(sorted(feeding))), []).append(one)
    sent: list[list[int]] = [[] for _ in first]
    landed: list[list[int]] = [[] for _ in first]
    for gate, (is_landing, blocks) in enumerate(found):
        for one in blocks:
            (landed if is_landing else sent)[one].append(gate)
    return Order(
        needs=[len(blocks) for _, blocks in found],
        when_sent=sent,
        when_landed=landed,
        opens=list(found.values()),
        original_of=[NONE if (copy := order.original_of[row]) == NONE else block[copy] for row in first],
        groups=[list(blocks) for blocks in kept.values()],
        group=[numbers[group[one]] if one in group else NONE for one in range(len(first))],
    )
