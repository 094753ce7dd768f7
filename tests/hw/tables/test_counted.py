"""Rows that wait for numbers of arrivals, in `blocks` and `buffers`: by hand, to files and back, and in every engine."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.hw.engines.runs import MODES
from certree.hw.formats import load_formats
from certree.hw.formats.bit_layout import Widths
from certree.hw.run import run
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import TableFormatError, UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.tables.table_columns import ARRIVAL_COLUMNS, NIL, ROW_COLUMNS, Profile, RowOp
from certree.models.tables.table_memory import Layout, layout
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from certree.verify.tables.table_checker import verify_tables
from tests.drawn import examples
from tests.hw.counted import blocks, counted_schedules, exchanges
from tests.hw.made import made, with_rows
from tests.hw.runs import agree, machines, on_lanes, on_routers, same_in_both, some_clocks
from tests.hw.trees import MULTITREE
from tests.verify.build import COPY, REDUCE, build

ALL_TO_ALL = CollectiveKind.ALL_TO_ALL


def rows_of(tables: Tables, node: int) -> list[tuple[str, int, int, list[int], int, int]]:
    return [
        (
            RowOp(tables.op[row]).name,
            int(tables.flow[row]),
            int(tables.wait[row]),
            [child for child in tables.children[row].tolist() if child != NIL],
            int(tables.step[row]),
            int(tables.addr[row]),
        )
        for row in np.flatnonzero(tables.node == node)
    ]


def arrivals_of(tables: Tables, node: int) -> list[tuple[int, int, int]]:
    lines = np.flatnonzero(tables.arrival_node == node)
    columns = (tables.arrival_flow, tables.arrival_count, tables.arrival_addr)
    return [tuple(int(column[line]) for column in columns) for line in lines]  # type: ignore[misc]


def test_recursive_doubling_by_hand():
    """Two chunks of 2 granules on a square: a row waits for as many sums as have landed."""
    tables = lower(exchanges(2, 2, 1, 0, 1), 64, MULTITREE)
    assert (tables.profile, tables.in_flight, tables.chunk_root) == (Profile.BUFFERS, 1, None)
    assert rows_of(tables, 0) == [
        ("REDUCE", 0, 0, [1], 0, 0),
        ("REDUCE", 0, 1, [2], 1, 0),
        ("REDUCE", 1, 0, [1], 1, 2),
        ("REDUCE", 1, 1, [2], 2, 2),
    ]
    assert arrivals_of(tables, 0) == [(0, 2, 0), (1, 2, 2)]


def test_blocks_by_hand():
    """Scatter from node 0 of a line, a chunk of 4 granules for each: node 1 passes on what is for node 2, from a transit cell."""
    schedule = build("mesh:1x3", "scatter", "1:0>1; 0:0>1; 1:1>2", roots=[0, 0], targets=[1, 2], collective_root=0)
    assert verify_schedule(schedule).valid
    tables = lower(schedule, 192, MULTITREE)
    assert layout(tables) == Layout(stride=4, work_base=24, work_stride=4, in_flight=1)
    assert rows_of(tables, 0) == [("GATHER", 1, 0, [1], 0, 8), ("GATHER", 0, 0, [1], 1, 4)]
    assert rows_of(tables, 1) == [("GATHER", 1, 1, [2], 2, 24)]
    assert [arrivals_of(tables, node) for node in range(3)] == [[], [(0, 1, 12), (1, 1, 24)], [(1, 1, 12)]]


@given(counted_schedules(), st.integers(1, 10**6), st.sampled_from(list(load_formats())))
@examples(60)
def test_what_is_exported_is_read_back_and_valid(schedule: Schedule, size: int, encoding: str):
    assert verify_schedule(schedule).valid
    tables = lower(schedule, size, MULTITREE)
    assert tables.profile is (Profile.BLOCKS if schedule.collective.has_targets else Profile.BUFFERS)
    verdict = verify_tables(tables)
    assert verdict.valid, verdict.violations
    with TemporaryDirectory() as folder:
        export_tables(tables, Path(folder) / "t", encoding)
        back = read_tables(Path(folder) / "t")
    assert back.schedule.digest == schedule.digest == tables.schedule_digest
    for name in (*ROW_COLUMNS, *ARRIVAL_COLUMNS):
        ours, theirs = getattr(tables, name), getattr(back, name)
        assert ours.dtype == theirs.dtype, name
        assert np.array_equal(ours[:, : theirs.shape[1]] if name == "children" else ours, theirs), name
    for name in ("profile", "buffers", "in_flight", "delay", "period", "repeats", "slot_cycles", "collective"):
        assert getattr(back, name) == getattr(tables, name)


@given(counted_schedules(), st.integers(1, 20_000), machines())
@examples(40)
def test_slotted_runs_take_exactly_the_closed_form(schedule: Schedule, size: int, machine: Machine):
    result = same_in_both(lower(schedule, size, machine))
    assert (result.late, result.contention_cycles, result.data_ok, result.deadlock) == (0, 0, True, ())
    assert result.cycles == result.closed_form_cycles
    assert result.messages == schedule.transfers * schedule.repeats


@given(counted_schedules(), st.integers(1, 300), machines(), st.sampled_from(MODES), st.data())
@examples(40)
def test_the_core_agrees_with_the_reference(schedule: Schedule, size: int, machine: Machine, mode: str, data: st.DataObject):
    """Also with slots that are too short and clocks that upset everything: rows are late, and sums may be wrong."""
    tables = lower(schedule, size, machine)
    tables = replace(tables, slot_cycles=max(1, tables.slot_cycles // data.draw(st.integers(1, 5))))
    clocks = data.draw(st.none() | some_clocks(len(tables.topology.kind)))
    if mode == "paced" and (tables.repeats > 1 or tables.profile is Profile.BUFFERS):
        mode = "slotted"
    agree(tables, mode, clocks)


@pytest.mark.parametrize(
    ("method", "spec", "collective", "cycles"),
    [
        ("recursive-doubling", "switch:8", "all-reduce", 14_763),
        ("ring-2d", "torus:3x3", "all-reduce", 5_359),
        ("tree-all-to-all", "mesh:3x3", "all-to-all", 7_927),
        ("flows", "torus:3x3", "all-to-all", 1_532),
    ],
)
def test_cycles_are_those_of_the_transfers(method: str, spec: str, collective: str, cycles: int):
    """The cycles are those of the simulator before these schedules had tables."""
    tables = lower(made(method, spec, 1 << 16, collective=collective), 1 << 16, MULTITREE)
    for result in (same_in_both(tables), on_routers(tables), run(tables)):
        assert (result.cycles, result.contention_cycles, result.late, result.data_ok) == (cycles, 0, 0, True)


def test_iterations_reuse_cells():
    """Node 1 passes a chunk on five slots after it was sent, while iterations begin every two: W is 3, and 2 is wrong."""
    owners = {"roots": [0, 0], "targets": [1, 2], "collective_root": 0}
    schedule = build("mesh:1x3", "scatter", "1:0>1; 0:0>1;;;; 1:1>2", period=2, repeats=7, **owners)  # type: ignore[arg-type]
    tables = lower(schedule, 4096, MULTITREE)
    assert tables.in_flight == 3
    assert verify_tables(tables).valid
    assert on_lanes(tables).data_ok
    short = replace(tables, in_flight=2)
    assert {violation.rule for violation in verify_tables(short).violations} == {"memory"}
    assert not on_lanes(short).data_ok


def test_late_rows_of_buffers_are_wrong_and_reported():
    tables = lower(exchanges(2, 1, 1, 0, 1), 4096, MULTITREE)
    skew = on_lanes(tables, clocks=None)
    assert skew.data_ok
    result = on_lanes(replace(tables, slot_cycles=100))
    assert result.late > 0


def test_blocks_are_right_at_any_timing():
    for slot in (1, 7, 100):
        tables = lower(blocks("mesh:2x3", ALL_TO_ALL, 1, 1, 3, 5), 4096, MULTITREE)
        result = on_lanes(replace(tables, slot_cycles=slot))
        assert result.late > 0
        assert result.data_ok


@pytest.mark.parametrize("mode", ["slotted", "paced"])
def test_reduces_in_a_circle_are_no_trees(mode):
    """Node 0 sends what it has before the sum from node 1 has come: rows of trees would wait for each other."""
    rows = [(0, REDUCE, 0, 2, 1), (0, REDUCE, 1, 1, 0), (0, REDUCE, 1, 0, 2), (0, COPY, 2, 0, 1), (0, COPY, 3, 1, 2)]
    schedule = build("full:3", "all-reduce", rows)
    assert verify_schedule(schedule).valid
    tables = lower(schedule, 64, MULTITREE)
    assert tables.profile is Profile.BUFFERS
    if mode == "slotted":
        assert on_lanes(tables, mode).data_ok
    else:
        with pytest.raises(UnsupportedError, match="receives it later"):
            on_lanes(tables, mode)


def test_rows_that_do_not_wait_for_everything_cannot_be_paced():
    with pytest.raises(
        UnsupportedError, match="node 0 sends chunk 0 in step 0 and receives it later; only slots keep the two apart"
    ):
        on_lanes(lower(exchanges(2, 1, 1, 0, 1), 64, MULTITREE), "paced")


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        (
            build("full:2", "all-reduce", "1+0; 0+1", delay=2),
            "node 0 sends chunk 0 in step 1 while a transfer into it is in flight",
        ),
        (
            build("full:3", "all-reduce", "1>0; 2+0; 0+1; 2+1", delay=2),
            "a copy and another transfer of chunk 0 are in flight to node 0 at once",
        ),
        (
            build("full:3", "gather", "0:1>2 0:1>0; 0:2>0", roots=[1, 2], targets=[0, 0], collective_root=0),
            "chunk 0 leaves node 1 twice; tables of blocks have one path for each chunk",
        ),
        (
            build("full:3", "gather", "0:1>2; 0:2>0; 0:0>1", roots=[1, 2], targets=[0, 0], collective_root=0),
            "chunk 0 comes back to its source, node 1",
        ),
    ],
)
def test_what_has_no_tables(schedule: Schedule, reason: str):
    with pytest.raises(UnsupportedError, match=reason):
        lower(schedule, 64, MULTITREE)


BLOCKS = lower(blocks("mesh:1x3", ALL_TO_ALL, 1, 1, 1, 1), 4096, MULTITREE)
SUMS = lower(exchanges(2, 1, 1, 0, 1), 4096, MULTITREE)


@pytest.mark.parametrize(
    ("tables", "fields", "reason"),
    [
        (BLOCKS, {"profile": "trees"}, "profile is trees in version 2, without an epoch or fine slots"),
        (BLOCKS, {"profile": "buffers"}, "profile buffers: not for all-to-all"),
        (SUMS, {"profile": "blocks"}, "profile blocks: not for all-reduce"),
        (SUMS, {"in_flight": 2}, "in_flight is 2; allowed: whole numbers from 1 to 1"),
        (SUMS, {"buffers": 0}, "buffers is 0"),
        (SUMS, {"stride": 5}, "stride is 5; the rows imply 256"),
        (BLOCKS, {"work_base": 1}, r"work_base is 1; the rows imply \d+"),
        (BLOCKS, {"chunk_target": None}, "chunk_target is missing in tables of blocks of all-to-all"),
        (BLOCKS, {"chunk_root": [0]}, "chunk_root has 1 rows; there are 6 chunks"),
        (SUMS, {"chunk_root": [0]}, "chunk_root is given in tables of buffers of all-reduce"),
        (SUMS, {"version": 1}, "unknown field"),
    ],
)
def test_manifests_that_contradict_themselves(tables: Tables, fields: dict[str, object], reason: str, tmp_path: Path):
    export_tables(tables, tmp_path / "t")
    path = tmp_path / "t" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    with pytest.raises(TableFormatError, match=reason):
        read_tables(tmp_path / "t")


def test_manifests_of_trees_keep_their_version(tmp_path: Path):
    """P1: no field of version 2 in tables of trees."""
    tables = lower(made("multitree", "mesh:2x2", 4096), 4096, MULTITREE)
    export_tables(tables, tmp_path / "t")
    manifest = json.loads((tmp_path / "t" / "manifest.json").read_text())
    assert manifest["version"] == 1
    assert "profile" not in manifest
    assert set(manifest["widths"]) == {"flow", "node", "children", "step", "addr", "size", "route", "port", "hops"}


def test_bits_of_rows_and_arrivals():
    """F1, and the table of costs: n = 3, f = 1, s = 2, a = 8, z = 9, r = 1."""
    widths = Widths.of(SUMS)
    assert [(field.name, field.bits) for field in widths.row()] == [
        ("op", 2), ("flow", 1), ("wait", 1), ("children[0]", 3), ("step", 1), ("addr", 1), ("size", 9), ("route", 1),
    ]  # fmt: skip
    assert [(field.name, field.bits) for field in widths.arrival()] == [("flow", 1), ("count", 2), ("addr", 1)]


def test_rows_in_another_order_are_refused():
    with pytest.raises(TableFormatError, match="rows are sorted by step"):
        run(with_rows(SUMS, [1, 0, *range(2, len(SUMS.node))]))
