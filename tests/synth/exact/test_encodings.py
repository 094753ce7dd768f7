"""The ways to ask a question agree: clauses for CaDiCaL, linear constraints for CP-SAT; and symmetric schedules are schedules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, CollectiveKind, parse_collective
from certree.synth.exact.encodings.clauses import SymmetricClauses, TrustedClauses
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status
from certree.synth.symmetric.symmetry import free_groups
from certree.verify.exact.question import Question
from certree.verify.exact.rup import check_proof
from certree.verify.frontier.answers import why_not
from tests.drawn import examples
from tests.synth.exact.linear import LinearSpread
from tests.verify.exact.small import network


def question(topology, kind: str, point, root=None) -> Question:
    where = parse_topology(topology) if isinstance(topology, str) else topology
    return Question(where, parse_collective(kind, root), *point)


def answer(asking, budget: float = 50_000) -> Status:
    asking.accepts(asking.question)
    asking.encode()
    status = asking.solve(Budget(budget), Monitor(), budget)
    if status.has_solution:
        assert why_not(asking.question, asking.decode()) is None
    return status


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """A small network with switches and capacities at will, any collective that spreads, a small point."""
    nodes = draw(st.integers(3, 5))
    edges = [(node, draw(st.integers(0, node - 1)), draw(st.integers(1, 2))) for node in range(1, nodes)]
    extra = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1), st.integers(1, 2))
    edges += [edge for edge in draw(st.lists(extra, max_size=3)) if edge[0] != edge[1]]
    switches = draw(st.sampled_from([[], [], [nodes - 1]]))
    kind = draw(st.sampled_from(sorted(LinearSpread.kinds)))
    steps = draw(st.integers(1, 3))
    root = 0 if kind in WITH_ONE_ROOT else None
    return question(
        network(edges, switches=switches), kind, (draw(st.integers(1, 2)), steps, steps + draw(st.integers(0, 2))), root
    )


@examples(60)
@given(questions())
def test_clauses_and_linear_constraints_agree(asked: Question) -> None:
    clauses = TrustedClauses(asked)
    found = answer(clauses).has_solution
    assert answer(LinearSpread(asked), 20).has_solution is found
    if not found:
        assert check_proof(clauses.encoder.formula, clauses.proof) >= 0
    for group in free_groups(asked.topology)[:1] if asked.collective.kind in SymmetricClauses.kinds else []:
        assert found or not answer(SymmetricClauses(asked, group)).has_solution


def test_statuses_are_what_they_are_called() -> None:
    assert answer(TrustedClauses(question("ring:4", "all-gather", (2, 2, 3)))) is Status.FEASIBLE
    assert answer(TrustedClauses(question("ring:4", "all-gather", (3, 2, 4)))) is Status.INFEASIBLE
    assert answer(TrustedClauses(question("torus:4x4", "all-gather", (4, 4, 15))), 100) is Status.UNKNOWN
    assert answer(LinearSpread(question("dgx1", "all-gather", (3, 2, 4))), 0.001) is Status.UNKNOWN


@pytest.mark.parametrize(
    ("spec", "kind", "point"),
    [("ring:5", "all-to-all", (1, 2, 3)), ("torus:4x4", "reduce-scatter", (4, 4, 15)), ("hypercube:3", "all-reduce", (8, 5, 5))],
)
def test_symmetric_schedules_are_found(spec: str, kind: str, point) -> None:
    asked = question(spec, kind, point)
    assert answer(SymmetricClauses(asked, free_groups(asked.topology)[0])) is Status.FEASIBLE


def test_nothing_found_is_nothing_to_decode() -> None:
    for asking in (
        TrustedClauses(question("ring:4", "all-gather", (3, 2, 4))),
        LinearSpread(question("ring:4", "all-gather", (3, 2, 4))),
    ):
        assert answer(asking) is Status.INFEASIBLE
        with pytest.raises(RuntimeError, match="no schedule was found"):
            asking.decode()


def test_collectives_that_are_not_covered() -> None:
    with pytest.raises(UnsupportedError, match=r"LinearSpread covers .*, not all-reduce"):
        LinearSpread.accepts(question("ring:4", "all-reduce", (1, 2, 2)))
    with pytest.raises(
        UnsupportedError, match="SymmetricClauses covers all-gather, all-reduce, all-to-all, reduce-scatter, not broadcast"
    ):
        SymmetricClauses.accepts(question("ring:4", "broadcast", (1, 2, 2), 0))
    assert CollectiveKind.ALL_REDUCE in TrustedClauses.kinds
