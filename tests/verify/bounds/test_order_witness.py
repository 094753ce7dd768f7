"""Order witnesses: as strong as all placings say, and refused for schedules of other orders."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest

import certree.api as ct
from certree.models.network.spec import parse_topology
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, make_time_bound
from certree.verify.bounds.witness import WitnessError, check_bound, make_bound, with_class
from certree.verify.bounds.witnesses.metric import distances
from certree.verify.order.additions import makes_sums_once
from certree.verify.order.placing import NEVER, least_branching

ORDER = "((0,1),(2,3))"


def instance(network: str = "ring:4", collective: str = "all-reduce", order: str = ORDER, **more: Any) -> Instance:
    return Instance(parse_topology(network), ct.collective(collective, **more), adds=order)


@pytest.mark.parametrize("seed", range(20))
def test_arborescence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    length = rng.integers(0, 6, (count, count))
    length[rng.random((count, count)) < 0.3] = NEVER
    length[0] = np.minimum(length[0], 50)
    length[:, 0] = NEVER
    np.fill_diagonal(length, NEVER)
    graph = nx.DiGraph([(a, b, {"weight": int(length[a, b])}) for a, b in product(range(count), repeat=2) if length[a, b] < NEVER])
    found, parents = least_branching(length)
    assert found == nx.minimum_spanning_arborescence(graph).size(weight="weight")
    assert sum(int(length[parents[node], node]) for node in range(1, count)) == found


@pytest.mark.parametrize("seed", range(10))
def test_value(seed: int) -> None:
    """Against all choices of nodes for the sums, and of arborescences by their parents."""
    of = instance("mesh:2x2" if seed % 2 else "ring:4")
    length = np.random.default_rng(seed).integers(0, 9, len(of.topology.src))
    far = distances(of.topology, length, np.arange(4))
    trees = [
        (root, sum(int(far[parent, node]) for parent, node in zip(parents, others, strict=True)))
        for root in range(4)
        for others in [[node for node in range(4) if node != root]]
        for parents in product(range(4), repeat=3)
        if _is_tree(root, dict(zip(others, parents, strict=True)))
    ]
    spread = {root: min(cost for at, cost in trees if at == root) for root in range(4)}
    need = min(
        int(far[0, a] + far[1, a] + far[2, b] + far[3, b] + far[a, c] + far[b, c]) + spread[c]
        for a, b, c in product(range(4), repeat=3)
    )
    bound = make_bound(of, "order", {"order": ORDER, "length": length.tolist()})
    assert Fraction(bound["value"]) == Fraction(need, int(length @ of.topology.capacity))
    assert bound["class"][-1] == "one order"


def _is_tree(root: int, parents: dict[int, int]) -> bool:
    reached = {root}
    for _ in parents:
        reached |= {node for node, parent in parents.items() if parent in reached}
    return len(reached) == len(parents) + 1


def test_classes() -> None:
    ones = {"order": ORDER, "length": [1] * 8}
    assert "sums made once" not in make_bound(instance(), "order", ones)["class"]
    few = Instance(parse_topology("ring:4"), ct.collective("all-reduce", members=[0, 1, 3]), adds="((0,1),3)")
    assert "sums made once" in make_bound(few, "order", {"order": "((0,1),3)", "length": [1] * 8})["class"]
    reduced = make_bound(instance(collective="reduce", root=0), "order", ones)
    assert reduced["value"] == "3/8"
    assert "sums made once" not in reduced["class"]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"order": "((0,2),(1,3))"}, "witness-foreign"),
        ({"order": "((1,0),(2,3))"}, None),
        ({"order": "((0,1),2)"}, "witness-malformed"),
        ({"order": "((0,1),(2,2))"}, "witness-malformed"),
        ({"order": 7}, "witness-malformed"),
        ({"length": [0] * 8}, "witness-wrong"),
        ({"length": [1] * 7}, "witness-malformed"),
        ({"length": [-1] * 8}, "witness-malformed"),
        ({"more": 1}, "witness-malformed"),
    ],
)
def test_forged(change: dict[str, Any], rule: str | None) -> None:
    of = instance()
    bound = make_bound(of, "order", {"order": ORDER, "length": [1] * 8})
    forged = {**bound, "witness": {**bound["witness"], **change}}
    if rule is None:
        check_bound(of, forged)
        return
    with pytest.raises(WitnessError) as error:
        check_bound(of, forged)
    assert error.value.rule == rule


def test_the_order_that_a_certificate_states() -> None:
    made = ct.synthesize("ring:4", method="ordered", order="nested", size="4KiB")
    stated = made.certificate["order"]  # type: ignore[index]
    assert stated["expression"] == ORDER
    for wrong in ({**stated, "expression": "((0,2),(1,3))"}, {**stated, "orders": 2}, None, ORDER):
        forged = replace(made, certificate={**made.certificate, "order": wrong})  # type: ignore[dict-item]
        assert {found.rule for found in ct.verify(forged).violations} == {"certificate-claim"}


def test_of_another_schedule() -> None:
    """A bound of one order in the certificate of a schedule with another order, with several, or with one that is not fixed."""
    bound = make_bound(instance(), "order", {"order": ORDER, "length": [1] * 8})
    for method, size in (("ring", "1MiB"), ("one-shot", "4KiB")):
        made = ct.synthesize("ring:4", method=method, size=size)
        forged = replace(made, certificate={**made.certificate, "bounds": [*made.certificate["bounds"], bound]})  # type: ignore[dict-item,index]
        assert {found.rule for found in ct.verify(forged).violations} == {"witness-foreign"}


def test_of_a_schedule_that_makes_sums_twice() -> None:
    """Where not all nodes take part the bound is for schedules that make each sum once; an exchange makes them at several nodes."""
    collective = ct.collective("all-reduce", members=[0, 1, 3])
    once, twice = (
        ct.synthesize("ring:4", collective, method=method, order="((0,1),3)", size="1KiB", time_limit="0.01s")
        for method in ("ordered", "ordered-exchange")
    )
    assert once.certificate is not None
    bounds = [bound for bound in once.certificate["bounds"] if bound["kind"] == "order"]
    assert [bound["class"].count("sums made once") for bound in bounds] == [1]
    assert "order" not in {bound["kind"] for bound in twice.certificate["bounds"]}  # type: ignore[index]
    forged = replace(twice, certificate={**twice.certificate, "bounds": bounds})  # type: ignore[dict-item]
    found = [violation for violation in ct.verify(forged).violations if violation.rule == "witness-foreign"]
    assert "make each sum at one node; this one makes some at several" in found[0].message


@pytest.mark.parametrize(
    ("network", "method", "made_once"),
    [
        ("leafspine:2x2x2@2,reducing=switches", "in-switch", True),  # leaves get the result where they made a part of it
        ("switch:4,reducing=switches", "in-switch", True),
        ("fattree:2x2", "recursive-doubling", False),
        ("ring:4", "ring", True),
    ],
)
def test_where_sums_are_made_once(network: str, method: str, made_once: bool) -> None:
    assert makes_sums_once(ct.synthesize(network, method=method, size="4KiB")) is made_once


def test_its_class_names_the_shares_that_it_is_for() -> None:
    """A reduce-scatter to one node in the order of a schedule with equal shares needs more than that schedule."""
    order = "(((0,1),2),3)"
    made = ct.synthesize("ring:4", "reduce-scatter", method="ordered", order="rank", size="64MiB")
    to_one = Instance(made.topology, ct.collective("reduce-scatter"), tuple(map(Fraction, (1, 0, 0, 0))), adds=order)
    bound = make_bound(to_one, "order", {"order": order, "length": [0, 1, 3, 2, 2, 3, 1, 3]})
    quality = ct.verify(made).quality
    assert quality is not None
    assert Fraction(bound["value"]) > quality.bandwidth_time
    assert "stated shares" in with_class(to_one, bound)["class"]
    assert "equal shares" in with_class(Instance.of(made), quality.witnesses[0])["class"]
    assert "any shares" in with_class(instance(), make_bound(instance(), "order", {"order": ORDER, "length": [1] * 8}))["class"]


def test_no_time_follows_from_it() -> None:
    """Another order is faster than what the bound of this one would say of a run."""
    made = ct.synthesize("ring:4", method="ordered", order="((0,2),(1,3))", size="64MiB")
    free = ct.synthesize("ring:4", size="64MiB")
    assert made.made_for is not None
    assert made.certificate is not None
    of = TimeInstance(Instance.of(made), made.made_for.message_bytes, made.made_for.machine)
    bounds = [bound for bound in made.certificate["bounds"] if bound["kind"] == "order"]
    with pytest.raises(WitnessError, match="add in some way is none on every run"):
        make_time_bound(of, "load", {"bound": bounds[0]})
    said, quality = made.certificate["time"]["bound_cycles"], ct.verify(free).quality
    assert quality is not None
    assert quality.time is not None
    assert said == quality.time.cycles
