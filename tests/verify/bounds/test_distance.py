"""The farthest pair where looking at all pairs would take too long."""

from random import Random

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.verify.bounds.witness import Instance, check_bound, make_bound
from certree.verify.bounds.witnesses import common
from tests.verify.schedules import random_collective, random_network


def hops(of: Instance) -> int:
    witness = common.longest_distance(of)
    bound = make_bound(of, "distance", witness)
    assert check_bound(of, bound) == (witness["hops"] - 1) * of.delay + 1
    return int(witness["hops"])


@pytest.mark.parametrize(
    ("spec", "expected"), [("ring:6000", 3000), ("mesh:1x2000", 1999), ("mesh:60x80", 138), ("torus:24x24x24", 36)]
)
@pytest.mark.parametrize("kind", ["all-reduce", "reduce"])
def test_large_ones(spec: str, expected: int, kind: str) -> None:
    of = Instance(parse_topology(spec), Collective(CollectiveKind(kind), 0 if kind == "reduce" else None))
    assert hops(of) == expected


@pytest.mark.parametrize("seed", range(60))
def test_turns_find_no_more_than_there_is(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    topology = random_network(rng)
    of = Instance(topology, random_collective(rng, topology), delay=rng.randint(1, 3))
    every = hops(of)
    monkeypatch.setattr(common, "SEARCH_WORK", 0)
    assert 1 <= hops(of) <= every
    if of.collective.kind in WITH_ONE_ROOT and (of.sources.sum() == 1 or topology.is_direct):
        assert hops(of) == every
