"""The simulator core on tables made by hand: to the cycle, and wrong in one way each."""

import gzip
import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from certree.hw.engines.core_program import initial_cells
from certree.hw.engines.runs import Run
from certree.hw.tables import lowering
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, TableFormatError, UnsupportedError
from certree.models.machine.clocks import Clocks
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.tables import table_form
from certree.models.tables.table_columns import ARRIVAL_COLUMNS, NIL, RowOp
from certree.models.tables.tables import Tables
from tests.hw.made import in_order, with_rows
from tests.hw.runs import agree, on_lanes, same_in_both
from tests.hw.trees import MULTITREE, tree_schedule
from tests.models.examples import network
from tests.models.examples import schedule as by_hand

MIB = 1 << 20


def built(
    spec: str | Topology, kind: str, roots: list[int], rows: str, machine: Machine = MULTITREE, size: int = 256, **fields: int
) -> Tables:
    """Tables of chunks of 256 bytes, or of another size, of the transfers that are written out."""
    return lower(by_hand(spec, kind, roots, rows, **fields), size * len(roots), machine)


def one_hop(op: Op, bytes_: int) -> Tables:
    """Two endpoints exchange their halves."""
    if op == Op.COPY:
        return built("full:2", "all-gather", [0, 1], "0:0>1 1:1>0", size=bytes_ // 2)
    return built("full:2", "reduce-scatter", [1, 0], "0:0+1 1:1+0", size=bytes_ // 2)


def test_seventeen_flits_over_one_hop_take_175_cycles():
    assert on_lanes(one_hop(Op.COPY, 2 * 256)).cycles == 175


def test_a_long_message_takes_its_flits_and_the_path():
    assert on_lanes(one_hop(Op.COPY, 2 * MIB)).cycles == 1 + MIB // 16 + 158


def test_a_reduction_adds_its_start_and_whole_quanta():
    # 256 bytes at 128 a cycle are 2 cycles of work: one quantum of 16, after one cycle to start.
    assert on_lanes(one_hop(Op.REDUCE, 2 * 256)).cycles == 175 + 1 + 16
    # 4 KiB: 257 flits, 32 cycles of work, two quanta.
    assert on_lanes(one_hop(Op.REDUCE, 2 * 4096)).cycles == 257 + 158 + 1 + 32


def test_every_contribution_changes_the_sum():
    cells = initial_cells(64, 1000)
    assert cells.all()
    assert len(np.unique(cells)) == cells.size
    # SplitMix64 started at 0 gives this first (its authors' reference program).
    assert cells[0, 0] == 0xE220A8397B1DCDAF


def test_utilization_counts_header_flits():
    assert on_lanes(one_hop(Op.COPY, 2 * 256)).max_link_utilization == Fraction(17, 175)


#: node 0 gets two chunks from node 1 in one slot
TWO_CHUNKS = "all-gather", [1, 1], "0:1>0 1:1>0"


def test_lanes_carry_messages_side_by_side():
    wide, narrow = (on_lanes(built(f"full:2,capacity={lanes}", *TWO_CHUNKS)) for lanes in (2, 1))
    assert (wide.cycles, wide.contention_cycles) == (175, 0)
    assert (narrow.cycles, narrow.contention_cycles) == (175 + 17, 17)


def test_parallel_links_are_as_long_as_the_slowest():
    ends = [(0, 1, 1, 10), (0, 1, 1, 20), (1, 0, 1, 10), (1, 0, 1, 20)]
    result = on_lanes(built(network(2, ends), *TWO_CHUNKS))
    assert result.cycles == result.closed_form_cycles == 17 + 2 * 1 + 2 * 3 + 20


RING = tree_schedule("ring:5", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=3, seed=4)


def test_a_slot_one_cycle_too_short_is_late():
    """Boundary pair: at the exported slot length nothing is late, one cycle below something is."""
    chain = lower(tree_schedule("ring:5", CollectiveKind.ALL_REDUCE, 1, delay=1, repeats=1, seed=4), 4096, MULTITREE)
    assert on_lanes(chain).late == 0
    short = on_lanes(replace(chain, slot_cycles=chain.slot_cycles - 1))
    assert short.late > 0
    assert short.data_ok  # the NI waits, so the sum is right all the same


def test_a_dependency_not_awaited_gives_a_wrong_sum():
    schedule = tree_schedule("ring:5", CollectiveKind.ALL_REDUCE, 1, delay=1, repeats=1, seed=4)
    tables = lower(schedule, 4096, MULTITREE)
    row = int(np.argmax((tables.op == RowOp.REDUCE) & (tables.children[:, 0] != NIL)))
    children, step = tables.children.copy(), tables.step.copy()
    children[row] = NIL
    step[row] = 0
    result = on_lanes(in_order(replace(tables, children=children, step=step)))
    assert not result.data_ok
    assert result.wrong == (0, 0)


#: node 1 waits two steps
LATER = "full:2", "all-gather", [0, 1], "0:0>1;; 1:1>0"


@pytest.mark.parametrize(("buffer", "step_time"), [(16, 1), (17, 17), (18, 17), (0, 17)])
def test_a_step_without_rows_lasts_the_estimated_step_time(buffer: int, step_time: int):
    """Footnote 4 at its boundary: the 17 flits of a message, less the buffer unless it holds them all."""
    machine = replace(MULTITREE, ni_buffer_flits=buffer)
    tables = built(*LATER, machine)
    assert on_lanes(tables, "paced").cycles == 2 * step_time + 175
    agree(tables, "paced")


def test_a_step_without_rows_can_last_as_long_as_it_must():
    """Serialization and latency: the copies of a step have arrived when the next one begins."""
    tables = built(*LATER)
    assert on_lanes(tables, "paced", step_time="exact").cycles == 2 * 175 + 175


def test_skew_and_drift_move_the_opening_of_slots():
    """Node 1 sends in slot 2; its counters start at 40 and two slots of 175 last 385 cycles at a drift of 1/10."""
    tables = built(*LATER)
    for clocks, start in (
        (Clocks((0, 40), (Fraction(0), Fraction(1, 10))), 40 + 385),
        (Clocks((0, 0), (Fraction(0), Fraction(-1, 10))), 315),
        (Clocks((0, 7), (Fraction(0), Fraction(0))), 357),
    ):
        result = same_in_both(tables, clocks=clocks)
        assert (result.cycles, result.late, result.closed_form_cycles) == (start + 175, 0, None)
        agree(tables, "slotted", clocks)


def test_a_copy_and_a_sum_of_the_same_time():
    """The copy is written, then the sum is added. Node 2 gets 1's copy of v1 + v2 and 0's v0 at one time and passes all on."""
    tables = built("ring:3", "all-reduce", [NO_ROOT], "2+1 0+2@11 1>2@12 2>0@30 2>1@30")
    tables = replace(tables, slot_cycles=MULTITREE.reduce_start_cycles + MULTITREE.reduce_quantum_cycles)
    assert on_lanes(tables).data_ok
    agree(tables, "slotted")


def test_rows_that_wait_for_each_other_are_a_deadlock(monkeypatch):
    """In tables of trees, as others may write them; the exporter would take counted ones, in which no row waits."""
    monkeypatch.setattr(lowering, "landing_steps", lambda plan: np.zeros(plan.transfers, np.int64))
    tables = built("ring:3", "all-reduce", [NO_ROOT], "0+1 1+2 2+0", size=64)
    for run in ("slotted", "paced"):
        result = on_lanes(tables, run)
        assert not result.data_ok
        assert result.deadlock == tuple(
            f"node {n} in row 0 (REDUCE of flow 0, step 0), iteration 0, waits for the REDUCE of flow 0 from node {(n - 1) % 3}"
            for n in range(3)
        )


def test_an_empty_collective_is_wrong_not_vacuously_right():
    tables = lower(tree_schedule("ring:3", CollectiveKind.ALL_REDUCE, 1, delay=1, repeats=1, seed=1), 64, MULTITREE)
    empty = replace(with_rows(tables, slice(0)), **{name: getattr(tables, name)[:0] for name in ARRIVAL_COLUMNS})
    result = on_lanes(empty)
    assert (result.cycles, result.data_ok, result.wrong) == (0, False, (0, 0))


def test_paced_iterations_follow_each_other_without_slots():
    """The timestep counter counts on from iteration to iteration, and no message waits for a slot."""
    tables = lower(RING, 4096, MULTITREE)
    assert tables.repeats == 3
    paced, slotted = same_in_both(tables, "paced"), on_lanes(tables)
    assert (paced.data_ok, paced.late, paced.messages) == (True, 0, slotted.messages)
    assert paced.cycles <= slotted.cycles


def test_unknown_run_mode():
    with pytest.raises(InputError, match="unknown run mode 'free'; known: slotted, paced"):
        on_lanes(lower(RING, 4096, MULTITREE), "free")


def test_malformed_tables_do_not_reach_the_core():
    tables = lower(RING, 4096, MULTITREE)
    with pytest.raises(TableFormatError, match="node 0 does not expect a REDUCE of flow 0 from node 0"):
        on_lanes(replace(tables, parent=np.where(tables.op == RowOp.REDUCE, tables.node, tables.parent)))


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        (replace(MULTITREE, link_latency_cycles=1 << 28), "flits in wires and pipelines"),
        (replace(MULTITREE, link_latency_cycles=1 << 33), "cycles on one link"),
        (replace(MULTITREE, head_flits=1 << 33), "cycles of one message"),
        (replace(MULTITREE, router_cycles=(1 << 32) + 3), "router_cycles would be 4294967299; the simulator has numbers up to"),
    ],
)
def test_sizes_beyond_the_counters_are_refused(machine: Machine, reason: str):
    with pytest.raises(UnsupportedError, match=reason):
        on_lanes(lower(RING, 4096, machine), engine="lanes")


def test_a_row_to_a_stranger_does_not_reach_the_core():
    """Node 0 of ring:4 sends to node 2, and both tables agree on it; no link joins them."""
    tables = built("ring:4", "all-reduce", [NO_ROOT], "0+1", size=64)
    far = replace(tables, parent=np.array([2], np.int32), arrival_node=np.array([2], np.int32))
    with pytest.raises(TableFormatError, match="node 0 sends to node 2, and no link joins them"):
        on_lanes(far)


def test_progress_and_interrupt():
    """The core comes back to Python during long runs: progress is told, and an exception raised there ends the run."""
    tables = lower(tree_schedule("ring:5", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=1, seed=4), 1 << 27, MULTITREE)
    seen: list[int] = []

    def interrupt(cycle: int) -> None:
        seen.append(cycle)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        on_lanes(tables, engine="lanes", progress=interrupt)
    assert seen == sorted(set(seen))
    assert len(seen) == 3


def test_trace(tmp_path: Path):
    tables = lower(RING, 4096, MULTITREE)
    result = on_lanes(tables, trace=tmp_path / "t.ndjson")
    lines = [json.loads(line) for line in (tmp_path / "t.ndjson").read_text().splitlines()]
    assert len(lines) == result.messages
    for line in lines:
        row = int(np.searchsorted(tables.node, line["node"])) + line["row"]
        assert line["fired"] == (tables.step[row] + line["iteration"] * RING.period) * tables.slot_cycles
        assert line["first_flit"] == line["fired"]
        flits = 1 + tables.chunk_bytes // 16
        assert line["last_flit_arrived"] == line["fired"] + flits + 158
        assert line["usable"] >= line["last_flit_arrived"]
        targets = tables.parent[row] if tables.op[row] == RowOp.REDUCE else tables.children[row]
        assert line["destination"] in np.atleast_1d(targets)
    assert max(line["usable"] for line in lines) == result.cycles
    with pytest.raises(InputError, match="--force"):
        on_lanes(tables, trace=tmp_path / "t.ndjson")


def test_tables_read_back_run_the_same(tmp_path: Path):
    tables = lower(RING, 4096, MULTITREE)
    export_tables(tables, tmp_path / "t")
    assert on_lanes(read_tables(tmp_path / "t")) == on_lanes(tables)


def test_tables_that_were_read_are_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    checked: list[Tables] = []
    check = table_form.arrival_faults
    monkeypatch.setattr(table_form, "arrival_faults", lambda tables: checked.append(tables) or check(tables))
    export_tables(lower(RING, 4096, MULTITREE), tmp_path / "t")
    checked.clear()
    tables = read_tables(tmp_path / "t")
    assert on_lanes(tables).data_ok
    assert checked == [tables]


def test_the_order_of_links_changes_nothing():
    """A network with its links listed in another order gives the same run."""
    schedule = tree_schedule("torus:3x3", CollectiveKind.ALL_REDUCE, 3, delay=1, repeats=2, seed=9)
    squeezed = replace(schedule, step=schedule.step // 2)
    results: list[Run] = []
    for order in (np.arange(len(schedule.topology.src)), np.random.default_rng(1).permutation(len(schedule.topology.src))):
        columns = {name: getattr(schedule.topology, name)[order] for name in ("src", "dst", "capacity", "latency")}
        results.append(on_lanes(lower(replace(squeezed, topology=replace(schedule.topology, **columns)), 4096, MULTITREE)))
    assert results[0] == results[1]
    assert results[0].contention_cycles > 0


def test_picture(tmp_path: Path):
    """Every event has a named track; a lane has one message at a time, and as many slices as messages pass it."""
    schedule = tree_schedule("fattree:2x3", CollectiveKind.ALL_REDUCE, 3, delay=1, repeats=2, seed=9)
    tables = lower(replace(schedule, step=schedule.step // 2), 4096, MULTITREE)  # with contention
    result = on_lanes(tables, trace=tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text())
    on_lanes(tables, trace=tmp_path / "t.json.gz")
    assert gzip.decompress((tmp_path / "t.json.gz").read_bytes()) == (tmp_path / "t.json").read_bytes()
    assert document.keys() == {"traceEvents", "displayTimeUnit", "otherData"}
    named = {(event["pid"], event["tid"]) for event in document["traceEvents"] if event["name"] == "thread_name"}
    drawn = [event for event in document["traceEvents"] if event["ph"] != "M"]
    assert {(event["pid"], event["tid"]) for event in drawn} <= named
    assert all(event["ph"] in "Xi" and event["ts"] >= 0 for event in drawn)
    assert max(event["ts"] + event.get("dur", 0) for event in drawn) == result.cycles
    flits = 1 + tables.chunk_bytes // 16
    slices = sorted((event["tid"], event["ts"]) for event in drawn if event["pid"] == 1)
    assert len(slices) * flits == result.flit_hops
    assert all(event["dur"] == flits for event in drawn if event["pid"] == 1)
    for (lane, start), (other, after) in pairwise(slices):
        assert lane != other or start + flits <= after
    assert result.contention_cycles > 0
    names = [event["args"]["name"] for event in document["traceEvents"] if event["ph"] == "M"]
    assert {"network interfaces", "links", "node 0", "0>6"} <= set(names)
    fires = [event for event in drawn if "fires" in event["name"]]
    assert len(fires) == len(tables.node) * tables.repeats
