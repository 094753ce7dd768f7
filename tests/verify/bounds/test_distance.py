"""The farthest pair where looking at all pairs would take too long."""

from random import Random

import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import check_bound, make_bound
from certree.verify.bounds.witnesses import common
from tests.drawn import examples, given_at_least, rngs
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


@given_at_least(15, rngs)
@examples(60)
def test_turns_find_no_more_than_there_is(rng: Random) -> bool:
    topology = random_network(rng)
    of = Instance(topology, random_collective(rng, topology), delay=rng.randint(1, 3))
    every = hops(of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common, "SEARCH_WORK", 0)
        found = hops(of)
    assert 1 <= found <= every
    certain = of.collective.kind in WITH_ONE_ROOT and (of.sources.sum() == 1 or topology.is_direct)
    assert found == every or not certain
    return certain
