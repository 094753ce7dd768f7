"""The claim that a schedule is optimal in (chunks, steps, rounds): proved without a solver, or refused."""

import copy
from dataclasses import replace
from functools import cache

import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.common.files import sha256
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.exact.optimum_search import OptimumSearch
from certree.synth.method import load_methods
from certree.synth.monitor import Monitor
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.refutation import pack, unpack
from certree.verify.exact.rivals import rivals
from certree.verify.frontier.points import covers
from tests.models.examples import schedule as schedule_example
from tests.synth.execution import ask
from tests.verify.certificates.test_fewest_steps import passing_broadcast


def made(network: str, method: str, *asked, **more) -> Schedule:
    return load_methods()[method](ask(network, *asked, **more))


@cache
def ring():
    """MultiTree on a ring of 5, and the claim that it is optimal."""
    schedule = made("ring:5", "multitree")
    search = OptimumSearch(schedule, 1, Monitor())
    search.run()
    return schedule, search.result.claim


def verdict(schedule: Schedule, claim):
    return verify_schedule(schedule.with_certificate(make_certificate(schedule, [], optimum=claim)))


def rules(schedule: Schedule, claim) -> set[str]:
    return {violation.rule for violation in verdict(schedule, claim).violations}


def test_a_claim_is_checked_with_the_schedule() -> None:
    schedule, claim = ring()
    found = verdict(schedule, claim)
    assert (found.valid, found.quality.optimum) == (True, (5, 4, 4))
    assert {entry["proof"]["kind"] for entry in claim["refuted"]} == {"bound", "drat"}
    assert verify_schedule(schedule.with_certificate(make_certificate(schedule, []))).quality.optimum is None
    more = [*claim["refuted"], {"point": [5, 3, 3], "proof": {"kind": "implied", "by": [5, 3, 4]}}]
    assert verdict(schedule, {**claim, "refuted": more}).valid
    more[-1]["proof"]["note"] = "trust me"
    assert rules(schedule, {**claim, "refuted": more}) == {"proof-implied"}


def test_every_dominating_point_follows_from_the_rivals() -> None:
    """Points that are at least as good and another one: the refutations of the rivals exclude each."""
    for spec, kind, point in (
        ("ring:5", "all-reduce", (5, 4, 4)),
        ("mesh:2x3", "all-gather", (3, 4, 7)),
        ("ring:4", "all-reduce", (4, 5, 7)),
        ("ring:4", "all-reduce", (2, 3, 6)),
    ):
        question = Question(parse_topology(spec), parse_collective(kind), *point)
        asked = [question.at(rival) for rival in rivals(question)]
        others = [
            (c, s, r)
            for c in range(1, point[0] + 1)
            for s in range(1, point[1] + 1)
            for r in range(s, point[2] + 1)
            if (c, s, r) != point and covers((c, s, r), point)
        ]
        assert len(others) > len(asked) > 0
        for other in others:
            assert other[1] < question.least_steps[0] or any(one.implies(other) for one in asked), other
        for one in asked:
            assert covers(one.point, point)
            assert one.point != point


def entry(claim, kind: str):
    """The last refutation of that kind; of formulas, that of (5, 3, 4)."""
    return next(entry for entry in reversed(claim["refuted"]) if entry["proof"]["kind"] == kind)


def follow(claim, by: list[int]) -> None:
    """(5, 2, 4) as if it followed from another point."""
    claim["refuted"][3].update(proof={"kind": "implied", "by": by})


def cut_lines(claim, lines) -> None:
    """Other lines of the proof, with the digest that they have."""
    proof = entry(claim, "drat")["proof"]
    text = "".join(lines(unpack(proof["lines"]).splitlines(keepends=True)))
    proof.update(lines=pack(text), sha256=sha256(text.encode()))


#: 25 edits of a valid claim, or of its schedule, each with the rules that find it
EDITS = [
    ("proof-foreign", lambda claim: claim.update(point=[5, 4, 3])),
    ("proof-foreign", lambda claim: claim.update(point=[4, 4, 4])),
    ("proof-foreign", lambda claim: claim.update(point=[5, 4, 4.0])),
    ("proof-foreign", lambda claim: claim.update(machine=claim["machine"] + ", with scratch")),
    ("proof-malformed", lambda claim: claim.pop("machine")),
    ("proof-malformed", lambda claim: claim.update(note="trust me")),
    ("proof-malformed", lambda claim: claim.update(refuted={})),
    ("proof-malformed", lambda claim: claim["refuted"].append({"point": [1, 2, 2]})),
    ("proof-malformed", lambda claim: claim["refuted"][0].update(point=[1, 2])),
    ("proof-malformed", lambda claim: claim["refuted"][0].update(point=[6, 6, 6])),
    ("proof-malformed", lambda claim: claim["refuted"][0].update(point=[True, 2, 2])),
    ("proof-malformed", lambda claim: claim["refuted"].append(claim["refuted"][0])),
    ("proof-malformed", lambda claim: claim["refuted"][0].update(proof={"kind": "z3 says so"})),
    ("proof-malformed", lambda claim: entry(claim, "drat")["proof"].pop("sha256")),
    ("optimum-open", lambda claim: claim["refuted"].clear()),
    ("optimum-open", lambda claim: claim["refuted"].remove(entry(claim, "bound"))),
    ("optimum-open", lambda claim: claim["refuted"].remove(entry(claim, "drat"))),
    ("proof-implied", lambda claim: follow(claim, [5, 3, 4])),
    ("proof-implied", lambda claim: follow(claim, [5, 4, 4])),
    ("proof-foreign", lambda claim: entry(claim, "drat")["proof"].update(ordered=False)),
    ("proof-digest", lambda claim: entry(claim, "drat")["proof"].update(lines=pack("0\n"))),
    ("proof-open", lambda claim: cut_lines(claim, lambda lines: lines[:-1])),
    ("proof-step", lambda claim: cut_lines(claim, lambda lines: ["1 0\n", *lines])),
    ("proof-weak", lambda claim: entry(claim, "drat").update(proof=entry(claim, "bound")["proof"])),
    ("witness-value", lambda claim: entry(claim, "bound")["proof"]["bound"].update(value="9/10")),
]


@pytest.mark.parametrize(("rule", "edit"), EDITS, ids=[f"{number}-{rule}" for number, (rule, _) in enumerate(EDITS)])
def test_an_edited_claim_is_refused(rule: str, edit) -> None:
    schedule, claim = ring()
    edited = copy.deepcopy(claim)
    edit(edited)
    assert rules(schedule, edited) == {rule}


def test_the_claim_of_another_schedule_is_refused() -> None:
    schedule, claim = ring()
    assert rules(made("ring:5", "ring"), claim) == {"proof-foreign"}  # (5, 8, 8)
    assert rules(replace(schedule, rounds=[1, 1, 1, 2]), claim) == {"proof-foreign"}  # (5, 4, 5)
    assert rules(replace(schedule, certificate=None, buffers=2), claim) >= {"proof-foreign"}
    assert rules(made("mesh:2x2", "packing"), claim) == {"proof-foreign"}  # steps overlap


def claimed(schedule: Schedule, point, refuted=()) -> set[str]:
    return rules(schedule, {"point": list(point), "machine": ring()[1]["machine"], "refuted": list(refuted)})


def test_what_the_machine_cannot_run_is_not_claimed() -> None:
    """Each of these is valid and has a point without rivals, or that of a valid claim."""
    schedule, claim = ring()
    overlapping = replace(schedule, period=schedule.steps, repeats=1)
    assert verify_schedule(overlapping).valid
    assert rules(overlapping, claim) == {"proof-foreign"}
    at_once = made("full:3", "direct", "all-gather")
    assert claimed(at_once, (1, 1, 1)) == set()
    assert claimed(replace(at_once, delay=2), (1, 1, 1)) == {"proof-foreign"}
    stepwise, passing = (passing_broadcast([(0, 1)], [(1, 2)], [last]) for last in ((2, 3), (1, 2, 3)))
    assert claimed(stepwise, (1, 3, 3)) == set()
    assert claimed(passing, (1, 3, 3)) == {"proof-foreign"}


def test_unequal_shares_are_not_claimed() -> None:
    """All three chunks of an all-gather start at one endpoint."""
    rows = [(chunk, Op.COPY, chunk + hop, hop, hop + 1) for chunk in range(3) for hop in range(2)]
    assert claimed(schedule_example("mesh:3", "all-gather", [0, 0, 0], rows), (1, 4, 4)) == {"proof-foreign"}


def test_too_many_rivals_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="2000 chunks and 4 steps have more than 2048 rivals"):
        rivals(Question(parse_topology("ring:4"), parse_collective("all-reduce"), 2000, 4, 4000))
