"""What the trusted formula says of a question."""

from pysat.solvers import Cadical195

from certree.models.schedule.schedule import Schedule
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.question import Question
from certree.verify.frontier.answers import why_not


def solved(question: Question, *, ordered: bool = False) -> Schedule | None:
    """A schedule that answers the question, or nothing."""
    encoder = encode(question, ordered=ordered)
    with Cadical195(bootstrap_with=encoder.formula.clauses) as solver:
        return encoder.decode(solver.get_model()) if solver.solve() else None


def answer(question: Question, *, ordered: bool = False) -> bool:
    """Whether there is a schedule; if so, it is verified."""
    schedule = solved(question, ordered=ordered)
    assert schedule is None or why_not(question, schedule) is None
    return schedule is not None


def needs_its_clauses(question: Question, encoder: type, dropped: str) -> bool:
    """Whether there is no schedule, and without a family of clauses there would be one."""
    method = getattr(encoder, dropped)
    refuted = solved(question) is None
    setattr(encoder, dropped, lambda self, *rest: None)
    try:
        return refuted and bool(Cadical195(bootstrap_with=encode(question).formula.clauses).solve())
    finally:
        setattr(encoder, dropped, method)
