"""Groups of endpoints that are all joined to each other, and their counterparts."""

from itertools import combinations

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.synth.ranks import cliques
from certree.synth.ranks.cliques import cliques_of
from tests.verify.build import network


def of_boxes(groups: list[tuple[int, ...]], pairs: list[tuple[int, int]]) -> Topology:
    """Groups that are all joined, and some more links."""
    joined = [pair for group in groups for pair in combinations(group, 2)] + pairs
    return network("e" * sum(map(len, groups)), [(*ends, 1) for one, other in joined for ends in ((one, other), (other, one))])


def test_members_stand_next_to_their_counterparts() -> None:
    """Whatever their numbers: 4 is joined to 2, 5 to 0, 3 to 1; the first group is that of the lowest number."""
    found = cliques_of(of_boxes([(0, 1, 2), (3, 4, 5)], [(4, 2), (5, 0), (3, 1)]))
    assert found is not None
    assert (found.sizes, found.nodes.tolist()) == ((3, 2), [0, 1, 2, 5, 3, 4])


def test_one_choice_of_a_counterpart_gives_way_to_another() -> None:
    """0 could go with 3 or 4, 1 only with 3."""
    found = cliques_of(of_boxes([(0, 1, 2), (3, 4, 5)], [(0, 3), (0, 4), (1, 3), (2, 5)]))
    assert found is not None
    assert found.nodes.tolist() == [0, 1, 2, 4, 3, 5]


def test_a_first_group_may_have_to_give_way() -> None:
    """0, 1 and 2 are joined, but without 0 its other neighbours have no group."""
    found = cliques_of(of_boxes([(0, 3, 4), (1, 2, 5)], [(0, 1), (0, 2), (3, 5), (4, 1)]))
    assert found is not None
    assert found.nodes.tolist() == [0, 3, 4, 2, 5, 1]


def test_the_largest_groups_count() -> None:
    found = cliques_of(parse_topology("dgx1"))
    assert found is not None
    assert (found.sizes, found.nodes.tolist()) == ((4, 2), list(range(8)))


@pytest.mark.parametrize("name", ["full:8", "torus:4x4", "hypercube:4", "ring:6", "mesh:3x3", "switch:8", "dgx2", "torus:9x9"])
def test_no_groups(name: str) -> None:
    """All are one group, or no three are joined, or there are switches, or too many endpoints."""
    assert cliques_of(parse_topology(name)) is None


def test_groups_without_counterparts() -> None:
    assert cliques_of(of_boxes([(0, 1, 2), (3, 4, 5)], [(0, 3), (0, 4), (0, 5)])) is None


def test_no_more_choices_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cliques, "MOST_CHOICES", 1)
    assert cliques_of(parse_topology("dgx1")) is None


def test_it_is_a_grid_of_all_endpoints() -> None:
    found = cliques_of(parse_topology("torus:3x3"))
    assert found is not None
    assert np.array_equal(np.sort(found.nodes), np.arange(9))
