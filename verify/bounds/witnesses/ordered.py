"""The order witness: lengths of links bound the schedules that add each chunk in one stated order."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.budget import spend
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.classes import assumes, no_coding, only_forwarding, shares
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WITNESSES, WitnessError, malformed, only_fields
from certree.verify.bounds.witnesses.metric import MAX_DISTANCES, distances, link_numbers, total
from certree.verify.order.expressions import read_expression
from certree.verify.order.placing import NEVER, least_branching, place_sums

ORDERED = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.REDUCE)


def _one_order(_: Instance, __: Mapping[str, Any]) -> str:
    return "one order"


def _made_once(instance: Instance, _: Mapping[str, Any]) -> str | None:
    return "sums made once" if is_for_sums_made_once(instance) else None


def is_for_sums_made_once(instance: Instance) -> bool:
    """Whether the proof needs each sum to be made at one node: where a value may stand at a node that need not get the result."""
    return instance.collective.gathers and instance.count < int(instance.topology.holds.sum())


@WITNESSES.register("order")
@assumes("order", shares, no_coding, only_forwarding, _one_order, _made_once)
def order(instance: Instance, witness: Mapping[str, Any]) -> tuple[str, Fraction]:
    """{"order": an expression over the ranks that take part, "length": [length of each link, in link order]}: the least length with
    which a chunk is added in this order and brought to where it is due / sum of capacity · length.

    Lengths are whole numbers from 0, d(u, v) that of the shortest path. *Holders* are the endpoints and the switches that reduce.
    f(r, v) = d(home of rank r, v), and f(e, v) = min over holders u of f(a, u) + f(b, u) + d(u, v) for e = (a, b). All-reduce: the
    least over holders r of f(whole, made at r) plus the shortest arborescence from r to all endpoints; where some holders do not
    take part, the distance from r to the farthest endpoint that does. Reduce, reduce-scatter: the sum over the roots of their
    share of the message times f(whole, root).

    Proof. In a schedule that makes each part of the expression at one node, every chunk uses links of at least this length: the
    operands of a sum are brought to where it is made, and the result goes out along transfers that reach everyone. (In a reduce or
    reduce-scatter each value is needed at one node only, hence made at one without loss.) Now let parts be made at several nodes,
    in an all-reduce in which all holders end with the result. Let R be the nodes that make the whole by adding, ρ(v) the one of
    which v has its copy, and for a transfer t of a part let D(t) be the nodes of R whose sum contains what t carried. If some t
    from p has ρ(p) not in D(t): let t, and what depends on t, carry the result instead. D(t) no longer adds, no link carries more,
    and R has become smaller. Otherwise, if R has two nodes, the paths of one contribution to them part at some p, into transfers
    whose sets D are disjoint (or one of them ends at p), and ρ(p) would be in both. So R is one node; then each of its operands is
    needed at one node, and so on down. O(N · holders²) time.
    """
    only_fields("order", witness, ["order", "length"])
    topology, collective = instance.topology, instance.collective
    if collective.kind not in ORDERED:
        raise WitnessError("witness-foreign", f"an order witness bounds collectives that add, not an {collective.kind}")
    members = collective.members_of(topology).astype(np.int64)
    if not isinstance(witness["order"], str):
        raise malformed("order witness: order must be a text")
    try:
        expression = read_expression(witness["order"], topology.rank[members].tolist())
    except InputError as error:
        raise malformed(f"order witness: {error}") from None
    if instance.order != expression.text:
        raise WitnessError(
            "witness-foreign", "an order witness bounds schedules of its order; this one has another one, or several"
        )
    if is_for_sums_made_once(instance) and not instance.makes_sums_once:
        raise WitnessError(
            "witness-foreign",
            "an order witness bounds schedules here that make each sum at one node; this one makes some at several",
        )
    length = link_numbers(topology, "order", "length", witness["length"])
    holders = np.flatnonzero(topology.holds)
    if len(holders) * len(topology.kind) > MAX_DISTANCES:
        raise WitnessError("witness-foreign", f"an order witness covers up to {MAX_DISTANCES} distances")
    spend(len(expression.parts) * len(holders) ** 2, f"an order among {len(holders):,} nodes")
    far = np.minimum(distances(topology, length, holders)[:, holders], NEVER)
    place = np.full(len(topology.kind), -1, np.int64)
    place[holders] = np.arange(len(holders))
    made = place_sums(expression, place[members], far).made[-1]
    if collective.gathers:
        need = Fraction(_spread(made, far, place[members], int(length.sum())))
    else:
        comes = (made[:, None] + far).min(axis=0)
        roots = place[topology.endpoints].tolist()
        shared = [share > 0 for share in instance.shares]
        need = sum((instance.shares[at] * int(comes[roots[at]]) for at in compress(range(len(roots)), shared)), Fraction(0))
    if not need:
        raise WitnessError("witness-wrong", "order witness: what has to travel has length 0, which bounds nothing")
    return "bandwidth", need / total(topology.capacity.astype(np.int64) * length)


def _spread(made: NDArray[np.int64], far: NDArray[np.int64], members: NDArray[np.int64], longest: int) -> int:
    """The least sum of made[r] and the length of the route from r to all members, over holders r."""
    if len(members) < len(made):
        return int((made + far[:, members].max(axis=1)).min())
    tree = np.full((len(far) + 1,) * 2, NEVER, np.int64)
    tree[1:, 1:] = far
    np.fill_diagonal(tree, NEVER)
    extra = 2 * longest * len(far) + 1  # no second link from node 0 pays: the arborescence has one root
    tree[0, 1:] = np.minimum(made + extra, NEVER)
    return least_branching(tree)[0] - extra
