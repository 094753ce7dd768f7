"""Tables for demands: sizes and addresses, files and back, runs of every engine, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from certree.hw.engines.core_program import first_wrong
from certree.hw.engines.runs import Engine, Options
from certree.hw.run import run
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import TableFormatError, UnsupportedError
from certree.models.demand import Demand
from certree.models.fine.demand_slots import MOST_SLOTS, booked
from certree.models.fine.slots import fine_times
from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.tables.table_columns import Profile
from certree.models.tables.table_memory import cell_places, layout
from certree.models.tables.tables import Tables
from certree.synth.method import load_methods
from certree.verify.checker import verify_schedule
from certree.verify.tables.table_checker import verify_tables
from tests.drawn import examples, given_at_least, rngs
from tests.hw.fine import ROOMY, takes_its_closed_form
from tests.models.test_schemas import validator
from tests.synth.flows.demands import drawn_request
from tests.verify.build import build

RING = parse_topology("ring:3")
SOME = parse_collective("alltoallv", demand=Demand(((0, 1, 5), (0, 2, 4), (1, 2, 3))))
#: node 0 has a chunk of 2 and one of 3 granules for node 1, one of 4 for node 2 that goes by node 1, and node 1 has 3 for node 2
MADE = build(
    RING, SOME, "0>1 1:0>1 2:0>1 3:1>2; 2:1>2", roots=[0, 0, 0, 1], targets=[1, 1, 2, 2], chunk_granules=[2, 3, 4, 3],
    rounds=[9, 4],
)  # fmt: skip


def lowered(schedule: Schedule = MADE, times: int = 1) -> Tables:
    return lower(schedule, times * ROOMY.flit_bytes * schedule.message_chunks, ROOMY)


def drawn(rng: Random) -> Schedule:
    """Blocks on shortest routes over a small network, cut into chunks, in any order of steps."""
    topology = parse_topology(rng.choice(["ring:4", "mesh:2x3", "full:4", "switch:4", "ring:3,capacity=2"]))
    ends = topology.endpoints.tolist()
    pairs = [(a, b) for a in ends for b in ends if a != b and rng.random() < 0.5] or [(ends[0], ends[1])]
    roots, targets, granules, blocks, rows, routes = [], [], [], [], [], []
    for source, target in pairs:
        sizes = [rng.randint(1, 9) for _ in range(rng.randint(1, 2))]
        blocks.append((source, target, sum(sizes)))
        for size in sizes:
            route = _route(topology, source, target, rng)
            chunk, step = len(roots), rng.randrange(6)
            roots.append(source)
            targets.append(target)
            granules.append(size)
            hops = [(int(topology.src[link]), int(topology.dst[link]), link) for link in route]
            if any(topology.rank[end] < 0 for _, end, _ in hops) or rng.random() < 0.5:
                rows.append((chunk, step, source, target, len(routes)))
                routes.append(route)
                continue
            for place, (start, end, _) in enumerate(hops):
                rows.append((chunk, step + place, start, end, -1))
    chunk, step, src, dst, route = np.array(rows, np.int32).T
    columns = {"chunk": chunk, "op": np.ones(len(rows), np.int8), "step": step, "src": src, "dst": dst, "route": route}
    steps = int(step.max()) + 1
    return make_schedule(
        topology, parse_collective("alltoallv", demand=Demand(tuple(blocks))), roots, columns, targets, routes=routes,
        rounds=[sum(granules)] * steps, chunk_granules=granules,
    )  # fmt: skip


def _route(topology, source: int, target: int, rng: Random) -> list[int]:
    """Links of a shortest route."""
    before = {source: []}
    edge = [source]
    while target not in before:
        found = {}
        for link in rng.sample(range(len(topology.src)), len(topology.src)):
            start, end = int(topology.src[link]), int(topology.dst[link])
            if start in edge and end not in before:
                found.setdefault(end, [*before[start], link])
        before |= found
        edge = list(found)
    return before[target]


@given_at_least(20, rngs)
@examples(40)
def test_drawn_demands_take_their_closed_form(rng: Random) -> bool:
    schedule = drawn(rng)
    assert verify_schedule(schedule).valid
    tables = lowered(schedule, rng.randint(1, 3))
    assert verify_tables(tables).valid, verify_tables(tables).violations
    assert verify_schedule(tables.schedule).valid
    takes_its_closed_form(tables)
    return len(set(tables.size.tolist())) > 1


def test_rows_have_sizes_and_addresses() -> None:
    """D7: at the source by target, at the target by source, work cells behind the longest of both."""
    tables = lowered(times=2)
    assert (tables.profile, tables.fine_slots, tables.slot_cycles, tables.chunk_bytes) == (
        Profile.BLOCKS,
        True,
        1,
        2 * ROOMY.flit_bytes,
    )
    assert dict(zip(tables.flow.tolist(), tables.size.tolist(), strict=True)) == {0: 4, 1: 6, 2: 8, 3: 6}
    at = {
        (node, flow): addr for node, flow, addr in zip(*(c.tolist() for c in (tables.node, tables.flow, tables.addr)), strict=True)
    }
    arrives = {
        (node, flow): addr
        for node, flow, addr in zip(
            *(c.tolist() for c in (tables.arrival_node, tables.arrival_flow, tables.arrival_addr)), strict=True
        )
    }
    assert at == {(0, 0): 0, (0, 1): 4, (0, 2): 10, (1, 2): 32, (1, 3): 0}
    assert arrives == {(1, 0): 18, (1, 1): 22, (1, 2): 32, (2, 2): 18, (2, 3): 26}
    assert (layout(tables).work_base, layout(tables).work_stride) == (32, 8)


@pytest.mark.parametrize("form", ["json", "readmemh"])
def test_files_and_back(form: str) -> None:
    tables = lowered()
    with TemporaryDirectory() as folder:
        export_tables(tables, Path(folder) / "tables", form)
        manifest = json.loads((Path(folder) / "tables/manifest.json").read_text())
        again = read_tables(Path(folder) / "tables")
    assert not list(validator("tables").iter_errors(manifest))
    assert (manifest["collective"], manifest["granules"], manifest["version"]) == ("alltoallv", [2, 3, 4, 3], 2)
    assert manifest["demand"] == {"src": [0, 0, 1], "dst": [1, 2, 2], "granules": [5, 4, 3]}
    assert again.schedule.digest == tables.schedule_digest
    assert verify_tables(again).valid


@pytest.mark.parametrize(
    ("change", "rule", "words"),
    [
        (lambda t: replace(t, size=t.size + (t.flow == 1)), "size", "has size 4; needed: 3 granules"),
        (lambda t: replace(t, addr=t.addr + (t.flow == 1)), "address", "has address 3; needed: 2 granules"),
        (lambda t: replace(t, arrival_addr=t.arrival_addr + (t.arrival_flow == 3)), "address", "writes flow 3 to address 14"),
        (lambda t: replace(t, chunk_granules=[3, 2, 4, 3]), "size", "has size 2; needed: 3 granules"),
        (lambda t: replace(t, chunk_granules=[2, 3, 4, 4], size=t.size + (t.flow == 3)), "demand", "4 granule(s) from node 1 to"),
        (lambda t: replace(t, step=t.step - (t.flow == 1)), "reserved", "finds link 0>1 taken for 1 more cycles"),
        (lambda t: replace(t, step=t.step - ((t.flow == 2) & (t.node == 1))), "dependency", "waits for 1 arrivals; 0 have landed"),
    ],
)  # fmt: skip
def test_wrong_tables_are_rejected(change, rule: str, words: str) -> None:
    verdict = verify_tables(change(lowered()))
    assert not verdict.valid
    assert any(words in violation.message for violation in verdict.violations if violation.rule == rule), verdict.violations


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"chunk_granules": None}, "chunk_granules is missing; chunks have sizes in tables for a demand, and only there"),
        ({"chunk_granules": [1, 1]}, "chunk_granules has 2 rows; there are 4 chunks"),
        ({"chunk_granules": [0, 1, 1, 1]}, "chunk_granules row 0: 0; allowed: 1 to"),
        ({"fine_slots": False}, "tables for a demand have fine slots, and do not repeat"),
        ({"period": 9}, "tables for a demand have fine slots, and do not repeat"),
    ],
)
def test_wrong_fields_are_named(fields, words: str) -> None:
    with pytest.raises(TableFormatError) as caught:
        replace(lowered(), **fields)
    assert words in str(caught.value)


def test_a_chunk_on_two_paths_has_no_tables() -> None:
    twice = build(
        RING, SOME, "0>1 1:0>1 2:0>1 2:0>2 3:1>2; 2:1>2", roots=[0, 0, 0, 1], targets=[1, 1, 2, 2], chunk_granules=[2, 3, 4, 3],
        rounds=[9, 4],
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match="chunk 2 reaches node 2 twice; chunks of a demand have one path"):
        lowered(twice)


@pytest.mark.parametrize("spec", ["ring:4", "mesh:2x3", "fattree:2x2"])
def test_packets_of_chunks_of_several_sizes(spec: str) -> None:
    """Each chunk has a header for each of its own packets; both engines take the same time, and a lane carries all flits."""
    request = drawn_request(spec, 1, 1 << 13)
    made = load_methods()["prepared-paths"](request)
    tables, chunk = lower(made, request.message_bytes, request.machine), made.granules
    packets = -(-chunk // (request.machine.packet_payload_bytes // request.machine.flit_bytes))
    hops = tables.sizes(np.arange(tables.chunks)) + packets * request.machine.head_flits
    assert {*packets.tolist()} > {1}
    runs = [run(tables, Options(framing="packet", engine=engine)) for engine in (Engine.FAST, Engine.FLIT)]
    assert runs[0].cycles == runs[1].cycles > run(tables).cycles
    assert all(one.data_ok and one.late == one.contention_cycles == 0 for one in runs)
    passed = [1 if route == DIRECT else len(tables.routes[route]) for route in tables.route.tolist()]
    assert runs[1].flit_hops == sum(hops[flow] * links for flow, links in zip(tables.flow.tolist(), passed, strict=True))


def test_data_that_are_swapped_are_found() -> None:
    """Two chunks that change places at their target, after a right run."""
    tables, cells = lowered(), []
    assert run(tables, Options(observer=lambda engine: cells.append(engine.cells.copy()))).data_ok
    assert first_wrong(tables, cells[0]) is None
    places = np.searchsorted(cell_places(tables), tables.arrival_addr[tables.arrival_node == 2])
    cells[0][2, places] = cells[0][2, places[::-1]]
    assert first_wrong(tables, cells[0]) == (2, 2)


def test_long_runs_have_longer_slots() -> None:
    """A slot is a cycle unless there would be more than MOST_SLOTS of them."""
    many = MOST_SLOTS // 3
    demand = Demand(((0, 1, 5 * many), (0, 2, 4 * many), (1, 2, 3 * many)))
    long = replace(
        MADE, chunk_granules=[many * size for size in (2, 3, 4, 3)], rounds=[9 * many, 4 * many],
        collective=parse_collective("alltoallv", demand=demand),
    )  # fmt: skip
    made = booked(long, 16 * 12 * many, replace(ROOMY, flit_bytes=16))
    assert made.slot_cycles == 4
    assert made.steps <= MOST_SLOTS
    assert verify_schedule(made).valid
    assert booked(made, 16 * 12 * many, made.made_for.machine) is made
    shortest = booked(MADE, 16 * 12, made.made_for.machine)
    assert fine_times(shortest).cycles < fine_times(made).cycles
