"""Parts that bound an all-reduce: what local search finds, compared with all parts of small networks."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import compress
from random import Random

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import Collective, CollectiveKind, parse_members
from certree.synth.bounds.find import find_bounds
from certree.synth.bounds.parts import lengths_of_parts
from certree.synth.graphs.lengths import length_value
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import make_bound
from tests.verify.build import network


def drawn(seed: int) -> Instance:
    """An all-reduce among some endpoints of a network of six nodes, of which up to two are switches, with unequal links."""
    draws = Random(seed)
    kinds = "eeee" + draws.choice(("ee", "es", "ss"))
    pairs = [(node, draws.randrange(node)) for node in range(1, 6)]
    pairs += [tuple(draws.sample(range(6), 2)) for _ in range(draws.randint(1, 6))]
    both = {pair for u, v in pairs for pair in ((u, v), (v, u))}
    links = [(u, v, draws.choice((1, 1, 2, 4))) for u, v in sorted(both)]
    count = kinds.count("e")
    members = sorted(draws.sample(range(count), draws.randint(2, count)))
    return Instance(
        network(kinds, links), Collective(CollectiveKind.ALL_REDUCE, None, tuple(members) if len(members) < count else None)
    )


def all_parts(topology: Topology) -> Iterator[list[int]]:
    """The part of each node, for all parts there are; 0 for a switch that is in none."""

    def more(sofar: list[int]) -> Iterator[list[int]]:
        if len(sofar) == len(topology.kind):
            yield sofar
            return
        for part in range(0 if topology.kind[len(sofar)] == NodeKind.SWITCH else 1, max(sofar, default=0) + 2):
            yield from more([*sofar, part])

    yield from more([])


def proved(instance: Instance, part: list[int]) -> Fraction:
    """2(p − 1) / what leaves parts or what enters them, whichever is less."""
    links = list(
        zip(instance.topology.src.tolist(), instance.topology.dst.tolist(), instance.topology.capacity.tolist(), strict=True)
    )
    crossing = [(part[u], part[v], capacity) for u, v, capacity in links if part[u] != part[v]]
    taken = min(sum(capacity for *ends, capacity in crossing if ends[side]) for side in (0, 1))
    parts = len(set(compress(part, instance.is_member)))
    return Fraction(2 * (parts - 1), taken) if taken else Fraction(0)


@pytest.mark.parametrize("seed", range(40))
def test_no_parts_of_a_small_network_prove_more_than_those_found(seed: int) -> None:
    instance = drawn(seed)
    found = max(lengths_of_parts(instance), key=lambda length: length_value(instance, length))
    bound = make_bound(instance, "metric", {"length": found.tolist()})
    assert Fraction(bound["value"]) >= max(proved(instance, part) for part in all_parts(instance.topology))


#: a network, members and 2(p − 1) / capacity of the parts that were found with pencil and paper
KNOWN = [
    ("h100:4", "0-7,8,16,24", Fraction(6, 64)),  # boxes; rails are in no part
    ("torus:8x8", "0,7,56,63", Fraction(2, 7)),  # each member alone, two of them with a neighbour
]


@pytest.mark.parametrize(("spec", "members", "value"), KNOWN)
def test_certificates_of_groups_have_the_best_parts(spec: str, members: str, value: Fraction) -> None:
    of = Collective(CollectiveKind.ALL_REDUCE, None, parse_members(members))
    bounds = find_bounds(parse_topology(spec), of)
    assert max(Fraction(bound["value"]) for bound in bounds if bound["quantity"] == "bandwidth") >= value


def test_other_collectives_have_no_parts() -> None:
    assert lengths_of_parts(Instance(parse_topology("ring:4"), Collective(CollectiveKind.ALL_GATHER))) == []


def test_lengths_are_the_same_each_time() -> None:
    of = Instance(parse_topology("torus:4x4"), Collective(CollectiveKind.ALL_REDUCE, None, (0, 3, 6, 9)))
    once, again = lengths_of_parts(of), lengths_of_parts(of)
    assert all(np.array_equal(one, other) for one, other in zip(once, again, strict=True))
