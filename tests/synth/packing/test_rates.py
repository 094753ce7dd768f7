"""The highest rate of every kind of network is packed: no tree more, the same for the same seed, and certified in slots."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.synth.packing.routed_branchings import RoutedBranchings
from certree.synth.packing.splitting import SwitchedNetwork
from certree.synth.packing.steiner import ReducingNetwork
from tests.synth.execution import certified, make
from tests.synth.packing.rates import packed, slotted
from tests.synth.packing.test_boxes import nvswitch_boxes

LEAVES = "".join(f",reducing={switch}" for switch in range(16, 20))
SPINES = "".join(f",reducing={switch}" for switch in range(20, 24))
ALL_REDUCE = parse_collective("all-reduce")
#: networks with switches, and the most trees a round of an all-reduce
PASSING = {
    "switch:7": "7/12",
    "switch:16": "8/15",
    "fattree:4x4": "8/15",
    "bigraph:4x8": "16/31",
    "dgx2": "16/5",
    "switch-fc:4x3": "4",
    "switch-fc:2x2x4x2": "16/5",
    "ace-alltoall:4x4": "32/3",
    "leafspine:4x2x4": "8/15",
    "leafspine:3x2x4@2": "6/11",
    "tree:3+4@10": "7/12",
    "tree:2x3/2x2@10": "5/9",
}
#: where switches reduce, and over endpoints alone
REDUCING = {
    "switch:8,reducing=switches": ("1", "4/7"),
    "tree:2x4,reducing=switches": ("1", "4/7"),
    "tree:2x3/2x2@10,reducing=switches": ("1", "5/9"),
    "fattree:4x4,reducing=switches": ("1", "8/15"),
    "leafspine:3x2x4@2,reducing=switches": ("1", "6/11"),
    "bigraph:2x4,reducing=switches": ("1", "4/7"),
    "dgx2,reducing=switches": ("6", "16/5"),
    "switch-fc:4x3,reducing=switches": ("6", "4"),
    f"fattree:4x4{LEAVES}": ("1", "8/15"),
    f"fattree:4x4{SPINES}": ("1", "8/15"),
    "leafspine:3x2x4@2,reducing=12,reducing=13,reducing=14": ("1", "6/11"),
    "tree:2x3,reducing=6": ("2/3", "3/5"),
    "tree:2x3,reducing=7": ("2/3", "3/5"),
    "boxes": ("8", "16/3"),
}
#: the most chunks a round: of an all-gather, of a broadcast
ROOTED = {
    "switch:8": ("8/7", "1"),
    "dgx2": ("32/5", "6"),
    "fattree:4x4": ("16/15", "1"),
    "leafspine:3x2x4@2": ("12/11", "1"),
    "bigraph:2x4": ("8/7", "1"),
    "tree:3+4@10": ("7/6", "1"),
    "switch-fc:4x3": ("8", "6"),
    "switch-fc:2x2x4x2": ("32/5", "6"),
    "ace-alltoall:4x2": ("160/7", "16"),
}


def reducing_boxes() -> Topology:
    """Two boxes whose own switches reduce, the rails between them do not."""
    topology = nvswitch_boxes(2, 8)
    return replace(topology, reducing=np.isin(np.arange(len(topology.kind)), (16, 17)))


@pytest.mark.parametrize("spec", PASSING)
def test_through_switches(spec: str) -> None:
    fabric = SwitchedNetwork(parse_topology(spec))
    assert fabric.strength == Fraction(PASSING[spec])
    certified(slotted(packed(fabric, ALL_REDUCE, moves=200), repeats=1))


@pytest.mark.parametrize("spec", REDUCING)
def test_where_switches_reduce(spec: str) -> None:
    network, (rate, passing) = ReducingNetwork(reducing_boxes() if spec == "boxes" else parse_topology(spec)), REDUCING[spec]
    assert network.strength == Fraction(rate)
    assert SwitchedNetwork(network.topology).strength == Fraction(passing)
    everywhere = spec.endswith("=switches")
    quality = certified(slotted(packed(network, ALL_REDUCE), repeats=50 if everywhere else 1))
    assert not everywhere or "bandwidth" in quality.optimal_in


@pytest.mark.parametrize("kind", ["all-gather", "reduce-scatter", "broadcast", "reduce"])
@pytest.mark.parametrize("spec", ROOTED)
def test_from_roots(spec: str, kind: str) -> None:
    collective = parse_collective(kind, 1 if kind in ("broadcast", "reduce") else None)
    fabric = RoutedBranchings(parse_topology(spec), collective)
    assert fabric.strength == Fraction(ROOTED[spec][collective.has_one_root])
    assert "bandwidth" in certified(slotted(packed(fabric, collective))).optimal_in


@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
def test_roots_in_several_packages(kind: str) -> None:
    made = make("packing", "switch-fc:2x1x4x2", kind, root=5, message_bytes=1 << 24)
    assert "bandwidth" in certified(made).optimal_in
