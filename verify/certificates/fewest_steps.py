"""The claim that a schedule has the fewest possible steps for its chunks, with a refutation of one step less.

    {"point": [C, S, R], "machine": "...", "proof": {"kind", ...}}

in a certificate states: on that machine (`exact.question`) no schedule of C chunks has S steps of one round each, where S is one
less than the steps of the schedule. Fewer steps are then impossible too, since steps without transfers could be added. The proof
is one of `exact.refutations` and is checked without any solver. The machine allows more than tables do: sums need not form trees.
"""

from collections.abc import Mapping
from typing import Any

from certree.models.common.errors import UnsupportedError, short
from certree.models.common.fields import Fields
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.verify.bounds.instance import Instance
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.refutation import check_refutation
from certree.verify.exact.rows import asked_by
from certree.verify.exact.rup import ProofError, malformed

_CLAIMED = takes("claims of fewest steps", "virtual_channel")


def question_before(schedule: Schedule) -> Question:
    """The question whether one step less suffices. UnsupportedError for schedules that the claim does not cover: steps of several
    rounds, a delay other than 1, a period, a single step, routes through endpoints (that machine has none, so fewer steps may be
    possible), fields of version 2, or chunks that are not shared out equally."""
    _CLAIMED.require(schedule)
    if schedule.delay != 1 or schedule.period is not None or (schedule.rounds != 1).any() or schedule.steps < 2:
        raise UnsupportedError("fewest steps can be claimed for two or more steps of one round each, delay 1, without a period")
    if Instance.of(schedule).passing:
        raise UnsupportedError("fewest steps cannot be claimed for transfers that pass endpoints within a step")
    asked = asked_by(schedule)
    if asked is None:
        raise UnsupportedError("fewest steps can be claimed only for chunks that are shared out equally")
    question, chunks = asked
    return question.at((chunks, schedule.steps - 1, schedule.steps - 1))


def claim_of(question: Question, proof: Mapping[str, Any]) -> dict[str, Any]:
    """The claim, as stored in a certificate."""
    return {"point": list(question.point), "machine": question.model, "proof": dict(proof)}


def check_fewest(schedule: AnySchedule, claim: Any) -> str:
    """The kind of the proof, if it is correct; otherwise ProofError or WitnessError with the broken rule."""
    Fields(claim, "fewest_steps", malformed).only("point", "machine", "proof")
    if isinstance(schedule, SymmetricSchedule):
        raise ProofError("proof-foreign", "fewest_steps cannot be claimed for a schedule stored as one tree and a group")
    try:
        question = question_before(schedule)
    except UnsupportedError as error:
        raise ProofError("proof-foreign", str(error)) from None
    for name, true in (("point", list(question.point)), ("machine", question.model)):
        if repr(claim[name]) != repr(true):  # 1.0 and True are equal to 1
            raise ProofError("proof-foreign", f"fewest_steps is about {name} {short(claim[name])}, not {short(true)}")
    check_refutation(question, claim["proof"])
    return str(claim["proof"]["kind"])
