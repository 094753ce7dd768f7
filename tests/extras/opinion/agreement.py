"""Whether the second opinion and the checker agree on drawn and changed schedules of every form.

python -m tests.extras.opinion.agreement 0 100      # seeds 0 to 99 of each source
"""

import sys
from collections import Counter
from collections.abc import Iterable

import certree.api as ct
from certree.extras.opinion.command.answered_twice import COVERED
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from tests.extras.opinion.changed import SOURCES, drawn


def difference(schedule: AnySchedule) -> tuple[bool | None, str | None]:
    """The second opinion, and what differs where the checker does not say the same on what both cover."""
    opinion, verdict = ct.second_opinion(schedule), ct.verify(schedule)
    is_right = not COVERED.intersection(verdict.counts)
    if opinion.valid in (None, is_right):
        return opinion.valid, None
    return opinion.valid, f"second opinion: {opinion.words}; checker: {dict(verdict.counts)}"


def agree(sources: Iterable[str], seeds: range) -> Counter[bool | None]:
    """Answers by how many schedules got them. AssertionError where the two differ."""
    answers: Counter[bool | None] = Counter()
    for source in sources:
        for seed in seeds:
            answer, differs = difference(drawn(source, seed))
            assert differs is None, f"{source}, seed {seed}: {differs}"
            answers[answer] += 1
    return answers


if __name__ == "__main__":
    for name in SOURCES:
        found = agree([name], range(*map(int, sys.argv[1:3])))
        print(f"{name}: both accept {found[True]}, both refuse {found[False]}, undecided {found[None]}", flush=True)
