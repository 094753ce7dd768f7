"""Shares of links: a point that has a schedule is never refuted by them, and an edited proof is refused."""

import numpy as np
import pytest
from pysat.solvers import Cadical195

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact.encodings.clauses import ShareClauses
from certree.synth.exact.refuter import formula_proof
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.proof_formats import foreign_files
from certree.verify.exact.refutations.refutation import check_refutation, pack
from certree.verify.exact.refutations.share import share_encoder
from certree.verify.exact.rup import ProofError
from tests.verify.exact.small import GRAPHS, network
from tests.verify.exact.trusted import answer

STAR = network([(0, 4), (1, 4, 2), (2, 4), (3, 4)], switches=[4])


@pytest.mark.parametrize("graph", [*GRAPHS, STAR], ids=lambda graph: graph.name)
@pytest.mark.parametrize("kind", ["all-reduce", "all-gather"])
def test_what_has_a_schedule_is_not_refuted(graph, kind: str) -> None:
    """For the pairs out of each node, and for all pairs."""
    several = [np.flatnonzero(graph.pair_src == node).tolist() for node in range(len(graph.kind))]
    for chunks, steps, rounds in ((2, 2, 2), (2, 2, 4), (3, 2, 3), (3, 2, 4), (2, 3, 3)):
        asked = Question(graph, parse_collective(kind), chunks, steps, rounds)
        refuted = False
        for pairs in (*several, list(range(len(graph.pair_src)))):
            with Cadical195(bootstrap_with=share_encoder(asked, pairs).formula.clauses) as solver:
                refuted |= not solver.solve()
        assert not refuted or not answer(asked)


def proof_of(asked: Question):
    asking = ShareClauses(asked)
    asking.encode()
    assert asking.solve(Budget(10_000), Monitor(), 10_000) is Status.INFEASIBLE
    return formula_proof(asking)


SWITCH = Question(parse_topology("switch:4"), parse_collective("all-reduce"), 4, 2, 5)
PROOF = proof_of(SWITCH)


def test_a_share_excludes_its_point_and_no_easier_one() -> None:
    check_refutation(SWITCH, PROOF)
    assert answer(SWITCH.at((4, 2, 6)))
    for point in ((4, 2, 6), (3, 2, 5), (4, 3, 5)):
        with pytest.raises(ProofError) as refused:
            check_refutation(SWITCH.at(point), PROOF)
        assert refused.value.rule == "proof-foreign"
    assert {name.rsplit(".")[1] for name in foreign_files(SWITCH, PROOF)} == {"cnf", "drat", "pbp"}


def test_a_share_of_absurd_size_is_refused_before_it_is_tried() -> None:
    with pytest.raises(ProofError, match="at most 4000000 are tried"):
        check_refutation(SWITCH.at((2, 2000, 2000)), PROOF)


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        ({"pairs": PROOF["pairs"][:-1]}, "proof-foreign"),
        ({"pairs": PROOF["pairs"][::-1]}, "proof-malformed"),
        ({"pairs": [*PROOF["pairs"], PROOF["pairs"][-1]]}, "proof-malformed"),
        ({"pairs": [*PROOF["pairs"], 8]}, "proof-malformed"),
        ({"pairs": "all"}, "proof-malformed"),
        ({"lines": pack("")}, "proof-digest"),
        ({"formula": ""}, "proof-foreign"),
        ({"kind": "drat"}, "proof-malformed"),
        ({"ordered": False}, "proof-malformed"),
    ],
)
def test_edited_proofs_are_refused(edit, rule: str) -> None:
    with pytest.raises(ProofError) as refused:
        check_refutation(SWITCH, PROOF | edit)
    assert refused.value.rule == rule
