"""The best plan of GenTree's family by branch and bound: at every switch any plan type and any rearrangement.

GenTree (Section 4.2) decides switch by switch, by estimates. Here a plan is timed by its transfers on the network
(`certree.extras.costs.model.flows.time`), in exact rationals. Every switch starts as soon as those below it have finished
(Algorithm 2, line 16), and the all-gather is the reverse of the reduce-scatter; so the time of a plan is, from the leaves to the
root,

    finish(switch) = max over children (finish(child) + rearrangement of its results) + local plan, there and back

and the best choice at a switch depends on its children by their finish times alone: earlier is never worse. That leaves one search
for each switch. The family: co-located PS, hierarchical co-located PS by every factorization, ring, and halving where possible, or
asymmetric co-located PS where children have unequal numbers of servers; for each child, its results as they are or dealt out to any
number of the servers that hold them, evenly spread. Isomorphic children make the same choice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from certree.extras.costs.make.plan import LocalPlan, plan_types
from certree.extras.costs.make.plan_timer import PlanTimer
from certree.models.network.topology import Int32
from certree.synth.graphs.switch_tree import SwitchTree
from certree.synth.ranks.group_plans import GroupPlan, direct_plan

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """The best plans of the family: `plans` by switch, their time, and in how many places of the search a plan was timed or cut
    off by its bound."""

    plans: dict[int, LocalPlan]
    seconds: Fraction
    timed: int
    cut: int


def best_plans(timer: PlanTimer) -> Found:
    """The best plan of the family; isomorphic switches are searched once.

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
    """One switch: `kinds` are groups of isomorphic children, by number, `options` the numbers of senders of each kind."""

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
        """(lower bound, plan type, option of each kind) of every combination; the first child of a kind represents it."""
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
    """A key that is equal for nodes with isomorphic subtrees: the same capacities and holders of blocks."""
    tree = timer.tree
    if node not in tree.children:
        return ()
    servers = np.array(tree.servers(node))
    below = tuple((tree.uplink(child, node), _look(timer, child)) for child in tree.children[node])
    return below, np.searchsorted(servers, timer.placement[node]).tobytes()
