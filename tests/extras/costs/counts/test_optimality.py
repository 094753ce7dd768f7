"""Theorems 1 and 2 of GenTree: verdicts and witnesses on schedules, and the bounds against every schedule that can be made."""

from dataclasses import replace
from fractions import Fraction
from operator import attrgetter

import numpy as np
import pytest

from certree.extras.costs.model.optimality import Operation, optimality
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.checker import verify_schedule
from tests.synth.execution import make

VERDICTS = {
    "co-located servers are optimal in memory access, not in incast (from the switch to a server)": (
        "cps", "switch:12", {}, 9,
        {"memory.optimal": True, "memory.accesses": Fraction(13, 12), "memory.operations": (Operation(0, 0, 12),),
         "incast.optimal": False, "incast.communicators": 12, "incast.src": 12, "both_possible": False},
    ),
    "a ring is optimal in incast, not in memory access": (
        "ring", "switch:12", {}, 9,
        {"incast.optimal": True, "incast.communicators": 2, "memory.optimal": False, "memory.accesses": Fraction(33, 12)},
    ),
    **{
        f"Theorem 2 starts beyond the threshold: {nodes} servers, threshold {threshold}": (
            "cps", f"switch:{nodes}", {}, threshold, {"memory.optimal": True, "both_possible": both, "incast.optimal": both},
        )
        for nodes, threshold, both in ((9, 9, True), (10, 9, False), (2, 2, True), (3, 2, False))
    },
    "one server that adds up everything is not optimal": (
        "reduce-broadcast", "switch:6", {"server": "2"}, 9,
        {"memory.busiest": (2, 7), "memory.optimal": False, "incast.optimal": True},
    ),
    "two operations a share, as of 9 and 4 terms: 6x2 takes 17/12, and 12 = 9 + 3 leaves 15/12": (
        "hierarchical-cps", "switch:12", {"factors": "6x2"}, 9,
        {"incast.optimal": True, "least_operations": 2, "least_accesses": Fraction(15, 12), "memory.accesses": Fraction(17, 12)},
    ),
    "with a link for every neighbour both are possible: the theorem has one link a server": (
        "cps", "full:12", {}, 9, {"links": 11, "both_possible": True, "memory.optimal": True, "incast.optimal": True},
    ),
}  # fmt: skip


@pytest.mark.parametrize("why", VERDICTS)
def test_verdicts(why: str) -> None:
    method, network, options, threshold, expected = VERDICTS[why]
    found = optimality(make(method, network, options=options), threshold)
    assert {name: attrgetter(name)(found) for name in expected} == expected
    terms = {"ring": [2] * 11, "reduce-broadcast": [6]}.get(method)
    assert terms is None or [operation.terms for operation in found.memory.operations] == terms


@pytest.mark.parametrize("network", ["switch:6", "switch:12", "full:6", "fattree:3x4", "torus:3x4", "tree:2x3"])
@pytest.mark.parametrize(
    "method", ["cps", "ring", "reduce-broadcast", "multitree", "recursive-doubling", "halving-doubling", "gentree"]
)
def test_no_schedule_beats_the_bounds(method: str, network: str) -> None:
    try:
        made = make(method, network)
    except UnsupportedError:
        return
    for threshold in (2, 3, 9):
        found = optimality(made, threshold)
        assert found.memory.accesses >= found.memory.bound
        if found.incast.optimal:
            assert found.memory.accesses >= found.least_accesses
        assert not (found.memory.optimal and found.incast.optimal and not found.both_possible)


def test_a_reduce_scatter_is_rated_too_and_others_are_not() -> None:
    assert optimality(make("cps", "switch:6", "reduce-scatter"), 9).memory.optimal
    with pytest.raises(UnsupportedError, match="about all-reduce and reduce-scatter, not all-gather"):
        optimality(make("cps", "switch:6", "all-gather"), 9)
    with pytest.raises(UnsupportedError, match="in this schedule switches do"):
        optimality(make("netreduce", "switch:6,reducing=switches"), 9)


def test_servers_that_add_up_one_after_the_other_are_not_optimal() -> None:
    """Each share in one operation, all shares equal, but in steps of their own: the sum over steps is what counts."""
    made = make("cps", "switch:4", "reduce-scatter")
    slow = replace(made, rounds=np.full(4, 3), step=made.dst.copy())
    found = optimality(slow, 9)
    assert len(found.memory.operations) == 1
    assert found.memory.busiest[1] == found.memory.bound
    assert found.memory.accesses == 4 * found.memory.bound


def test_the_bound_holds_for_any_tree_of_operations() -> None:
    """Equation 15 on random in-trees: N - 1 + 2h accesses a share."""
    draw = np.random.default_rng(5)
    base = make("cps", "switch:6", "reduce-scatter")
    for _ in range(20):
        made = random_trees(base, draw)
        assert verify_schedule(made).valid
        for threshold in (2, 3, 9):
            found = optimality(made, threshold)
            operations = found.memory.operations
            assert sum(operation.terms + 1 for operation in operations) == 6 - 1 + 2 * len(operations)
            assert found.memory.accesses >= found.memory.bound
            if found.incast.optimal:
                assert found.memory.accesses >= found.least_accesses


def random_trees(base: Schedule, draw: np.random.Generator) -> Schedule:
    """A reduce-scatter in which every share goes up a tree of its own; children send one step after their own children."""
    rows = []
    for chunk in range(6):
        order = [chunk, *draw.permutation([node for node in range(6) if node != chunk]).tolist()]
        parent = {node: order[int(draw.integers(at))] for at, node in enumerate(order) if at}
        height = dict.fromkeys(order, 0)
        for node in reversed(order[1:]):
            height[parent[node]] = max(height[parent[node]], height[node] + 1)
        rows += [(chunk, height[node], node, parent[node]) for node in order[1:]]
    chunk, step, src, dst = np.array(rows).T
    path = {(s, d): route for s, d, route in zip(base.src.tolist(), base.dst.tolist(), base.route.tolist(), strict=True)}
    return replace(
        base,
        rounds=np.full(5, 36),
        chunk=chunk,
        op=np.full(len(chunk), Op.REDUCE),
        step=step,
        src=src,
        dst=dst,
        route=np.array([path[pair] for pair in zip(src.tolist(), dst.tolist(), strict=True)]),
    )
