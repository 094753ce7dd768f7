"""Boxes: found with their group, scheduled at the bound on rails, one switch and leaf switches, and refused elsewhere."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.paths import link_cycles, link_stagger
from certree.models.schedule.timing import bandwidth_bound_cycles
from certree.synth.packing.slotting import SlotRules
from certree.synth.symmetric.box_symmetry import boxes_of
from certree.synth.symmetric.box_trees import Rows, gather_rows, inner_trees
from certree.synth.symmetric.quotient_slots import quotient_of
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask, certified, make, valid

DGX1 = (
    f"{Path(__file__).parents[2] / 'extras' / 'clusters' / 'imports' / 'dgx1.xml'},speed=NV:25GB/s,speed=SYS:19.2GB/s,unit=12.5GB/s"
)

#: spec -> (boxes, places, boxes on a leaf switch)
FOUND = {
    "h100:4": (4, 8, 4),
    "h100:4@switch": (4, 8, 4),
    "h100:8@leaf2/2": (8, 8, 2),
    "mi250:3": (3, 16, 3),
    "mi300x:2": (2, 8, 2),
    f"{DGX1},boxes=4,fabric=rails": (4, 8, 4),
}


@pytest.mark.parametrize("spec", FOUND, ids=lambda spec: spec.rpartition("/")[2])
def test_boxes_are_found(spec: str) -> None:
    """Each element of the group takes box 0 to its own box, and links to links; link loads count the images that meet."""
    topology = parse_topology(spec)
    boxes = boxes_of(topology)
    count, places, _ = FOUND[spec]
    assert (boxes.count, boxes.places, boxes.near) == FOUND[spec]
    assert (boxes.images[:, :places] // places == np.arange(count)[:, None]).all()
    for image in boxes.link_images:
        assert (np.sort(image) == np.arange(len(image))).all()
        assert (topology.capacity[image] == topology.capacity).all()


def test_links_that_images_share() -> None:
    """A leaf switch of 2 boxes has 16 units to the core, one for each transfer of box 0 and its image in the other box: 8 of
    them; links of an endpoint have all their capacity."""
    topology = parse_topology("h100:8@leaf2/2")
    boxes = boxes_of(topology)
    uplink = int(np.flatnonzero(topology.capacity == 16)[0])
    assert boxes.capacity[uplink] == 8
    assert boxes.capacity[topology.src < 8].tolist() == [18, 2] * 8


#: spec -> the bandwidth time of an all-gather, a multiple of M/B of one unit; an all-reduce takes twice that
RATES = {
    "h100:6": Fraction(5, 16 * 6),
    "h100:6@switch": Fraction(5, 16 * 6),
    "h100:8@leaf2/2": Fraction(7, 16 * 8),
    "mi300x:6": Fraction(5, 200 * 6),
}


@pytest.mark.parametrize("spec", RATES)
@pytest.mark.parametrize("kind", ["all-gather", "all-reduce"])
def test_boxes_meet_the_bound(spec: str, kind: str) -> None:
    schedule = make("boxes", spec, kind, options={"rate": "optimal"})
    assert schedule.bandwidth_time == RATES[spec] * (2 if kind == "all-reduce" else 1)
    assert "bandwidth" in certified(schedule).optimal_in


def test_a_reduce_scatter_is_an_all_gather_backwards() -> None:
    schedule = valid("boxes", "h100:8@leaf2/2", "reduce-scatter", options={"rate": "optimal"})
    assert schedule.bandwidth_time == RATES["h100:8@leaf2/2"]


def test_switches_that_add() -> None:
    """Two boxes of H100s whose NVSwitches add and multicast: GPUs send 16 chunks a round, not 28, and 18 is the most they can."""
    schedule = make("boxes", "h100:2,reducing=16,reducing=17", options={"rate": "optimal"})
    assert schedule.bandwidth_time == Fraction(1, 16)
    assert "bandwidth" in certified(schedule).optimal_in
    assert set(schedule.dst[schedule.dst >= 16].tolist()) == {16, 17}


def test_many_boxes_are_near_the_time_bound() -> None:
    """16 boxes of DGX-1s, of which two GPUs share an interface, and others meet only by way of other GPUs: 1 % above the bound."""
    spec = f"{DGX1},boxes=16,fabric=rails"
    request = ask(spec, "all-gather", 1 << 26)
    schedule = valid("boxes", request.topology, "all-gather", message_bytes=1 << 26)
    fewest = bandwidth_bound_cycles(Fraction(15, 64), 1 << 26, request.machine)
    assert 100 * request.cycles(schedule) <= 101 * fewest


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("torus:4x4", "needs equal boxes of endpoints, joined by switches; torus:4x4 has no switches"),
        ("h100:2,without-node=0", "has removed nodes"),
        ("tree:3+4", "none were found in tree:3[+]4"),
        ("h100:4,without-link=0-36", "none were found"),
        ("switch:8", "none were found"),
        ("fattree:4x4", "needs links that join each box without those of routes to others"),
    ],
)
def test_other_networks_are_refused(spec: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        make("boxes", spec, "all-gather")


def test_chunks_that_do_not_divide() -> None:
    with pytest.raises(UnsupportedError, match="boxes gives each of 16 endpoints as many chunks; 24 were asked for"):
        make("boxes", "h100:2", "all-gather", chunks=24)


def test_a_transfer_too_many_is_found() -> None:
    """Slots in which a link is given one transfer more than it can carry: the images of each overfill a link, too."""
    topology = parse_topology("h100:4")
    boxes = boxes_of(topology)
    inner = next(inner_trees(boxes, adding=False))
    request = ask(topology, "all-gather")
    rows: Rows = gather_rows(boxes, inner, 1, by_leaves=False)
    plan = quotient_of(boxes, request.collective, rows, 8)
    assert plan is not None
    rules = SlotRules(1, None, 0)
    slots = plan.slots(rules, 0)
    assert slots is not None
    assert verify_schedule(plan.schedule(slots, rules, 1, {})).valid
    out = np.flatnonzero((plan.src == 0) & (plan.dst >= 8))
    crowded = slots.copy()
    crowded[out] = 0
    found = verify_schedule(plan.schedule(crowded, rules, 1, {}))
    assert "capacity" in {violation.rule for violation in found.violations}


@pytest.mark.parametrize(("spec", "spread"), [("h100:4", 0), ("h100:8@leaf4", 2)])
def test_unequal_ways_to_a_link_are_those_of_the_schedule(spec: str, spread: int) -> None:
    """On rails links to a GPU are passed after one link, through leaf switches after one or three; all links are equally slow."""
    topology, machine = parse_topology(spec), load_machine("multitree")
    boxes = boxes_of(topology)
    request = ask(topology, "all-gather")
    rows = gather_rows(boxes, next(inner_trees(boxes, adding=False)), 1, by_leaves=False)
    plan = quotient_of(boxes, request.collective, rows, 8)
    assert plan is not None
    slots = plan.slots(SlotRules(1, None, 0), 0)
    assert slots is not None
    made = plan.schedule(slots, SlotRules(1, None, 0), 1, {})
    each = int(link_cycles(topology, machine)[0]) + machine.router_cycles
    assert link_stagger(made, machine) == plan.spread * each
    assert plan.spread == spread
