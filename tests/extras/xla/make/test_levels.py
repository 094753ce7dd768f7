"""Steps that join those of slots: every row holds the same, added in the same order, and no more rows are sent."""

from dataclasses import replace

import numpy as np
import pytest

from certree.extras.xla.check.permute_checker import verify_permutes
from certree.extras.xla.make import permutes
from certree.extras.xla.make.levels import Moves, levelled
from certree.extras.xla.make.permutes import lower_to_permutes
from tests.synth.execution import make

ROWS = 3


def held(moves: Moves) -> dict[tuple[int, int], str]:
    """What every row holds at the end, as an expression."""
    rows = {(device, row): f"{device}.{row}" for device in range(4) for row in range(ROWS)}
    carried: dict[int, str] = {}
    for step in range(moves.steps):
        for one in np.flatnonzero(moves.sent == step).tolist():
            carried[one] = rows[int(moves.src[one]), int(moves.read[one])]
        for one in np.flatnonzero(moves.applied == step).tolist():
            at = int(moves.dst[one]), int(moves.written[one])
            rows[at] = f"({rows[at]}+{carried[one]})" if moves.adds[one] else carried[one]
    return rows


def drawn(seed: int) -> Moves:
    """Moves of which some take several steps, in the order in which they are applied."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 25))
    sent = random.integers(0, 9, count)
    applied = sent + random.integers(0, 1 + int(random.integers(4)), count)
    order = np.argsort(applied, kind="stable")
    ends, rows = random.integers(0, 4, (2, count)), random.integers(0, ROWS, (2, count))
    return Moves(sent[order], applied[order], *ends, *rows, random.integers(0, 2, count))


def test_every_row_holds_the_same() -> None:
    fewer = 0
    for seed in range(300):
        before = drawn(seed)
        after = levelled(before)
        assert held(after) == held(before)
        assert (after.applied >= after.sent).all()
        assert after.rows_sent() <= before.rows_sent()
        fewer += after.steps < before.steps
    assert fewer > 100


def test_the_comparison_sees_another_order() -> None:
    one = np.zeros(2, np.int64)
    two = np.array([0, 1])
    sums = Moves(two, two, np.array([1, 2]), one, one, one, one + 1)
    assert held(sums) == {**held(levelled(sums)), (0, 0): "((0.0+1.0)+2.0)"}
    assert held(replace(sums, sent=two[::-1], applied=two[::-1])) != held(sums)


@pytest.mark.parametrize("method", ["swing", "bine"])
def test_slots_of_a_long_message_are_few_steps(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = make(method, "torus:2x4", "all-reduce")
    few = lower_to_permutes(schedule)
    monkeypatch.setattr(permutes, "levelled", lambda moves: moves)
    many = lower_to_permutes(schedule)
    assert few.steps == 6 < many.steps
    assert few.rows_sent < many.rows_sent
    found = [verify_permutes(one).additions for one in (few, many)]
    assert found[0] is not None
    assert found[0] == found[1]
