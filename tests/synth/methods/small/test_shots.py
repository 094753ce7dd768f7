"""One shot, two shots and what lies between: valid on any network, and as fast as counted."""

from itertools import islice

import pytest

from certree.models.fine.slots import fine_times
from certree.models.schedule.timing import reduction_cycles, serialization_cycles
from certree.synth.fine.fine_schedule import costs_of
from certree.synth.fine.levels import Piece
from certree.synth.fine.search import Trial
from certree.synth.fine.shots import has_rings, link_widths, programs
from certree.synth.ranks.layout import layout_of
from tests.synth.execution import ask, valid

NETWORKS = ["ring:5", "mesh:3x3", "torus:3x4", "dgx1", "dgx2:1", "switch:5", "fattree:2x3", "torus:3x3,without-link=0-1"]


def cycles(method, network, size, collective="all-reduce", **options):
    return fine_times(valid(method, network, collective, message_bytes=size, options=options)).cycles


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(("method", "collective"), [
    ("one-shot", "all-reduce"), ("two-shot", "all-reduce"), ("two-shot", "reduce-scatter"), ("two-shot", "all-gather"),
])  # fmt: skip
def test_it_is_valid(method, collective, network):
    made = valid(method, network, collective, message_bytes=3000)
    assert made.slot_cycles == 1


@pytest.mark.parametrize("network", ["mesh:3x3", "torus:2x3x3", "fattree:2x3"])
def test_mixed_shots_are_valid(network):
    valid("mixed-shot", network, message_bytes=3000)


def test_one_shot_on_a_switch_takes_what_its_messages_take():
    """N - 1 messages leave each endpoint back to back, over two links; the last is added when it has come."""
    machine = ask("switch:6").machine
    ser, red = serialization_cycles(1024, machine), reduction_cycles(1024, machine)
    route = machine.interface_cycles + 3 * machine.router_cycles + 2 * machine.link_latency_cycles
    assert cycles("one-shot", "switch:6", 1024) == machine.ni_start_cycles + 5 * ser + route + machine.reduce_start_cycles + red


def test_levels_and_pieces_pay_where_they_should():
    """The published figures of docs/benchmarks/small-messages.md, at most."""
    assert cycles("one-shot", "fattree:4x4", 1024) <= 1217
    assert cycles("two-shot", "fattree:4x4", 32768, groups="all") <= 5121
    assert cycles("two-shot", "fattree:4x4", 1 << 20) <= 124_475
    assert cycles("two-shot", "fattree:4x4", 65537, groups="all") <= 8723  # in two pieces
    assert cycles("one-shot", "torus:4x4", 1024) <= 741


@pytest.mark.parametrize(("network", "size", "most"), [("leafspine:3x2x4@2", 65537, 8185), ("fattree:4x4", 16384, 2606)])
def test_operations_or_parts_in_turn_pay_behind_switches(network, size, most):
    """8,491 and 2,640 cycles where the transfers with the longest rest are the first in all starts but those at random."""
    assert cycles("two-shot", network, size) <= most


@pytest.mark.parametrize(("size", "most"), [(16384, 2230), (32768, 2700), (65536, 3168)])
def test_sums_of_neighbours_pay_on_a_torus(size, most):
    """The published figures of docs/benchmarks/small-messages.md, at most."""
    assert cycles("mixed-shot", "torus:8x8", size) <= most


def test_swaps_of_neighbours_pay_on_a_torus():
    assert cycles("one-shot", "torus:8x8", 4096, groups="dimensions") <= 1850


@pytest.mark.parametrize("network", ["hier-torus:2x3x4", "ace-torus:4x2x1", "ace-alltoall:4x3", "ace-torus:2x2x3"])
@pytest.mark.parametrize(("method", "collective", "options"), [
    ("mixed-shot", "all-reduce", {"begins": "widest"}), ("two-shot", "all-reduce", {"groups": "widest"}),
    ("two-shot", "reduce-scatter", {"groups": "widest"}), ("two-shot", "all-gather", {"groups": "widest"}),
])  # fmt: skip
def test_pieces_that_begin_with_the_widest_links_are_valid(network, method, collective, options):
    valid(method, network, collective, message_bytes=1000, options=options)


@pytest.mark.parametrize(("method", "network", "size", "most"), [
    ("mixed-shot", "ace-torus:4x2x2", 16384, 1210), ("mixed-shot", "ace-alltoall:4x2", 65537, 1700),
    ("mixed-shot", "ace-torus:4x2x2", 65537, 1680), ("mixed-shot", "hier-torus:2x2x4", 16384, 1300),
    ("two-shot", "ace-torus:4x2x1", 1 << 18, 2979),
])  # fmt: skip
def test_bytes_stay_on_wide_links(method, network, size, most):
    """1,341, 2,187, 1,574 and 3,620 cycles where pieces begin with different dimensions, or go straight to everyone."""
    assert cycles(method, network, size, **({"begins": "widest"} if method == "mixed-shot" else {"groups": "widest"})) <= most


@pytest.mark.parametrize(("method", "size", "most"), [("one-shot", 4096, 599), ("mixed-shot", 16384, 938)])
def test_groups_that_are_all_joined_are_a_dimension(method, size, most):
    """762 and 1,153 cycles along the coordinates of the DGX-1, which has 4 neighbours in a row that are not all joined."""
    assert cycles(method, "dgx1", size) <= most


def test_links_are_as_wide_as_the_narrowest_between_neighbours():
    """None joins packages directly where they hang on switches."""
    for network, width in (("ace-torus:4x2x1", [8, 4]), ("ace-alltoall:4x2", [8, 0]), ("mesh:3x4", [1, 1])):
        topology = ask(network).topology
        assert link_widths(topology, layout_of(topology, None)) == width


def test_messages_no_faster_than_units_add():
    """The first chunks are complete early: a start with such releases is faster than those in the order of rows and of rests."""
    request = ask("ace-torus:4x2x2", message_bytes=16384)
    shape = layout_of(request.topology, None).flattened()
    _, program = next(iter(programs(request, shape, [(Piece((0, 1), 1),) * 6])))
    trial = Trial.of(program, costs_of(request, program))
    first = [(turns.release.any(), trial.few.run(trial.costs, turns).end) for turns in islice(trial.starts(0), 24)]
    waiting, others = ([end for waits, end in first if waits == kind] for kind in (True, False))
    assert len(others) > 1
    assert min(waiting) < 0.95 * min(others)
    assert cycles("one-shot", "torus:4x4", 4096, groups="dimensions") <= 944  # 997 without


def test_local_searches_from_several_starts():
    """1,840 cycles with one from the best start."""
    assert cycles("one-shot", "torus:8x8", 4096, groups="dimensions") <= 1822


def test_long_runs_have_longer_slots():
    made = valid("two-shot", "ring:3", message_bytes=100_000_000)
    assert made.slot_cycles > 1
    assert made.steps <= 1 << 20


def test_pieces_for_rings_pay_on_a_torus_without_a_link():
    """16 KiB took 3,492 cycles without them; what would pass the missing link goes round."""
    assert cycles("mixed-shot", "torus:8x8,without-link=0-1", 16384) <= 2787


@pytest.mark.parametrize(
    ("network", "found"),
    [
        ("torus:4x6", True),
        ("torus:4x6,without-link=0-1", True),
        ("torus:4x6,without-link=0>1", True),
        ("torus:4x6,without-link=0-6,without-link=7-8", True),
        ("torus:4x6,without-link=0-1,without-link=6-7,without-link=18-19", False),  # 0 and 1 are 5 hops apart
        ("ring:8,without-link=0-1", False),
        ("mesh:8x8", False),
        ("mesh:4x4", False),  # a quarter of the links
    ],
)
def test_rings_may_miss_a_few_links(network, found):
    topology = ask(network).topology
    assert has_rings(topology, layout_of(topology, None)) == found


@pytest.mark.parametrize(("method", "size"), [("one-shot", 256), ("mixed-shot", 16384), ("two-shot", 65537)])
@pytest.mark.parametrize("network", ["torus:4x4,without-link=0>1", "torus:3x4,without-link=5-9"])
def test_rings_that_miss_links_are_summed_up_right(method, size, network):
    valid(method, network, message_bytes=size, options={} if method == "mixed-shot" else {"groups": "dimensions"})
