"""Times of plans of the family, switch by switch, by their transfers on the network."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.extras.costs.make.plan import LocalPlan, Placement, leaving_blocks, rearranged
from certree.extras.costs.model.flows.flows import Flows
from certree.extras.costs.model.flows.time import FlowTimer
from certree.models.network.topology import Int32
from certree.synth.graphs.switch_tree import CROSSING, SwitchTree
from certree.synth.ranks.group_plans import GroupPlan
from certree.synth.ranks.staged import rows_of_chunks

Int64 = NDArray[np.int64]


class PlanTimer:
    """Times the parts of plans on a tree by their transfers, there and back. `placement`: Algorithm 1's."""

    def __init__(self, tree: SwitchTree, placement: Placement, timer: FlowTimer) -> None:
        self.tree, self.placement, self._timer = tree, placement, timer
        self._ways = _Ways(tree)
        self._known: dict[tuple[str, int], Fraction] = {}
        self._transfers: dict[tuple[int, int], tuple[GroupPlan, Int64, Int64]] = {}  # holds the plan, so that its id stays its own

    def holders(self, child: int) -> Int32:
        """The holder of the child's partial sum of each block when the child has finished."""
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
        """Possible numbers of servers that send a child's results on: as they are (None), or any smaller number."""
        if child not in self.tree.children:
            return [None]
        leaving = leaving_blocks(self.tree, self.placement, switch, child)
        return [None, *range(1, len(np.unique(self.holders(child)[leaving])))]

    def option(self, switch: int, child: int, senders: int | None) -> Int32:
        """The holders of a child's results when `senders` servers send them on; unchanged where there are no more than that."""
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
        """The start-up of any flow through a switch, where all servers below are equally deep; 0 where it differs."""
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
        """The flows of transfers of one block each through `switch`, from the servers below one child to those below another.

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
        """Flows by their paths, padded with -1; transfers of `block` to `dst` are added up: f arrivals are f additions."""
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
