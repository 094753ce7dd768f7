"""Trees with roots such that the busiest node adds as few sums as can be."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.methods.optimizing.packing import fabrics_of, packings
from certree.synth.packing.slotting import SlotRules, slotted_schedule
from certree.synth.packing.spanning_trees import network_of
from certree.synth.packing.splitting import SwitchedNetwork
from certree.synth.packing.trees import NONE, TreeFamily, depths, with_even_sums
from tests.synth.execution import ask, valid


def packed(spec: str, trees: int, period: int) -> TreeFamily:
    topology = parse_topology(spec)
    fabric = network_of(topology) if topology.is_direct else SwitchedNetwork(topology)
    family = fabric.pack(parse_collective("all-reduce"), trees, period, moves=1000, seed=0)
    assert family is not None
    return family


def sums(family: TreeFamily) -> list[int]:
    """The sums that each endpoint adds for all trees."""
    ends = family.topology.endpoints
    return [int((family.up == node).sum()) for node in ends]


def edges(family: TreeFamily) -> list[set[frozenset[int]]]:
    """The edges of each tree."""
    return [{frozenset((node, int(parent[node]))) for node in np.flatnonzero(parent != NONE)} for parent in family.up]


PACKED = [("ace-torus:4x2x2", 10, 1), ("ace-alltoall:4x2", 9, 1), ("mesh:3x3", 3, 2), ("dgx1", 6, 2)]


@pytest.mark.parametrize(("spec", "trees", "period"), PACKED)
def test_the_busiest_node_adds_as_little_as_any_roots_allow(spec: str, trees: int, period: int) -> None:
    """Against all choices of roots: how many trees each node is the root of decides."""
    family = packed(spec, trees, period)
    even = with_even_sums(family)
    assert edges(even) == edges(family)
    assert [int(np.flatnonzero((up == NONE) & (even.topology.rank >= 0))[0]) for up in even.up] == even.root.tolist()
    assert (depths(even.up) < len(even.topology.endpoints)).all()
    ends = family.topology.endpoints
    fixed = np.array(sums(family)) - np.bincount(family.topology.rank[family.root], minlength=len(ends))
    if len(ends) ** trees < 10**8:
        roots = combinations_with_replacement(range(len(ends)), trees)
        assert max(sums(even)) == min(int((fixed + np.bincount(one, minlength=len(ends))).max()) for one in roots)
    assert max(sums(even)) <= max(sums(family))


@pytest.mark.parametrize(("spec", "trees", "period"), PACKED)
def test_transfers_stay_on_their_links(spec: str, trees: int, period: int) -> None:
    """Edges that turn round take each other's routes, and so do their slots of the period: no link gets more transfers."""
    family = packed(spec, trees, period)
    even = with_even_sums(family)
    assert even.period == family.period
    slotted_schedule(even, np.zeros(len(even.transfers.chunk), np.int32), SlotRules(1, None, 0), 1, {})
    rows, whole = even.transfers, family.transfers
    for src, dst, route in zip(rows.src, rows.dst, rows.route, strict=True):
        if route != DIRECT:
            links = even.routes[route]
            assert (even.topology.src[links[0]], even.topology.dst[links[-1]]) == (src, dst)
    if family.turns:
        of_turn = [np.sort(one.channel * family.turns + np.repeat(one.turn, np.diff(one.channel_offset))) for one in (rows, whole)]
        np.testing.assert_array_equal(*of_turn)


def test_trees_with_different_edges_for_both_ways_stay_as_they_are() -> None:
    family = packed("mesh:3x3", 3, 2)
    other = TreeFamily(family.topology, family.collective, family.root, family.up, np.roll(family.down, 1, axis=0), {})
    assert with_even_sums(other) is other


@pytest.mark.parametrize(("spec", "most"), [("ace-torus:4x2x2", 139_587), ("ace-alltoall:4x2", 124_770)])
def test_packings_are_faster_where_units_limit(spec: str, most: int) -> None:
    """148,067 and 136,380 cycles with trees rooted at their centres."""
    request = ask(spec, message_bytes=1 << 24)
    assert request.cycles(valid("packing", spec, message_bytes=1 << 24)) <= most


@pytest.mark.parametrize(("spec", "are_summed"), [("torus:4x4", False), ("dgx2", False), ("ace-torus:4x2x2", True)])
def test_roots_are_chosen_by_sums_only_where_these_limit(spec: str, are_summed: bool) -> None:
    """A unit adds 128 bytes a cycle, what eight lanes bring. A node of torus:4x4 has four lanes, one of ace-torus:4x2x2 twenty."""
    request = ask(spec, message_bytes=1 << 24)
    assert any(trees.is_summed for trees in packings(request, fabrics_of(request)[0])) == are_summed
