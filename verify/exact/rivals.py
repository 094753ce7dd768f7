"""The points that could be at least as good as a schedule, in (chunks, steps, rounds)."""

from collections.abc import Iterable

from certree.models.common.errors import UnsupportedError
from certree.verify.exact.question import Point, Question

MAX_RIVALS = 1 << 11


def unimplied(question: Question, wanted: Iterable[Point]) -> list[Point]:
    """The points that no other one implies (`Question.implies`)."""
    asked = [question.at(point) for point in wanted]
    return [one.point for one in asked if not any(other is not one and other.implies(one.point) for other in asked)]


def rivals(question: Question) -> list[Point]:
    """The points that must be refuted for a schedule at the point of the question to be optimal: that no other point dominates it.

    Another point (c, s, r) dominates (C, S, R) if c <= C, s <= S and r/c <= R/C. For each c and s these have at most
    floor(c · R/C) rounds, R - 1 for the schedule's own chunks and steps; fewer rounds are refuted with these. Fewer steps than the
    distance need no refutation. UnsupportedError for more than MAX_RIVALS.
    """
    chunks, steps, rounds = question.point
    hops = question.least_steps[0]
    if chunks * max(0, steps - hops + 1) > MAX_RIVALS:
        raise UnsupportedError(f"{chunks} chunks and {steps} steps have more than {MAX_RIVALS} rivals: too many for a proof")
    return unimplied(
        question,
        (
            (c, s, most)
            for c in range(1, chunks + 1)
            for s in range(hops, steps + 1)
            if (most := rounds - 1 if (c, s) == (chunks, steps) else c * rounds // chunks) >= s
        ),
    )
