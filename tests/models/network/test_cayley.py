"""Cayley graphs by name: which links they have, and what is refused."""

import pytest

from certree.models.common.errors import TopologyError
from certree.models.network.families.regular import cayley
from certree.models.network.spec import parse_topology


@pytest.mark.parametrize(
    ("spec", "nodes", "degree", "diameter"),
    [
        ("cayley:16@1+3", 16, 4, 4),
        ("cayley:16@1+8", 16, 3, 4),
        ("cayley:7@>1+>2", 7, 2, 3),
        ("cayley:8x8@0x1+1x0+1x1", 64, 6, 5),
        ("cayley:102+021", 6, 2, 3),  # a ring of 6
        ("cayley:1023+2103+3120", 24, 3, 4),  # the star graph on four things
        ("cayley:1023+2103+3210", 24, 3, 4),  # the pancake graph
    ],
)
def test_nodes_links_and_hops(spec, nodes, degree, diameter):
    made = parse_topology(spec)
    assert len(made.kind) == nodes
    assert (made.src == 0).sum() * nodes == len(made.src) == degree * nodes
    assert made.diameter[0] == diameter


def test_groups_that_are_too_large(monkeypatch):
    monkeypatch.setattr(cayley, "MAX_NODES", 23)
    with pytest.raises(TopologyError, match="more than 23 nodes"):
        parse_topology("cayley:1023+2103+3120")


def test_the_same_networks_by_other_names():
    for spec, other in (("cayley:9@1", "ring:9"), ("cayley:4x5@1x0+0x1", "torus:4x5"), ("cayley:5@1+2", "full:5")):
        links = [set(zip(t.src.tolist(), t.dst.tolist(), strict=True)) for t in (parse_topology(spec), parse_topology(other))]
        assert links[0] == links[1]
