"""The router network against closed forms, published latencies and BookSim2's measured behaviour."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.hw.core_calls import narrowed
from certree.hw.routers.packet_injection import inject
from certree.hw.routers.packets import synthetic_packets
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.routers.grid_routing import Grid
from tests.drawn import examples
from tests.hw.routers.packet_lists import packets

BOOKSIM2, MULTITREE = load_machine("booksim2"), load_machine("multitree")


def uncontended(machine: Machine, hops: int, flits: int, latency: int) -> tuple[int, int]:
    """(head, tail) of a packet alone: P + D a hop, and a pause for each buffer of flits when a credit's loop is longer."""
    stages = machine.router
    head = 1 + 2 * machine.ni_cycles + (hops + 1) * machine.router_cycles + hops * latency
    wire = latency + stages.switch_cycles - 1 + latency if hops else 2 * machine.ni_cycles  # there and back
    loop = 2 + stages.traversal_cycles + wire + stages.credit_cycles
    pause = max(0, loop - machine.vc_buffer_flits)
    return head, head + (flits - 1) + (flits - 1) // machine.vc_buffer_flits * pause


@pytest.mark.parametrize(("src", "dst", "times"), [(0, 1, (12, 28)), (18, 22, (27, 43)), (22, 18, (27, 43)), (9, 9, (7, 23))])
def test_measured_latencies_of_booksim2(src: int, dst: int, times: tuple[int, int]):
    """12/28 over one hop and 27/43 over four were measured."""
    result = inject(parse_topology("mesh:8x8"), BOOKSIM2, packets((src, dst, 17, 0)))
    assert (result.head[0], result.tail[0]) == times


@given(
    spec=st.sampled_from(["mesh:1x8", "mesh:3x5", "torus:4x5", "torus:3x3x3", "hypercube:4", "mesh:2x2x4"]),
    ends=st.tuples(st.integers(0, 1 << 16), st.integers(0, 1 << 16)),
    flits=st.integers(1, 90),
    buffer=st.integers(1, 24),
    pipeline=st.integers(3, 12),
    latency=st.integers(1, 40),
    credit=st.integers(0, 9),
    stages=st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 3)),
    vcs=st.integers(2, 6),
    start=st.integers(0, 1 << 40),
)
@examples(200)
def test_a_packet_alone_takes_the_closed_form(spec, ends, flits, buffer, pipeline, latency, credit, stages, vcs, start):
    """Head and tail of BookSim2's formula, for every H, L, B, P and D, whatever turns the route takes through a grid."""
    topology = parse_topology(spec)
    src, dst = (end % len(topology.kind) for end in ends)
    hops = int(topology.distances(src)[dst])
    vc, switch, traversal = stages if hops else (stages[0], 1, stages[2])  # else the way in would be slower than the way out
    router = replace(BOOKSIM2.router, credit_cycles=credit, vc_cycles=vc, switch_cycles=switch, traversal_cycles=traversal)
    pipeline = max(pipeline, sum(stages))
    sizes = {"router_cycles": pipeline, "link_latency_cycles": latency, "vc_buffer_flits": buffer, "vc_count": vcs}
    machine = replace(BOOKSIM2, **sizes, router=router)
    result = inject(topology, machine, packets((src, dst, flits, start)))
    assert (result.head[0] - start, result.tail[0] - start) == uncontended(machine, hops, flits, latency)
    assert result.flit_hops == hops * flits


@pytest.mark.parametrize(("vcs", "last"), [(4, 1099), (1, 1225)])
def test_back_to_back_packets_on_one_link(vcs: int, last: int):
    """With one VC the next packet is routed and gets its VC only after the tail before it has left: two cycles more for each."""
    result = inject(parse_topology("mesh:8x8"), replace(BOOKSIM2, vc_count=vcs), packets(*[(0, 1, 17, 0)] * 64))
    assert result.tail.max() == last
    assert (np.diff(result.tail) == (17 if vcs == 4 else 19)).all()


# BookSim2, mesh 8x8, dimension order, 4 VCs of 8 flits, one class: mean packet latency
MEASURED = {
    (flits, load): mean
    for flits, means in ((1, (33.52, 33.86, 35.14, 38.00)), (17, (52.55, 56.79, 70.04, 99.82)))
    for load, mean in zip(("1/20", "1/10", "1/5", "3/10"), means, strict=True)
}


@pytest.mark.parametrize(("flits", "load"), MEASURED)
def test_mean_latency_under_uniform_traffic(flits: int, load: str):
    """Within 3 % of BookSim2 (5 % at load 0.3 with 17 flits), mean of three seeds."""
    topology = parse_topology("mesh:8x8")
    cycles, total = 4000 if flits == 1 else 20000, Fraction(0)
    for seed in (1, 2, 3):
        sent = synthetic_packets(topology, load=Fraction(load), flits=flits, cycles=cycles, seed=seed)
        total += inject(topology, BOOKSIM2, sent).mean_latency(sent, cycles // 5)
    tolerance = 0.05 if (flits, load) == (17, "3/10") else 0.03
    assert float(total / 3) == pytest.approx(MEASURED[flits, load], rel=tolerance)


@pytest.mark.parametrize(
    ("spec", "flits", "load", "accepted"),
    [
        ("mesh:8x8", 1, "1/5", 0.2),
        ("mesh:8x8", 1, "9/20", 0.418),
        ("mesh:8x8", 17, "1/2", 0.375),
        ("torus:8x8", 1, "27/50", 0.516),
        ("torus:8x8", 17, "3/5", 0.482),
    ],
)
def test_accepted_load_below_and_beyond_saturation(spec: str, flits: int, load: str, accepted: float):
    """What is offered, up to saturation: within 5 % of BookSim2's published source in long runs (docs/benchmarks/simulators.md)."""
    topology = parse_topology(spec)
    sent = synthetic_packets(topology, load=Fraction(load), flits=flits, cycles=6000, seed=1)
    result = inject(topology, BOOKSIM2, sent)
    assert result.deadlock == ()
    assert float(result.accepted_load(sent, 64, 2000, 6000)) == pytest.approx(accepted, rel=0.05)


@pytest.mark.parametrize(
    ("spec", "flits", "load", "heads", "tails"),
    [
        ("mesh:8x8", 1, "9/20", 6365797, 6365797),
        ("mesh:8x8", 17, "3/10", 253917, 285819),
        ("mesh:8x8", 17, "1", 1875229, 1987250),
        ("torus:8x8", 1, "11/20", 7360033, 7360033),
        ("torus:8x8", 17, "3/10", 241155, 261967),
        ("torus:8x8", 17, "1", 1570835, 1650230),
        ("torus:5x5x5", 5, "2/5", 1937809, 1980873),
    ],
)
def test_packets_take_the_cycles_of_booksim2s_published_source(spec: str, flits: int, load: str, heads: int, tails: int):
    """Sums over all packets, below and beyond saturation, as its source gives them when it is followed function by function
    (docs/benchmarks/simulators.md): there head and tail of every packet were compared."""
    sent = synthetic_packets(parse_topology(spec), load=Fraction(load), flits=flits, cycles=600, seed=1)
    result = inject(parse_topology(spec), BOOKSIM2, sent)
    assert (int(result.head.sum()), int(result.tail.sum())) == (heads, tails)


def test_authors_packet_takes_175_cycles_and_153_a_further_hop():
    torus = parse_topology("torus:4x4")
    result = inject(torus, MULTITREE, packets((0, 1, 17, 0), (5, 15, 17, 5000)))
    assert (result.tail - [0, 5000]).tolist() == [175, 175 + 3 * 153]


POLICIES = {
    "interfaces": ["node", "link"],
    "flow_control": ["wormhole", "cut-through"],
    "allocator": ["islip", "separable"],
    "vc_reuse": ["tail", "empty"],
    "vc_choice": ["rotate", "any"],
    "routing": ["dimension-order", "shortest"],
    "dateline_rule": ["wrap", "ends"],
}
RING_LOAD = [(node, (node + 3) % 8, 40, 0) for node in range(8)] * 3


def ring_machine(**router: object) -> Machine:
    return replace(BOOKSIM2, vc_count=2, vc_buffer_flits=4, router=replace(BOOKSIM2.router, **router))


def test_a_ring_without_datelines_deadlocks_under_wormhole_load():
    """Packets longer than all buffers on their route hold them in a circle; the report shows one."""
    result = inject(parse_topology("ring:8"), ring_machine(datelines=False), packets(*RING_LOAD))
    assert (result.tail < 0).any()
    assert result.deadlock[-1] == "the last of these waits for the first"
    wanted = [line.rsplit(" of link ", 1)[1] for line in result.deadlock[:-1]]
    held = [line.split(" of link ")[1].split(",")[0] for line in result.deadlock[:-1]]
    for index, link in enumerate(wanted):  # the next one sits at the other end of that link, or has a virtual channel of it
        assert link in (held[index + 1 - len(held)], wanted[index + 1 - len(held)])
    assert set(held) == {f"{node}>{(node + 1) % 8}" for node in range(8)}


@pytest.mark.parametrize("rule", ["wrap", "ends"])
@pytest.mark.parametrize("spec", ["ring:8", "torus:4x4", "torus:5x3", "torus:3x3x3", "hypercube:3", "torus:2x6"])
def test_datelines_keep_loaded_tori_from_deadlock(spec: str, rule: str):
    """Everybody sends long packets to everybody at once, through buffers of two flits."""
    topology, ring = parse_topology(spec), spec == "ring:8"
    rows = RING_LOAD if ring else [(a, b, 25, 0) for a in range(len(topology.kind)) for b in range(len(topology.kind))]
    result = inject(topology, replace(ring_machine(dateline_rule=rule), vc_buffer_flits=4 if ring else 2), packets(*rows))
    assert result.deadlock == ()
    assert (result.tail > 0).all()


def test_source_routes_keep_to_the_wrap_around_link():
    """They may go more than half around a ring, where a packet that kept its half could close a circle: no other rule for them."""
    topology = parse_topology("torus:4x6")
    sent = synthetic_packets(topology, load=Fraction(1), flits=9, cycles=200, seed=2)
    wrap, ends = (
        inject(topology, replace(BOOKSIM2, router=replace(BOOKSIM2.router, routing="shortest", dateline_rule=rule)), sent)
        for rule in ("wrap", "ends")
    )
    assert (wrap.tail == ends.tail).all()
    assert (wrap.head == ends.head).all()


@given(
    spec=st.sampled_from(["mesh:3x3", "torus:4x4", "ring:5", "full:4", "switch:6", "fattree:4x4", "torus:3x3,capacity=2"]),
    policies=st.fixed_dictionaries({name: st.sampled_from(choices) for name, choices in POLICIES.items()}),
    vcs=st.integers(2, 4),
    seed=st.integers(0, 1000),
)
@examples(60)
def test_every_packet_arrives_whole_and_in_time(spec, policies, vcs, seed):
    """Whatever the router: all packets arrive, none before its uncontended time, over exactly its hops."""
    topology = parse_topology(spec)
    router = replace(BOOKSIM2.router, allocator_iterations=1 + seed % 2, **policies)
    machine = replace(BOOKSIM2, vc_count=vcs, vc_buffer_flits=20, router=router)
    sent = synthetic_packets(topology, load=Fraction(1, 4), flits=1 + seed % 20, cycles=150, seed=seed)
    result = inject(topology, machine, sent)
    assert result.deadlock == ()
    hops = np.array([topology.distances(int(a))[b] for a, b in zip(sent.src, sent.dst, strict=True)])
    assert result.flit_hops == int((hops * sent.flits).sum())
    assert len(sent.id) > 0
    for index in range(len(sent.id)):
        head, tail = uncontended(machine, int(hops[index]), int(sent.flits[index]), 1)
        assert result.head[index] - sent.start[index] >= head
        assert result.tail[index] - result.head[index] >= tail - head


def test_hot_spot_saturates_at_one_flit_a_cycle():
    """All 16 nodes send to node 5 only: once queues have formed, its interface takes one flit in every cycle."""
    topology = parse_topology("mesh:4x4")
    sent = synthetic_packets(topology, load=Fraction(1, 4), flits=1, cycles=400, seed=1, hot_spot=(5, Fraction(1)))
    result = inject(topology, BOOKSIM2, sent)
    assert set(sent.dst.tolist()) == {5}
    arrivals = np.sort(result.tail)[50:]
    assert (np.diff(arrivals) == 1).all()


def test_a_packet_too_long_for_cut_through_is_refused():
    with pytest.raises(
        UnsupportedError, match="packet 0 has 319 flits; cut-through moves a packet on when a buffer holds it whole"
    ):
        inject(parse_topology("ring:4"), MULTITREE, packets((0, 1, 319, 0)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"vc_count": 65}, "65 virtual channels are more than the router's 64"),
        ({"vc_buffer_flits": 1 << 31}, "are larger than the router's"),
        ({"router_cycles": 0}, "a router of 0 cycle"),
        ({"router_cycles": 1 << 33}, "route_cycles would be 8589934589; the simulator has numbers up to"),
    ],
)
def test_machines_beyond_the_model_are_refused(changes, reason):
    with pytest.raises(UnsupportedError, match=reason):
        inject(parse_topology("ring:4"), replace(BOOKSIM2, **changes), packets((0, 1, 1, 0)))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ((0, 1, (1 << 32) + 1, 0), "packet 0: flits is 4294967297; allowed: whole numbers from 1 to 1073741824"),
        ((0, 1, 3 - (1 << 32), 0), "packet 0: flits is -4294967293; allowed: whole numbers from 1"),
        ((0, 1, 0, 0), "packet 0: flits is 0"),
        ((0, 1, 1, -1), "packet 0: start is -1; allowed: whole numbers from 0"),
        ((-1, 1, 1, 0), "packet 0: src is -1; allowed: whole numbers from 0 to 4"),
        ((1 << 32, 1, 1, 0), "packet 0: src is 4294967296"),
        ((0, 5, 1, 0), "packet 0: dst is 5; allowed: whole numbers from 0 to 4"),
        ((0, 4, 1, 0), "packet 0: dst 4 is not an endpoint of switch:4"),
    ],
)
def test_packets_out_of_range_are_refused_and_not_taken_for_others(row: tuple[int, int, int, int], reason: str):
    with pytest.raises(InputError, match=reason):
        inject(parse_topology("switch:4"), BOOKSIM2, packets(row))


def test_columns_are_narrowed_only_where_nothing_is_lost():
    for value in (-1, 1 << 32):
        with pytest.raises(UnsupportedError, match=f"rows would be {value}; the simulator has numbers up to 4294967295"):
            narrowed("rows", np.array([0, value, 5]))
    assert narrowed("rows", np.array([0, (1 << 32) - 1])).tolist() == [0, (1 << 32) - 1]
    assert narrowed("rows", np.zeros(0, np.int64)).dtype == np.uint32


def test_the_same_seed_gives_the_same_packets_and_times():
    topology = parse_topology("torus:4x4")
    first, second = (
        synthetic_packets(topology, load=Fraction(1, 3), flits=5, cycles=500, seed=seed, hot_spot=(3, Fraction(1, 8)))
        for seed in (7, 7)
    )
    assert (first.dst == second.dst).all()
    assert (inject(topology, BOOKSIM2, first).tail == inject(topology, BOOKSIM2, second).tail).all()


def test_a_packet_that_goes_round_for_ever_is_found(monkeypatch):
    """A table that sends what is for node 2 on instead of out: it never waits and never arrives."""
    plain = Grid.table

    def misled(grid: Grid, *lanes: np.ndarray) -> np.ndarray:
        hops = plain(grid, *lanes)
        hops[2, 2] = hops[3, 2] = hops[1, 2]
        return hops

    monkeypatch.setattr(Grid, "table", misled)
    result = inject(parse_topology("ring:4"), BOOKSIM2, packets((0, 1, 3, 0), (0, 2, 3, 0)))
    assert result.tail.tolist()[0] > 0
    assert result.tail.tolist()[1] < 0
    (line,) = result.deadlock
    assert line.startswith("packet 1 to node 2 is at node ")
    assert line.endswith("after 5 routers, more than there are: its route is a cycle")
