"""The best cut against all cuts, and against known rates."""

from contextlib import suppress
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, parse_collective
from certree.synth.graphs import cuts
from certree.synth.graphs.cuts import best_cut
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError, check_bound, make_bound
from tests.drawn import examples, rngs
from tests.networks import one_way
from tests.verify.build import network
from tests.verify.exact.small import barbell
from tests.verify.schedules import random_network

GATHER, SCATTER = parse_collective("all-gather"), parse_collective("reduce-scatter")


def value_of(topology: Topology, collective: Collective, inside: set[int]) -> Fraction:
    """The cut bound of one set, from its definition."""
    outward = collective == SCATTER
    crossing = 0
    for src, dst, capacity in zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True):
        enters = (dst in inside and src not in inside) if not outward else (src in inside and dst not in inside)
        crossing += capacity * enters
    endpoints = topology.endpoints.tolist()
    return Fraction(sum(node not in inside for node in endpoints), len(endpoints) * crossing)


def best_of_all(topology: Topology, collective: Collective) -> Fraction:
    """The best cut, found by trying every set with endpoints on both sides."""
    nodes, ends = range(len(topology.kind)), set(topology.endpoints.tolist())
    subsets = (set(some) for size in range(1, len(nodes)) for some in combinations(nodes, size))
    return max(value_of(topology, collective, some) for some in subsets if some & ends and ends - some)


@examples(150)
@given(one_way(4, widest=4, switches=3), st.sampled_from([GATHER, SCATTER]))
def test_no_set_is_better_and_the_witness_has_the_value(topology: Topology, collective: Collective) -> None:
    bound = best_cut(topology, collective)
    assert (bound["kind"], bound["quantity"]) == ("cut", "bandwidth")
    assert value_of(topology, collective, set(bound["witness"]["set"])) == Fraction(bound["value"])
    assert best_of_all(topology, collective) == Fraction(bound["value"])
    assert best_cut(topology, collective) == bound


@pytest.mark.parametrize("collective", [GATHER, SCATTER])
@pytest.mark.parametrize(
    ("topology", "rounds_per_chunk"),
    [
        (parse_topology("torus:4x4"), Fraction(15, 4)),
        (parse_topology("torus:8x8"), Fraction(63, 4)),
        (parse_topology("mesh:8x8"), Fraction(63, 2)),
        (parse_topology("full:9"), Fraction(1)),
        (parse_topology("dgx1"), Fraction(7, 6)),
        (parse_topology("switch:8"), Fraction(7)),
        (parse_topology("fattree:4x4"), Fraction(15)),
        (parse_topology("torus:8x8,without-link=3-4"), Fraction(63, 3)),
        (parse_topology("mesh:8x8,without-node=0"), Fraction(62, 2)),
        (barbell(3), Fraction(3)),
        (barbell(4), Fraction(4)),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_known_rates(topology: Topology, collective: Collective, rounds_per_chunk: Fraction) -> None:
    assert Fraction(best_cut(topology, collective)["value"]) * len(topology.endpoints) == rounds_per_chunk


def test_the_clique_behind_the_thin_link_is_the_witness() -> None:
    assert best_cut(barbell(4), GATHER)["witness"]["set"] == [0, 1, 2, 3]


def test_direction_matters() -> None:
    into_1 = network("eee", [(0, 1, 1), (1, 2, 5), (2, 0, 5), (1, 0, 5)])
    assert Fraction(best_cut(into_1, GATHER)["value"]) == Fraction(2, 3)
    assert best_cut(into_1, GATHER)["witness"]["set"] == [1]
    assert Fraction(best_cut(into_1, SCATTER)["value"]) == Fraction(2, 3)
    assert best_cut(into_1, SCATTER)["witness"]["set"] == [0]


def test_an_all_reduce_has_no_cut_bound() -> None:
    with pytest.raises(UnsupportedError, match="all-reduce has none"):
        best_cut(parse_topology("ring:4"), parse_collective("all-reduce"))


def test_single_endpoints_where_flows_would_take_too_long(monkeypatch):
    """The bridge of a barbell needs a flow; without flows the bound is that of a single node."""
    assert best_cut(barbell(4), GATHER)["value"] == "1/2"
    monkeypatch.setattr(cuts, "FLOW_WORK", 10)
    alone = best_cut(barbell(4), GATHER)
    assert (alone["value"], len(alone["witness"]["set"])) == ("7/24", 1)


@given(rngs, st.sampled_from(WITH_ONE_ROOT))
def test_best_cut_of_collectives_with_one_root(rng, kind):
    """Against every set of nodes on small random networks, switches included."""
    topology = random_network(rng)
    of = Instance(topology, Collective(kind, rng.choice(topology.endpoints.tolist())))
    existing = np.flatnonzero(of.exists).tolist()
    values = []
    for size in range(1, len(existing)):
        for inside in combinations(existing, size):
            with suppress(WitnessError):
                values.append(Fraction(make_bound(of, "cut", {"set": list(inside)})["value"]))
    assert check_bound(of, best_cut(topology, of.collective)) == max(values)
