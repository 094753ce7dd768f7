"""Whether schedules are optimal: compared with the frontier, which is searched in another order."""

import pytest

from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact import optimum_search
from certree.synth.exact.encodings import clauses
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.exact.optimum_search import OptimumSearch
from certree.synth.exact.seeds import known_schedules
from certree.synth.monitor import Monitor
from certree.verify.frontier.answers import why_not
from certree.verify.frontier.points import covers
from tests.synth.execution import make


def searched(schedule) -> optimum_search.Optimum:
    search = OptimumSearch(schedule, 1, Monitor())
    search.run()
    return search.result


@pytest.mark.parametrize(
    ("spec", "kind", "root", "most"),
    [
        ("ring:4", "all-reduce", None, 4),
        ("mesh:2x3", "all-gather", None, 2),
        ("switch:3", "all-reduce", None, 3),
        ("ring:4", "all-to-all", None, 1),
    ],
)
def test_it_agrees_with_the_frontier(spec: str, kind: str, root, most: int) -> None:
    """Every published algorithm that the machine can run, and each schedule of the complete frontier, is optimal exactly where its
    point is on the frontier."""
    topology, collective = parse_topology(spec), parse_collective(kind, root)
    known = known_schedules(topology, collective, Monitor())
    frontier = FrontierSearch(topology, collective, most, 1, Monitor(), known)
    frontier.run()
    points = frontier.result.points
    assert not frontier.result.undecided
    seen = set()
    for schedule, point in [*((known[name], at) for name, at in frontier.known.items()), *map(reversed, points.items())]:
        found = searched(schedule)
        on_it = point in points
        seen.add(on_it)
        assert (found.question.point, found.status) == (point, "optimal" if on_it else "beaten")
        if found.better is not None:
            assert covers(found.better_point, point)
            assert why_not(found.question.at(found.better_point), found.better) is None
    assert seen == {True, False}


def test_what_the_machine_cannot_run_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="pass endpoints within a step"):
        OptimumSearch(make("recursive-doubling", "ring:8", "all-reduce"), 1, Monitor())


def test_it_is_open_where_formulas_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the budget of steps as well: on `ss:24` the order of 12 chunks in 4 million clauses."""

    def beyond(*_: object, **__: object) -> None:
        raise UndecidedError("undecided: the order of 5 chunks")

    monkeypatch.setattr(clauses, "encode", beyond)
    found = searched(make("multitree", "ring:5", "all-reduce"))
    assert found.status == "open"
    assert found.tried[-1].endswith("and larger points: undecided: the order of 5 chunks")


def test_without_budget_it_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimum_search, "TOTAL_CONFLICTS", 1)
    found = searched(make("multitree", "ring:5", "all-reduce"))
    assert (found.status, found.better, found.claim) == ("open", None, None)
    assert found.tried[-1] == "(5, 3, 4) and larger points: no budget left"
