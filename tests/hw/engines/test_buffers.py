"""Schedules with scratch buffers as tables: local rows, the copy unit, cells that iterations reuse, in every engine."""

from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import certree.api as ct
from certree.hw.run import run
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import TableFormatError, UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.paths import copies_before
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import slot_timing
from certree.models.tables.table_columns import ARRIVAL_COLUMNS, ROW_COLUMNS, Profile
from certree.verify.checker import verify_schedule
from certree.verify.tables.table_checker import verify_tables
from tests.drawn import examples, given_at_least, rngs
from tests.hw.runs import agree, machines, on_lanes, on_routers, same_in_both
from tests.hw.trees import MULTITREE
from tests.verify.build import COPY, REDUCE, build
from tests.verify.moved import drawn


def repeating(rng: Random, schedule: Schedule) -> Schedule | None:
    """The schedule in several iterations, if links allow it."""
    found = replace(schedule, period=rng.randint(1, schedule.steps + 2), repeats=rng.randint(1, 5))
    return found if verify_schedule(found).valid else None


@given_at_least(60, rngs, st.integers(1, 5000), machines())
@examples(150)
def test_slotted_runs_take_exactly_the_closed_form(rng: Random, size: int, machine: Machine) -> bool:
    schedule = drawn(rng)
    schedule = repeating(rng, schedule) or schedule
    tables = lower(schedule, size, machine)
    assert tables.profile is Profile.BUFFERS
    verdict = verify_tables(tables)
    assert verdict.valid, verdict.violations
    result = same_in_both(tables)
    assert (result.late, result.contention_cycles, result.data_ok, result.deadlock) == (0, 0, True, ())
    assert result.cycles == result.closed_form_cycles
    assert result.messages == schedule.transfers * schedule.repeats
    return schedule.repeats > 1


@given(rngs, st.integers(1, 200), machines(), st.integers(1, 4))
@examples(40)
def test_the_core_agrees_with_the_reference(rng: Random, size: int, machine: Machine, hurry: int) -> None:
    schedule = drawn(rng)
    tables = lower(repeating(rng, schedule) or schedule, size, machine)
    agree(replace(tables, slot_cycles=max(1, tables.slot_cycles // hurry)), "slotted")


@given(rngs, st.sampled_from(["readmemh", "json"]))
@examples(30)
def test_what_is_exported_is_read_back(rng: Random, encoding: str) -> None:
    tables = lower(drawn(rng), 4096, MULTITREE)
    with TemporaryDirectory() as folder:
        export_tables(tables, Path(folder) / "t", encoding)
        back = read_tables(Path(folder) / "t")
    assert back.schedule.digest == tables.schedule_digest
    assert back.buffers == tables.buffers
    for name in (*ROW_COLUMNS, *ARRIVAL_COLUMNS):
        ours, theirs = getattr(tables, name), getattr(back, name)
        assert np.array_equal(ours[:, : theirs.shape[1]] if name == "children" else ours, theirs), name


def one_shot(nodes: int) -> Schedule:
    """Each endpoint keeps its original in buffer 1, then sends it to all others, which add it: two steps."""
    keep = [(0, COPY, 0, node, node) for node in range(nodes)]
    send = [(0, REDUCE, 1, node, other) for node in range(nodes) for other in range(nodes) if node != other]
    source = [0] * nodes + [1] * len(send)
    into = [1] * nodes + [0] * len(send)
    return build(f"full:{nodes}", "all-reduce", keep + send, buffers=2, src_buffer=source, dst_buffer=into)


@pytest.mark.parametrize("engine", ["fast", "lanes", "flit"])
def test_one_shot_all_reduce(engine: str) -> None:
    """64 bytes: 5 flits; a slot is 5 + 158 and three sums of 16 cycles each, and the last slot as long as its sums."""
    tables = lower(one_shot(4), 64, MULTITREE)
    timing = slot_timing(tables.schedule, 64, MULTITREE)
    assert (timing.ser, timing.lat, timing.slot_cycles) == (5, 158, 5 + 158 + timing.red)
    result = on_routers(tables) if engine == "flit" else on_lanes(tables, engine=engine)
    assert (result.cycles, result.late, result.contention_cycles, result.data_ok) == (2 * timing.slot_cycles, 0, 0, True)
    assert run(tables).cycles == result.closed_form_cycles


def test_rows_by_hand() -> None:
    """Node 0: a local row, then one row for three neighbours; two cells, with a work cell behind the data."""
    tables = lower(one_shot(4), 64, MULTITREE)
    rows = np.flatnonzero(tables.node == 0)
    names = ("op", "wait", "src_buffer", "dst_buffer", "step", "addr")
    assert [[int(getattr(tables, name)[row]) for name in names] for row in rows] == [[2, 0, 0, 1, 0, 0], [1, 1, 1, 0, 1, 4]]
    assert tables.children[rows].tolist() == [[0, -1, -1], [1, 2, 3]]
    lines = np.flatnonzero(tables.arrival_node == 0)
    arrivals = (tables.arrival_buffer, tables.arrival_count, tables.arrival_addr)
    assert [[int(column[line]) for column in arrivals] for line in lines] == [[0, 3, 0], [1, 1, 4]]


def test_the_copy_unit_takes_one_message_after_the_other() -> None:
    """Three local copies in one slot: the slot is at least three serializations long, and the last of them waits for two."""
    rows = [(0, COPY, 0, 0, 0)] * 3 + [(0, REDUCE, 1, 1, 0), (0, COPY, 2, 0, 1)]
    schedule = build("full:2", "all-reduce", rows, buffers=4, src_buffer=[0] * 5, dst_buffer=[1, 2, 3, 0, 0])
    assert verify_schedule(schedule).valid
    machine = replace(MULTITREE, link_latency_cycles=0, router_cycles=1, ni_cycles=0)
    timing = slot_timing(schedule, 1 << 12, machine)
    assert (timing.ser, timing.lat) == (257, 514)
    assert timing.slot_cycles >= 3 * 257
    assert copies_before(schedule, np.array([0]))[0].tolist() == [0, 1, 2, 0, 0]
    result = same_in_both(lower(schedule, 1 << 12, machine))
    assert (result.cycles, result.late, result.data_ok) == (result.closed_form_cycles, 0, True)


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [("addr", 1, "has address 1; needed: 0"), ("children", [0, 1, -1], "sends to its own node and elsewhere")],
)
def test_wrong_rows_are_refused(column: str, value: object, reason: str) -> None:
    tables = lower(one_shot(4), 64, MULTITREE)
    changed = getattr(tables, column).copy()
    changed[0] = value
    with pytest.raises(TableFormatError, match=reason):
        run(replace(tables, **{column: changed}))


def test_an_original_that_is_overwritten_cannot_be_paced() -> None:
    with pytest.raises(UnsupportedError, match="receives it later; only slots keep the two apart"):
        on_lanes(lower(one_shot(4), 64, MULTITREE), "paced")


@pytest.mark.parametrize("network", ["ring:4", "mesh:2x3"])
def test_messages_over_several_links_next_to_copies_within_nodes(network: str) -> None:
    """Lanes took no message to go on by another lane where the copies, over no lane, were as many as the further hops."""
    made = ct.synthesize(network, method="one-shot", size="4KiB")
    lanes, fast = (ct.simulate(made, engine=engine) for engine in ("lanes", "fast"))
    assert (lanes.cycles, lanes.flit_hops, lanes.data_ok) == (fast.cycles, fast.flit_hops, True)
