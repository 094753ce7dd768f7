"""The claim that a schedule is optimal in (chunks, steps, rounds), with a refutation of every point that could be better.

    {"point": [C, S, R], "machine": "...", "refuted": [{"point": [c, s, r], "proof": {"kind", ...}}, ...]}

in a certificate states: on that machine (`exact.question`) no schedule with at most C chunks, S steps and R/C rounds per chunk
has fewer of any. (C, S, R) are those of the schedule; C counts as in `exact.question`. `exact.rivals` has the points that
must be refuted; `refuted` lists these, and points from which they follow, as in a frontier. No solver is needed to check it.
"""

from typing import Any

from certree.models.common.errors import InputError, UnsupportedError, short
from certree.models.common.fields import Fields
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.bounds.instance import Instance
from certree.verify.exact.question import Point, Question
from certree.verify.exact.refutations.refutation import Document
from certree.verify.exact.refutations.refuted_points import read_point, sound_refutations
from certree.verify.exact.rivals import rivals
from certree.verify.exact.rows import asked_by
from certree.verify.exact.rup import ProofError, malformed
from certree.verify.rule import Subject, rule

CLAIMED = takes("exact optimum", "virtual_channel")


def require_delay_1(schedule: Schedule) -> None:
    """Raise UnsupportedError where steps are not those of the machine of `exact.question`."""
    if schedule.delay != 1 or schedule.period is not None:
        steps = "steps that overlap (period)" if schedule.delay == 1 else f"delay {schedule.delay}"
        raise UnsupportedError(f"exact optimum: the machine has delay 1 and one step after the other; the schedule has {steps}")


def question_of(schedule: Schedule) -> Question:
    """The question that a valid schedule answers, at its own point. UnsupportedError for schedules that the machine of
    `exact.question` cannot run (routes through endpoints), and for chunks that are not shared out equally."""
    if Instance.of(schedule).passing:
        raise UnsupportedError("exact optimum: transfers pass endpoints within a step, which the machine of the question cannot")
    asked = asked_by(schedule)
    if asked is None:
        raise UnsupportedError("exact optimum: the chunks are not shared out equally")
    question, chunks = asked
    return question.at((chunks, schedule.steps, int(schedule.rounds.sum())))


def optimum_claim(question: Question, refuted: list[Document]) -> Document:
    """The claim, as stored in a certificate."""
    return {"point": list(question.point), "machine": question.model, "refuted": refuted}


@rule(
    "optimum-open",
    "a point that would be at least as good as the schedule is not refuted",
    'certificate.optimum = {"point": [3, 4, 4], "machine": "one accumulator per chunk and endpoint, delay 1, steps of 1 round or '
    'more, endpoints do not forward within a step", "refuted": []}',
    Subject.PROOFS,
)
def check_optimum(schedule: AnySchedule, claim: Any) -> Point:
    """The point that is proved optimal; otherwise ProofError or WitnessError with the broken rule."""
    fields = Fields(claim, "optimum", malformed).only("point", "machine", "refuted")
    if not isinstance(schedule, Schedule):
        raise ProofError("proof-foreign", "optimum cannot be claimed for a schedule stored as one tree and a group")
    try:
        CLAIMED.require(schedule)
        require_delay_1(schedule)
        question = question_of(schedule)
        wanted = rivals(question)
    except UnsupportedError as error:
        raise ProofError("proof-foreign", str(error)) from None
    for name, true in (("point", list(question.point)), ("machine", question.model)):
        if repr(claim[name]) != repr(true):  # 1.0 and True are equal to 1
            raise ProofError("proof-foreign", f"optimum is about {name} {short(claim[name])}, not {short(true)}")
    try:
        for entry in fields.tables("refuted"):
            read_point(entry.only("point", "proof").raw("point"), "optimum: refuted", question.chunks)
    except InputError as error:
        raise malformed(str(error)) from None
    left = set(wanted) - sound_refutations(question, claim["refuted"], _refuse)
    if left:
        raise ProofError("optimum-open", f"{list(min(left))} is not refuted: a schedule of that point would be at least as good")
    return question.point


def _refuse(rule_name: str, message: str) -> None:
    raise ProofError(rule_name, message)
