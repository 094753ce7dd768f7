"""Chunks that wait to be added in paced runs: the bound holds in runs of any order, and some run reaches it."""

from collections import Counter, defaultdict
from dataclasses import replace
from random import Random

import pytest

from certree.extras.tla.check.paced.chains import Program
from certree.extras.tla.check.paced.waiting import most_waiting, sums_behind
from certree.hw.tables.lowering import lower
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.table_columns import LOCKSTEP, NIL, RowOp
from certree.models.tables.tables import Tables
from tests.hw.counted import exchanges
from tests.hw.trees import MULTITREE, tree_schedule
from tests.verify.build import build

Pair = tuple[int, int]
Message = tuple[int, int, int]  # sender, row, iteration


def trees(network: str, repeats: int, seed: int, kind: CollectiveKind = CollectiveKind.ALL_REDUCE) -> Tables:
    schedule = tree_schedule(network, kind, 2, delay=2, repeats=repeats, seed=seed)
    return replace(lower(schedule, 3000, MULTITREE), control=LOCKSTEP)


class Nodes:
    """A paced run whose events come one by one: a row fires, or a message is taken in the order of its row."""

    def __init__(self, tables: Tables) -> None:
        self.tables, self.fired, self.flying = tables, Counter[int](), list[tuple[Message, int]]()
        self.counted, self.waiting = Counter[tuple[object, ...]](), Counter[Pair]()
        self.rows: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for row, (node, step) in enumerate(zip(tables.node.tolist(), tables.step.tolist(), strict=True)):
            self.rows[node] += [(step + (tables.period or 0) * i, row, i) for i in range(tables.repeats)]
        self.rows = {node: sorted(rows) for node, rows in self.rows.items()}
        self.comes = Counter(key for node in self.rows for _, row, i in self.rows[node] for _, key in self.sent(row, i))

    def cell(self, node: int, row: int, column: str) -> tuple[int, int, int]:
        buffer = getattr(self.tables, column)
        return node, int(self.tables.flow[row]), 0 if buffer is None else int(buffer[row])

    def sent(self, row: int, i: int) -> list[tuple[int, tuple[object, ...]]]:
        """The nodes to which a row sends, and what a message counts as there."""
        tables, op, node = self.tables, int(self.tables.op[row]), int(self.tables.node[row])
        if tables.is_counted:
            return [(to, (*self.cell(to, row, "dst_buffer"), i)) for to in tables.children[row].tolist() if to != NIL]
        to = [int(tables.parent[row])] if op == RowOp.REDUCE else tables.children[row].tolist()
        return [(one, (one, op, int(tables.flow[row]), node, i)) for one in to if one != NIL]

    def may_fire(self, node: int) -> bool:
        if self.fired[node] == len(self.rows.get(node, ())):
            return False
        tables, (_, row, i) = self.tables, self.rows[node][self.fired[node]]
        flow = int(tables.flow[row])
        if tables.is_counted:
            return self.counted[*self.cell(node, row, "src_buffer"), i] >= tables.wait[row]
        if tables.op[row] == RowOp.GATHER and tables.parent[row] != NIL:
            return self.counted[node, int(RowOp.GATHER), flow, int(tables.parent[row]), i] > 0
        children = tables.children[row].tolist() if tables.op[row] == RowOp.REDUCE else range(len(tables.topology.kind))
        awaited = [key for child in children if self.comes[key := (node, int(RowOp.REDUCE), flow, child, i)]]
        return all(self.counted[key] for key in awaited)

    def fire(self, node: int) -> None:
        _, row, i = self.rows[node][self.fired[node]]
        self.fired[node] += 1
        for to, _ in self.sent(row, i):
            self.flying.append(((node, row, i), to))
            self.waiting[node, to] += self.tables.op[row] == RowOp.REDUCE

    def take(self, place: int) -> None:
        (node, row, i), to = self.flying.pop(place)
        self.counted[dict(self.sent(row, i))[to]] += 1
        self.waiting[node, to] -= self.tables.op[row] == RowOp.REDUCE

    def run(self, random: Random, late: Pair | None = None) -> Counter[Pair]:
        """The most sums that were under way between two nodes; `late`: those of this pair are taken when nothing else can be."""
        most = Counter[Pair]()
        while True:
            nodes = [node for node in self.rows if self.may_fire(node)]
            first = {(node, row, to): at for at, ((node, row, _), to) in reversed(list(enumerate(self.flying)))}
            early = [at for (node, row, to), at in first.items() if (node, to) != late or self.tables.op[row] != RowOp.REDUCE]
            if not (nodes or first):
                break
            if nodes and (late or random.random() < 0.5 or not early):
                self.fire(random.choice(nodes))
            else:
                self.take(random.choice(early) if early else min(first.values()))
            most |= self.waiting
        assert all(self.fired[node] == len(rows) for node, rows in self.rows.items())
        return most


CASES = {
    "square": trees("mesh:2x2", 9, 3),
    "ring": trees("ring:5", 8, 1),
    "full": trees("full:4", 6, 2),
    "reduce": trees("mesh:2x3", 5, 4, CollectiveKind.REDUCE),
    "exchange": lower(exchanges(2, 1, 2, 0, 9), 256, MULTITREE),
}


@pytest.mark.parametrize("tables", CASES.values(), ids=CASES)
def test_the_bound_holds_in_any_order_and_is_reached(tables: Tables) -> None:
    bounds = sums_behind(Program.of(tables, tables.period or 1, tables.repeats))
    for seed in range(10):
        seen = Nodes(tables).run(Random(seed))
        assert all(seen[pair] <= bounds[pair] for pair in seen)
    assert {pair: Nodes(tables).run(Random(0), pair)[pair] for pair in bounds} == bounds


def test_who_waits_for_nothing_sends_all_and_who_sends_results_is_bounded() -> None:
    """Node 1 of the first never waits. In the second it gives back a sum of node 0 in each iteration, before the next one's sum."""
    ahead = build("mesh:1x2", "all-reduce", "1+0; 0>1", period=2, repeats=100)
    bound = build("mesh:1x2", "all-reduce", "0:1+0 1:0+1; 0:0>1 1:1>0", period=2, repeats=100)
    assert [most_waiting(replace(lower(one, 1024, MULTITREE), control=LOCKSTEP)) for one in (ahead, bound)] == [100, 2]
    assert most_waiting(trees("mesh:2x2", 60, 3)) == most_waiting(trees("mesh:2x2", 20, 3)) < 20


def test_a_lane_of_a_switch_brings_the_sums_of_all_nodes() -> None:
    tables = trees("switch:4", 1, 3)
    bounds = sums_behind(Program.of(tables, tables.period or 1, tables.repeats))
    assert most_waiting(tables) == max(sum(most for (_, to), most in bounds.items() if to == node) for node in range(4))
    assert most_waiting(tables) > max(bounds.values())
