"""Order of chunks: no schedule is lost, and chunks that are not interchangeable are not ordered."""

from itertools import product

import pytest
from pysat.solvers import Cadical195

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.verify.exact.encoding.chunk_order import _descend, order_chunks
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.formula import Formula
from certree.verify.exact.question import Question
from certree.verify.exact.rup import ProofError
from tests.verify.exact.small import GRAPHS
from tests.verify.exact.trusted import answer

ALL_REDUCE = parse_collective("all-reduce")


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_order_loses_nothing(graph) -> None:
    for chunks, steps, rounds in ((2, 1, 1), (2, 2, 2), (3, 2, 2), (3, 2, 3), (3, 3, 3), (4, 3, 3), (4, 3, 4)):
        for scratch in (None, 1) if len(graph.kind) < 4 else (None,):
            asked = Question(graph, ALL_REDUCE, chunks, steps, rounds, None, scratch)
            assert answer(asked, ordered=True) == answer(asked, ordered=False), (chunks, steps, rounds, scratch)


def test_digits_descend() -> None:
    formula = Formula()
    one, other = (list(formula.family(name, name, range(3)).values()) for name in "ab")
    _descend(formula, one, other)
    for digits in product((0, 1), repeat=6):
        given = [variable if digit else -variable for variable, digit in zip([*one, *other], digits, strict=True)]
        with Cadical195(bootstrap_with=formula.clauses) as solver:
            assert solver.solve(given) == (digits[:3] >= digits[3:])


def encoder_of(chunks: int = 2):
    return encode(Question(parse_topology("ring:4"), ALL_REDUCE, chunks, 2, 3))


def test_chunks_of_an_all_reduce_are_interchangeable() -> None:
    encoder = encoder_of(3)
    before = len(encoder.formula.clauses)
    order_chunks(encoder)
    assert len(encoder.formula.clauses) == before + 2 * 3 * 16
    single = encoder_of(1)
    before = len(single.formula.clauses)
    order_chunks(single)
    assert len(single.formula.clauses) == before


def test_chunks_that_are_not_interchangeable_are_not_ordered() -> None:
    def first(encoder):
        return encoder.reduce[0, 0, 0]

    for change, words in (
        (lambda encoder: encoder.formula.add(-first(encoder)), "a clause about one is missing for the other"),
        (lambda encoder: encoder.formula.count([first(encoder)], 1), "they are not counted together"),
        (lambda encoder: encoder.formula.add(encoder.formula.counters[0].variables[0]), "a clause requires a counter to be true"),
        (lambda encoder: encoder.formula.count([encoder.formula.counters[0].variables[0]], 1), "a counter counts another counter"),
        (
            lambda encoder: encoder.formula.add(-encoder.formula.counters[1].variables[0]),
            "a clause uses a part of a count",
        ),
    ):
        encoder = encoder_of()
        change(encoder)
        with pytest.raises(ProofError, match=words) as refused:
            order_chunks(encoder)
        assert refused.value.rule == "proof-symmetry"


def test_a_rule_without_one_of_the_chunks_is_detected() -> None:
    encoder = encoder_of()
    spared = -encoder.copy[0, 0, 1]
    encoder.formula.clauses = [(1, -1) if spared in clause and len(clause) == 2 else clause for clause in encoder.formula.clauses]
    with pytest.raises(ProofError, match="chunks are not interchangeable"):
        order_chunks(encoder)
