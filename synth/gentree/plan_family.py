"""The best plan of GenTree's family, found by branch and bound: at every switch any plan type and any rearrangement.

GenTree (Section 4.2) decides switch by switch, by estimates. Here a plan is timed by what its transfers do on the network
(`certree.models.cost.flows.time`), in exact rationals. Every switch starts as soon as those below it have finished (Algorithm 2,
line 16), and the all-gather is the reverse of the reduce-scatter; so the time of a plan is, from the leaves to the root,

    finish(switch) = max over children (finish(child) + rearrangement of its results) + local plan, there and back

and the best choice at a switch depends on its children by their finish times alone: earlier is never worse. That leaves one search
for each switch. The family: co-located PS, hierarchical co-located PS by every factorization, ring, and halving where possible, or
asymmetric co-located PS where children have unequal numbers of servers; for each child, its results as they are or dealt out to any
number of the servers that hold them, evenly spread. Children that look alike choose alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from certree.models.cost.flows.flows import Flows
from certree.models.cost.flows.time import FlowTimer
from certree.models.network.topology import Int32
from certree.synth.gentree.plan import LocalPlan, Placement, leaving_blocks, plan_types, rearranged
from certree.synth.gentree.switch_tree import CROSSING, SwitchTree
from certree.synth.ranks.group_plans import GroupPlan, direct_plan
from certree.synth.ranks.staged import rows_of_chunks

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """The best plans of the family: `plans` by switch, their time, and in how many places of the search a plan was timed or cut
    off by its bound."""

    plans: dict[int, LocalPlan]
    seconds: Fraction
    timed: int
    cut: int


class PlanTimer:
    """Times the parts of plans on a tree by their transfers, there and back. `placement`: Algorithm 1's."""

    def __init__(self, tree: SwitchTree, placement: Placement, timer: FlowTimer) -> None:
        self.tree, self.placement, self._timer = tree, placement, timer
        self._ways = _Ways(tree)
        self._known: dict[tuple[str, int], Fraction] = {}
        self._transfers: dict[tuple[int, int], tuple[GroupPlan, Int64, Int64]] = {}  # holds the plan, so that its id stays its own

    def holders(self, child: int) -> Int32:
        """Who holds the child's partial sum of each block when the child has finished."""
        blocks = len(self.tree.topology.endpoints)
        return self.placement[child] if child in self.tree.children else np.full(blocks, child, np.int32)

    def plan(self, plans: Mapping[int, LocalPlan]) -> Fraction:
        """The time of a whole plan."""
        finish: dict[int, Fraction] = {}
        for switch in self.tree.order:
            local = plans[switch]
            start, held = Fraction(0), []
            for child in self.tree.children[switch]:
                held.append(local.moved.get(child, self.holders(child)))
                start = max(start, finish.get(child, Fraction(0)) + self.move(child, held[-1]))
            finish[switch] = start + self.local(switch, local.plan, held)
        return finish[self.tree.root]

    def senders(self, switch: int, child: int) -> list[int | None]:
        """How many servers may send a child's results on: as they are (None), or any number of fewer."""
        if child not in self.tree.children:
            return [None]
        leaving = leaving_blocks(self.tree, self.placement, switch, child)
        return [None, *range(1, len(np.unique(self.holders(child)[leaving])))]

    def option(self, switch: int, child: int, senders: int | None) -> Int32:
        """Who holds a child's results when so many servers send them on; as they are where they are no more than that."""
        holders = self.holders(child)
        if senders is None:
            return holders
        leaving = leaving_blocks(self.tree, self.placement, switch, child)
        return rearranged(holders, leaving, senders) if senders < len(np.unique(holders[leaving])) else holders

    def move(self, child: int, after: Int32) -> Fraction:
        """The time of rearranging a child's results so that `after` says who holds them."""
        before = self.holders(child)
        blocks = np.flatnonzero(before != after)
        if not len(blocks):
            return Fraction(0)
        return self._both_ways(child, before[blocks], after[blocks], None)

    def local(self, switch: int, plan: GroupPlan, held: Sequence[Int32]) -> Fraction:
        """The time of a local plan between children whose results are at `held`."""
        row, block = self._rows(switch, plan)
        table = np.stack(held)
        src, dst, step = table[plan.src[row], block], table[plan.dst[row], block], plan.step[row]
        each = (np.flatnonzero(step == number) for number in range(plan.steps))
        return sum((self._both_ways(switch, src[at], dst[at], block[at]) for at in each), Fraction(0))

    def _rows(self, switch: int, plan: GroupPlan) -> tuple[Int64, Int64]:
        """(row of the plan, block) of every transfer of a local plan."""
        key = (switch, id(plan))
        if key not in self._transfers:
            own = np.zeros(len(self.tree.topology.endpoints), np.int64)
            for number, child in enumerate(self.tree.children[switch]):
                own[self.holders(child) == self.placement[switch]] = number
            self._transfers[key] = plan, *rows_of_chunks(plan, own)
        return self._transfers[key][1:]

    def least(self, switch: int, plan: GroupPlan, number: int, holders: Int32) -> Fraction:
        """A lower bound on `local` wherever child `number` has its results at `holders`: in each step what it sends goes up over
        its own links, what it receives comes down over them, from one sender at least, and is added up. O(rows of the plan)."""
        row, block = self._rows(switch, plan)
        steps, sends, receives = plan.step[row], plan.src[row] == number, plan.dst[row] == number
        total = Fraction(0)
        for step in range(plan.steps):
            out, into = (block[mine & (steps == step)] for mine in (sends, receives))
            total += self._least_step(switch, number, holders[out], holders[into], into)
            total += self._least_step(switch, number, holders[into], holders[out], None)
        return total

    def _least_step(self, switch: int, number: int, src: Int32, dst: Int32, block: Int64 | None) -> Fraction:
        """A lower bound on one step in which blocks leave a child from `src` and come to `dst`, where they are added up."""
        child, timer = self.tree.children[switch][number], self._timer
        start, transfer, reduction = self._start_up(switch), Fraction(0), Fraction(0)
        if len(src):
            flows = self._ways.upward(child, switch, src)
            start, transfer = max(start, timer.start_up(flows)), timer.least_transfer(flows)
        if len(dst):
            flows = self._ways.downward(child, switch, dst, block)
            transfer, reduction = max(transfer, timer.least_transfer(flows)), timer.reduction(flows)
        return start + transfer + reduction

    def _start_up(self, switch: int) -> Fraction:
        """The start-up of any flow by way of a switch, where all servers below are equally deep; 0 where it differs."""
        key = ("start", switch)
        if key not in self._known:
            first, second = (np.array(self.tree.servers(child), np.int32) for child in self.tree.children[switch][:2])
            everyone = np.array(self.tree.servers(switch), np.int64)
            flows = self._ways.flows(switch, first[:1], second[:1], None)
            uniform = self._ways.equally_deep(everyone, switch)
            self._known[key] = self._timer.start_up(flows) if uniform else Fraction(0)
        return self._known[key]

    def _both_ways(self, switch: int, src: Int32, dst: Int32, block: Int64 | None) -> Fraction:
        """One step of transfers that meet below a switch, and its reverse; with `block`, what arrives is added up."""
        there = self._ways.flows(switch, src, dst, block)
        back = self._ways.flows(switch, dst, src, None)
        return self._timer.step(there).seconds + self._timer.step(back).seconds


class _Ways:
    """Paths in a tree as joined pairs of nodes."""

    def __init__(self, tree: SwitchTree) -> None:
        self._tree, topology = tree, tree.topology
        self._topology = topology
        self._parent = np.full(len(topology.kind), -1, np.int64)
        for switch, children in tree.children.items():
            if switch != CROSSING:
                self._parent[list(children)] = switch
        child = np.flatnonzero(self._parent >= 0)
        self._up, self._down = (np.full(len(topology.kind), -1, np.int64) for _ in range(2))
        self._up[child] = topology.pair_index(child, self._parent[child])
        self._down[child] = topology.pair_index(self._parent[child], child)

    def flows(self, switch: int, src: Int32, dst: Int32, block: Int64 | None) -> Flows:
        """The flows of transfers of one block each by way of `switch`, from the servers below one child to those below another.

        With `block` the transfers are added up at `dst`. O(transfers · depth).
        """
        nodes = len(self._topology.kind)
        pairs, parts = np.unique(src.astype(np.int64) * nodes + dst, return_counts=True)
        start, end = pairs // nodes, pairs % nodes
        ups, tops = self._climb(start, switch, self._up)
        downs, ends = self._climb(end, switch, self._down)
        middle = [self._topology.pair_index(tops, ends)[:, None]] if switch == CROSSING else []
        return self._along(start, end, parts, np.hstack([ups, *middle, downs[:, ::-1]]), dst, block)

    def upward(self, child: int, switch: int, src: Int32) -> Flows:
        """Flows of one block each from `src` below a child, on the links from there up to the switch only."""
        start, parts = np.unique(src.astype(np.int64), return_counts=True)
        ups, tops = self._climb(start, switch, self._up)
        end = np.full(len(start), self._beyond(child, switch))
        middle = [self._topology.pair_index(tops, end)[:, None]] if switch == CROSSING else []
        return self._along(start, end, parts, np.hstack([ups, *middle]), src, None)

    def downward(self, child: int, switch: int, dst: Int32, block: Int64 | None) -> Flows:
        """Flows of one block each to `dst` below a child, on the links down from the switch only, as if from one sender."""
        end, parts = np.unique(dst.astype(np.int64), return_counts=True)
        downs, tops = self._climb(end, switch, self._down)
        start = np.full(len(end), self._beyond(child, switch))
        middle = [self._topology.pair_index(start, tops)[:, None]] if switch == CROSSING else []
        return self._along(start, end, parts, np.hstack([*middle, downs[:, ::-1]]), dst, block)

    def _beyond(self, child: int, switch: int) -> int:
        """The switch, or the other top switch at CROSSING."""
        return switch if switch != CROSSING else next(top for top in self._tree.children[switch] if top != child)

    def _along(self, start: Int64, end: Int64, parts: Int64, way: Int64, dst: Int32, block: Int64 | None) -> Flows:
        """Flows by their ways, padded with -1; transfers of `block` to `dst` are added up: f arrivals are f additions."""
        blocks = len(self._topology.endpoints)
        additions = accesses = np.zeros(0, np.int64)
        if block is not None:
            cells, terms = np.unique(dst.astype(np.int64) * blocks + block, return_counts=True)
            server, of_server = np.unique(cells // blocks, return_inverse=True)
            additions = np.bincount(of_server, weights=terms, minlength=len(server)).astype(np.int64)
            accesses = additions + 2 * np.bincount(of_server, minlength=len(server))
        there = way >= 0
        return Flows(self._topology, blocks, start, end, parts, np.nonzero(there)[0], way[there], additions, accesses)

    def equally_deep(self, servers: Int64, switch: int) -> bool:
        """Whether all servers are as many hops below a switch."""
        return bool((self._climb(servers, switch, self._up)[0] >= 0).all())

    def _climb(self, server: Int64, switch: int, pair_of: Int64) -> tuple[Int64, Int64]:
        """Pairs from each server up to the switch, shape (servers, depth), and where that ends: the switch, or tops at CROSSING."""
        node = server.copy()
        columns: list[Int64] = []
        while True:
            going = (self._parent[node] >= 0) & (node != switch)
            if not going.any():
                return np.stack(columns, axis=1) if columns else np.zeros((len(server), 0), np.int64), node
            columns.append(np.where(going, pair_of[node], -1))
            node = np.where(going, self._parent[node], node)


def best_plans(timer: PlanTimer) -> Found:
    """The best plan of the family; switches that look alike are searched once.

    Best first: of all combinations of a plan type and of senders for each kind of child the one with the least lower bound is timed
    next, until no bound is below the best time. Exact: what was not timed cannot be better.
    """
    tree = timer.tree
    plans: dict[int, LocalPlan] = {}
    finish: dict[int, Fraction] = {}
    timed = cut = 0
    alike: dict[object, _Best] = {}
    for switch in tree.order:
        look = _look(timer, switch)
        if look not in alike:
            alike[look] = _Search(timer, switch, finish).run()
            timed, cut = timed + alike[look].timed, cut + alike[look].cut
        best = alike[look]
        moved = {
            child: timer.option(switch, child, senders)
            for child, senders in zip(tree.children[switch], best.senders, strict=True)
            if senders is not None
        }
        plans[switch], finish[switch] = LocalPlan(best.name, best.plan, moved), best.seconds
    return Found(plans, finish[tree.root], timed, cut)


@dataclass(frozen=True)
class _Best:
    """The best choice at a switch: plan type, and for each child the number of its senders after rearrangement, None without."""

    name: str
    plan: GroupPlan
    senders: tuple[int | None, ...]
    seconds: Fraction
    timed: int
    cut: int


class _Search:
    """One switch: `kinds` are the children that look alike, by number, `options` the numbers of senders of each kind."""

    def __init__(self, timer: PlanTimer, switch: int, finish: Mapping[int, Fraction]) -> None:
        self._timer, self._switch, self._finish = timer, switch, finish
        self._children = timer.tree.children[switch]
        looks = [_look(timer, child) for child in self._children]
        self._kinds = [[n for n, look in enumerate(looks) if look == kind] for kind in dict.fromkeys(looks)]
        self._options = [timer.senders(switch, self._children[numbers[0]]) for numbers in self._kinds]
        self._types = _types(timer.tree, switch)

    def run(self) -> _Best:
        """The search."""
        waiting = sorted(self._bounds())
        best: tuple[Fraction, int, tuple[int | None, ...]] | None = None
        timed = 0
        for bound, index, senders in ((bound, index, self._spread(chosen)) for bound, index, chosen in waiting):
            if best is not None and bound >= best[0]:
                break
            held = [self._timer.option(self._switch, child, one) for child, one in zip(self._children, senders, strict=True)]
            start = max(self._ready(child, holders) for child, holders in zip(self._children, held, strict=True))
            seconds = start + self._timer.local(self._switch, self._types[index][1], held)
            timed += 1
            if best is None or seconds < best[0]:
                best = (seconds, index, senders)
        assert best is not None
        return _Best(*self._types[best[1]], best[2], best[0], timed, len(waiting) - timed)

    def _bounds(self) -> Iterator[tuple[Fraction, int, tuple[int, ...]]]:
        """(lower bound, plan type, which option of each kind) of every combination; the first child of a kind speaks for it."""
        firsts = [numbers[0] for numbers in self._kinds]
        held = [
            [self._timer.option(self._switch, self._children[first], one) for one in options]
            for first, options in zip(firsts, self._options, strict=True)
        ]
        ready = [[self._ready(self._children[n], holders) for holders in some] for n, some in zip(firsts, held, strict=True)]
        for index, (_, plan) in enumerate(self._types):
            least = [
                [self._timer.least(self._switch, plan, n, holders) for holders in some]
                for n, some in zip(firsts, held, strict=True)
            ]
            for chosen in product(*(range(len(options)) for options in self._options)):
                start = max(ready[kind][one] for kind, one in enumerate(chosen))
                yield start + max(least[kind][one] for kind, one in enumerate(chosen)), index, chosen

    def _spread(self, chosen: tuple[int, ...]) -> tuple[int | None, ...]:
        """The senders of every child."""
        senders: list[int | None] = [None] * len(self._children)
        for kind, one in enumerate(chosen):
            for number in self._kinds[kind]:
                senders[number] = self._options[kind][one]
        return tuple(senders)

    def _ready(self, child: int, holders: Int32) -> Fraction:
        return self._finish.get(child, Fraction(0)) + self._timer.move(child, holders)


def _types(tree: SwitchTree, switch: int) -> list[tuple[str, GroupPlan]]:
    """The plan types of a switch, by name."""
    children = tree.children[switch]
    if len({len(tree.servers(child)) for child in children}) > 1:
        return [("acps", direct_plan(len(children)))]
    return [(name, make()) for name, _, make in plan_types(len(children))]


def _look(timer: PlanTimer, node: int) -> object:
    """Equal for nodes below which everything is the same but for names: capacities, and which server of which holds what."""
    tree = timer.tree
    if node not in tree.children:
        return ()
    servers = np.array(tree.servers(node))
    below = tuple((tree.uplink(child, node), _look(timer, child)) for child in tree.children[node])
    return below, np.searchsorted(servers, timer.placement[node]).tobytes()
