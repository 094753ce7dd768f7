"""The claim of the fewest steps: proved without a solver, or refused."""

import copy
from dataclasses import replace
from itertools import pairwise

import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import load_methods
from certree.verify.certificates.certificate import make_certificate
from certree.verify.certificates.fewest_steps import question_before
from certree.verify.checker import verify_schedule
from tests.models.examples import schedule
from tests.synth.execution import ask

exact = load_methods()["exact"]
RING5 = exact(ask("ring:5", chunks=3))  # 4 steps, where bounds leave 3
MESH = exact(ask("mesh:2x3", "all-gather", chunks=12))


def rules(made, claim) -> set[str]:
    certificate = {**make_certificate(made, []), "fewest_steps": claim}
    return {violation.rule for violation in verify_schedule(made.with_certificate(certificate)).violations}


def test_a_proof_is_checked_with_the_schedule() -> None:
    for made, kind in ((RING5, "drat"), (MESH, "bound")):
        verdict = verify_schedule(made)
        assert (verdict.valid, verdict.quality.fewest_steps) == (True, kind)
        assert verify_schedule(made.with_certificate(make_certificate(made, []))).quality.fewest_steps is None
    assert RING5.certificate["fewest_steps"]["point"] == [3, 3, 3]
    assert RING5.provenance["fewest_steps"] == "proved"


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("proof-malformed", lambda claim: claim.pop("machine")),
        ("proof-malformed", lambda claim: claim.update(proof={"kind": "word of honour"})),
        ("proof-foreign", lambda claim: claim.update(point=[1, 1, 1])),
        ("proof-foreign", lambda claim: claim.update(machine="with scratch buffers")),
        ("proof-foreign", lambda claim: claim["proof"].update(formula="0")),
        ("proof-digest", lambda claim: claim["proof"].update(sha256="0")),
        ("proof-distance", lambda claim: claim.update(proof={"kind": "distance", "from": 0, "to": 1, "hops": 3})),
    ],
)
def test_what_was_changed_is_found(rule: str, change) -> None:
    claim = copy.deepcopy(dict(RING5.certificate["fewest_steps"]))
    change(claim)
    assert rules(RING5, claim) == {rule}
    assert rules(RING5, None) == {"proof-malformed"}


def test_a_claim_of_another_schedule_is_refused() -> None:
    longer = load_methods()["multitree"](ask("ring:5"))
    assert rules(longer, RING5.certificate["fewest_steps"]) == {"proof-foreign"}


def test_what_the_claim_cannot_be_about() -> None:
    with pytest.raises(UnsupportedError, match="two or more steps of one round each, delay 1, without a period"):
        question_before(load_methods()["direct"](ask("full:4", "all-gather")))
    with pytest.raises(UnsupportedError, match="claims of fewest steps: not supported for schedules that use buffers"):
        question_before(replace(RING5, certificate=None, buffers=2))
    assert "proof-foreign" in rules(replace(RING5, certificate=None, buffers=2), RING5.certificate["fewest_steps"])
    repeating = load_methods()["packing"](ask("mesh:2x2"))
    assert rules(repeating, RING5.certificate["fewest_steps"]) == {"proof-foreign"}


def passing_broadcast(*steps: list[tuple[int, ...]]):
    """A broadcast from node 0 of mesh:1x4, whose transfers go along the routes that are listed for each step."""
    line = parse_topology("mesh:1x4,capacity=3")
    link = {ends: number for number, ends in enumerate(zip(line.src.tolist(), line.dst.tolist(), strict=True))}
    rows = [(0, Op.COPY, step, nodes[0], nodes[-1]) for step, taken in enumerate(steps) for nodes in taken]
    routes = [[link[hop] for hop in pairwise(nodes)] for taken in steps for nodes in taken]
    fields = {"route": range(len(rows)), "routes": routes, "rounds": [1] * len(steps)}
    return schedule(line, parse_collective("broadcast", 0), [0], rows, **fields)


def test_proofs_of_steps_do_not_hold_for_routes_through_endpoints() -> None:
    """Three steps are the fewest without forwarding within a step; with it one is enough."""
    farthest = {"kind": "distance", "from": 0, "to": 3, "hops": 3}
    claim = {"point": [1, 2, 2], "machine": RING5.certificate["fewest_steps"]["machine"], "proof": farthest}
    stepwise = passing_broadcast([(0, 1)], [(1, 2)], [(2, 3)])
    assert rules(stepwise, claim) == set()
    assert verify_schedule(passing_broadcast([(0, 1), (0, 1, 2), (0, 1, 2, 3)])).valid
    assert rules(passing_broadcast([(0, 1)], [(1, 2)], [(1, 2, 3)]), claim) == {"proof-foreign"}


def test_where_sums_need_no_trees_the_fewest_are_not_claimed() -> None:
    made = exact(ask("mesh:2x3", options={"exchange": "false"}))
    assert made.certificate is None
    assert made.provenance["fewest_steps"] == "not proved: 5 steps are possible, with sums that do not form trees"
