"""Reducing switches with windows: closed form, both engines, schedules that reduce in switches, networks that lose packets."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.extras.aggregation.run.aggregation_run import AggregationResult, simulate_aggregation
from certree.extras.aggregation.run.setup import AggregationRules
from certree.extras.aggregation.run.switch_trees import AggregationTrees
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Request, load_methods
from tests.drawn import examples
from tests.hw.made import made
from tests.hw.runs import on_lanes, on_routers
from tests.verify.build import network as hand_made

MULTITREE = load_machine("multitree")
#: short wires and an adder as fast as its links: runs of few cycles
SMALL = replace(MULTITREE, link_latency_cycles=4, packet_payload_bytes=32, reduce_quantum_cycles=1, vc_buffer_flits=32)
KIB = 1024


def binary_tree(levels: int) -> Topology:
    """Hosts below N levels of reducing switches with two children each, the root the last node."""
    hosts = 1 << levels
    links = [ends for child in range(2 * hosts - 2) for ends in ((child, hosts + child // 2, 1), (hosts + child // 2, child, 1))]
    return hand_made("e" * hosts + "s" * (hosts - 1), links, reducing=range(hosts, 2 * hosts - 1))


def schedule_of(network: str, chunks: int = 1, method: str = "netreduce") -> Schedule:
    spec = network if "reducing=" in network else f"{network},reducing=switches"
    topology = binary_tree(3) if network == "binary" else parse_topology(spec)
    chunks *= topology.lanes
    return load_methods()[method](Request(topology, parse_collective("all-reduce"), 64 * KIB, MULTITREE, chunks=chunks))


def run(network: str, rules: AggregationRules, machine: Machine = SMALL, size: int = KIB, **more) -> AggregationResult:
    chunks, routes = more.pop("chunks", 1), more.pop("ways", 1)
    return simulate_aggregation(AggregationTrees.of(schedule_of(network, chunks), routes), machine, size, rules, **more)


def assert_conserved(result: AggregationResult) -> None:
    """What was sent has come, or was lost, or is still in flight; hosts took exactly what they were due."""
    count = result.counters
    ends = count["received"] + count["lost"] + count["dropped"]
    assert ends <= count["sent"] + count["copied"]
    if count["lost"] == count["copied"] == count["dropped"] == count["resent"] == 0:
        assert count["sent"] == count["received"]


@pytest.mark.parametrize(
    "network", ["switch:2", "switch:5", "tree:2x3", "fattree:3x2", "binary", "switch:3,capacity=1/3", "tree:2x3,capacity=1/7"]
)
@given(
    window=st.integers(1, 20),
    size=st.integers(1, 4 * KIB),
    latency=st.integers(0, 40),
    quantum=st.integers(1, 6),
    start=st.integers(0, 3),
    adders=st.integers(1, 7),
    engine=st.sampled_from(["fast", "flit"]),
)
@examples(12)
def test_calm_runs_take_the_closed_form(network, window, size, latency, quantum, start, adders, engine):
    machine = replace(
        SMALL, link_latency_cycles=latency, reduce_quantum_cycles=quantum, reduce_start_cycles=start, vc_buffer_flits=99
    )
    result = run(network, AggregationRules(window=window, adders=adders), machine, size, engine=engine)
    assert result.closed_form_cycles is not None
    assert result.cycles == result.closed_form_cycles
    assert result.data_ok
    assert result.counters["resent"] == result.counters["results_again"] == 0
    assert_conserved(result)


def mishaps(seed: int, flows: int) -> tuple[AggregationRules, dict[str, object]]:
    """Rules drawn evenly, and routes and engine."""
    draw = random.Random(seed)
    window = draw.randint(1, 9)
    rules = AggregationRules(
        window=window,
        aggregators=flows * (2 * window + draw.choice([0, 0, 1, 5])),
        buffer_packets=draw.randint(1, 20),
        timeout=draw.choice([draw.randint(1, 50), draw.randint(50, 600)]),
        loss=Fraction(draw.randint(0, 8), 24),
        duplicates=Fraction(draw.randint(0, 12), 24),
        latest=draw.choice([0, 10, 500, 5000]),
        seed=draw.getrandbits(64),
        adders=draw.choice([1, 2, 5]),
    )
    routes, engine = draw.choice([1, 2, 4]), draw.choice(["fast", "flit"])
    return rules, {"ways": routes, "engine": engine, "without_routers": engine == "fast"}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    ("network", "flows"),
    [("switch:3", 1), ("tree:2x3", 1), ("tree:3+1", 1), ("fattree:2x2", 2), ("leafspine:3x2x2", 2), ("tree:2x2,capacity=2", 1),
     ("binary", 1)],
)  # fmt: skip
def test_any_mishaps_and_every_rank_has_the_sum(network, flows, seed):
    """Loss, copies, late packets, other routes, full buffers and hosts that are impatient: twice the window of places is enough."""
    rules, more = mishaps(seed, flows)
    result = run(network, rules, size=400, chunks=flows, **more)
    assert result.data_ok, result.stall
    assert_conserved(result)
    assert result == run(network, rules, size=400, chunks=flows, **more)


@pytest.mark.parametrize("hosts", [64, 65, 130])
def test_switches_with_more_children_than_a_word_has_bits(hosts):
    rules = AggregationRules(window=2, loss=Fraction(1, 50), duplicates=Fraction(1, 5), latest=2000, timeout=3000, seed=hosts)
    result = run(f"switch:{hosts}", rules, replace(SMALL, vc_buffer_flits=64), size=400)
    assert result.data_ok
    assert min(result.counters["repeated"], result.counters["results_again"]) > 0


def test_packets_behind_the_next_sum_do_not_count():
    """Copies that come rounds later, while the contribution of that child to the later packet is still missing."""
    ignored = 0
    for seed in range(10):
        rules = AggregationRules(window=1, timeout=200, loss=Fraction(1, 5), duplicates=Fraction(1, 2), latest=4000, seed=seed)
        result = run("switch:3", rules, size=40 * 32)
        assert result.data_ok
        ignored += result.counters["ignored"]
    assert ignored > 50


def assert_same_run(fast: AggregationResult, flit: AggregationResult) -> None:
    """Everything but the use of links: lanes count a packet when it takes them, channels flit by flit."""
    named = [(result.engine, {**result.counters, "flit_hops": 0}) for result in (fast, flit)]
    assert named == [("fast", named[1][1]), ("flit", named[0][1])]
    same = {"engine": "", "counters": {}, "max_link_utilization": Fraction(0)}
    assert replace(fast, **same) == replace(flit, **same)


@pytest.mark.parametrize("network", ["switch:4", "tree:2x3", "fattree:3x3", "tree:2x3,capacity=1/2"])
@pytest.mark.parametrize("seed", range(3))
def test_both_engines_lose_the_same_and_take_the_same_cycles(network, seed):
    rules = AggregationRules(8, loss=Fraction(1, 20), duplicates=Fraction(1, 20), latest=30, seed=seed)
    fast, flit = (run(network, rules, MULTITREE, 16 * KIB, engine=engine) for engine in ("auto", "flit"))
    assert fast.counters["lost"] > 0
    assert_same_run(fast, flit)


@given(
    seed=st.integers(0, 1 << 32),
    network=st.sampled_from(
        [("switch:3", 1), ("switch:5,capacity=2", 1), ("tree:3+1", 1), ("fattree:3x3", 1), ("fattree:3x3", 3),
         ("leafspine:3x2x2", 2), ("leafspine:3x2x2", 1), ("binary", 1), ("tree:3x1,reducing=6", 1)]
    ),
    payload=st.sampled_from([16, 32, 64, 256]),
    latency=st.integers(0, 20),
    router=st.fixed_dictionaries(
        {"allocator": st.sampled_from(["islip", "separable"]), "allocator_iterations": st.integers(1, 2),
         "flow_control": st.sampled_from(["cut-through", "wormhole"])}
    ),
    issue=st.integers(0, 3),
)  # fmt: skip
@examples(60)
def test_where_fast_is_exact_it_is_flit_by_flit_to_the_cycle(seed, network, payload, latency, router, issue):
    """Whatever is lost, doubled and late, however small switches' buffers are: also each host's packets again, and all counters."""
    machine = replace(
        MULTITREE, link_latency_cycles=latency, packet_payload_bytes=payload, vc_buffer_flits=64, ni_issue_cycles=issue,
        router=replace(MULTITREE.router, **router),
    )  # fmt: skip
    (name, flows), (rules, _) = network, mishaps(seed, network[1])
    fast, flit = (run(name, rules, machine, 1000, chunks=flows, engine=engine) for engine in ("auto", "flit"))
    assert fast.router_effect is None
    assert_same_run(fast, flit)


@pytest.mark.parametrize(
    ("machine", "more", "reason"),
    [
        (replace(SMALL, vc_buffer_flits=4), {}, "buffers of 4 flits do not cover the loop of a credit, "),
        (replace(SMALL, vc_count=1), {}, "1 virtual channels are used up before the pipeline has routed the next packet"),
        (replace(SMALL, router=replace(SMALL.router, interfaces="node")), {}, "messages over several links share an interface"),
        (replace(SMALL, router=replace(SMALL.router, vc_reuse="empty")), {}, "a virtual channel that another is still leaving"),
        (SMALL, {"ways": 2}, "packets from different lanes meet at a link"),
    ],
)
def test_fast_is_refused_where_it_is_not_exact(machine, more, reason):
    network, rules = "leafspine:3x2x2", AggregationRules(window=6)
    with pytest.raises(UnsupportedError, match=f"the fast engine is not exact .*{reason}.*; the flit engine has them"):
        run(network, rules, machine, engine="fast", **more)
    auto, lanes = (run(network, rules, machine, without_routers=without, **more) for without in (False, True))
    assert reason in auto.router_effect
    assert (auto.engine, lanes.engine) == ("flit", "fast")
    assert auto == run(network, rules, machine, engine="flit", **more)
    assert lanes.data_ok
    assert auto.data_ok
    assert auto.closed_form_cycles is None


def test_routers_can_make_a_difference():
    """Where two routes meet, routers send packets in another order than lanes do."""
    without, through = (
        run("fattree:3x3", AggregationRules(window=6), ways=2, chunks=3, without_routers=leave_out) for leave_out in (True, False)
    )
    assert (without.engine, through.engine) == ("fast", "flit")
    assert without.cycles != through.cycles


def test_alternative_routes_reorder_packets():
    """With other routes of 3 links next to the one of 1, packets overtake each other, as with late ones; nothing is repeated."""
    plain, other = (run("leafspine:3x2x2", AggregationRules(window=6), ways=routes) for routes in (1, 2))
    assert plain.data_ok
    assert other.data_ok
    assert other.cycles > plain.cycles
    assert other.counters["resent"] == 0


@pytest.mark.parametrize(("network", "children"), [("switch:6", [6]), ("tree:2x3", [3, 2])])
def test_one_chunk_as_a_schedule_and_as_a_packet(network, children):
    """A schedule that reduces in switches, and hosts with windows, where both are the same thing: one chunk, one packet. A slot is
    as long as the widest reduction, whether the step reduces or copies; packets wait for their own reductions only."""
    schedule = schedule_of(network)
    machine = replace(MULTITREE, packet_payload_bytes=8 * KIB, vc_buffer_flits=1024)
    plan = SimulatedSchedule.of(schedule, 8 * KIB, machine)
    slotted = [on_lanes(plan, "slotted", engine=engine) for engine in ("fast", "lanes")] + [on_routers(plan)]
    protocol = [simulate_aggregation(AggregationTrees.of(schedule), machine, 8 * KIB, engine=engine) for engine in ("fast", "flit")]
    assert all(result.data_ok and result.cycles == result.closed_form_cycles for result in slotted + protocol)
    reductions = [machine.reduce_start_cycles + count * 8 * KIB // 128 for count in children]
    waits = (2 * len(children) - 1) * max(reductions) - sum(reductions)
    assert {result.cycles for result in slotted} == {result.cycles + waits for result in protocol}
    assert (waits == 0) == (len(children) == 1)


def test_many_chunks_in_slots_and_as_packets():
    """A chunk a slot, in lockstep, and a packet as soon as the adder is through with the one before."""
    machine, chunks = replace(MULTITREE, packet_payload_bytes=KIB), 16
    schedule = schedule_of("switch:4", chunks)
    plan = SimulatedSchedule.of(schedule, chunks * KIB, machine)
    slotted = on_lanes(plan, "slotted")
    packets = simulate_aggregation(AggregationTrees.of(schedule), machine, chunks * KIB)
    assert slotted.cycles == slotted.closed_form_cycles
    assert packets.cycles == packets.closed_form_cycles
    pace = max(1 + KIB // 16, 4 * 16)  # flits of a packet; its additions
    assert slotted.cycles - packets.cycles == (chunks - 1) * (plan.timing.slot_cycles - pace)


def test_every_host_sends_and_gets_the_message_once():
    """NetReduce, Table 8: M for each worker."""
    result = run("switch:6", AggregationRules())
    packets = sum(result.packets)
    assert result.counters["sent"] == result.counters["received"] == 2 * 6 * packets
    assert result.counters["flit_hops"] == 2 * 6 * packets * 3


def test_places_in_use_and_their_time():
    """One packet, one switch: its aggregator is in use from the first contribution added to the last."""
    result = run("switch:4", AggregationRules(), MULTITREE, 256)
    (use,) = result.switches
    assert (use.most_aggregators, use.most_payloads, use.dropped) == (1, 4, 0)
    assert use.busy == Fraction(3 * 16, result.cycles * result.aggregators)


# What must not go well.


def test_a_place_less_than_twice_the_window_is_refused():
    with pytest.raises(InputError, match=r"needs twice as many .* give 8 aggregators, or a window of at most 3"):
        run("switch:3", AggregationRules(window=4, aggregators=7))
    with pytest.raises(InputError, match=r"for each of its 2 flows; .* give 16 aggregators, or a window of at most 3"):
        run("leafspine:3x2x2", AggregationRules(window=4, aggregators=15), chunks=2)
    with pytest.raises(InputError, match="has none for some of its 2 flows; give 2 or more"):
        run("leafspine:3x2x2", AggregationRules(window=4, aggregators=1), chunks=2, allow_stall=True)


@pytest.mark.parametrize("engine", ["fast", "flit"])
def test_too_few_places_stall_and_the_run_says_why(engine):
    """A result is lost before it reaches one host; the others go on, and their packets take the place."""
    stalled = 0
    for seed in range(20):
        rules = AggregationRules(window=4, aggregators=5, loss=Fraction(1, 10), seed=seed)
        result = run("switch:4", rules, allow_stall=True, engine=engine)
        assert_conserved(result)
        assert result.data_ok == (not result.stall)
        stalled += bool(result.stall)
        if result.stall:
            assert "which never comes: its place at switch 4 (of 5) works on packet" in result.stall[0]
            assert "a window of 4 needs 8 places for each flow" in result.stall[0]
            assert any("waits for packet" in line for line in result.stall[1:])
    assert stalled > 10


def test_alternative_routes_can_block_each_other_in_routers():
    """Up and down and up again with one small virtual channel: packets wait for each other in a circle, which no time-out helps."""
    machine = replace(SMALL, vc_count=1, vc_buffer_flits=3)
    result = run("leafspine:3x2x2", AggregationRules(window=16), machine, 4 * KIB, ways=2, chunks=2, engine="flit")
    assert not result.data_ok
    assert "waits for a free virtual channel of link" in result.stall[0]
    assert "the last of these waits for the first" in result.stall
    assert "waits for packet" in result.stall[-2]
    assert run("leafspine:3x2x2", AggregationRules(window=16), machine, 4 * KIB, chunks=2, engine="flit").data_ok


def test_a_network_that_loses_nearly_everything_ends():
    result = run("switch:4", AggregationRules(window=2, loss=Fraction(99, 100), give_up=5))
    assert "gave up: it sent packet" in result.stall[0]
    assert not result.data_ok


def test_short_timeouts_fill_the_network():
    result = run("switch:4", AggregationRules(timeout=1), MULTITREE, 64 * KIB)
    assert result.stall[0].endswith(
        "1000 times, and no result came; give_up allows no more. timeout is 1 cycles, a round trip without contention takes 415"
    )


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"loss": Fraction(1)}, "loss is 1; allowed: from 0 to below 1"),
        ({"duplicates": Fraction(-1, 2)}, "duplicates is -1/2"),
        ({"window": 0}, "window is 0; allowed: 1 to"),
        ({"timeout": 0}, "timeout is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"adders": 0}, "adders is 0"),
    ],
)
def test_bad_rules(rules, reason):
    with pytest.raises(InputError, match=reason):
        AggregationRules(**rules)


def test_what_is_no_tree_of_switches_is_refused():
    with pytest.raises(UnsupportedError, match=r"chunk 0 is reduced at node ., which is not a reducing switch"):
        AggregationTrees.of(schedule_of("switch:4", 4, method="ring"))
    gather = made("ring", "switch:4,reducing=switches", KIB, collective="all-gather")
    with pytest.raises(UnsupportedError, match="do all-reduces; the schedule is a all-gather"):
        AggregationTrees.of(gather)


def test_sizes_beyond_the_simulator():
    with pytest.raises(UnsupportedError, match="larger packets are packet_payload_bytes of the machine"):
        run("switch:64", AggregationRules(), size=1 << 40)
    with pytest.raises(UnsupportedError, match="cut-through moves a packet on when a buffer holds all of it"):
        run("switch:4", AggregationRules(), replace(MULTITREE, packet_payload_bytes=8 * KIB), 64 * KIB, engine="flit")
    with pytest.raises(
        UnsupportedError, match="134217728 lanes on the routes of all packets are more than the simulator's 67108864"
    ):
        run("switch:64,capacity=1048576", AggregationRules())
    with pytest.raises(InputError, match="unknown engine 'slow'; known: auto, fast, flit"):
        run("switch:4", AggregationRules(), engine="slow")
