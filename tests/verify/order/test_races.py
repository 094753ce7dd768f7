"""Schedules that are right at any timing: against all runs of small ones, and whether hand-made ones rely on slots."""

from random import Random
from typing import Any

import numpy as np
import pytest

from certree.models.fine.slots import landing_steps
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.verify._proofs import known_units
from certree.verify.order import races
from certree.verify.order.races import race_of
from tests.synth.execution import make
from tests.verify.build import COPY, REDUCE, build
from tests.verify.fine_moved import MACHINE
from tests.verify.order.interleavings import Transfer, at_any_time, drawn, in_slots, next_steps

DRAWS = 400
NODES, BUFFERS = 3, 2
CELLS = [(node, buffer) for node in range(NODES) for buffer in range(BUFFERS)]


def is_spoiled(moved: list[Transfer], lands: list[int]) -> bool:
    """Whether some run ends with other data than that in which every message comes in its slot."""
    right = in_slots(moved, CELLS, lands)
    return any(held != right for held in at_any_time(moved, CELLS, lands))


def plan_of(moved: list[Transfer], **fields: Any) -> Schedule:
    """The transfers as a schedule of one chunk, valid or not."""
    rows = [(0, op, step, source[0], into[0]) for step, op, source, into in moved]
    buffers = {
        "src_buffer": np.array([row[2][1] for row in moved], np.int32),
        "dst_buffer": np.array([row[3][1] for row in moved], np.int32),
    }
    return build(f"full:{NODES}", "all-reduce", rows, buffers=BUFFERS, **buffers, **fields)  # type: ignore[arg-type]


def test_all_runs_of_small_schedules() -> None:
    """No accepted schedule has a run with wrong data; 97 % of those refused have one. The others copy the same data twice, or what
    comes in the wrong order is overwritten later."""
    rng = Random(1)
    accepted = refused = wrong = 0
    while accepted + refused < DRAWS:
        moved = drawn(rng, NODES, BUFFERS, rng.randint(2, 6), rng.randint(2, 4))
        if not moved:
            continue
        spoiled, race = is_spoiled(moved, next_steps(moved)), race_of(plan_of(moved))
        if race is None:
            assert not spoiled, moved
            accepted += 1
        else:
            refused, wrong = refused + 1, wrong + spoiled
    assert accepted > DRAWS // 5
    assert wrong > refused * 97 // 100, (wrong, refused)


def is_apart(moved: list[Transfer], lands: list[int]) -> bool:
    """Whether nothing is read, or copied over, while something is in flight to it (F10 of decision 9)."""
    for (step, op, _, into), landed in zip(moved, lands, strict=True):
        for other, second, source, target in moved:
            if source == into and step < other < landed:
                return False
            if target == into and step < other < landed and COPY in (op, second):
                return False
    return True


def test_all_runs_of_small_schedules_in_fine_slots() -> None:
    """A copy lands 9 slots after it was sent, a sum 13 or more."""
    rng = Random(2)
    accepted = refused = wrong = 0
    while accepted + refused < DRAWS:
        moved = drawn(rng, NODES, BUFFERS, rng.randint(2, 6), rng.choice((2, 30, 60)))
        if not moved:
            continue
        plan = plan_of(moved, slot_cycles=1, made_for=MadeFor(MACHINE.flit_bytes, MACHINE))
        lands = landing_steps(plan).tolist()
        if not is_apart(moved, lands):
            continue
        spoiled, race = is_spoiled(moved, lands), race_of(plan)
        assert race is not None or not spoiled, moved
        accepted, refused, wrong = accepted + (race is None), refused + (race is not None), wrong + (race is not None and spoiled)
    assert min(accepted, refused) > DRAWS // 5
    assert wrong > refused * 97 // 100, (wrong, refused)


def test_schedules_too_large_to_be_examined_rely_on_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless every unit waits for all that its cell ever gets."""
    chained = [(0, COPY, (0, 0), (1, 1)), (1, COPY, (1, 1), (2, 1)), (2, REDUCE, (2, 1), (0, 0))]
    assert race_of(plan_of(chained)) is None
    monkeypatch.setattr(races, "MOST_KNOWN", 0)
    race = race_of(plan_of(chained))
    assert race is not None
    assert (race.node, race.second) == (0, 2)
    assert race_of(plan_of(chained[:2])) is None


def known_step_by_step(cells: races._Cells) -> list[list[int]]:
    """What `known_units` says, from one unit to the next."""
    nodes = len(cells.plan.topology.kind)
    known: list[list[int]] = []
    latest: dict[int, int] = {}
    feeding = cells.unit_of[cells.arrivals].tolist()
    low, high = cells.awaited()
    for unit, source in enumerate(cells.source.tolist()):
        before = [known[other] for other in feeding[low[unit] : high[unit]]]
        before += [known[latest[source]]] if source in latest else []
        row = [max((one[node] for one in before), default=0) for node in range(nodes)]
        row[source] = int(cells.place[unit]) + 1
        known.append(row)
        latest[source] = unit
    return known


@pytest.mark.parametrize("method", ["ring", "halving-doubling", "multitree", "two-shot"])
def test_what_units_know_is_what_they_learn_step_by_step(method: str) -> None:
    cells = races._Cells(written_out(make(method, "torus:2x4", message_bytes=4096)))
    known = races._known(cells)
    np.testing.assert_array_equal(known, known_step_by_step(cells))
    assert known.dtype == np.int32
    assert (known > 0).any(axis=1).all()


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"source": 3}, "no such node"), ({"high": 3}, "no such arrival"), ({"arrivals": 1}, "waits for a later one")],
)
def test_units_that_cannot_be_are_refused(changed: dict[str, int], words: str) -> None:
    columns = {"source": 0, "place": 0, "low": 0, "high": 2, "arrivals": 0} | changed
    with pytest.raises(ValueError, match=words):
        known_units(**{name: np.array([0, value], np.int64) for name, value in columns.items()}, nodes=3)
