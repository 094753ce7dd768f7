"""One shot, two shots and what lies between: valid on any network, and as fast as counted."""

import pytest

from certree.models.fine.slots import fine_times
from certree.models.schedule.timing import reduction_cycles, serialization_cycles
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
    way = machine.interface_cycles + 3 * machine.router_cycles + 2 * machine.link_latency_cycles
    assert cycles("one-shot", "switch:6", 1024) == machine.ni_start_cycles + 5 * ser + way + machine.reduce_start_cycles + red


def test_levels_and_pieces_pay_where_they_should():
    """The published figures of docs/benchmarks/small-messages.md, at most."""
    assert cycles("one-shot", "fattree:4x4", 1024) <= 1217
    assert cycles("two-shot", "fattree:4x4", 32768, groups="all") <= 5121
    assert cycles("two-shot", "fattree:4x4", 1 << 20) <= 124_475
    assert cycles("two-shot", "fattree:4x4", 65537, groups="all") <= 8723  # in two pieces
    assert cycles("one-shot", "torus:4x4", 1024) <= 741


@pytest.mark.parametrize(("size", "most"), [(16384, 2260), (32768, 2751), (65536, 3174)])
def test_sums_of_neighbours_pay_on_a_torus(size, most):
    """The published figures of docs/benchmarks/small-messages.md, at most."""
    assert cycles("mixed-shot", "torus:8x8", size) <= most


def test_swaps_of_neighbours_pay_on_a_torus():
    assert cycles("one-shot", "torus:8x8", 4096, groups="dimensions") <= 1850


def test_long_runs_have_longer_slots():
    made = valid("two-shot", "ring:3", message_bytes=100_000_000)
    assert made.slot_cycles > 1
    assert made.steps <= 1 << 20
