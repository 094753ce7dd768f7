"""Boxes of accelerators with network interfaces: fast links inside, slow ones between; trees at the bound all the same."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.timing import bandwidth_bound_cycles
from certree.synth.graphs.cuts import narrow_sets
from certree.synth.methods.optimizing.packing import packings
from certree.synth.packing.routed_branchings import RoutedBranchings
from certree.synth.packing.splitting import SwitchedNetwork
from tests.synth.execution import ask, certified, make
from tests.synth.packing.rates import packed, slotted

IMPORTS = Path(__file__).parents[2] / "extras" / "clusters" / "imports"
BOX = f"{IMPORTS / 'dgx1.xml'},speed=NV:25GB/s,speed=SYS:19.2GB/s,unit=12.5GB/s"


def nvswitch_boxes(boxes: int, rails: int) -> Topology:
    """Boxes of 8 endpoints on one switch, links of capacity 9, and an interface of capacity 1 each into N rails."""
    first_rail = 9 * boxes
    cables = [(end, 8 * boxes + end // 8, 9) for end in range(8 * boxes)]
    cables += [(end, first_rail + end % rails, 1) for end in range(8 * boxes)]
    u, v, capacity = (np.array(column) for column in zip(*cables, strict=True))
    return Topology(
        f"{boxes} boxes, {rails} rails",
        np.repeat([0, 1], [8 * boxes, boxes + rails]),
        np.concatenate((u, v)),
        np.concatenate((v, u)),
        np.concatenate((capacity, capacity)),
        np.full(2 * len(cables), -1),
    )


def networks() -> list[Topology]:
    described = [parse_topology(f"{BOX},boxes={boxes},fabric={fabric}") for fabric in ("rails", "switch") for boxes in (2, 8)]
    return [*described, nvswitch_boxes(4, 8), nvswitch_boxes(4, 1)]


@pytest.mark.parametrize("topology", networks(), ids=lambda topology: topology.name.rpartition("/")[2])
@pytest.mark.parametrize("kind", ["all-reduce", "all-gather"])
def test_boxes_are_packed_at_the_bound(topology: Topology, kind: str) -> None:
    """The interfaces bind: all that can enter or leave a box does, in every slot."""
    collective = parse_collective(kind)
    network = RoutedBranchings(topology, collective) if collective.is_rooted else SwitchedNetwork(topology)
    certified(slotted(packed(network, collective)))


def test_boxes_are_found() -> None:
    boxes = narrow_sets(parse_topology(f"{BOX},boxes=3,fabric=rails"))
    assert [[node for node in inside if node < 24] for inside in boxes] == [list(range(8 * box, 8 * box + 8)) for box in range(3)]
    assert narrow_sets(parse_topology("full:4")) == [[0], [1], [2], [3]]


def test_large_messages_take_the_highest_rate_through_boxes() -> None:
    """The search's first guesses are of short paths; here a path has six links."""
    request = ask(f"{BOX},boxes=2,fabric=rails", message_bytes=1 << 26)
    schedule = make("packing", request.topology, message_bytes=1 << 26)
    assert schedule.bandwidth_time * 4 == 1
    assert 20 * request.cycles(schedule) <= 21 * bandwidth_bound_cycles(Fraction(1, 4), 1 << 26, request.machine)


def test_a_highest_rate_of_too_many_trees_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second search has nothing to look at then; what the first one found stays."""
    monkeypatch.setattr("certree.synth.methods.optimizing.packing._MAX_PATHS", 100)
    assert make("packing", "switch:8").bandwidth_time > Fraction(7, 4)


def test_a_rate_near_the_highest_where_that_takes_too_many_trees() -> None:
    """Two boxes of MI250s: 83 chunks for each GPU in 15 rounds are too many for one unit of effort, 11 in 2 rounds are not: 352 of
    354.13 GB/s."""
    request = ask("mi250:2@switch", "all-gather")
    network = RoutedBranchings(request.topology, request.collective)
    (option,) = packings(request, network, rate="optimal")
    assert network.tight == (83 * 32, 15)
    assert (option.chunks, option.period) == (11 * 32, 2)
    family = option.build()
    assert family is not None
    certified(slotted(family))
