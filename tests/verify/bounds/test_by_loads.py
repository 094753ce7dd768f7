"""Bounds from the loads of a schedule: each is proved, the best is near that of a long search, and the search stops when it may."""

from fractions import Fraction

import numpy as np
import pytest

from certree.api import evidence
from certree.api.evidence import add_certificate
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.synth.bounds.by_loads import bounds_by_loads
from certree.synth.bounds.find import find_bounds
from certree.synth.method import load_methods
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import check_bound
from tests.synth.flows.demands import drawn_request


def made(spec: str, *, hot: bool) -> Schedule:
    """A schedule for a drawn demand, without a certificate."""
    schedule = load_methods()["prepared-paths"](drawn_request(spec, 1, 1 << 22, hot=hot))
    assert isinstance(schedule, Schedule)
    return schedule


@pytest.mark.parametrize("spec", ["torus:4x4", "h100:2", "fattree:4x4", "mesh:3x4"])
@pytest.mark.parametrize("hot", [False, True])
def test_bounds(spec: str, hot: bool) -> None:
    schedule = made(spec, hot=hot)
    uses, load = fine_times(schedule).reservations, np.zeros(len(schedule.topology.pair_src), np.int64)
    np.add.at(load, uses.pair, fine_times(schedule).length[uses.row])
    instance = Instance.of(schedule)
    values = [check_bound(instance, bound) for bound in bounds_by_loads(instance, load)]
    searched = [bound for bound in find_bounds(schedule.topology, schedule.collective) if bound["quantity"] == "bandwidth"]
    best = max(Fraction(bound["value"]) for bound in searched)
    assert best * Fraction(19, 20) <= max(*values, *(Fraction(bound["value"]) for bound in searched if bound["kind"] == "degree"))


@pytest.mark.parametrize(("enough", "searches"), [(Fraction(11, 10), False), (Fraction(1), False), (Fraction(1), True)])
def test_the_search_stops_when_enough_is_proved(enough: Fraction, searches: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    search = evidence._bounds
    monkeypatch.setattr(evidence, "_bounds", lambda *request: asked.append(1) or search(*request))
    monkeypatch.setattr(evidence, "FAR", Fraction(1) if searches else evidence.FAR)
    certified, verdict = add_certificate(made("torus:4x4", hot=False), enough=enough)
    assert bool(asked) == searches
    assert verdict.valid
    assert verdict.quality is not None
    assert verdict.quality.time is not None
    assert isinstance(certified, Schedule)
    assert fine_times(certified).cycles <= Fraction(5, 4) * verdict.quality.time.cycles
