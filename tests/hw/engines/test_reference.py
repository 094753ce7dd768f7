"""The simulator core on drawn tables: against the closed form, and against the plain reference, whether or not they are right."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from certree.hw.engines.runs import MODES
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.schedule.paths import hops
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables
from tests.drawn import examples, given_at_least
from tests.hw.runs import agree, hasty, machines, mutations, on_lanes, same_in_both, some_clocks, with_latencies
from tests.hw.trees import schedules


@given(with_latencies(schedules(routed=True)), st.integers(1, 20_000), machines())
@examples(80)
def test_slotted_runs_take_exactly_the_closed_form(schedule: Schedule, size: int, machine: Machine):
    tables = lower(schedule, size, machine)
    result = same_in_both(tables)
    assert (result.late, result.contention_cycles, result.data_ok, result.deadlock) == (0, 0, True, ())
    assert result.cycles == result.closed_form_cycles
    assert result.messages == schedule.transfers * schedule.repeats
    flits = machine.head_flits + tables.chunk_bytes // machine.flit_bytes
    assert result.flit_hops == len(hops(schedule)[0]) * schedule.repeats * flits


@given(schedules(), st.integers(1, 2000), machines(routers=0))
@examples(20)
def test_neighbours_need_no_time_in_routers(schedule: Schedule, size: int, machine: Machine):
    tables = lower(schedule, size, machine)
    assert same_in_both(tables).cycles == on_lanes(tables).closed_form_cycles


@given(schedules(routed=True), st.integers(1, 600), machines())
@examples(25)
def test_the_core_agrees_with_the_reference_on_right_tables(schedule: Schedule, size: int, machine: Machine):
    agree(lower(schedule, size, machine), "slotted")


@given(st.data(), hasty(), st.sampled_from(MODES))
@examples(75)
def test_core_and_reference_agree_on_hasty_tables_at_any_clocks(data: st.DataObject, tables: Tables, run: str):
    clocks = data.draw(st.none() | some_clocks(len(tables.topology.kind)))
    agree(tables, run, clocks)


@given_at_least(10, mutations())
@examples(200)
def test_one_wrong_entry_is_refused_or_runs_as_the_reference_runs_it(mutation: tuple[Tables, dict[str, Any]]) -> bool:
    tables, column = mutation
    try:
        wrong = replace(tables, **column)
        on_lanes(wrong)
    except InputError:
        return False
    agree(wrong, "slotted")
    return True


@given(schedules(routed=True), st.integers(1, 20_000), machines())
@examples(40)
def test_paced_runs_end_with_the_right_sums(schedule: Schedule, size: int, machine: Machine):
    result = same_in_both(lower(schedule, size, machine), "paced")
    assert (result.data_ok, result.deadlock, result.late, result.closed_form_cycles) == (True, (), 0, None)
