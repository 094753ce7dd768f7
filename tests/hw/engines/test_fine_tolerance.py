"""Clocks that differ by as much as fine slots tolerate, and by a cycle more; and slots that are booked anew with guards."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from certree.hw.engines.runs import Options, Run
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.fine.fine_tolerance import drift_tolerance, skew_tolerance, tolerates
from certree.models.fine.rebooking import fitted, rebooked, with_guards
from certree.models.fine.slots import fine_times
from certree.models.machine.clocks import Clocks
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from tests.drawn import examples, given_at_least, rngs
from tests.end_to_end.by_hand.test_fine_slots import one_shot, swing_in_fine_slots
from tests.hw.counted import exchanges
from tests.hw.fine import into_one, without_waits
from tests.hw.trees import MULTITREE
from tests.models.test_fine_slots import MADE


def ran(schedule: Schedule, skew: dict[int, int] | list[int], drift: Fraction = Fraction(0)) -> Run:
    """A run whose counters start that late."""
    nodes = len(schedule.topology.kind)
    skews = [skew.get(node, 0) for node in range(nodes)] if isinstance(skew, dict) else skew
    tables = lower(schedule, schedule.made_for.message_bytes, schedule.made_for.machine)
    clocks = Clocks(tuple(skews), tuple(drift * (1 - 2 * (node % 2)) for node in range(nodes)))
    return run(tables, Options(engine="fast", without_routers=True, clocks=clocks))


def is_right(done: Run) -> bool:
    return done.data_ok and not done.late and not done.contention_cycles


@given_at_least(8, rngs)
@examples(40)
def test_any_clocks_within_the_tolerance(rng: Random) -> bool:
    schedule = without_waits(rng)
    if schedule is None:
        return False
    skew, drift = skew_tolerance(schedule), drift_tolerance(schedule)
    assert tolerates(schedule, skew)
    for _ in range(3):
        assert is_right(ran(schedule, [rng.choice((0, skew, rng.randint(0, skew))) for _ in schedule.topology.kind]))
    assert is_right(ran(schedule, {}, drift.limit_denominator(1 << 20) if drift else drift))
    return True


@given_at_least(5, rngs)
@examples(40)
def test_slots_booked_anew(rng: Random) -> bool:
    """At another size, or with guards: valid, with the guards asked for, right with clocks as far apart."""
    schedule = without_waits(rng)
    if schedule is None or schedule.repeats > 1:
        return False
    made_for = schedule.made_for
    longer = rebooked(schedule, made_for.message_bytes * rng.randint(2, 9), made_for.machine)
    assert verify_schedule(longer).valid
    assert is_right(ran(longer, {}))
    skew = rng.randint(1, 8)
    guarded = rebooked(schedule, made_for.message_bytes, made_for.machine, skew)
    assert verify_schedule(guarded).valid
    assert tolerates(guarded, skew)
    assert is_right(ran(guarded, [rng.choice((0, skew)) for _ in schedule.topology.kind]))
    return True


@pytest.mark.parametrize("skew", [1, 5, 40])
def test_a_cycle_more_is_caught(skew: int) -> None:
    """Swing with guards: a node that starts later than they allow makes others late."""
    guarded = with_guards(swing_in_fine_slots(4, 1024), 1024, MULTITREE, skew)
    assert skew_tolerance(guarded) == skew
    runs = [[ran(guarded, {node: apart}) for node in (0, 5)] for apart in (skew, skew + 1)]
    assert all(map(is_right, runs[0]))
    assert not all(map(is_right, runs[1]))


def test_guards_of_links() -> None:
    """Messages of two nodes that follow each other without a gap over a link of a switch."""
    made = one_shot(4, 1024)
    assert skew_tolerance(made) == 0
    assert ran(made, {1: 1}).contention_cycles > 0
    guarded = with_guards(made, 1024, MULTITREE, 25)
    assert (skew_tolerance(guarded), fine_times(guarded).cycles - fine_times(made).cycles) == (25, 50)


def test_equal_slots_get_guards() -> None:
    """A schedule with equal slots, once in slots of a cycle, and, where it repeats, in slots that are longer."""
    once, often = exchanges(2, 2, 1, 0, 1), exchanges(2, 2, 1, 1, 3)
    for schedule in (once, often):
        guarded = with_guards(schedule, 4096, MULTITREE, 30)
        assert verify_schedule(guarded).valid
        assert skew_tolerance(guarded) >= 30
        assert is_right(ran(guarded, {2: 30, 3: 11}))
    assert with_guards(once, 4096, MULTITREE, 30).slot_cycles == 1


def test_what_tolerates_nothing() -> None:
    waiting = next(made for made in map(into_one, map(Random, range(9))) if made.waits is not None)
    assert (skew_tolerance(waiting), tolerates(waiting, 1)) == (0, False)
    with pytest.raises(UnsupportedError, match="a message takes 415 cycles, no more than the 415 by which counters may differ"):
        rebooked(MADE, 4096, MULTITREE, 415)
    repeating = replace(MADE, period=900, repeats=2)
    with pytest.raises(UnsupportedError, match="a schedule that repeats are not booked anew"):
        rebooked(repeating, 4096, MULTITREE)
    assert fitted(repeating, 8192, MULTITREE).slot_cycles is None
