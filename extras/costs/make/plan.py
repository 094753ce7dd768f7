"""GenTree: an all-reduce plan for a tree of switches, switch by switch (GenTree, Section 4.2, Algorithms 1 and 2).

The vector is cut into as many blocks as there are servers. Bottom-up, every switch has its children's partial sums of a block
brought together on one of the servers that hold them: Algorithm 1 says which (`basic_placement`), Algorithm 2 how
(`choose_plans`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.costs.model.formulas.genmodel import GenModel
from certree.extras.costs.model.profile import Level, Profile, factored_profile, pairwise_profile
from certree.models.network.topology import Int32
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.graphs.switch_tree import CROSSING, SwitchTree
from certree.synth.method import Request
from certree.synth.ranks.embedding import Rows, embed
from certree.synth.ranks.group_plans import GroupPlan, direct_plan, factored_plan, halving_plan, ring_plan
from certree.synth.ranks.staged import rows_of_chunks

#: for every switch the server that holds the sum of each block over the servers below it; shape (blocks,)
Placement = Mapping[int, Int32]


def basic_placement(tree: SwitchTree) -> dict[int, Int32]:
    """Algorithm 1: at every switch, servers take blocks that they hold already, in order, up to an equal share.

    As printed, each server has one turn, and a block can be left over when every server that holds it has its full share.
    Such a block goes to the holder with the fewest blocks, the first of equals. O(switches · servers · blocks).
    """
    total = len(tree.topology.endpoints)
    place: dict[int, Int32] = {int(server): np.full(total, server, np.int32) for server in tree.topology.endpoints}
    for switch in tree.order:
        place[switch] = collect([place[child] for child in tree.children[switch]], tree.servers(switch))[0]
    return {switch: place[switch] for switch in tree.order}


def collect(held: list[Int32], servers: tuple[int, ...]) -> tuple[Int32, int]:
    """The new holder of every block, and the number of blocks that Algorithm 1 as printed leaves without one. `held`: by child."""
    total = len(held[0])
    final = np.full(total, -1, np.int32)
    fair, remain = divmod(total, len(servers))
    load = dict.fromkeys(servers, 0)
    for holders in held:
        for server in np.unique(holders).tolist():
            quota = fair + (remain > 0)
            remain -= remain > 0
            mine = np.flatnonzero((holders == server) & (final < 0))[:quota]
            final[mine] = server
            load[server] += len(mine)
    left = np.flatnonzero(final < 0)
    for block in left.tolist():
        server = min((int(holders[block]) for holders in held), key=lambda candidate: (load[candidate], candidate))
        final[block] = server
        load[server] += 1
    return final, len(left)


@dataclass(frozen=True)
class LocalPlan:
    """The plan at one switch: `name` of the plan type (`cps`, `8x3`, `ring`, `rhd`, `acps`) between its children.

    `moved`: for every child whose results are rearranged, the new holder of each block; those that stay keep theirs.
    """

    name: str
    plan: GroupPlan
    moved: Mapping[int, Int32]


def choose_plans(
    tree: SwitchTree, placement: Placement, model: GenModel, floats: Fraction, *, rearrange: bool
) -> dict[int, LocalPlan]:
    """Algorithm 2 for a vector of `floats`: at every switch the cheapest plan type, and the children that rearrange their results.

    The costs are Table 2's for as many members as the switch has children, with the start-up of server, switch and server and the
    incast of links to servers: the reading of the paper that gives its Table 6 in all cells but one (`certree list gentree`). Of
    equal costs the first of cps, factors with the largest first, ring, rhd. O(switches · (factorizations + servers · blocks)).
    """
    chosen: dict[int, LocalPlan] = {}
    for switch in tree.order:
        moved: dict[int, Int32] = {}
        if rearrange:
            for child in tree.children[switch]:
                better = _rearranged(tree, placement, switch, child, model, floats)
                if better is not None:
                    moved[child] = better
        name, plan = _cheapest(tree, switch, model, floats)
        chosen[switch] = LocalPlan(name, plan, moved)
    return chosen


def basic_plans(tree: SwitchTree) -> dict[int, LocalPlan]:
    """The basic sub-plans: every block goes straight from its holders to the server that reduces it, without rearrangement."""
    return {switch: LocalPlan("cps", direct_plan(len(tree.children[switch])), {}) for switch in tree.order}


def reduce_scatter_rows(tree: SwitchTree, placement: Placement, plans: Mapping[int, LocalPlan], rows: Rows) -> int:
    """Add the transfers of the whole reduce-scatter to `rows`; returns the step after the last. Chunk = block.

    Every switch starts as soon as those below it have finished (Algorithm 2, line 16). Partial sums that are rearranged replace
    what their new holder has, which went into them before. O(blocks · servers) rows.
    """
    finish: dict[int, int] = {}
    blocks = len(tree.topology.endpoints)
    for switch in tree.order:
        children, local = tree.children[switch], plans[switch]
        held = np.empty((len(children), blocks), np.int32)
        own = np.zeros(blocks, np.int64)  # the child whose server keeps the block
        start = 0
        for number, child in enumerate(children):
            before = placement[child] if child in tree.children else np.full(blocks, child, np.int32)
            own[before == placement[switch]] = number
            held[number] = local.moved.get(child, before)
            moves = np.flatnonzero(held[number] != before)
            rows.add(moves, Op.COPY, finish.get(child, 0), before[moves], held[number, moves])
            start = max(start, finish.get(child, 0) + (len(moves) > 0))
        row, block = rows_of_chunks(local.plan, own)
        src, dst = held[local.plan.src[row], block], held[local.plan.dst[row], block]
        rows.add(block, Op.REDUCE, start + local.plan.step[row], src, dst)
        finish[switch] = start + local.plan.steps
    return finish[tree.root]


def level_of(tree: SwitchTree, switch: int, model: GenModel) -> Level:
    """The kind of the links between a switch and its children."""
    if switch == CROSSING:
        return model.cross
    return model.root if any(child in tree.children for child in tree.children[switch]) else model.middle


def _cheapest(tree: SwitchTree, switch: int, model: GenModel, floats: Fraction) -> tuple[str, GroupPlan]:
    children = tree.children[switch]
    size = len(children)
    if len({len(tree.servers(child)) for child in children}) > 1:
        return "acps", direct_plan(size)
    alpha = 2 * model.server.alpha_seconds + level_of(tree, switch, model).alpha_seconds
    best: tuple[Fraction, str, Callable[[], GroupPlan]] | None = None
    for name, profile, make in plan_types(size):
        seconds = profile.seconds(model.middle, model.server, alpha, floats)
        if best is None or seconds < best[0]:
            best = (seconds, name, make)
    assert best is not None
    return best[1], best[2]()


def plan_types(size: int) -> list[tuple[str, Profile, Callable[[], GroupPlan]]]:
    """Table 2's plan types for groups of `size`: (name, cost profile, constructor)."""
    types: list[tuple[str, Profile, Callable[[], GroupPlan]]] = [("cps", factored_profile((size,)), partial(direct_plan, size))]
    for factors in factorizations(size):
        name = "x".join(map(str, factors))
        types.append((name, factored_profile(factors), partial(factored_plan, factors)))
    types.append(("ring", pairwise_profile(size, 2 * (size - 1)), partial(ring_plan, size)))
    if size & (size - 1) == 0 and size > 1:
        types.append(("rhd", pairwise_profile(size, 2 * (size.bit_length() - 1)), partial(halving_plan, size)))
    return types


def factorizations(size: int) -> list[tuple[int, ...]]:
    """All ordered factorizations of `size` into two or more factors from 2, largest factors first."""

    def products(rest: int) -> list[tuple[int, ...]]:
        longer = [(first, *more) for first in range(rest // 2, 1, -1) if rest % first == 0 for more in products(rest // first)]
        return [(rest,), *longer]

    return [factors for factors in products(size) if len(factors) > 1]


def _rearranged(tree: SwitchTree, placement: Placement, switch: int, child: int, model: GenModel, floats: Fraction) -> Int32 | None:
    """The holders of a child's results after rearrangement, if that pays before they leave for the other children of `switch`.

    Whatever leaves is dealt out evenly to a subset of its holders. The paper leaves the size open but for its dependence on the
    convergence ratio (capacity into the child from below over that of its uplink): here the cheapest size from senders / ratio
    on, which is what can fill the uplink. Leaving costs the uplink with the incast of as many flows as servers send,
    rearranging a step of co-located PS among servers. O(servers · blocks).
    """
    if child not in tree.children:
        return None
    holders, leaving = placement[child], leaving_blocks(tree, placement, switch, child)
    senders = np.unique(holders[leaving])
    level, part = level_of(tree, switch, model), Fraction(len(leaving), len(holders))
    inward = sum(tree.uplink(below, child) for below in tree.children[child])
    fewest = -(-len(senders) * tree.uplink(child, switch) // inward)
    best, cheapest = None, part * level.flow_seconds(len(senders)) * floats
    for count in range(max(fewest, 1), len(senders)):
        moved = rearranged(holders, leaving, count)
        receivers, blocks = np.unique(moved[moved != holders], return_counts=True)
        # in the worst case every block that a server takes in comes from another one
        worst = max((Fraction(int(n), len(holders)) * model.middle.flow_seconds(int(n) + 1) for n in blocks), default=Fraction(0))
        start = (2 * model.server.alpha_seconds + model.middle.alpha_seconds) if len(receivers) else 0
        seconds = start + (worst + part * level.flow_seconds(count)) * floats
        if seconds < cheapest:
            best, cheapest = moved, seconds
    return best


def leaving_blocks(tree: SwitchTree, placement: Placement, switch: int, child: int) -> NDArray[np.int64]:
    """The blocks whose sum at `switch` is not kept below `child`."""
    return np.flatnonzero(~np.isin(placement[switch], tree.servers(child)))


def rearranged(holders: Int32, leaving: NDArray[np.int64], count: int) -> Int32:
    """New holders: what leaves is dealt out evenly to `count` of those that hold it, evenly spread; the rest stays."""
    senders = np.unique(holders[leaving])
    moved = holders.copy()
    subset = senders[np.arange(count) * len(senders) // count]
    moved[leaving] = subset[np.arange(len(leaving)) * count // len(leaving)]
    return moved


def there_and_back(
    request: Request,
    tree: SwitchTree,
    placement: Placement,
    plans: Mapping[int, LocalPlan],
    *,
    method: str,
    options: Mapping[str, Any],
) -> Schedule:
    """The requested collective: the reduce-scatter of `plans`, its reversal, or both in turn. O(blocks · servers) rows."""
    rows = Rows()
    steps = reduce_scatter_rows(tree, placement, plans, rows)
    there = rows.columns
    parts = [there] if request.collective.reduces else []
    if request.collective.gathers:
        last = steps - 1 + (steps if parts else 0)
        parts.append(
            {
                "chunk": there["chunk"],
                "op": np.full(len(there["op"]), Op.COPY, np.int8),
                "step": last - there["step"],
                "src": there["dst"],
                "dst": there["src"],
            }
        )
    columns = {name: np.concatenate([part[name] for part in parts]) for name in there}
    return embed(request, placement[tree.root], columns, method=method, options=options)
