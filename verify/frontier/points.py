"""Frontiers: their points, dominance between points, and the candidates to be refuted before a frontier is complete.

A point (C, S, R) is *dominated* by a point with at most as many chunks, steps and rounds per chunk. A frontier up to Cmax is the
set of points with a schedule, C <= Cmax, in which no point dominates another, and which dominate all points with a schedule. (It
holds the best (S, R / C) for every maximum up to Cmax: a point with more chunks is on it only if it has fewer steps or rounds per
chunk.)

Candidate set. For each C <= Cmax and each S, the largest number of rounds that no found point dominates is
R(C, S) = ceil(C · least R'/C') − 1 over found points with C' <= C, S' <= S; without any such point it is the number of rounds that
always suffices. The frontier is complete when each of these finitely many (C, S, R(C, S)), R >= S, is refuted: fewer rounds are
then refuted too (`Question.implies`). The search stops there. Open candidates are listed as undecided, never as impossible.

All C. More than Cmax chunks could only give fewer rounds per chunk than the best listed R / C with as many steps. Where that R / C
meets a bound for every number of steps from the least on, they cannot: then, and only then, the claim is "all C", otherwise
"C <= Cmax". Such bounds are valid for any C: the bandwidth bound for any number of steps, and prices of links (`prices`) for at
most as many steps as they have rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from certree.models.common.errors import UnsupportedError
from certree.verify.exact.question import Point, Question
from certree.verify.exact.rivals import unimplied

MAX_CANDIDATES = 1 << 14


def covers(one: Point, other: Point) -> bool:
    """Whether `one` has no more chunks, steps and rounds per chunk than `other`."""
    return one[0] <= other[0] and one[1] <= other[1] and one[2] * other[0] <= other[2] * one[0]


def undominated(points: Iterable[Point]) -> list[Point]:
    """The points that no other point dominates, sorted."""
    return sorted(point for point in set(points) if not any(covers(other, point) for other in set(points) if other != point))


def best_rate(points: Iterable[Point], chunks: int, steps: int) -> Fraction | None:
    """The fewest rounds per chunk of all points with at most the given chunks and steps."""
    rates = [Fraction(point[2], point[0]) for point in points if point[0] <= chunks and point[1] <= steps]
    return min(rates, default=None)


def most_uncovered(question: Question, points: Sequence[Point], chunks: int, steps: int) -> int:
    """R(C, S): the most rounds with which a point of the given chunks and steps is not dominated by any of `points`."""
    rate = best_rate(points, chunks, steps)
    if rate is None:
        return question.at((chunks, steps, steps)).enough_rounds
    return -(-chunks * rate.numerator // rate.denominator) - 1


def last_steps(question: Question, points: Sequence[Point], max_chunks: int) -> int:
    """The number of steps beyond which no candidate has as many rounds. UnsupportedError for more than MAX_CANDIDATES."""
    most_steps = max(max_chunks * point[2] // point[0] for point in points) if points else question.least_steps[0]
    if max_chunks * most_steps > MAX_CANDIDATES:
        raise UnsupportedError(
            f"{max_chunks} chunks and {most_steps} steps make more than {MAX_CANDIDATES} candidates: too many for a frontier"
        )
    return most_steps


def obligations(question: Question, points: Sequence[Point], max_chunks: int) -> list[Point]:
    """The candidates that must be refuted for `points` to be complete, without those that others imply.

    O(Cmax · steps) candidates, compared pairwise; UnsupportedError as `last_steps`.
    """
    wanted = [
        (chunks, steps, rounds)
        for chunks in range(1, max_chunks + 1)
        for steps in range(1, last_steps(question, points, max_chunks) + 2)
        if (rounds := most_uncovered(question, points, chunks, steps)) >= steps
    ]
    return unimplied(question, wanted)


def levels(points: Iterable[Point]) -> list[tuple[int, Fraction]]:
    """(S, rate): the fewest rounds per chunk of all points with at most S steps, for each S at which that changes; ascending."""
    found: list[tuple[int, Fraction]] = []
    for _, steps, _ in sorted(points, key=lambda point: point[1]):
        rate = best_rate(points, max(point[0] for point in points), steps)
        if rate is not None and (not found or rate < found[-1][1]):
            found.append((steps, rate))
    return found


def covers_all_chunks(
    question: Question, points: Sequence[Point], bandwidth_bound: Fraction, step_bounds: Mapping[int, Fraction]
) -> bool:
    """Whether a frontier that is complete up to its Cmax is also complete for every number of chunks.

    `bandwidth_bound`: re-checked, in rounds per chunk of the message; `step_bounds`: re-checked, the least rounds per chunk (of C)
    of schedules with at most the given number of steps.
    """
    per_chunk = bandwidth_bound * question.at((1, 1, 1)).message_chunks
    reached = levels(points)
    if not reached or reached[-1][1] != per_chunk:
        return False
    return all(
        any(steps >= after - 1 and bound >= rate for steps, bound in step_bounds.items())
        for (_, rate), (after, _) in pairwise(reached)
    )
