"""Packets that wait while others pass, and who only seems to."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.hw.routers.packet_injection import inject
from certree.hw.routers.packets import synthetic_packets
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from tests.drawn import examples, given_at_least
from tests.hw.made import tables_of
from tests.hw.routers.packet_lists import packets
from tests.hw.runs import on_routers

BOOKSIM2 = load_machine("booksim2")
MESH = parse_topology("mesh:3x3")
#: two streams of short packets over a link, and one that is as long as a buffer
CROWD = packets(*(row for start in range(400) for row in ((0, 2, 1, start), (4, 2, 1, start))), (1, 2, 8, 20))
#: one that is very long, and one of a single flit that comes to its link later
LONG = packets((0, 2, 300, 0), (1, 2, 1, 40))


def with_router(**changes):
    return replace(BOOKSIM2, router=replace(BOOKSIM2.router, **changes))


def test_who_waits_longer_than_it_may_is_named():
    machine = replace(with_router(flow_control="wormhole"), vc_count=1)
    result = inject(MESH, machine, LONG, longest_wait=100)
    (line,) = result.starved
    assert line.startswith("packet 1 at node 1, virtual channel 0 of the injection port of node 1, waited ")
    assert "for a free virtual channel of link 1>2, which carried" in line
    waited = int(line.split(" waited ")[1].split()[0].replace(",", ""))
    assert 230 < waited < result.tail[1] - 40
    assert inject(MESH, machine, LONG, longest_wait=300).starved == ()
    assert inject(MESH, replace(machine, vc_count=2), LONG, longest_wait=100).starved == ()  # it overtakes


@pytest.mark.parametrize("flow_control", ["cut-through", "wormhole"])
@pytest.mark.parametrize("vcs", [1, 2, 4])
@pytest.mark.parametrize("choice", ["rotate", "any"])
def test_short_packets_do_not_keep_a_long_one_waiting(flow_control: str, vcs: int, choice: str):
    """Cut-through lets it move on when a buffer is empty, and short ones that go first whenever they fit never leave it so."""
    machine = replace(with_router(flow_control=flow_control, vc_choice=choice), vc_count=vcs)
    result = inject(MESH, machine, CROWD, longest_wait=100)
    assert result.starved == ()
    assert result.tail[-1] - 20 < 120


@given(
    st.integers(0, 1000),
    st.sampled_from(["torus:3x4", "ring:6", "mesh:3x3"]),
    st.integers(1, 4),
    st.sampled_from(["rotate", "any"]),
)
@examples(25)
def test_reserved_room_blocks_no_packet_for_ever(seed: int, spec: str, pairs_of_vcs: int, choice: str):
    """Packets of all lengths beyond saturation, cut-through with datelines: all arrive."""
    topology, draw = parse_topology(spec), np.random.default_rng(seed)
    nodes, count = len(topology.endpoints), 300
    src = draw.integers(0, nodes, count)
    rows = np.stack([src, (src + draw.integers(1, nodes, count)) % nodes, draw.integers(1, 9, count), draw.integers(0, 100, count)])
    machine = replace(with_router(flow_control="cut-through", vc_choice=choice), vc_count=2 * pairs_of_vcs)
    result = inject(topology, machine, packets(*map(tuple, rows.T.tolist())))
    assert result.deadlock == ()
    assert (result.tail >= 0).all()


def test_looking_changes_nothing():
    loaded = synthetic_packets(MESH, load=Fraction(1, 2), flits=4, cycles=400, seed=1)
    plain, watched = inject(MESH, BOOKSIM2, loaded), inject(MESH, BOOKSIM2, loaded, longest_wait=1)
    assert np.array_equal(plain.tail, watched.tail)
    assert plain.starved == ()
    assert watched.starved[-1].startswith("and ")  # a cycle is a long wait on a loaded network


def test_a_deadlock_is_no_starvation():
    """Nobody passes those who wait for each other."""
    machine = replace(with_router(flow_control="wormhole", datelines=False), vc_count=2, vc_buffer_flits=4)
    rows = [(node, (node + 3) % 8, 40, 0) for _ in range(3) for node in range(8)]
    result = inject(parse_topology("ring:8"), machine, packets(*rows), longest_wait=2000)
    assert result.deadlock
    assert result.starved == ()


@given_at_least(8, st.integers(0, 1000), st.sampled_from(["islip", "separable"]), st.integers(2, 60), st.integers(1, 6))
@examples(25)
def test_no_packet_is_reported_that_arrived_sooner(seed: int, allocator: str, bound: int, flits: int) -> bool:
    loaded = synthetic_packets(MESH, load=Fraction(2, 3), flits=flits, cycles=150, seed=seed)
    result = inject(MESH, with_router(allocator=allocator), loaded, longest_wait=bound)
    latency = dict(zip(loaded.id.tolist(), (result.tail - loaded.start).tolist(), strict=True))
    for line in result.starved:
        if line.startswith("packet "):
            words = line.split()
            waited = int(line.split(" waited ")[1].split()[0].replace(",", ""))
            assert bound <= waited < latency[int(words[1])]
    return len(result.starved) > 0


@pytest.mark.parametrize("allocator", ["islip", "separable"])
def test_round_robin_lets_everyone_through_beyond_saturation(allocator: str):
    """Each of 16 virtual channels that want a link sends five flits in its turn; the link gets a fifth of the hot spot's port."""
    loaded = synthetic_packets(MESH, load=Fraction(1), flits=5, cycles=600, seed=4, hot_spot=(4, Fraction(1, 2)))
    assert inject(MESH, with_router(allocator=allocator), loaded, longest_wait=2 * 16 * 5 * 5).starved == ()


@pytest.mark.parametrize("flow", ["message", "packet"])
def test_collectives_and_other_packets_wait_for_their_turns_only(flow: str):
    tables = tables_of("multitree", "torus:4x4", 1 << 16)
    alone = on_routers(tables, "paced", framing=flow)
    others = synthetic_packets(tables.topology, load=Fraction(1, 8), flits=9, cycles=alone.cycles // 2, seed=8)
    turns = 2 * tables.chunk_bytes // 16 * 4  # a chunk for each of four virtual channels, and as many flits of others
    result = on_routers(tables, "paced", framing=flow, others=others, longest_wait=turns)
    assert (result.starved, result.data_ok, result.others.arrived) == ((), True, len(others.id))
    short = on_routers(tables, "paced", framing=flow, others=others, longest_wait=2)
    assert short.cycles == result.cycles
    assert any(line.startswith("a message to node ") for line in short.starved)
