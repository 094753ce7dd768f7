"""Frontier documents with all their proofs, and their checker: verifies schedules, checks proofs, recomputes claims.

    {"format": "certree-frontier", "version": 2, "topology": {...}, "collective": {"kind", "root"}, "max_chunks": Cmax, "memory":
     null, "scratch": null, "model": "...",
     "points": [{"point": [C, S, R], "schedule": {...}}, ...], "refuted": [{"point": [C, S, R], "proof": {...}}, ...],
     "undecided": [[C, S, R], ...], "bandwidth": bound document,
     "step_bounds": [{"steps": S, "rounds_per_chunk": "3/2", "price": rows of `prices`}, ...], "complete": true, "all_chunks": true}

A refuted point may be {"kind": "implied", "by": [C, S, R]}: by a point of the list with another refutation (`Question.implies`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from certree.models.common.budget import budgeted
from certree.models.common.errors import CertreeError, short
from certree.models.common.fields import Fields
from certree.models.common.shown import Shown
from certree.models.network.topology import Topology
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import Collective, read_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_file import schedule_document, schedule_from_document
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, WitnessError, check_bound
from certree.verify.exact.question import Point, Question
from certree.verify.exact.refutations.prices import MAX_STEPS, Rows, rounds_per_chunk
from certree.verify.exact.refutations.refutation import Document
from certree.verify.exact.refutations.refuted_points import MAX_NUMBER, read_point, sound_refutations
from certree.verify.exact.rup import ProofError
from certree.verify.frontier.answers import rounds_of, why_not
from certree.verify.frontier.points import covers, covers_all_chunks, obligations
from certree.verify.rule import Subject, rule
from certree.verify.verdict import Findings, Violation
from certree.verify.wording import network_text

FORMAT, VERSION = "certree-frontier", 2
MAX_CHUNKS = 1 << 12
_KEYS = (
    "topology", "collective", "max_chunks", "memory", "scratch", "model", "points", "refuted", "undecided",
    "bandwidth", "step_bounds", "complete", "all_chunks",
)  # fmt: skip


def frontier_document(
    question: Question,
    max_chunks: int,
    points: Mapping[Point, Schedule],
    refuted: Mapping[Point, Document],
    bandwidth: Bound,
    step_bounds: Mapping[int, Rows] = MappingProxyType({}),
) -> Document:
    """The document of a frontier; its undecided points and its claims follow from the points, the refutations and bounds.

    `step_bounds`: prices of links (`prices`) for numbers of steps.
    """
    open_points = [point for point in obligations(question, list(points), max_chunks) if point not in refuted]
    value = check_bound(Instance(question.topology, question.collective), bandwidth)
    rates = {steps: rounds_per_chunk(question, rows) for steps, rows in sorted(step_bounds.items())}
    return {
        "format": FORMAT,
        "version": VERSION,
        "topology": topology_document(question.topology),
        "collective": {"kind": str(question.collective.kind), "root": question.collective.root},
        "max_chunks": max_chunks,
        "memory": question.memory,
        "scratch": question.scratch,
        "model": question.model,
        "points": [{"point": list(point), "schedule": schedule_document(schedule)} for point, schedule in sorted(points.items())],
        "refuted": [{"point": list(point), "proof": proof} for point, proof in sorted(refuted.items())],
        "undecided": [list(point) for point in open_points],
        "bandwidth": bandwidth,
        "step_bounds": [
            {"steps": steps, "rounds_per_chunk": str(rate), "price": step_bounds[steps]} for steps, rate in rates.items()
        ],
        "complete": bool(points) and not open_points,
        "all_chunks": not open_points and covers_all_chunks(question, list(points), value, rates),
    }


@dataclass(frozen=True, repr=False)
class FrontierVerdict(Shown):
    """The result of checking a frontier: its claims are proved exactly when there are no violations."""

    question: Question  # of any point
    violations: tuple[Violation, ...]
    document: Document

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.question.topology

    @property
    def collective(self) -> Collective:
        """The collective."""
        return self.question.collective

    @property
    def valid(self) -> bool:
        """Whether all schedules and proofs are correct and every claim follows from them."""
        return not self.violations

    def facts(self) -> dict[str, object]:
        """Whether it is valid and complete, and its points."""
        points = " ".join(str(tuple(entry["point"])) for entry in self.document["points"])
        return {"valid": self.valid, "complete": self.document["complete"], "points": points}


def read_frontier(document: Any, where: str) -> tuple[Question, Document]:
    """The question and the document, if it has the form of a frontier; otherwise InputError or TopologyError with the fault."""
    fields = Fields.of_format(document, FORMAT, VERSION, where).only(*_KEYS)
    topology = topology_from_document(fields.raw("topology"), f"{where}: topology")
    collective = read_collective(fields.table_of("collective"))
    collective.require_fits(topology)
    max_chunks = fields.whole("max_chunks", 1, MAX_CHUNKS)
    for name, second in (("points", "schedule"), ("refuted", "proof")):
        for entry in fields.tables(name):
            read_point(entry.only("point", second).raw("point"), f"{where}: {name}", max_chunks)
    fields.entries("undecided", empty=True)
    bounds = fields.tables("step_bounds")
    if len(bounds) > MAX_STEPS:
        fields.refuse(f"{len(bounds)} step_bounds; at most {MAX_STEPS} are checked")
    for entry in bounds:
        entry.only("steps", "rounds_per_chunk", "price")
    memory, scratch = (fields.whole_or_none(name, least, MAX_NUMBER) for name, least in (("memory", 1), ("scratch", 0)))
    return Question(topology, collective, 1, 1, 1, memory, scratch), document


@budgeted()
@rule(
    "frontier-dominated",
    "a listed point is dominated by another one",
    "tests/verify/frontier/test_document.py",
    Subject.FRONTIERS,
)
def check_frontier(document: Any, where: str, topology: Topology | None = None) -> FrontierVerdict:
    """Check everything in a frontier, without any solver. `topology`: the network that it must be for, if given (rule `topology`).

    The rules are listed in `docs/reference/rules.md`. The time is that of verifying the schedules, building the formulas and
    propagating along the proofs.
    """
    question, document = read_frontier(document, where)
    findings = Findings()
    if topology is not None and not topology.is_network_of(question.topology):
        message = f"the frontier is of {network_text(question.topology)}, which is not {network_text(topology)} link by link"
        findings.add("topology", 0, (), message)
    points = list(_sound_points(question, document["points"], findings))
    for point in points:
        for other in points:
            if other != point and covers(other, point):
                findings.add("frontier-dominated", 0, (), f"point {list(point)} is dominated by {list(other)}")
    refuted = sound_refutations(question, document["refuted"], lambda rule, message: findings.add(rule, 0, (), message))
    _check_claims(question, document, points, refuted, findings)
    return FrontierVerdict(question, findings.verdict().violations, document)


@rule(
    "frontier-point",
    "a listed point has no valid schedule of exactly these chunks, steps and rounds on the machine of `exact.question`, or its "
    "certificate is invalid",
    'points.2 = {"point": [2, 4, 4], "schedule": {}}',
    Subject.FRONTIERS,
)
def _sound_points(question: Question, entries: Sequence[Mapping[str, Any]], findings: Findings) -> Iterator[Point]:
    seen = set[Point]()
    for entry in entries:
        point: Point = tuple(entry["point"])
        try:
            schedule = schedule_from_document(entry["schedule"], f"point {list(point)}")
            reason = "it is listed twice" if point in seen else why_not(question.at(point), schedule)
            if reason is None and rounds_of(schedule) < point[2]:
                reason = f"the schedule has only {rounds_of(schedule)} rounds"
        except CertreeError as error:
            reason = str(error)
        seen.add(point)
        if reason is None:
            yield point
        else:
            findings.add("frontier-point", 0, (), f"point {list(point)}: {reason}")


def _sound_rates(question: Question, entries: Sequence[Mapping[str, Any]], findings: Findings) -> dict[int, Fraction]:
    """The least rounds per chunk for each number of steps, by checked prices."""
    sound: dict[int, Fraction] = {}
    for entry in entries:
        try:
            rate = rounds_per_chunk(question, entry["price"])
        except ProofError as error:
            findings.add(error.rule, 0, (), f"step bound: {error.message}")
            continue
        steps = len(entry["price"])
        true: dict[str, int | str] = {"steps": steps, "rounds_per_chunk": str(rate)}
        for name, follows in true.items():
            if type(entry[name]) is not type(follows) or entry[name] != follows:
                message = f"step bound: claims {name} = {short(entry[name])}; its prices show {follows}"
                findings.add("frontier-claim", 0, (), message)
        sound[steps] = rate
    return sound


@rule(
    "frontier-claim",
    "the statements on undecided points, completeness or all chunks do not follow from points and proofs",
    "complete = false",
    Subject.FRONTIERS,
)
def _check_claims(question: Question, document: Document, points: Sequence[Point], refuted: set[Point], findings: Findings) -> None:
    value = Fraction(0)
    try:
        value = check_bound(Instance(question.topology, question.collective), document["bandwidth"])
        if document["bandwidth"]["quantity"] != "bandwidth":
            raise WitnessError("witness-wrong", "the bound must be a bandwidth bound")
    except WitnessError as error:
        findings.add(error.rule, 0, (), f"bandwidth: {error.message}")
    rates = _sound_rates(question, document["step_bounds"], findings)
    left = [list(point) for point in obligations(question, points, document["max_chunks"]) if point not in refuted]
    true = {
        "model": question.model,
        "undecided": left,
        "complete": bool(points) and not left,
        "all_chunks": not left and covers_all_chunks(question, points, value, rates),
    }
    for name, follows in true.items():
        if type(document[name]) is not type(follows) or document[name] != follows:
            findings.add("frontier-claim", 0, (), f"claims {name} = {short(document[name])}; what follows is {short(follows)}")
