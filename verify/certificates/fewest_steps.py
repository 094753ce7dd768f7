"""The claim that a schedule has the fewest steps there can be for its chunks, with the refutation of one step less.

    {"point": [C, S, R], "machine": "...", "proof": {"kind", ...}}

in a certificate says: on that machine (`exact.question`) no schedule of C chunks has S steps of one round each, S being one less
than the schedule has. Fewer still are then impossible too: a step without transfers could be added. The proof is one of
`exact.refutation` and is checked without any solver. The machine is wider than tables: its sums need not go along trees.
"""

from collections.abc import Mapping
from typing import Any

from certree.models.common.errors import UnsupportedError, short
from certree.models.common.fields import Fields
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric import AnySchedule, SymmetricSchedule
from certree.verify.bounds.witness import Instance
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.refutation import check_refutation
from certree.verify.exact.rows import shares_of
from certree.verify.exact.rup import ProofError, malformed


def question_before(schedule: Schedule) -> Question:
    """The question whether one step less would do. UnsupportedError for a schedule that the claim cannot be about: with steps of
    several rounds, another delay than 1, a period, one step only, routes that pass endpoints (which that machine does not, so that
    fewer steps may be possible), or chunks that are not shared out equally."""
    if schedule.delay != 1 or schedule.period is not None or (schedule.rounds != 1).any() or schedule.steps < 2:
        raise UnsupportedError("fewest steps are claimed of two or more steps of one round each, delay 1, without a period")
    if Instance.of(schedule).passing:
        raise UnsupportedError("fewest steps are not claimed of transfers that pass endpoints within a step")
    question = Question(schedule.topology, schedule.collective, 1, 1, 1)
    each = 1 if question.is_sum else len(question.demands)
    chunks = schedule.chunks // each
    if schedule.chunks % each or (not question.is_sum and shares_of(schedule) != {chunks}):
        raise UnsupportedError("fewest steps are claimed of chunks that are shared out equally")
    return question.at((chunks, schedule.steps - 1, schedule.steps - 1))


def claim_of(question: Question, proof: Mapping[str, Any]) -> dict[str, Any]:
    """The claim, as it stands in a certificate."""
    return {"point": list(question.point), "machine": question.model, "proof": dict(proof)}


def check_fewest(schedule: AnySchedule, claim: Any) -> str:
    """The kind of the proof, if it holds; ProofError or WitnessError with the rule that is broken otherwise."""
    Fields(claim, "fewest_steps", malformed).only("point", "machine", "proof")
    if isinstance(schedule, SymmetricSchedule):
        raise ProofError("proof-foreign", "fewest_steps is not claimed of a schedule that is kept as one tree and a group")
    try:
        question = question_before(schedule)
    except UnsupportedError as error:
        raise ProofError("proof-foreign", str(error)) from None
    for name, true in (("point", list(question.point)), ("machine", question.model)):
        if type(claim[name]) is not type(true) or claim[name] != true:
            raise ProofError("proof-foreign", f"fewest_steps is about {name} {short(claim[name])}, not {short(true)}")
    check_refutation(question, claim["proof"])
    return str(claim["proof"]["kind"])
