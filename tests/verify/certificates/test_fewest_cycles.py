"""The claim of fewest cycles: proved without a solver, or refused; its formula excludes no schedule."""

import copy
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from pysat.solvers import Cadical195

from certree.models.common.errors import UnsupportedError
from certree.models.common.files import sha256
from certree.models.fine.slots import fine_times
from certree.models.network.rates import Rates
from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.schedule.timing import ceil_div
from certree.synth.exact.fewest_cycles_search import FewestCyclesSearch
from certree.synth.method import Request, load_methods
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import back_end
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.certificates.certificate import make_certificate
from certree.verify.certificates.fewest_cycles import granules_of, uncovered
from certree.verify.checker import verify_schedule
from certree.verify.exact.encoding import run_encoder
from certree.verify.exact.encoding.run_encoder import RunEncoder
from certree.verify.exact.formula import Formula
from certree.verify.exact.refutations.refutation import pack, unpack
from certree.verify.exact.run_question import RunQuestion, Windows
from tests.verify.bounds.test_shortest_runs import QUICK, Runs, of_instance
from tests.verify.exact.small import network


@cache
def made(network: str, method: str, granules: int, machine=QUICK, **options: str) -> Schedule:
    """The schedule of a method for a message of that many granules."""
    size = granules * machine.flit_bytes
    request = Request(parse_topology(network), parse_collective("all-reduce"), size, machine, options=options)
    return replace(written_out(load_methods()[method](request)), certificate=None)


def is_possible(network: str | Topology, chunks: int, granules: int, cycles: int, machine=QUICK) -> bool:
    """Whether the formula has a model."""
    topology = parse_topology(network) if isinstance(network, str) else network
    solver = back_end("cadical")()
    solver.encode(RunEncoder(RunQuestion(topology, machine, chunks, granules, cycles)).formula, with_proof=False)
    status = solver.solve(Budget(10**6), Monitor(), 10**6)
    assert status is not Status.UNKNOWN
    return status is Status.FEASIBLE


@cache
def switched():
    """One shot through a switch, and the claim that nothing is faster: proofs for one chunk, and for two or more."""
    schedule = made("switch:3", "one-shot", 4)
    search = FewestCyclesSearch(schedule, 1, Monitor())
    search.run()
    return schedule, search.result.claim


def verdict(schedule: Schedule, claim):
    return verify_schedule(schedule.with_certificate(make_certificate(schedule, [], cycles=claim)))


def rules(schedule: Schedule, claim) -> set[str]:
    return {violation.rule for violation in verdict(schedule, claim).violations}


def test_a_claim_is_checked_with_the_schedule() -> None:
    schedule, claim = switched()
    found = verdict(schedule, claim)
    assert (found.valid, found.quality.fewest_cycles) == (True, fine_times(schedule).cycles)
    assert [(entry["chunks"], entry["granules"]) for entry in claim["refuted"]] == [(1, 4), (2, 2), (4, 1)]
    assert any(unpack(entry["proof"]["lines"]) for entry in claim["refuted"])
    assert verdict(schedule, None).quality.fewest_cycles is None


@pytest.mark.parametrize(
    ("network", "chunks", "granules", "finer", "least"),
    [
        ("ring:3", 1, 1, 7, 8), ("ring:3", 2, 1, 8, 10), ("ring:4", 1, 1, 9, 10),
        ("ring:4", 2, 1, 12, 13), ("mesh:1x3", 1, 1, 9, 10), ("mesh:1x3", 2, 1, 12, 13), ("switch:3", 1, 1, 11, 11),
        ("switch:4", 1, 1, 13, 13), ("full:4", 1, 1, 7, 9),
    ],
)  # fmt: skip
def test_the_fewest_cycles_of_runs(network: str, chunks: int, granules: int, finer: int, least: int) -> None:
    """The fewest cycles by the formula; in the `finer` model, of granules by themselves and sums of any number at a time, it is no
    more."""
    assert is_possible(network, chunks, granules, least)
    assert not is_possible(network, chunks, granules, least - 1)
    assert Runs(of_instance(network, "all-reduce", chunks * granules, QUICK), finer).exist()
    assert not Runs(of_instance(network, "all-reduce", chunks * granules, QUICK), finer - 1).exist()


@pytest.mark.parametrize("network", ["ring:3", "ring:4", "mesh:1x3", "switch:3", "full:4"])
@pytest.mark.parametrize(
    "machine",
    [QUICK, replace(QUICK, reduce_quantum_cycles=3, reduce_start_cycles=0, ni_cycles=1, ni_start_cycles=2, head_flits=2)],
    ids=["quick", "other"],
)
def test_no_schedule_is_excluded(network: str, machine) -> None:
    found = []
    for method in ("one-shot", "two-shot", "swing", "partial-sums", "trivance", "recursive-multiplying"):
        with suppress(UnsupportedError):
            found.append(made(network, method, 2, machine))
    assert len(found) >= 3
    for schedule in found:
        chunks = schedule.chunks * schedule.repeats
        assert is_possible(network, chunks, ceil_div(2, chunks), fine_times(schedule).cycles, machine)


def first_variable(formula: Formula, name: str, purpose: str) -> int:
    """The first variable of a family, by the notes of a formula."""
    note = next(note for note in formula.notes if note.startswith(f"{name}[") and f": {purpose}" in note)
    return int(note.split("variables ")[1].split(" ")[0])


def test_messages_may_wait_at_routers() -> None:
    """Into the second link three cycles after the first possible one, without an entry into the first link that would lead there at
    once; but not without any before."""
    question = RunQuestion(parse_topology("ring:3"), QUICK, 1, 1, 30)
    formula = RunEncoder(question).formula
    route = next(route for route in question.routes if len(route.pairs) == 2)
    first, second = (first_variable(formula, f"enters {route.pairs} {link}", f"with {1 << route.src},") for link in (0, 1))
    with Cadical195(bootstrap_with=formula.clauses) as solver:
        assert solver.solve(assumptions=[second + 3, -(first + 3)])
        assert not solver.solve(assumptions=[second + 3, *(-(first + cycle) for cycle in range(4))])


def test_what_endpoints_must_pass_on() -> None:
    """A path of three that do not forward, as there is a switch: the middle one passes each contribution on as soon as it comes, in
    cycle 5; it comes in cycle 10 and is added from 11 to 12. By hand."""
    path = network(((0, 1), (1, 2), (1, 3)), switches=(3,))
    assert (is_possible(path, 1, 1, 12), is_possible(path, 1, 1, 11)) == (True, False)


@pytest.mark.parametrize(("moved", "there", "cycle"), [(2, 4, 6), (4, 2, 6), (2, 1, 5), (1, 2, 6)])
def test_a_sum_begins_as_soon_as_it_may(moved: int, there: int, cycle: int) -> None:
    """At endpoint 0 of a ring of 3, in cycles by hand: what comes over a link arrives in cycle 4 and may be added a cycle later, to
    what was there when it left; to what came, only by a local transfer of a cycle. And not before."""
    question = RunQuestion(parse_topology("ring:3"), replace(QUICK, head_flits=0), 1, 1, 30)
    formula = RunEncoder(question).formula
    first = first_variable(formula, "begins 0", f"to add {moved} to {there},")
    assert Windows(question).additions(0, moved, there).start == cycle
    with Cadical195(bootstrap_with=formula.clauses) as solver:
        assert solver.solve(assumptions=[first])


def first(claim):
    """The entry whose proof has lines."""
    return next(entry for entry in claim["refuted"] if unpack(entry["proof"]["lines"]))


def cut_lines(claim, lines) -> None:
    """Other lines of that proof, with the digest that they have."""
    proof = first(claim)["proof"]
    text = "".join(lines(unpack(proof["lines"]).splitlines(keepends=True)))
    proof.update(lines=pack(text), sha256=sha256(text.encode()))


#: edits of a valid claim, each with the rule that finds it
EDITS = [
    ("proof-foreign", lambda claim: claim.update(cycles=claim["cycles"] - 1)),
    ("proof-foreign", lambda claim: claim.update(cycles=claim["cycles"] + 1)),
    ("proof-malformed", lambda claim: claim.update(cycles=float(claim["cycles"]))),
    ("proof-malformed", lambda claim: claim.update(cycles=True)),
    ("proof-malformed", lambda claim: claim.pop("cycles")),
    ("proof-malformed", lambda claim: claim.update(note="trust me")),
    ("proof-malformed", lambda claim: claim.update(refuted={})),
    ("cycles-open", lambda claim: claim["refuted"].clear()),
    ("cycles-open", lambda claim: claim["refuted"].pop(0)),
    ("cycles-open", lambda claim: claim["refuted"].pop()),
    ("proof-malformed", lambda claim: claim["refuted"].append({"chunks": 1, "granules": 1})),
    ("proof-malformed", lambda claim: claim["refuted"][0].update(chunks=0)),
    ("proof-malformed", lambda claim: claim["refuted"][0].update(chunks=5)),
    ("proof-malformed", lambda claim: claim["refuted"][0].update(granules=1.0)),
    ("proof-malformed", lambda claim: claim["refuted"][0].update(granules=0)),
    ("proof-malformed", lambda claim: claim["refuted"][0].update(proof={"kind": "z3 says so"})),
    ("proof-malformed", lambda claim: first(claim)["proof"].update(kind="bound")),
    ("proof-malformed", lambda claim: first(claim)["proof"].pop("sha256")),
    ("proof-malformed", lambda claim: first(claim)["proof"].update(lines="not packed")),
    ("proof-foreign", lambda claim: first(claim)["proof"].update(formula="0" * 64)),
    ("proof-foreign", lambda claim: first(claim).update(granules=2 if first(claim)["granules"] == 1 else 1)),
    ("proof-foreign", lambda claim: first(claim).update(chunks=3)),
    ("proof-digest", lambda claim: first(claim)["proof"].update(lines=pack("0\n"))),
    ("proof-open", lambda claim: cut_lines(claim, lambda lines: lines[:-1])),
    ("proof-step", lambda claim: cut_lines(claim, lambda lines: ["0\n", *lines])),
]


@pytest.mark.parametrize(("rule", "edit"), EDITS, ids=[f"{number}-{rule}" for number, (rule, _) in enumerate(EDITS)])
def test_an_edited_claim_is_refused(rule: str, edit) -> None:
    schedule, claim = switched()
    edited = copy.deepcopy(claim)
    edit(edited)
    assert rules(schedule, edited) == {rule}


def test_the_claim_of_another_schedule_is_refused() -> None:
    """Slower, at another size, on another machine, or without fine slots."""
    _, claim = switched()
    assert rules(made("switch:3", "two-shot", 4), claim) == {"proof-foreign"}
    assert rules(made("switch:3", "one-shot", 5), claim) == {"proof-foreign"}
    assert rules(made("switch:3", "one-shot", 4, replace(QUICK, reduce_start_cycles=2)), claim) == {"proof-foreign"}
    assert rules(made("switch:3", "recursive-doubling", 4), claim) == {"proof-foreign"}


def test_a_faster_schedule_has_no_claim() -> None:
    """Were the claim true of a slower one, it would be refuted by the faster."""
    slow, (fast, claim) = made("switch:3", "two-shot", 4), switched()
    assert fine_times(slow).cycles > fine_times(fast).cycles
    forged = {**copy.deepcopy(claim), "cycles": fine_times(slow).cycles}
    assert rules(slow, forged) == {"proof-foreign"}
    search = FewestCyclesSearch(slow, 1, Monitor())
    search.run()
    assert (search.result.status, search.result.claim) == ("beaten", None)
    assert fine_times(search.result.better).cycles <= fine_times(fast).cycles


def test_what_is_not_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(parse_topology("ring:4"), parse_collective("all-gather"), 4, QUICK)
    gather, switch = written_out(load_methods()["pat"](request)), parse_topology("switch:3")
    with pytest.raises(UnsupportedError, match="for an all-reduce in equal chunks"):
        granules_of(gather)
    with pytest.raises(UnsupportedError, match="for up to 5 endpoints; there are 8"):
        RunQuestion(parse_topology("ring:8"), QUICK, 1, 1, 9)
    with pytest.raises(UnsupportedError, match="switches reduce"):
        RunQuestion(replace(switch, reducing=switch.kind == NodeKind.SWITCH), QUICK, 1, 1, 9)
    monkeypatch.setattr(run_encoder, "MAX_CLAUSES", 1000)
    with pytest.raises(UnsupportedError, match="more than 1000 clauses"):
        RunEncoder(RunQuestion(parse_topology("ring:4"), QUICK, 1, 1, 12))


def test_chunks_that_refutations_cover() -> None:
    assert uncovered(8, []) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert uncovered(8, [(1, 8), (2, 1)]) == []
    assert uncovered(8, [(1, 8), (3, 1)]) == [2]
    assert uncovered(8, [(1, 8), (2, 3)]) == [4, 5, 6, 7, 8]  # three chunks are padded to 3 granules each
    assert uncovered(1, [(1, 1)]) == []


def test_rates_that_are_rounded_are_refused() -> None:
    """Two lanes of half the rate, rounded down less, are faster than one lane: the fewest cycles would be of this unit alone."""
    pair = Topology("pair", [0, 0], [0, 1], [1, 0], [1, 1], [-1, -1], rates=Rates(np.array([199, 199]), 100))
    machine = replace(QUICK, flit_bytes=1, head_flits=4)
    cycles = []
    for topology, chunks in ((pair, 1), (pair.in_units_of(Fraction(199, 200)), 2)):
        request = Request(topology, parse_collective("all-reduce"), 8, machine, chunks=chunks)
        schedule = replace(written_out(load_methods()["one-shot"](request)), certificate=None)
        assert verify_schedule(schedule).valid
        cycles.append(fine_times(schedule).cycles)
        with pytest.raises(UnsupportedError, match="not claimed where rates are rounded"):
            granules_of(schedule)
    assert cycles[1] < cycles[0]
