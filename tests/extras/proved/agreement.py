"""Drawn and changed schedules of every form that the proved checker takes: what it, the checker and the second opinion say.

`python -m tests.extras.proved.agreement FIRST COUNT` prints how many all accepted and refused, by form.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random

import numpy as np

from certree.extras.proved.run.proved_answer import ProvedAnswer, prove_all
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.checker import verify_schedule
from certree.verify.order.additions import additions_of
from certree.verify.order.races import race_of
from tests.extras.opinion.agreement import difference
from tests.verify.build import build
from tests.verify.moved import changed, drawn, drawn_among_members, drawn_demand
from tests.verify.rules.test_demand_rules import resized_or_changed
from tests.verify.schedules import mutated, random_schedule

TOGETHER = 500  # schedules in one process


def random_rows(rng: Random) -> Schedule:
    """Few random rows on a full network: exchanges, overwritten partial sums, late copies, data that are sent early."""
    nodes, kind = rng.choice((2, 2, 3)), rng.choice(("all-reduce", "all-gather", "reduce-scatter"))
    rows = [(0, rng.randrange(2), rng.randrange(3), *rng.sample(range(nodes), 2)) for _ in range(rng.randint(nodes - 1, 2 * nodes))]
    roots = [-1 if kind == "all-reduce" else rng.randrange(nodes)]
    return build(f"full:{nodes}", kind, rows, roots=roots, delay=rng.choice((1, 1, 2)))


def repeated(rng: Random, schedule: Schedule) -> Schedule:
    """The schedule in overlapping iterations."""
    return replace(schedule, period=rng.randint(1, schedule.steps), repeats=rng.randint(1, 4))


#: by form, how a schedule is drawn and how it is changed
FORMS: dict[str, tuple[Callable[[Random], Schedule], Callable[[Random, Schedule], Schedule]]] = {
    "routes, rounds, periods": (random_schedule, mutated),
    "random rows": (random_rows, lambda _, schedule: schedule),
    "buffers": (drawn, changed),
    "buffers, repeated": (lambda rng: repeated(rng, drawn(rng)), changed),
    "members": (drawn_among_members, changed),
    "unequal blocks": (drawn_demand, resized_or_changed),
}


def draw(seed: int) -> tuple[str, Schedule]:
    """A form and a schedule of it, after none to three changes."""
    rng = Random(seed)
    form = list(FORMS)[seed % len(FORMS)]
    make, change = FORMS[form]
    schedule = make(rng)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        schedule = change(rng, schedule)
    return form, schedule


def window(seed: int, schedule: Schedule) -> int | None:
    """The W that tables of the schedule state, or that of the exporter."""
    return Random(seed).choice((None, *range(1, schedule.repeats + 1)))


def disagreement(schedule: Schedule, answer: ProvedAnswer) -> str | None:
    """What the two say where they do not say the same."""
    verdict = verify_schedule(schedule)
    return None if verdict.valid == answer.right else f"the checker: {dict(verdict.counts)}; {answer.words}"


def right_at_any_timing(schedule: Schedule, answer: ProvedAnswer, in_flight: int | None) -> str | None:
    """Who calls an accepted schedule, in steps of one round, right at any timing: "both", "neither", the "proved" checker
    alone, which is wrong, or the check of "races" alone, which also knows the order of rows of one step. "shared": neither, the
    proved checker only because iterations share a cell. `in_flight`: W, as tables state it."""
    if not answer.right or (schedule.rounds != 1).any():
        return None
    said = (answer.any_timing, race_of(schedule, in_flight) is None)
    if said == (False, False) and answer.shared:
        return "shared"
    return {(True, True): "both", (False, False): "neither", (False, True): "races"}.get(said, "proved")


def order_disagreement(schedule: Schedule, answer: ProvedAnswer) -> str | None:
    """What the two say of additions where only one says that they are the same. The Python checker lets the first two operands of
    an empty switch come in either order."""
    found = additions_of(schedule) if answer.right else None
    if found is None:
        return None if answer.additions is None else "sums where nothing is added"
    same = "none" if found.differs is not None or not found.is_fixed else "each" if found.orders > 1 else "one"
    if answer.additions == same or (answer.additions == "none" and operands_meet_in_switches(schedule)):
        return None
    return f"additions {answer.additions}; the checker: {found.document()}"


def operands_meet_in_switches(schedule: Schedule) -> bool:
    """Whether operands land in one cell of a switch fewer than `delay` steps apart."""
    rows = np.flatnonzero((schedule.op == Op.REDUCE) & schedule.topology.reducing[schedule.dst])
    rows = rows[np.lexsort((schedule.step[rows], schedule.chunk[rows], schedule.dst[rows]))]
    same_cell = (np.diff(schedule.dst[rows]) == 0) & (np.diff(schedule.chunk[rows]) == 0)
    return bool((same_cell & (np.diff(schedule.step[rows]) < schedule.delay)).any())


def compare(seeds: Iterable[int]) -> Counter[tuple[str, str]]:
    """How many schedules all three accept, and refuse, by form, and of how many more is said; AssertionError names a seed where
    they differ."""
    found, waiting = Counter[tuple[str, str]](), list(seeds)
    for first in range(0, len(waiting), TOGETHER):
        some = waiting[first : first + TOGETHER]
        drawn_ones = [draw(seed) for seed in some]
        windows = [window(seed, schedule) for seed, (_, schedule) in zip(some, drawn_ones, strict=True)]
        answers = prove_all([schedule for _, schedule in drawn_ones], windows)
        for seed, (form, schedule), in_flight, answer in zip(some, drawn_ones, windows, answers, strict=True):
            opinion, differs = difference(schedule)
            timed = right_at_any_timing(schedule, answer, in_flight)
            wrong = (
                disagreement(schedule, answer)
                or (f"any timing: {answer.any_timing}; races: {race_of(schedule, in_flight)}" if timed == "proved" else None)
                or order_disagreement(schedule, answer)
                or differs
            )
            assert wrong is None, f"seed {seed}, {form}: {wrong}"
            found[form, "undecided"] += opinion is None
            found[form, f"timing {timed}"] += 1
            found[form, f"additions {answer.additions}"] += 1
            found[form, "accepted" if answer.right else "refused"] += 1
            found[form, {True: "any timing", False: "slots", None: "not right"}[answer.any_timing]] += 1
    return found


def main(first: int, count: int) -> None:
    """Print the counts."""
    found = compare(range(first, first + count))
    said = ("accepted", "refused", "any timing", "slots", "additions one", "additions each")
    for form in FORMS:
        print(f"{form}: {', '.join(f'{found[form, answer]:,} {answer}' for answer in said)}")
    accepted, refused, undecided = (sum(found[form, it] for form in FORMS) for it in ("accepted", "refused", "undecided"))
    print(f"{accepted + refused:,} schedules, {accepted:,} accepted by all, {refused:,} refused by all")
    both, neither, shared, races = (
        sum(found[form, f"timing {it}"] for form in FORMS) for it in ("both", "neither", "shared", "races")
    )
    print(f"right at any timing, in steps of one round: {both:,} both, {neither:,} neither, {races:,} the check of races alone,")
    print(f"  {shared:,} but for iterations that share a cell")
    print(f"second opinion undecided: {undecided:,}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
