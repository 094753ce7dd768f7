"""Slots that tolerate skew and drift: at the bound nothing is ever late, and without it something is."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.machine.clocks import Clocks
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.schedule.timing import ceil_div, slot_timing
from certree.models.schedule.tolerance import tolerant_slot
from tests.drawn import examples
from tests.hw.runs import machines, on_lanes, with_latencies
from tests.hw.trees import MULTITREE, schedules, tree_schedule
from tests.models.examples import schedule as by_hand
from tests.transfers import transfers


@given(st.data(), with_latencies(schedules(routed=True)), st.integers(1, 4000), machines())
@examples(50)
def test_no_row_is_late_at_the_bound(data: st.DataObject, schedule: Schedule, size: int, machine: Machine):
    """Every node has an extreme clock: it starts at once or as late as allowed, and drifts all it may either way."""
    skew = data.draw(st.integers(0, 500))
    drift = Fraction(1, data.draw(st.integers(8, 40)) * schedule.total_steps)
    tables = lower(schedule, size, machine)
    slot = tolerant_slot(schedule, size, machine, skew=skew, drift=drift)
    nodes = len(schedule.topology.kind)
    skews = data.draw(st.lists(st.sampled_from([0, skew]), min_size=nodes, max_size=nodes))
    drifts = data.draw(st.lists(st.sampled_from([-drift, Fraction(0), drift]), min_size=nodes, max_size=nodes))
    result = on_lanes(replace(tables, slot_cycles=slot), clocks=Clocks(tuple(skews), tuple(drifts)))
    assert (result.late, result.contention_cycles, result.data_ok) == (0, 0, True)


CHAIN = tree_schedule("full:2", CollectiveKind.ALL_REDUCE, 1, delay=1, repeats=1, seed=4)


def test_without_skew_and_drift_the_slot_needs_one_cycle_more():
    """The cycle for rounding; the formula is otherwise that of the slot."""
    assert tolerant_slot(CHAIN, 4096, MULTITREE, skew=0, drift=Fraction(0)) == slot_timing(CHAIN, 4096, MULTITREE).slot_cycles + 1


def test_skew_is_added_to_a_slot_of_delay_one_and_is_needed():
    """A source that starts 100 cycles late needs 100 cycles of slot; with one fewer its dependant is late."""
    slot = slot_timing(CHAIN, 4096, MULTITREE).slot_cycles
    tables = lower(CHAIN, 4096, MULTITREE)
    assert tolerant_slot(CHAIN, 4096, MULTITREE, skew=100, drift=Fraction(0)) == slot + 101
    leaf = int(CHAIN.src[0])
    clocks = Clocks(tuple(100 * (node == leaf) for node in range(2)), (Fraction(0),) * 2)
    assert on_lanes(replace(tables, slot_cycles=slot + 100), clocks=clocks).late == 0
    assert on_lanes(replace(tables, slot_cycles=slot + 99), clocks=clocks).late > 0


def test_a_drift_that_no_slot_survives_is_bad_input():
    with pytest.raises(InputError, match="a drift of 1/3 moves clocks apart by more than a slot"):
        tolerant_slot(CHAIN, 4096, MULTITREE, skew=0, drift=Fraction(1, 3))
    with pytest.raises(InputError, match="skew -1, drift 0; allowed"):
        tolerant_slot(CHAIN, 4096, MULTITREE, skew=-1, drift=Fraction(0))


# Two nodes that reduce into each other and gather: sums of slot k are used in slot k + delay, the last of them in the last slot.
def to_and_fro(delay: int, repeats: int) -> Schedule:
    rows = transfers("0:1+0 1:0+1") + transfers("0:0>1 1:1>0", later=delay)
    fields = {"delay": delay, "period": delay + 1, "repeats": repeats}
    return by_hand("full:2", "all-reduce", [NO_ROOT] * 2, rows, **fields)


def late_rows(schedule: Schedule, slot: int, skew: int, drift: int) -> int:
    """Rows that are late in the worst of all runs with extreme clocks; `drift` is in cycles a slot."""
    tables = replace(lower(schedule, 4096, MULTITREE), slot_cycles=slot)
    rates = (Fraction(-drift, slot), Fraction(drift, slot))
    clocks = [Clocks(starts, drifts) for starts in product((0, skew), repeat=2) for drifts in product(rates, repeat=2)]
    return max(on_lanes(tables, clocks=one).late for one in clocks)


@pytest.mark.parametrize(("delay", "repeats", "skew", "drift"), [(1, 3, 7, 2), (1, 9, 100, 5), (2, 4, 31, 3), (3, 5, 12, 1)])
def test_the_bound_is_exact_for_the_last_slot_that_is_waited_for(delay: int, repeats: int, skew: int, drift: int):
    """d·(T - δ) = ser + lat + red + s + 2·δ·k holds, and a cycle more of skew or drift, or a cycle less of slot, makes a row late.

    As MCNILockstepPairDrift and its mutants in specs/models.toml, which TLC checks.
    """
    schedule = to_and_fro(delay, repeats)
    timing = slot_timing(schedule, 4096, MULTITREE)
    last = (repeats - 1) * (delay + 1)
    needed = timing.ser + timing.lat + timing.red + skew + 2 * drift * last
    slot = ceil_div(needed, delay) + drift
    skew += delay * (slot - drift) - needed  # what is left by rounding up is skew that the slot tolerates, too
    assert slot < tolerant_slot(schedule, 4096, MULTITREE, skew=skew, drift=Fraction(drift, slot))
    assert late_rows(schedule, slot, skew, drift) == 0
    assert late_rows(schedule, slot, skew + 1, drift) > 0
    assert late_rows(schedule, slot, skew, drift + 1) > 0
    assert late_rows(schedule, slot - 1, skew, drift) > 0
