"""Back ends of formulas: they agree with one another, respect their budgets, and are no evidence without a proof."""

import pytest

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact.asking import Ask, Here
from certree.synth.exact.encodings.clauses import SymmetricClauses, TrustedClauses
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import BACK_ENDS, back_end, clauses_and_limits, solver_names
from certree.synth.solvers.cpsat import Budget, Status
from certree.synth.symmetric.symmetry import free_groups
from certree.verify.exact.formula import Formula
from certree.verify.exact.question import Question
from certree.verify.frontier.answers import why_not
from certree.verify.frontier.document import check_frontier
from tools.tables.solvers import answers, drawn

NAMES = [name for name in solver_names() if name != "auto"]
FAR = 10**6


def question(spec: str, kind: str, point) -> Question:
    return Question(parse_topology(spec), parse_collective(kind), *point)


def answer(asking: TrustedClauses, most: int = FAR) -> Status:
    asking.encode()
    status = asking.solve(Budget(most), Monitor(), most)
    if status.has_solution:
        assert why_not(asking.question, asking.decode()) is None
    return status


def test_the_back_ends() -> None:
    assert solver_names() == ("auto", "cadical", "cp-sat", "z3")
    assert [name for name in NAMES if BACK_ENDS[name].proves] == ["cadical"]
    assert back_end("auto") is back_end("cadical")
    with pytest.raises(InputError, match="minisat"):
        back_end("minisat")


def test_they_agree_on_drawn_questions() -> None:
    """The first 30 of the 500 that `python -m tools.tables.solvers` asks; it compares and checks the answers of all back ends."""
    found = [answers(drawn(number)) for number in range(30)]
    assert all(one.keys() == set(NAMES) for one in found)
    assert {status for one in found for status, _, _ in one.values()} == {Status.FEASIBLE, Status.INFEASIBLE}


@pytest.mark.parametrize("name", NAMES)
def test_a_budget_that_runs_out_decides_nothing(name: str) -> None:
    asking, budget = TrustedClauses(question("ring:8", "all-reduce", (7, 6, 7)), name), Budget(40)
    asking.encode()
    assert asking.solve(budget, Monitor(), 40) is Status.UNKNOWN
    assert budget.left == 0
    assert asking.solve(budget, Monitor(), 40) is Status.UNKNOWN
    with pytest.raises(RuntimeError, match="no schedule was found"):
        asking.decode()


@pytest.mark.parametrize("name", NAMES)
def test_a_passed_deadline_decides_nothing(name: str) -> None:
    asking = TrustedClauses(question("ring:4", "all-reduce", (2, 2, 2)), name)
    asking.encode()
    assert asking.solve(Budget(FAR), Monitor(0.0), FAR) is Status.UNKNOWN


@pytest.mark.parametrize("name", NAMES)
def test_symmetric_schedules_are_found_by_any(name: str) -> None:
    asked = question("ring:5", "all-to-all", (1, 2, 3))
    assert answer(SymmetricClauses(asked, free_groups(asked.topology)[0], name)) is Status.FEASIBLE


@pytest.mark.parametrize("name", NAMES)
def test_a_formula_that_is_too_large_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BACK_ENDS[name], "most_clauses", 10)
    with pytest.raises(UnsupportedError, match=r"the formula has \d+ clauses; at most 10 with this solver"):
        TrustedClauses(question("ring:4", "all-reduce", (2, 2, 2)), name).encode()


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_counters_are_limits(name: str, most: int) -> None:
    """Three of five literals are true and one is negated: at most 1 or 2 cannot be, at most 3 can."""
    formula = Formula()
    variables = list(formula.family("x", "anything [i]", range(5)).values())
    counted = formula.count([*variables[:4], -variables[4]], most + 1)
    formula.add(-counted[most])
    for literal in (variables[0], variables[1], -variables[4]):
        formula.add(literal)
    assert [len(part) for part in (clauses_and_limits(formula)[0], list(clauses_and_limits(formula)[1]))] == [4, 1]
    solver = BACK_ENDS[name]()
    solver.encode(formula, with_proof=True)
    assert solver.solve(Budget(FAR), Monitor(), FAR) is (Status.FEASIBLE if most == 3 else Status.INFEASIBLE)
    if most == 3:
        assert {variables[0], variables[1]} <= set(solver.decode())
        assert not {variables[2], variables[3], variables[4]} & set(solver.decode())


@pytest.mark.parametrize("name", ["cp-sat", "z3"])
def test_without_a_proof_nothing_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The opinion of a solver without proofs is confirmed by the one that proves, or it stays open."""
    here, ask = Here(question("ring:5", "all-reduce", (3, 3, 4)), Monitor()), Ask((3, 3, 4), 100_000, solver=name)
    confirmed = here.answer(ask)
    assert (confirmed.status, confirmed.proof["kind"]) == (Status.INFEASIBLE, "drat")
    monkeypatch.setattr(BACK_ENDS["cadical"], "solve", lambda solver, budget, monitor, most: Status.UNKNOWN)
    alone = here.answer(ask)
    assert (alone.status, alone.proof) == (Status.UNKNOWN, None)
    assert alone.why.startswith(f"{name} finds no schedule, which proves nothing, and no proof was found within")
    search = FrontierSearch(parse_topology("ring:5"), parse_collective("all-reduce"), 3, 1, Monitor(), solver=name)
    search.run()
    assert search.result.undecided


@pytest.mark.parametrize("name", ["cp-sat", "z3"])
def test_frontiers_by_any_back_end(name: str) -> None:
    topology, collective = parse_topology("ring:5"), parse_collective("all-reduce")
    found = {}
    for solver in ("auto", name):
        search = FrontierSearch(topology, collective, 3, 1, Monitor(), solver=solver)
        search.run()
        assert check_frontier(search.result.document(), "found").valid
        found[solver] = (list(search.result.points), search.result.undecided)
    assert found["auto"] == found[name] == ([(1, 3, 3), (2, 3, 3), (3, 4, 4)], [])
