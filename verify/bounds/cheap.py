"""Bounds that need no search."""

from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, make_bound
from certree.verify.bounds.witnesses import all_reduce, common


def cheap_bounds(instance: Instance) -> list[Bound]:
    """Bounds that need no search: the best single node, the number of messages (all-reduce, and all-gather or reduce-scatter with
    any shares), the largest distance.

    O(nodes + links) for bandwidth, a breadth-first search from each endpoint for latency.
    """
    bounds = [make_bound(instance, "degree", common.best_node(instance))]
    if all_reduce.counting_applies(instance):
        bounds.append(make_bound(instance, "counting", {}))
    bounds.append(make_bound(instance, "distance", common.longest_distance(instance)))
    return bounds
