"""Search for a proof that a schedule has the fewest steps for its chunks (`verify.certificates.fewest_steps`)."""

from typing import Any

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.synth.exact.encodings.clauses import TrustedClauses
from certree.synth.exact.refuter import Refuter, formula_proof
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.certificates.fewest_steps import claim_of, question_before
from certree.verify.exact.rup import ProofError

CONFLICTS = 40_000  # at effort 1
CLAUSES = 300_000  # of a formula that is tried, at effort 1


def prove_fewest(schedule: Schedule, effort: int, monitor: Monitor) -> tuple[dict[str, Any] | None, str]:
    """The claim with its proof, or None; and the result in words. Deterministic unless the monitor has a deadline."""
    try:
        question = question_before(schedule)
    except UnsupportedError as error:
        return None, f"not proved: {error}"
    refuter, (chunks, steps, rounds) = Refuter(question), question.point
    refuter.least_rounds(chunks, steps, rounds)
    if (proof := refuter.easy_proof(question.point)) is not None:
        return claim_of(question, proof), "proved"
    asking = TrustedClauses(question)
    try:
        asking.encode()
    except UnsupportedError as error:
        return None, f"not proved: {error}"
    if len(asking.encoder.formula.clauses) > CLAUSES * effort:
        return None, f"not proved: the formula is too large for effort {effort}"
    monitor.report(f"exact: looking for a proof that {steps} steps do not suffice")
    status = asking.solve(Budget(CONFLICTS * effort), monitor, CONFLICTS * effort)
    if status is Status.FEASIBLE:
        return None, f"not proved: {steps} steps are possible, with sums that do not form trees"
    if status is not Status.INFEASIBLE:
        return None, f"not proved: no proof was found with effort {effort}"
    try:
        return claim_of(question, formula_proof(asking)), "proved"
    except ProofError as error:
        return None, f"not proved: {error}"
