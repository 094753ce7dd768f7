"""The proof checker: what it accepts, what it refuses, and that its fast form and its plain form agree."""

import re
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pysat.solvers import Cadical195

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.verify import _proofs
from certree.verify.exact import rup
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.formula import Formula
from certree.verify.exact.question import Question
from certree.verify.exact.rup import ProofError, check_proof, parse_proof
from tests.drawn import examples
from tests.verify.exact.plain_rup import check_rup_plainly


def formula(clauses, variables: int = 0) -> Formula:
    made = Formula()
    made.variables = variables or max((abs(literal) for clause in clauses for literal in clause), default=0)
    for clause in clauses:
        made.add(*clause)
    return made


def refutation(of: Formula) -> list[str]:
    """CaDiCaL's proof, or nothing for a formula with a model."""
    with Cadical195(bootstrap_with=of.clauses, with_proof=True) as solver:
        return [] if solver.solve() else solver.get_proof()


def pigeons(count: int) -> Formula:
    """The pigeonhole formula: N pigeons, N − 1 holes."""
    holes = count - 1
    sits = {(pigeon, hole): pigeon * holes + hole + 1 for pigeon in range(count) for hole in range(holes)}
    clauses = [[sits[pigeon, hole] for hole in range(holes)] for pigeon in range(count)]
    clauses += [[-sits[a, hole], -sits[b, hole]] for hole in range(holes) for a, b in combinations(range(count), 2)]
    return formula(clauses)


def both(of: Formula, text: str):
    """What the two checkers say, which must be one thing."""
    proof = parse_proof(text, of.variables)
    flat = [literal for clause in of.clauses for literal in (*clause, 0)]
    fast = _proofs.check_rup(of.variables, np.array(flat, np.int32), proof.literals, proof.deletes)
    assert fast[:2] == check_rup_plainly(of, proof)
    return fast[:2]


def has_model(of: Formula) -> bool:
    return any(
        all(any((literal > 0) == values[abs(literal) - 1] for literal in clause) for clause in of.clauses)
        for values in product((False, True), repeat=of.variables)
    )


def test_a_proof_of_the_pigeonhole_principle_is_accepted() -> None:
    lines = refutation(pigeons(5))
    assert 0 < check_proof(pigeons(5), "\n".join(lines)) <= len(lines)
    assert both(pigeons(5), "\n".join(lines))[0] == 0


def test_a_trusted_formula_is_refuted_by_both() -> None:
    question = Question(parse_topology("ring:4"), parse_collective("all-gather"), 3, 2, 4)
    of = encode(question).formula
    assert both(of, "\n".join(refutation(of)))[0] == 0


LINES = refutation(pigeons(4))


@pytest.mark.parametrize(
    ("lines", "rule", "words"),
    [
        ([], "proof-open", "all 0 lines are correct, but they do not reach a contradiction"),
        (["1 0"], "proof-step", "line 1: the clause does not follow by unit propagation"),
        (["0"], "proof-step", "line 1: the clause does not follow"),
        (["d 1 2 0"], "proof-deletion", "line 1: deletes a clause that is not present"),
        (["d -1 -4 0", "d -1 -4 0"], "proof-deletion", "line 2"),
        (["1 2"], "proof-malformed", "line 1: '1 2' is not a line of a proof"),
        (["d  1 2 0"], "proof-malformed", "line 1"),
        (["1 99 0"], "proof-malformed", "line 1: '1 99 0' has a variable above 12"),
        (["one 0"], "proof-malformed", "line 1"),
        (["1 2 0 0"], "proof-malformed", "line 1"),
    ],
)
def test_wrong_proofs_are_refused(lines: list[str], rule: str, words: str) -> None:
    with pytest.raises(ProofError, match=words) as refused:
        check_proof(pigeons(4), "\n".join(lines))
    assert refused.value.rule == rule


def test_a_proof_of_another_formula_is_refused() -> None:
    assert LINES
    easier = formula(pigeons(4).clauses[1:])  # three pigeons may sit
    with pytest.raises(ProofError):
        check_proof(easier, "\n".join(LINES))


def test_both_checkers_agree_on_a_malformed_line_anywhere() -> None:
    """A clause that does not follow at once is found where it stands; later it may follow, in a formula without model."""
    results = [both(pigeons(4), "\n".join([*LINES[:number], "1 5 0", *LINES[number:]])) for number in range(len(LINES))]
    assert results[0] == (1, 0)


@st.composite
def formulas(draw: st.DrawFn) -> Formula:
    """A few short clauses over up to 6 variables."""
    variables = draw(st.integers(2, 6))
    literal = st.integers(1, variables).flatmap(lambda variable: st.sampled_from([variable, -variable]))
    clauses = draw(st.lists(st.lists(literal, min_size=1, max_size=3), min_size=3, max_size=30))
    return formula(clauses, variables)


@examples(150)
@given(formulas())
def test_solver_and_checker_agree_with_the_truth(of: Formula) -> None:
    lines = refutation(of)
    assert bool(lines) == (not has_model(of))
    if lines:
        assert both(of, "\n".join(lines))[0] == 0


@st.composite
def formulas_and_lines(draw: st.DrawFn):
    of = draw(formulas())
    literal = st.integers(1, of.variables).flatmap(lambda variable: st.sampled_from([variable, -variable]))
    added = st.lists(literal, max_size=3).map(lambda clause: " ".join(map(str, [*clause, 0])))
    deleted = st.sampled_from(of.clauses).map(lambda clause: "d " + " ".join(map(str, [*clause, 0])))
    return of, draw(st.lists(st.one_of(added, deleted), max_size=12))


@examples(300)
@given(formulas_and_lines())
def test_no_lines_whatever_refute_a_formula_with_a_model(drawn) -> None:
    of, lines = drawn
    result, _ = both(of, "\n".join(lines))
    assert result != 0 or not has_model(of)


def test_the_kernel_refuses_what_is_no_formula() -> None:
    none = np.zeros(0, np.uint8)
    with pytest.raises(ValueError, match="a literal is not a variable of the formula"):
        _proofs.check_rup(1, np.array([2, 0], np.int32), np.zeros(0, np.int32), none)
    with pytest.raises(ValueError, match="the last clause does not end"):
        _proofs.check_rup(1, np.array([1], np.int32), np.zeros(0, np.int32), none)
    with pytest.raises(ValueError, match="a flag is needed for every line"):
        _proofs.check_rup(1, np.array([1, 0], np.int32), np.array([1, 0], np.int32), none)
    with pytest.raises(ValueError, match=re.escape("a flag is 0 (add the clause) or 1 (delete it)")):
        _proofs.check_rup(1, np.array([1, 0], np.int32), np.array([1, 0], np.int32), np.array([2], np.uint8))


@pytest.mark.parametrize(("limit", "words"), [("MAX_LINES", "has more than 2 lines"), ("MAX_LINE", "is not a line of a proof")])
def test_proofs_of_absurd_size_are_refused(limit: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "1 -1 0\n" * 3
    parse_proof(text, 1)
    monkeypatch.setattr(rup, limit, 2)
    with pytest.raises(ProofError, match=words):
        parse_proof(text, 1)
