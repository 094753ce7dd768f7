"""Lists of refuted points: read, and checked one by one; a point may follow from another one of its list."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from certree.models.common.errors import InputError, short
from certree.verify.bounds.witness import WitnessError
from certree.verify.exact.question import Point, Question
from certree.verify.exact.refutations.refutation import check_refutation
from certree.verify.exact.rup import ProofError
from certree.verify.rule import Subject, rule

MAX_NUMBER = 1 << 24  # of a point


def read_point(value: Any, where: str, max_chunks: int) -> Point:
    """A (C, S, R); InputError for anything else."""
    if (
        not isinstance(value, list)
        or len(value) != 3
        or any(type(number) is not int or not 1 <= number <= MAX_NUMBER for number in value)
    ):
        raise InputError(f"{where}: {short(value)} is not a point [chunks, steps, rounds]")
    if value[0] > max_chunks or value[2] < value[1]:
        raise InputError(f"{where}: point {value} has more chunks than {max_chunks}, or fewer rounds than steps")
    return value[0], value[1], value[2]


def _is_implied(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry["proof"], dict) and entry["proof"].get("kind") == "implied"


@rule(
    "proof-implied",
    "the point does not follow from the named one",
    'refuted.2 = {"point": [2, 1, 4], "proof": {"kind": "implied", "by": [2, 2, 3]}}',
    Subject.FRONTIERS,
)
def sound_refutations(question: Question, entries: Sequence[Mapping[str, Any]], tell: Callable[[str, str], None]) -> set[Point]:
    """The points of the list that are refuted; `tell` is called with the rule that any other entry breaks, and how.

    `entries`: {"point": [C, S, R], "proof": {"kind", ...}}, with points as `read_point` takes them.
    """
    sound = set[Point]()
    times = Counter(tuple(entry["point"]) for entry in entries)
    for twice in sorted(point for point, count in times.items() if count > 1):
        tell("proof-malformed", f"point {list(twice)} is refuted {times[twice]} times")
    for entry in (entry for entry in entries if not _is_implied(entry)):
        point: Point = tuple(entry["point"])
        try:
            check_refutation(question.at(point), entry["proof"])
            sound.add(point)
        except (ProofError, WitnessError) as error:
            tell(error.rule, f"point {list(point)}: {error.message}")
    named = {repr(list(point)): point for point in sound}
    for entry in filter(_is_implied, entries):
        point, by = tuple(entry["point"]), entry["proof"].get("by")
        known = named.get(repr(by))
        if set(entry["proof"]) == {"kind", "by"} and known is not None and question.at(known).implies(point):
            sound.add(point)
        else:
            tell("proof-implied", f"point {list(point)} does not follow from a refutation of {short(by)}")
    return sound
