"""Endpoints that run a collective: times by formula, every rank's data, the rules without which engines hang."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from certree.extras.endpoints.model.endpoint import Endpoint, System, load_endpoint
from certree.extras.endpoints.run.endpoint_program import Choices, EndpointProgram, Payload
from certree.extras.endpoints.run.endpoint_run import EndpointResult, result_of, run_endpoints
from certree.extras.endpoints.run.messages import ChunkRows
from certree.extras.endpoints.run.streams import flow_columns
from certree.hw import _core
from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from tests.hw.made import made as made_for
from tests.models.examples import schedule as by_hand

KIB, MIB = 1 << 10, 1 << 20
ACE = load_endpoint("ace")


def made(topology: str, collective: str = "all-reduce", method: str = "hierarchical", **options: str) -> Schedule:
    return made_for(method, topology, MIB, collective=collective, **options)


def run(schedule: Schedule, system: str | System, size: int = MIB, endpoint: Endpoint = ACE, **choices: object) -> EndpointResult:
    chosen = endpoint.system(system) if isinstance(system, str) else system
    return run_endpoints(schedule, endpoint, chosen, [Payload(size)], Choices(**choices))  # type: ignore[arg-type]


def whole_rates(endpoint: Endpoint = ACE) -> Endpoint:
    """Every rate a power of two in bytes a cycle, so that the formulas below need no rounding."""
    link = replace(endpoint.inter_package, bytes_per_second=Fraction(16 * 10**9), efficiency=Fraction(1))
    buses = replace(
        endpoint.buses, interface_bytes_per_second=Fraction(512 * 10**9), memory_bytes_per_second=Fraction(1024 * 10**9)
    )
    accelerator = replace(endpoint.accelerator, adders=2048, clock_hertz=Fraction(10**9))
    systems = tuple(replace(system, compute_share=Fraction(0)) for system in endpoint.systems)
    return replace(endpoint, inter_package=link, buses=buses, accelerator=accelerator, systems=systems)


SEGMENT = 4 * KIB
SERIAL = SEGMENT // 16 + 200  # over a link: its bytes, and its latency
BUS = 20 + 50 + 20  # LogGP: both overheads and the latency


def across(size: int, rate: int) -> int:
    return BUS + size // rate


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_a_chunk_alone_takes_what_its_steps_take(nodes: int) -> None:
    endpoint, schedule = whole_rates(), made(f"ring:{nodes}", method="ring", bidirectional="false")
    size, steps = nodes * SEGMENT, nodes - 1
    assert run(schedule, "ideal", size, endpoint).cycles == 2 * steps * (SERIAL + 1)
    slow = made(f"ring:{nodes},capacity=2/3", method="ring", bidirectional="false")  # of 32/3 bytes a cycle
    assert run(slow, "ideal", 3 * size, endpoint).cycles == 2 * steps * (SEGMENT * 9 // 32 + 200 + 1)
    to_wire = across(SEGMENT, 1024) + across(SEGMENT, 512)
    add = across(2 * SEGMENT, 1024) + SEGMENT // 8192 + (SEGMENT % 8192 > 0) + across(SEGMENT, 1024)
    assert run(schedule, "baseline", size, endpoint).cycles == 2 * steps * (2 * to_wire + SERIAL) + steps * add
    # The engine: load, the first message out of its bank (a packet ahead of the link), messages taken a packet behind the link
    # (4 cycles where an ALU adds it, 1 where it is only stored), write-back.
    load = across(size, 1024) + across(size, 512)
    engine = 2 * load + 1 + 2 * steps * SERIAL + steps * (4 + 1)
    assert run(schedule, "ace", size, endpoint).cycles == engine


def test_a_second_chunk_is_pipelined_behind_the_first() -> None:
    """One link: while the first chunk's messages are in flight, those of the second are sent."""
    endpoint, schedule = whole_rates(), made("ring:2", method="ring", bidirectional="false")
    ideal = replace(endpoint.system("ideal"), chunk_bytes=2 * SEGMENT)
    one, two = (run(schedule, ideal, chunks * 2 * SEGMENT, endpoint).cycles for chunks in (1, 2))
    assert one == 2 * (SERIAL + 1)
    assert two == one + SEGMENT // 16 * 1 + max(0, 2 * SEGMENT // 16 - SERIAL - 1)


def test_rates_do_not_round() -> None:
    """The links of Table 7 carry 47 bytes in 2 cycles; a thousand messages one after the other are late by less than a cycle."""
    schedule = made("ring:2", method="ring", bidirectional="false")
    ideal = replace(ACE.system("ideal"), chunk_bytes=2000)
    result = run(schedule, ideal, 1000 * 2000, replace(ACE, engine=replace(ACE.engine, state_machines=2000)))
    sent = Fraction(1000 * 1000 * 2, 47)  # the first half of every chunk, then the second
    assert 2 * sent <= result.cycles <= 2 * sent + 2 * 201 + 2


@pytest.mark.parametrize(
    ("topology", "collective", "method", "ways"),
    [
        *((topology, "all-reduce", "hierarchical", 2) for topology in ("ace-torus:4x2x2", "ace-torus:2x3x3", "ace-alltoall:4x4")),
        ("ace-torus:2x2x1", "all-reduce", "hierarchical", 1),
        *((topology, "all-to-all", "hierarchical-all-to-all", 1)
          for topology in ("ace-torus:2x2x2", "ace-alltoall:2x5", "ace-torus:4x4x1")),
        ("ace-torus:2x2x2", "all-reduce", "packing", 1),
        ("ace-torus:4x2x2", "all-reduce", "multitree", 1),
        *(("ring:5", collective, "ring", 1) for collective in ("all-gather", "reduce-scatter")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("system", ["baseline", "baseline++", "ace", "ideal"])
def test_every_rank_has_what_it_is_due(topology: str, collective: str, method: str, ways: int, system: str) -> None:
    result = run(made(topology, collective, method), system, MIB // 2, ways=ways)
    assert result.data_ok
    assert result.conserved
    assert not result.stall
    assert result.interrupts == result.chunks * len(parse_topology(topology).endpoints)
    assert max(result.occupancy.values()) <= 1


def test_systems_differ_as_they_should() -> None:
    schedule = made("ace-torus:4x4x4")
    baseline, better, ace, ideal = (run(schedule, name, 4 * MIB, ways=2) for name in ("baseline", "baseline++", "ace", "ideal"))
    assert baseline.cycles > better.cycles > ace.cycles > ideal.cycles
    chunk = 4 * MIB // 64
    assert ace.memory_bytes == 2 * 64 * ace.chunks * chunk  # each chunk is read once and written once at each node
    assert baseline.memory_bytes > 7 * ace.memory_bytes // 2
    assert ace.joules == ACE.watts * ace.seconds * 64
    assert ideal.delays["bus_congestion"] == 0 < ace.delays["bus_congestion"] < baseline.delays["bus_congestion"]


def test_the_latest_collective_first() -> None:
    schedule, payloads = made("ace-torus:4x2x2"), [Payload(4 * MIB), Payload(MIB // 2, start=1000)]
    fifo, lifo = (run_endpoints(schedule, ACE, ACE.system("ace"), payloads, Choices(ways=2, lifo=lifo)) for lifo in (False, True))
    assert fifo.data_ok
    assert lifo.data_ok
    assert lifo.ends[1] < fifo.ends[1]
    assert lifo.ends[0] > lifo.ends[1]


def test_phases_and_partitions_are_those_of_table_5() -> None:
    schedule, chunk = made("ace-torus:4x4x4"), 64 * KIB
    program = EndpointProgram(schedule, ACE, ACE.system("ace"), [Payload(4 * MIB)], Choices(ways=2))
    assert program.rows.phases == 4  # L, V, H, L
    assert program.rows.live_bytes.tolist() == [chunk, chunk // 4, chunk // 4, chunk // 4, chunk]
    assert program.sizes == [chunk, chunk // 4, chunk // 4, chunk, chunk]
    # 400 GB/s times a chunk, 50 times a quarter, twice, 400 times a quarter, 400 times a chunk
    weights = [Fraction(400), Fraction(50, 4), Fraction(50, 4), Fraction(400, 4), Fraction(400)]
    assert program.rooms == [int(4 * MIB * weight / sum(weights)) for weight in weights]
    assert program.machines == [4, 4, 4, 4]
    assert (program.rows.message_sizes == 4 * KIB).all()


def test_all_to_all_has_three_phases_and_messages_of_several_blocks() -> None:
    rows = ChunkRows(made("ace-torus:2x2x2", "all-to-all", "hierarchical-all-to-all"), 1, 64 * KIB, 4 * KIB)
    assert rows.phases == 3
    assert rows.piece_bytes == 4 * KIB  # a block of 8 KiB is cut in two
    small = ChunkRows(rows.schedule, 1, 8 * KIB, 4 * KIB)
    assert set(small.message_sizes.tolist()) == {4 * KIB}  # of four blocks of 1 KiB each


SEVEN_MACHINES = replace(ACE, engine=replace(ACE.engine, state_machines=7))
MUCH_SRAM = replace(ACE, engine=replace(ACE.engine, sram_bytes=16 * MIB))
NO_ROOM = "cannot be taken before there is room at the port for the one it makes ready"


@pytest.mark.parametrize(
    ("rule", "topology", "method", "endpoint", "words"),
    [
        ("in_order", "ace-torus:4x4x4", "hierarchical", SEVEN_MACHINES, "waits for room in partition"),
        ("spare", "ace-torus:4x4x4", "hierarchical", ACE, NO_ROOM),
        ("apart", "ring:8", "ring", ACE, NO_ROOM),
        ("apart", "ace-alltoall:2x6", "hierarchical", MUCH_SRAM, "holds up its port, the chunk is not at work there"),
    ],
)
def test_without_its_rules_an_engine_hangs(rule: str, topology: str, method: str, endpoint: Endpoint, words: str) -> None:
    schedule, size = made(topology, method=method), 2 * MIB if "alltoall" in topology else 4 * MIB
    assert run(schedule, "ace", size, endpoint, ways=2).data_ok
    result = run(schedule, "ace", size, endpoint, ways=2, **{rule: False})
    assert not result.data_ok
    assert not result.conserved
    assert any(words in line for line in result.stall), result.stall
    assert max(result.occupancy.values()) <= 1  # of the time until nothing could go on


class Tampered:
    """A run whose counters say something else."""

    def __init__(self, core: _core.EndpointRun, changes: dict[str, int]) -> None:
        self.core, self.changes = core, changes

    def __getattr__(self, name: str) -> object:
        return getattr(self.core, name)

    def counters(self) -> dict[str, object]:
        counters = self.core.counters()
        return counters | {name: counters[name] + more for name, more in self.changes.items()}


@pytest.mark.parametrize("system", ["baseline", "ace", "ideal"])
@pytest.mark.parametrize("counter", ["link_bytes", "memory_bytes", "interrupts"])
def test_a_byte_or_a_chunk_too_many_is_seen(system: str, counter: str) -> None:
    program = EndpointProgram(made("ace-torus:2x2x1"), ACE, ACE.system(system), [Payload(128 * KIB)], Choices(ways=2))
    core = _core.EndpointRun(program.scalars, program.columns, program.first_cells(), False)
    assert core.advance(1 << 30)
    assert result_of(program, core, None).conserved
    for more in (1, -1):
        assert not result_of(program, Tampered(core, {counter: more}), None).conserved  # type: ignore[arg-type]


def test_ports_hold_what_each_phase_begins_with() -> None:
    rows = ChunkRows(made("ace-torus:4x4x4"), 2, 64 * KIB, 4 * KIB)
    found = flow_columns(rows, [4] * 4, spare=True, apart=True)
    depths = {(phase, depth) for phase, depth in zip(found["flow_phase"].tolist(), found["flow_depth"].tolist(), strict=True)}
    # Along L four messages begin; along V and H sums go one way round and results the other, three messages each.
    assert depths == {(0, 5), (1, 3), (2, 3), (3, 5)}


@pytest.mark.parametrize(("machines", "sram"), [(4, 2), (4, 32), (5, 4), (16, 2), (64, 2), (64, 32)])
def test_with_them_it_does_not(machines: int, sram: int) -> None:
    endpoint = replace(ACE, engine=replace(ACE.engine, state_machines=machines, sram_bytes=sram * MIB))
    for topology, method, ways in (
        ("ace-torus:4x4x2", "hierarchical", 2),
        ("ace-alltoall:2x6", "hierarchical", 2),
        ("ace-torus:4x2x2", "packing", 1),
        ("ring:8", "ring", 2),
    ):
        result = run(made(topology, method=method), "ace", 2 * MIB, endpoint, ways=ways)
        assert result.data_ok, result.stall


def detour() -> Schedule:
    """An all-gather of 0 and 1 behind switch 2, in two parts; in the first, node 0 sends by switch 3, far away."""
    links = [(0, 2, 1), (2, 1, 1), (1, 2, 1), (2, 0, 1), (0, 3, 5000), (3, 2, 5000), (1, 3, 1), (3, 1, 1)]
    src, dst, latency = (np.array(column) for column in zip(*links, strict=True))
    topology = Topology("detour", np.array([0, 0, 1, 1]), src, dst, np.ones(len(links), int), latency)
    fields = {"route": [0, 2, 1, 2], "routes": ((4, 5, 1), (0, 1), (2, 3))}
    return by_hand(topology, "all-gather", [0, 1, 0, 1], "0:0>1 1:1>0 2:0>1 3:1>0", **fields)


def test_a_message_that_overtakes_another_waits_for_it() -> None:
    """The second chunk's message to node 1 is there long before the first one's, by the same last link and for the same state
    machine. Were it taken for the first at its port, node 1 would wait for ever."""
    endpoint = replace(ACE, engine=replace(ACE.engine, state_machines=1))
    result = run(detour(), "ace", 256 * KIB, endpoint, ways=2)
    assert result.data_ok, result.stall
    assert result.conserved


def test_a_missing_transfer_is_a_stall_or_wrong_data() -> None:
    schedule = made("ring:4", method="ring")
    keep = np.ones(len(schedule.chunk), bool)
    keep[-1] = False
    columns = {name: getattr(schedule, name)[keep] for name in ("chunk", "op", "step", "src", "dst", "route")}
    for system in ("baseline", "ace", "ideal"):
        result = run(replace(schedule, **columns), system, 64 * KIB)
        assert not result.data_ok
        assert result.wrong is not None
        assert result.wrong[0] == schedule.dst[-1]


@pytest.mark.parametrize(
    ("topology", "method", "changes", "words"),
    [
        ("ace-torus:4x4x4", "hierarchical", {"sram_bytes": 256 * KIB}, "make chunks of at most about"),
        ("ace-torus:4x4x4", "hierarchical", {"state_machines": 3}, "4 phases need as many state machines or more; ace has 3"),
        ("switch:4,reducing=switches", "netreduce", {}, "engines at the endpoints do all of that themselves"),
    ],
)
def test_what_cannot_run_is_refused(topology: str, method: str, changes: dict[str, int], words: str) -> None:
    endpoint = replace(ACE, engine=replace(ACE.engine, **changes))
    with pytest.raises(UnsupportedError, match=words):
        run(made(topology, method=method), "ace", MIB, endpoint, ways=1)
