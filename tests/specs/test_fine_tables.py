"""Tables with fine slots, model-checked: right ones are on time and keep the promise, a row that fires a cycle earlier is late."""

from dataclasses import replace

import numpy as np
import pytest

from certree.extras.tla.check import table_constants
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.table_constants import plan_of
from certree.extras.tla.check.table_model import model_check_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.demand import Demand
from certree.models.fine.rebooking import with_guards
from certree.models.schedule.collective import parse_collective
from certree.models.tables.table_columns import Profile
from certree.models.tables.tables import Tables
from certree.verify.tables.table_checker import verify_tables
from tests.fuzz.forms import FORMS
from tests.hw.counted import exchanges
from tests.hw.trees import MULTITREE
from tests.verify.build import build

RING = build("ring:4", "all-reduce", "3+2; 2+1; 1+0; 0>1 0>3; 1>2")


def fine(schedule) -> Tables:
    """The tables of a schedule in slots of a cycle."""
    return lower(with_guards(schedule, 256, MULTITREE, 0), 256, MULTITREE)


@pytest.mark.parametrize(("schedule", "profile"), [(RING, Profile.TREES), (exchanges(2, 1, 1, 0, 1), Profile.BUFFERS)])
def test_right_tables(schedule, profile):
    tables = fine(schedule)
    assert (tables.profile, tables.fine_slots, tables.slot_cycles) == (profile, True, 1)
    found = model_check_tables(tables)
    assert (found.as_expected, found.mode) == (True, "exhaustive"), found.message


def test_reads_while_a_message_is_under_way():
    """A message of many slots is there for EveryArrivalAwaited a slot after it is sent. What differs is refused: tables in which a
    row reads a cell while something is in flight to it are invalid, so in valid ones all that was sent has landed."""
    tables = fine(exchanges(2, 1, 1, 0, 1))
    assert (tables.step.max(), tables.delay) == (192, 1)
    step, wait = tables.step.copy(), tables.wait.copy()
    step[1], wait[1] = 100, 0
    early = replace(tables, step=step, wait=wait)
    verdict = verify_tables(early)
    assert (
        "reads its chunk while a transfer into it is in flight"
        in {one.message for one in verdict.violations if one.rule == "dependency"}.pop()
    )
    assert model_check_tables(early).message.startswith("EveryArrivalAwaited")


def demand_of(*sizes: int) -> Tables:
    """A block of node 0 for node 1, and one for node 2 that goes by node 1."""
    collective = parse_collective("alltoallv", demand=Demand(((0, 1, sizes[0]), (0, 2, sizes[1]))))
    made = build(
        "mesh:1x3",
        collective,
        "0>1 1:0>1; 1:1>2",
        roots=[0, 0],
        targets=[1, 2],
        chunk_granules=sizes,
        rounds=[sum(sizes), sizes[1]],
    )
    return lower(made, 16 * sum(sizes), MULTITREE)


def test_a_demand():
    """Blocks of one size keep their promise; for several sizes the model has no time."""
    found = model_check_tables(demand_of(2, 2))
    assert (found.as_expected, found.mode) == (True, "exhaustive"), found.message
    with pytest.raises(UnsupportedError, match="model checks: not supported for messages of several sizes"):
        model_check_tables(demand_of(1, 2))


def test_a_cycle_earlier_is_late():
    tables = fine(RING)
    step = tables.step.copy()
    step[np.argmax(step)] -= 1
    found = model_check_tables(replace(tables, step=step))
    assert not found.as_expected
    assert found.message.startswith("NoLateRow")


def different_sums(collective: str, rows: str) -> Tables:
    """Two sums that come together, and one that comes alone: in slots that are just long enough, taken for fine ones."""
    rooted = {"roots": [0], "collective_root": 0} if collective == "reduce" else {}
    return replace(lower(build("full:4", collective, rows, **rooted), 4096, MULTITREE), fine_slots=True)


def test_sums_of_different_times():
    tables = different_sums("reduce", "1+0 2+0; 3+0")
    plan = plan_of(tables)
    assert len(set(plan.sums.values())) == 2
    found = model_check_tables(tables)
    assert (found.as_expected, found.mode) == (True, "exhaustive"), found.message


def test_a_sum_that_takes_longer_is_late(monkeypatch):
    """The times of sums are part of what is checked: a root that passes the result on has to wait for the last of them."""
    tables = different_sums("all-reduce", "3+0; 1+0 2+0; 0>1 0>2 0>3")
    assert model_check_tables(tables).as_expected
    right = plan_of(tables).sums
    monkeypatch.setattr(table_constants, "_sums", lambda _: {message: cycles + 1 for message, cycles in right.items()})
    found = model_check_tables(tables)
    assert (found.as_expected, found.message.startswith("NoLateRow")) == (False, True), found.message


def waiting() -> Tables:
    """Tables with planned waits at routers."""
    made = FORMS["waits"]()
    assert made.made_for is not None
    return lower(made, made.made_for.message_bytes, made.made_for.machine)


def test_planned_waits():
    """Messages wait as long as planned, and no other."""
    tables = waiting()
    assert tables.waits is not None
    found = model_check_tables(tables)
    assert (found.as_expected, found.mode) == (True, "exhaustive"), found.message
    assert _with_waits(tables, tuple((0,) * len(waits) for waits in tables.waits)).message.startswith("NoBusyPort")


@pytest.mark.parametrize("more", [-1, 1])
def test_waits_of_a_cycle_less_or_more(more):
    tables = waiting()
    longest = max((wait, route, at) for route, waits in enumerate(tables.waits) for at, wait in enumerate(waits))
    changed = [list(waits) for waits in tables.waits]
    changed[longest[1]][longest[2]] += more
    found = _with_waits(tables, tuple(map(tuple, changed)))
    assert found.message.startswith("NoBusyPort"), found.message


def _with_waits(tables: Tables, waits: tuple[tuple[int, ...], ...]) -> ModelResult:
    """The check where other waits are stated of the same rows."""
    plan = replace(plan_of(tables), tables=replace(tables, waits=waits))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("certree.extras.tla.check.table_model.plan_of", lambda _: plan)
        return model_check_tables(tables)
