"""Paced tables, model-checked: what is right at any timing keeps its promise, what only slots keep apart breaks it."""

from dataclasses import replace

import numpy as np
import pytest

from certree.extras.tla.check.paced.paced_model import counters_apart, model_check_paced, paced_model
from certree.extras.tla.check.table_constants import untimed_plan_of
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables
from certree.verify.order.agreement import race_of_tables
from tests.cli.running import certree
from tests.hw.counted import blocks, exchanges
from tests.hw.trees import MULTITREE
from tests.specs.test_counted_tables import KEEP, one_shot
from tests.specs.test_fine_tables import demand_of
from tests.verify.build import build

DRAWN = {
    "up and down a line": build("mesh:1x3", "all-reduce", "2+1; 1+0; 0>1; 1>2"),
    "one shot": one_shot(source=1),
    "one shot that sends what it adds to": one_shot(source=0),
    "exchange on a square": exchanges(2, 1, 1, 0, 1),
    "exchange, iterations that overlap": exchanges(2, 1, 2, 0, 9),
    "originals in scratch buffers": KEEP,
    "all-to-all on a ring": blocks("ring:3", CollectiveKind.ALL_TO_ALL, 1, 1, 1, 1),
    "all-to-all on a ring, three iterations": blocks("ring:3", CollectiveKind.ALL_TO_ALL, 1, 2, 3, 1),
}


@pytest.mark.parametrize("schedule", DRAWN.values(), ids=DRAWN)
def test_tlc_agrees_with_the_checker_of_timing(schedule: Schedule) -> None:
    tables = lower(schedule, 256, MULTITREE)
    result = model_check_paced(tables)
    assert result.mode == "exhaustive"
    assert (result.result == "success") == (race_of_tables(tables) is None), result.message


def test_both_kinds_are_among_them() -> None:
    races = {name: race_of_tables(lower(schedule, 256, MULTITREE)) is None for name, schedule in DRAWN.items()}
    assert set(races.values()) == {True, False}


LINE = lower(DRAWN["up and down a line"], 256, MULTITREE)


@pytest.mark.parametrize(
    ("lower_by", "one_order", "kept", "broken"),
    [
        (0, False, "CountersApart", None),
        (1, False, "CountersApart", "CountersApart"),
        (0, True, "ChainsKeepTogether", None),
        (1, True, "ChainsKeepTogether", "ChainsKeepTogether"),
    ],
)
def test_the_bound_on_counters_is_exact(lower_by: int, one_order: bool, kept: str, broken: str | None) -> None:
    """The bound by counters is of all orders of events, that by the chains of waits of one."""
    plan = untimed_plan_of(LINE)
    apart = counters_apart(plan)
    assert apart == 3
    model = paced_model(plan, apart - lower_by, whole=False)
    run = replace(model, chosen=model.chosen if one_order else {}, invariants=(kept,)).run(time_limit=60)
    assert (run.broken or None) == broken


def test_a_node_that_waits_for_nothing_runs_ahead() -> None:
    """A counter that iterations share counts those of the earlier one first (A11): node 0 sends no sum without an operand."""
    members = Collective(CollectiveKind.ALL_REDUCE, members=(0, 1, 2))
    schedule = build("full:4", members, "1+0 2+0; 0>1 0>2", delay=1, period=2, repeats=40)
    result = model_check_paced(lower(schedule, 256, MULTITREE))
    assert result.result == "success"
    assert (
        result.message == "all states, at any timing; the first 3 of 40 iterations; counters of neighbours at most 78 steps apart"
    )


def test_a_demand_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="paced tables: not supported for messages of several sizes"):
        model_check_paced(demand_of(2, 2))


def test_a_row_that_sends_over_no_link_is_found() -> None:
    row = int(np.flatnonzero((LINE.node == 0) & (LINE.parent == -1))[0])
    children = LINE.children.copy()
    children[row, 0] = 2
    result = model_check_paced(replace(LINE, children=children))
    assert (result.result, result.message.partition(":")[0]) == ("safety", "SendsOverLinks")


def _without_wait(tables: Tables) -> Tables:
    """The first row that waits for its child no longer does."""
    row = int(np.flatnonzero((tables.node == 1) & (tables.parent == 0))[0])
    children = tables.children.copy()
    children[row] = -1
    return replace(tables, children=children)


def test_a_row_that_does_not_wait_is_found() -> None:
    result = model_check_paced(_without_wait(LINE))
    assert (result.result, result.message.partition(":")[0]) == ("safety", "EveryArrivalAwaited")


def test_work_cells_that_iterations_share_are_refused() -> None:
    tables = lower(blocks("mesh:1x3", CollectiveKind.GATHER, 1, 3, 9, 2), 256, MULTITREE)
    with pytest.raises(
        UnsupportedError, match=r"node 1 uses a work cell for iteration 0 and for iteration 1 of chunk 0; only slots"
    ):
        model_check_paced(tables)


def test_the_command(tmp_path) -> None:
    certree("synthesize", "ring:3", "--method", "multitree", "--size", "1KiB", "-o", tmp_path / "s.json")
    done = certree("model-check", "schedule", tmp_path / "s.json", "--run", "paced")
    assert done.code == 0
    assert "at any timing; counters of neighbours at most" in done.out
    certree("synthesize", "hypercube:2", "--method", "recursive-doubling", "--size", "1KiB", "-o", tmp_path / "r.json")
    done = certree("model-check", "schedule", tmp_path / "r.json", "--run", "paced")
    assert done.code == 1
    assert "adds a contribution a second time" in done.out
