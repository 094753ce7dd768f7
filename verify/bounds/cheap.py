"""Bounds that need no search."""

from copy import deepcopy
from fractions import Fraction
from functools import lru_cache

from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, make_bound
from certree.verify.bounds.witnesses import all_reduce, common


def cheap_bounds(instance: Instance) -> list[Bound]:
    """Bounds that need no search: the best single node, the number of messages (all-reduce, and all-gather or reduce-scatter with
    any shares), and the largest distance.

    O(nodes + links) for bandwidth, a breadth-first search from each endpoint for latency. The results for the latest instances are
    cached, since certificates are checked as they are made.
    """
    return deepcopy([*_kept(instance.topology, instance.collective, instance.shares, instance.delay, instance.passing)])


@lru_cache(maxsize=4)
def _kept(topology: Topology, collective: Collective, shares: tuple[Fraction, ...], delay: int, passing: bool) -> tuple[Bound, ...]:
    instance = Instance(topology, collective, shares, delay, passing)
    bounds = [make_bound(instance, "degree", common.best_node(instance))]
    if all_reduce.counting_applies(instance):
        bounds.append(make_bound(instance, "counting", {}))
    bounds.append(make_bound(instance, "distance", common.longest_distance(instance)))
    return tuple(bounds)
