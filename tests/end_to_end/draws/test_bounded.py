"""Draws: no schedule of any method is better than a bound whose class it belongs to; one that is would be found (`bounded`)."""

from collections import Counter

import pytest

from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.method import Request
from certree.verify.bounds.classes import EQUAL_SHARES
from tests.end_to_end.draws import bounded
from tests.end_to_end.draws.every_method import Case, cases

NETWORKS = 3
PARTS = 4  # tests of each network, each with every fourth of its cases


@pytest.mark.parametrize("seed", range(NETWORKS))
@pytest.mark.parametrize("part", range(PARTS))
def test_no_schedule_is_below_a_bound(part: int, seed: int) -> None:
    compared: Counter[str] = Counter()
    wrong = [f"{case.text}\n  {line}" for case in [*cases(seed)][part::PARTS] for line in bounded.check(case, compared)]
    assert not wrong, "\n".join(wrong)
    assert compared["schedules"] >= 30 // PARTS, compared
    assert compared["slotted run with flow"] >= 10 // PARTS, compared


def test_a_schedule_with_other_shares_is_below_bounds_for_equal_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unequal shares take less than equal ones can on mesh:3x3: found where the term on shares is ignored, and only there."""
    gather = parse_collective("all-gather")
    case = Case(0, "free-shares", Request(parse_topology("mesh:3x3"), gather, 1 << 20, load_machine("multitree")))
    assert not bounded.check(case, Counter())
    right = bounded.belongs
    monkeypatch.setattr(bounded, "belongs", lambda of, terms, *, own: right(of, [t for t in terms if t != EQUAL_SHARES], own=own))
    found = bounded.check(case, Counter())
    assert any("bandwidth time" in line and EQUAL_SHARES in line for line in found), found
    assert any("closed form" in line and EQUAL_SHARES in line for line in found), found
    assert any("slotted run" in line and EQUAL_SHARES in line for line in found), found
