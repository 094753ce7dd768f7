"""Schedules of one order: valid, in the order that was asked for, near the bound of the order; wrong requests are refused."""

from itertools import product

import numpy as np
import pytest

import certree.api as ct
from certree.api.reports.order_report import order_of
from certree.extras.orders.make.columns import Pricing
from certree.extras.orders.make.orders import candidates, wanted_order
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import Request
from certree.verify.bounds.witnesses.metric import distances
from certree.verify.order.additions import additions_of
from tests.verify.order.test_additions import slowly

SHAPES = [
    ("torus:4x4", "all-reduce", "one", None),
    ("mesh:2x3", "all-reduce", "nested", None),
    ("dgx1", "all-reduce", "chain", None),
    ("fattree:2x2", "all-reduce", "rank", None),
    ("mesh:2x2", "all-reduce", "((0,3),(1,2))", None),
    ("mesh:2x3", "reduce-scatter", "balanced", None),
    ("ring:5", "reduce", "rank", 2),
    ("switch:4,reducing=switches", "all-reduce", "one", None),
]


@pytest.mark.parametrize(("network", "collective", "order", "root"), SHAPES)
def test_one_order(network: str, collective: str, order: str, root: int | None) -> None:
    made = ct.synthesize(network, collective, root=root, method="ordered", order=order, size="1MiB")
    found = additions_of(made)
    assert found is not None
    assert found.is_fixed
    assert found.orders == 1
    assert len(set(slowly(made).values())) == 1
    wanted = wanted_order(order, made.topology, made.collective)
    assert found.expression in {one.text for one in candidates(wanted, made.topology, made.collective)}
    assert "bandwidth_bound" in order_of(made)["order"]


@pytest.mark.parametrize(("network", "most"), [("torus:4x4", 0.58), ("mesh:4x4", 0.74)])
def test_rate(network: str, most: float) -> None:
    made = ct.synthesize(network, method="ordered", order="one", size="64MiB", options={"rate": "optimal"})
    assert float(made.bandwidth_time) <= most
    quality = ct.verify(made).quality
    assert quality is not None
    assert quality.bandwidth_time <= quality.bandwidth_bound * 103 / 100


def test_only_some_take_part() -> None:
    collective = ct.collective("all-reduce", members=[0, 2, 3, 7])
    made = ct.synthesize("mesh:3x3", collective, method="ordered", order="one", size="1MiB")
    assert additions_of(made).expression is not None  # type: ignore[union-attr]
    kinds = {bound["kind"]: bound["class"] for bound in made.certificate["bounds"]}  # type: ignore[index]
    assert "sums made once" in kinds["order"]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("((0,1),(2,2))", "rank 2 stands twice; each of the 4 ranks must stand once"),
        ("((0,1),2)", "rank 3 is missing; each of the 4 ranks must stand once"),
        ("((0,1),(2,4))", "rank 4 is none of those that add; each of the 4 ranks must stand once"),
        ("((0,1),(2,3)", "is not one expression such as"),
        ("((0,1,2),3)", "closes what is not a pair"),
        ("((0,1);(2,3))", "is not a part of an expression"),
        ("nobody", "neither one, nested, balanced, chain, rank nor an expression such as"),
    ],
)
def test_no_order(order: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ct.synthesize("ring:4", order=order)


def test_methods_that_cannot() -> None:
    with pytest.raises(UnsupportedError, match=r"ring: order one: the chunks are added in 16 orders"):
        ct.synthesize("torus:4x4", method="ring", order="one", size="1MiB")
    with pytest.raises(UnsupportedError, match="order: all-gather adds nothing; allowed: all-reduce, reduce-scatter, reduce"):
        ct.synthesize("ring:4", "all-gather", order="one")
    with pytest.raises(UnsupportedError, match="halving-doubling: order rank: the chunks are added in the order"):
        ct.synthesize("torus:2x2", method="halving-doubling", order="rank", size="1MiB")


def test_pricing_is_exact() -> None:
    """The cheapest placing on small networks, against all choices of nodes for all sums."""

    for seed in range(12):
        rng = np.random.default_rng(seed)
        topology = ct.topology("mesh:2x2" if seed % 2 else "ring:4")
        collective = ct.collective("reduce", root=int(rng.integers(4))).fitted(topology)
        expression = candidates(wanted_order("balanced", topology, collective), topology, collective)[0]
        length = rng.integers(0, 50, len(topology.src) + len(topology.kind))
        length[len(topology.src) :] = 0
        far = distances(topology, length, np.arange(4))
        ((_, column),) = Pricing(topology, collective, expression).cheapest(length, [collective.root])  # type: ignore[list-item]
        costs = [
            far[0, a] + far[1, a] + far[2, b] + far[3, b] + far[a, c] + far[b, c] + far[c, collective.root]
            for a, b, c in product(range(4), repeat=3)
        ]
        assert int(length[column.uses].sum()) == min(costs)


def test_schedules_of_other_orders_are_no_limit() -> None:
    """What `auto` tries first, and takes less time, must not cut what has the order."""
    topology, machine = ct.topology("ring:4"), ct.machine()
    wanted = wanted_order("((0,2),(1,3))", topology, ct.collective("all-reduce"))
    request = Request(topology, ct.collective("all-reduce"), 1 << 20, machine, order=wanted)
    request.offer(written_out(ct.synthesize(topology, size="1MiB")))
    assert request.monitor.best_cycles is None
    made = ct.synthesize(topology, method="ordered", order=wanted.expression.text if wanted.expression else "", size="1MiB")
    request.offer(written_out(made))
    assert request.monitor.best_cycles is not None
