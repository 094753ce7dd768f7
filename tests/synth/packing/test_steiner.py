"""Steiner trees through switches that add: at the bound where it is met, elsewhere more than spanning trees at least."""

from fractions import Fraction

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.packing.splitting import SwitchedNetwork
from certree.synth.packing.steiner import ReducingNetwork
from tests.synth.execution import valid

ALL_REDUCE = parse_collective("all-reduce")


def reducing(spec: str) -> ReducingNetwork:
    return ReducingNetwork(parse_topology(spec + ",reducing=switches"))


@pytest.mark.parametrize(("spec", "found"), [("switch-fc:2x2x4x2", 4), ("ace-alltoall:4x2", 12)])
def test_where_the_bound_was_not_met(spec: str, found: int) -> None:
    """Still more trees than over endpoints alone."""
    network = reducing(spec)
    assert SwitchedNetwork(parse_topology(spec)).strength < network.most(ALL_REDUCE, 1, seed=0) == found < network.strength


def test_edges_of_trees_fit_and_lead_to_all_endpoints() -> None:
    network = reducing("switch-fc:2x2x4x2")
    family = network.pack(ALL_REDUCE, 8, 2, moves=0, seed=1)
    assert family is not None
    tree, node = np.nonzero(family.up != -1)
    pair = network.topology.pair_index(node, family.up[tree, node])
    assert (pair >= 0).all()
    both = np.bincount(pair, minlength=len(network.topology.pair_capacity))
    back = np.bincount(network.topology.pair_index(family.up[tree, node], node), minlength=len(both))
    assert (both + back <= 2 * network.topology.pair_capacity).all()
    for row in range(8):
        for end in network.topology.endpoints.tolist():
            node = end
            while family.up[row, node] != -1:
                node = family.up[row, node]
            assert node == family.root[row]


def test_packing_takes_them_where_switches_reduce() -> None:
    made = valid("packing", "dgx2,reducing=switches", message_bytes=1 << 26)
    assert made.provenance["trees"] == "Steiner packing"
    assert made.bandwidth_time == Fraction(1, 6)
    valid("packing", "tree:2x2,reducing=4", message_bytes=1 << 20)
