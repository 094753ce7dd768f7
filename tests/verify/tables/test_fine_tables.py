"""Tables with fine slots: whatever moves in time is rejected, by the rule that names it."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from certree.hw.tables.lowering import lower
from certree.models.tables.tables import Tables
from certree.verify.tables.table_checker import verify_tables
from tests.drawn import examples, given_at_least, rngs
from tests.end_to_end.by_hand.test_fine_slots import one_shot, swing_in_fine_slots
from tests.hw.fine import into_one, without_waits
from tests.models.test_fine_slots import ROUTED
from tests.verify.build import build
from tests.verify.fine_moved import MACHINE
from tests.verify.tables.test_table_check import changed, rules


def lowered(schedule: Any) -> Tables:
    return lower(schedule, schedule.made_for.message_bytes, schedule.made_for.machine)


SWING, SHOT = lowered(swing_in_fine_slots(4, 256)), lowered(one_shot(4, 256))
WAITS = lowered(next(made for made in map(into_one, map(Random, range(99))) if made.waits is not None and made.transfers > 3))
#: on a full link: one message of 2 cycles every 2 cycles
OFTEN = lowered(
    build(
        "full:2", "broadcast", "0>1; ", collective_root=0, period=2, repeats=9, slot_cycles=1,
        made_for=replace(ROUTED.made_for, message_bytes=9 * MACHINE.flit_bytes, machine=MACHINE),
    )
)  # fmt: skip


def last(tables: Tables) -> int:
    """A row of the last slot."""
    return int(np.argmax(tables.step))


FAULTS: dict[str, tuple[Tables, Callable[[Tables], Tables], set[str]]] = {
    "what it sends has not landed": (SWING, lambda t: changed(t, "step", last(t), t.step.max() - 1), {"in-flight"}),
    "counts what is in flight": (SWING, lambda t: changed(t, "step", last(t), t.step.max() - 1), {"dependency"}),
    "waits for one less": (SWING, lambda t: changed(t, "wait", last(t), t.wait[last(t)] - 1), {"dependency"}),
    "meets another message": (SHOT, lambda t: changed(t, "step", last(t), t.step.max() - 1), {"reserved", "digest"}),
    "meets the next period": (OFTEN, lambda t: replace(t, period=1), {"reserved", "digest"}),
    "waits longer than routers let it": (WAITS, lambda t: replace(t, waits=longer(t)), {"forwarding", "digest"}),
    "waits for nothing": (WAITS, lambda t: replace(t, waits=None), {"reserved", "digest"}),
    "slots of two cycles": (SWING, lambda t: replace(t, slot_cycles=2), {"digest"}),
    "slots that are as long as a message": (SWING, lambda t: replace(t, fine_slots=False), {"slot", "digest"}),
    "a longer message": (SHOT, lambda t: replace(t, message_bytes=1 << 20), {"size", "reserved"}),
}  # fmt: skip


def longer(tables: Tables) -> tuple[tuple[int, ...], ...]:
    """Another cycle for the message that enters last."""
    assert tables.waits is not None
    enters = {int(route): int(step) + tables.waits[route][0] for route, step in zip(tables.route, tables.step, strict=True)}
    latest = max(enters, key=enters.__getitem__)
    return tuple((wait + (route == latest),) for route, (wait,) in enumerate(tables.waits))


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_rule(fault: str) -> None:
    tables, change, expected = FAULTS[fault]
    assert verify_tables(tables).valid
    assert expected <= rules(change(tables)), verify_tables(change(tables)).violations


@given_at_least(10, rngs)
@examples(60)
def test_a_row_moved_is_rejected(rng: Random) -> bool:
    """A moved row is rejected by its digest at least, whether or not the schedule would be valid."""
    schedule = without_waits(rng)
    if schedule is None:
        return False
    tables = lowered(schedule)
    row = rng.randrange(len(tables.node))
    step = max(0, int(tables.step[row]) + rng.choice((-3, -2, -1, 1, 2)))
    other = changed(tables, "step", row, step)
    assert verify_tables(other).valid == (step == tables.step[row])
    return step != int(tables.step[row])
