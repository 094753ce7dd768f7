"""Closed-form times against formulas worked out here by hand, with boundary pairs."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.common.errors import InputError, UndecidedError
from certree.models.machine.machine import load_machine
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.paths import path_latency
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.schedule.timing import (
    FRAMINGS,
    bandwidth_bound_cycles,
    chunk_bytes_of,
    framed_flits,
    lane_cycles,
    packet_lengths,
    peak_in_window,
    peak_reductions,
    reduction_cycles,
    schedule_cycles,
    serialization_cycles,
    slot_length,
    slot_timing,
)
from tests.models.examples import built, network, pair_all_reduce, ring_all_gather, schedule

MACHINE = load_machine("multitree")
#: one hop: two interface wires, two routers, one link of 150 cycles
HOP = 2 * 1 + 2 * 3 + 150


@given(
    sizes=st.lists(st.integers(1, 1 << 20).map(lambda flits: 16 * flits), min_size=1, max_size=8),
    terms=st.fixed_dictionaries({name: st.integers(0, 3000) for name in ("lat", "uneven", "stagger")}),
    peak=st.integers(0, 40),
    delay=st.integers(1, 12),
    unit=st.tuples(st.sampled_from([1, 7, 128, 1 << 40]), st.sampled_from([1, 16, 1 << 40]), st.integers(0, 60)),
)
def test_slots_of_an_array_of_sizes_are_those_of_each_size(sizes, terms, peak, delay, unit):
    """Slots are long enough for as many slots as their length lets queue together; the shortest such where paths are equally
    long."""
    rate, quantum, start = unit
    machine = dataclasses.replace(MACHINE, reduce_bytes_per_cycle=rate, reduce_quantum_cycles=quantum, reduce_start_cycles=start)
    found = slot_length(np.array(sizes), machine, delay=delay, peak=peak, **terms)
    each = [slot_length(size, machine, delay=delay, peak=peak, **terms) for size in sizes]
    assert list(zip(*(column.tolist() for column in found), strict=True)) == each
    for ser, red, work, slot in each:
        assert red == (start + work * (1 + terms["uneven"] // slot) if peak else 0)
        needed = max(ser + terms["stagger"], work, -(-(ser + terms["lat"] + red) // delay))
        assert slot == needed or (terms["uneven"] and slot > needed)


def test_serialization_has_one_head_flit():
    assert [serialization_cycles(size, MACHINE) for size in (16, 17, 256)] == [1 + 1, 1 + 2, 1 + 16]


def test_zero_load_packet_of_table_iii():
    """A 17-flit packet takes 175 cycles over one hop and 153 more for each further one."""
    assert serialization_cycles(256, MACHINE) + HOP == 175
    routed = built(src=[0, 0], dst=[1, 1], chunk=[0, 0], op=[1, 1], step=[0, 0], route=[-1, 0], routes=((0, 1, 0),))
    assert path_latency(routed, MACHINE).tolist() == [HOP, HOP + 2 * 153]


@pytest.mark.parametrize(("size", "cycles"), [(1, 16), (2048, 16), (2049, 32), (4096, 32), (4097, 48)])
def test_reduction_works_in_quanta(size, cycles):
    """16 cycles at 128 B a cycle: 2,048 bytes a quantum."""
    assert reduction_cycles(size, MACHINE) == cycles


@pytest.mark.parametrize(
    ("message", "chunks", "repeats", "size"),
    [(1, 1, 1, 16), (16, 1, 1, 16), (17, 1, 1, 32), (64, 4, 1, 16), (65, 4, 1, 32), (96, 2, 3, 16), (97, 2, 3, 32)],
)
def test_chunks_are_padded_to_whole_granules(message, chunks, repeats, size):
    assert chunk_bytes_of(message, chunks, repeats, MACHINE) == size


@pytest.mark.parametrize("message", [0, -1])
def test_messages_have_at_least_a_byte(message):
    with pytest.raises(InputError, match=f"message of {message} bytes; allowed: 1 or more"):
        slot_timing(pair_all_reduce(), message, MACHINE)


def test_all_gather_in_lockstep():
    """Nothing is reduced: a slot is ser + lat, and N - 1 of them follow each other."""
    gather = ring_all_gather(5)
    timing = slot_timing(gather, 5 * 4096, MACHINE)
    ser = 1 + 256
    assert (timing.ser, timing.lat, timing.red, timing.work, timing.slot_cycles) == (ser, HOP, 0, 0, ser + HOP)
    assert schedule_cycles(gather, timing, MACHINE) == 4 * (ser + HOP)


@pytest.mark.parametrize(("delay", "slot"), [(1, 257 + HOP), (2, 257), (3, 257)])
def test_delay_hides_latency_behind_serialization(delay, slot):
    """ceil((257 + 158) / 2) = 208 < 257: from delay 2 on a slot lasts as long as the chunk."""
    gather = dataclasses.replace(ring_all_gather(5), delay=delay)
    assert slot_timing(gather, 5 * 4096, MACHINE).slot_cycles == slot


def test_delay_at_the_boundary():
    """With delay 2, ser ≥ (ser + lat) / 2 as soon as ser ≥ lat = 158: 157 payload flits and a head."""
    gather = dataclasses.replace(ring_all_gather(3), delay=2)
    slots = [slot_timing(gather, 3 * 16 * flits, MACHINE).slot_cycles for flits in (155, 156, 157, 158)]
    assert slots == [157, 158, 158, 159]  # ceil((156 + 158) / 2), ceil((157 + 158) / 2), then ser itself


def peak_of(made):
    return peak_reductions(made.op, made.step, made.dst, made.period, made.repeats)


def spokes(leaves):
    """Links both ways between node 0 and leaves 1..n."""
    return network(leaves + 1, [ends for leaf in range(1, leaves + 1) for ends in ((0, leaf), (leaf, 0))])


def star(leaves, **fields):
    """Leaves 1..n reduce into node 0 in one step, which copies the sum back in the next."""
    up, down = (" ".join(f"{leaf}+0" if op == "+" else f"0>{leaf}" for leaf in range(1, leaves + 1)) for op in "+>")
    return schedule(spokes(leaves), "all-reduce", [NO_ROOT], f"{up}; {down}", **fields)


@pytest.mark.parametrize("leaves", [1, 2, 3])
def test_reductions_queue_behind_each_other(leaves):
    """Chunks of 4,096 bytes take the unit 32 cycles each, from one cycle after the last flit."""
    made = star(leaves)
    timing = slot_timing(made, 4096, MACHINE)
    assert peak_of(made) == leaves
    assert timing.red == 1 + leaves * 32
    assert timing.work == leaves * 32
    assert timing.slot_cycles == 257 + HOP + 1 + leaves * 32
    assert schedule_cycles(made, timing, MACHINE) == timing.slot_cycles + 257 + HOP  # the copies end the run


def test_run_that_ends_with_a_reduction():
    """Three equal arrivals at once: the last of three reductions ends the run."""
    made = schedule(spokes(3), "reduce-scatter", [0, 1, 2, 3], "1+0 2+0 3+0")
    timing = slot_timing(made, 4 * 4096, MACHINE)
    assert schedule_cycles(made, timing, MACHINE) == 257 + HOP + 1 + 3 * 32


def test_reductions_of_unequal_paths_overlap_their_wires():
    """The near chunk is done (32 cycles) before the far one, 60 cycles later, arrives: it waits for nobody."""
    links = [(1, 0, 1, 100), (0, 1, 1, 100), (2, 0, 1, 160), (0, 2, 1, 160)]
    made = schedule(network(3, links), "reduce-scatter", [0, 1, 2], "1+0 2+0")
    timing = slot_timing(made, 3 * 4096, MACHINE)
    assert schedule_cycles(made, timing, MACHINE) == 257 + (2 + 6 + 160) + 1 + 32


def test_slow_reduction_units_lengthen_the_slot():
    """A unit of one byte a cycle: 4,096 cycles of work a chunk, three a slot; delay 3 cannot hide that."""
    slow = dataclasses.replace(MACHINE, reduce_bytes_per_cycle=1)
    timing = slot_timing(star(3, delay=3), 4096, slow)
    assert timing.work == 3 * 4096
    assert timing.slot_cycles == 3 * 4096


def test_repeating_schedule():
    """Seven iterations a period of one slot: six periods, then the second step of the last."""
    made = pair_all_reduce(period=1, repeats=7, delay=1)
    timing = slot_timing(made, 7 * 4096, MACHINE)
    assert timing.chunk_bytes == 4096
    assert timing.padded_bytes == 7 * 4096
    assert schedule_cycles(made, timing, MACHINE) == (6 + 1) * timing.slot_cycles + 257 + HOP


def test_padding_is_reported():
    timing = slot_timing(pair_all_reduce(period=1, repeats=7), 7 * 4096 + 1, MACHINE)
    assert (timing.message_bytes, timing.chunk_bytes, timing.padded_bytes) == (7 * 4096 + 1, 4112, 7 * 4112)


def overlapping(repeats):
    """Period 1: in the steady state each slot brings node 0 the first reduction of one iteration and the second of another."""
    return schedule(spokes(2), "all-reduce", [NO_ROOT], "1+0; 2+0; 0>1 0>2", period=1, repeats=repeats)


@pytest.mark.parametrize(("repeats", "peak"), [(1, 1), (2, 2), (3, 2)])
def test_peak_counts_overlapping_iterations(repeats, peak):
    assert peak_of(overlapping(repeats)) == peak


@pytest.mark.parametrize(("window", "peak"), [(1, 2), (2, 3), (3, 4), (9, 4)])
def test_peak_in_window(window, peak):
    group, stage = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 1, 2, 7, 7])
    assert peak_in_window(group, stage, window) == peak


def test_peak_of_nothing():
    assert peak_in_window(np.zeros(0, np.int64), np.zeros(0, np.int64), 1) == 0


def test_link_latencies_of_the_topology_win():
    gather = schedule(network(2, [(0, 1, 1, 10), (1, 0, 1, 30)]), "all-gather", [0, 1], "0:0>1 1:1>0")
    assert path_latency(gather, MACHINE).tolist() == [8 + 10, 8 + 30]
    parallel = schedule(network(2, [(0, 1, 1, 10), (0, 1, 1, 20), (1, 0)]), "all-gather", [0, 1], "0>1")
    assert path_latency(parallel, MACHINE).tolist() == [8 + 20]  # the slowest of parallel links


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"clock": 2 * 10**9}, "the topology states a clock of 2 GHz, the machine 1 GHz"),
        ({"bandwidth": 10**9}, "the topology states links of 1 GB/s, the machine 16 GB/s"),
    ],
)
def test_topology_and_machine_must_agree(fields, reason):
    rows = "0:0>1 1:1>0"
    fits = network(2, [(0, 1), (1, 0)], clock=10**9, bandwidth=16 * 10**9)
    assert slot_timing(schedule(fits, "all-gather", [0, 1], rows), 64, MACHINE).slot_cycles > 0
    with pytest.raises(InputError) as caught:
        slot_timing(schedule(network(2, [(0, 1), (1, 0)], **fields), "all-gather", [0, 1], rows), 64, MACHINE)
    assert reason in str(caught.value)


def test_no_link_no_time():
    with pytest.raises(InputError, match="a transfer has no link"):
        slot_timing(schedule("ring:4", "all-reduce", [NO_ROOT], "0+2"), 64, MACHINE)


def test_long_steps_are_refused():
    with pytest.raises(InputError, match="slot times need steps of one round each"):
        slot_timing(built(rounds=[2]), 64, MACHINE)


def test_times_stay_within_64_bits():
    slow = dataclasses.replace(MACHINE, link_latency_cycles=1 << 40)
    with pytest.raises(InputError, match=f"more than {1 << 60} cycles"):
        slot_timing(pair_all_reduce(period=1, repeats=1 << 29), 1 << 40, slow)


def test_empty_schedule_takes_no_time():
    empty = built(**{name: np.zeros(0, np.int32) for name in ("chunk", "op", "step", "src", "dst", "route")})
    assert schedule_cycles(empty, slot_timing(empty, 64, MACHINE), MACHINE) == 0


def test_bandwidth_bound_is_exact():
    """9/16 of 64 MiB at 16 bytes a cycle."""
    assert bandwidth_bound_cycles(Fraction(9, 16), 64 << 20, MACHINE) == 9 * (64 << 20) // 256
    assert bandwidth_bound_cycles(Fraction(1, 3), 1, MACHINE) == Fraction(1, 48)


def merging(**fields):
    """Two routes into endpoint 2 over switch 4 in successive steps: 0 by way of switch 3 over a link of 40 cycles, 1 right away."""
    kind = [NodeKind.ENDPOINT] * 3 + [NodeKind.SWITCH] * 2
    links = [(0, 3, 10), (3, 4, 40), (1, 4, 10), (4, 2, 10), (2, 0, 10), (2, 1, 10), (0, 1, 10), (1, 0, 10)]
    src, dst, latency = np.array(links).T
    topology = Topology("merging", np.array(kind), src, dst, np.ones(len(src)), latency)
    routes = {"route": [0, 1], "routes": ((0, 1, 3), (2, 3))}
    return schedule(topology, "all-gather", [0, 1], "0:0>2; 1:1>2", **routes, **fields)


def test_routes_of_unequal_length_and_latency():
    assert path_latency(merging(), MACHINE).tolist() == [2 + 4 * 3 + 10 + 40 + 10, 2 + 3 * 3 + 10 + 10]


def test_messages_that_merge_keep_out_of_each_others_way():
    """At the last link the first message is (10 + 3) + (40 + 3) cycles behind its slot, the second 10 + 3: with delay 4 that sets
    the slot, in strict lockstep the longest path does."""
    assert slot_timing(merging(delay=4), 2 * 4096, MACHINE).slot_cycles == 257 + 43
    assert slot_timing(merging(), 2 * 4096, MACHINE).slot_cycles == 257 + 74


@pytest.mark.parametrize("granules", [1, 15, 16, 17, 160])
def test_flits_of_packets(granules):
    """The sum, of any size; the list only as far as memory goes."""
    size = granules * MACHINE.flit_bytes
    for framing in FRAMINGS:
        assert framed_flits(size, MACHINE, framing) == sum(packet_lengths(size, MACHINE, framing))
    assert framed_flits(granules << 50, MACHINE, "packet") > granules << 46
    with pytest.raises(UndecidedError, match=r"the lengths of .* packets: takes"):
        packet_lengths(granules << 50, MACHINE, "packet")


def test_lanes_of_rational_rates():
    """n flits take the whole cycles in which a lane of 64/65 of a flit per cycle moves them."""
    assert [lane_cycles(flits, Fraction(65, 64)) for flits in (1, 64, 65, 128)] == [2, 65, 67, 130]
    assert lane_cycles(np.array([64, 65]), Fraction(65, 64)).tolist() == [65, 67]
    assert serialization_cycles(63 * MACHINE.flit_bytes, MACHINE, Fraction(65, 64)) == 65
