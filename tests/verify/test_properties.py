"""The verifier compared with a checker that moves integers (`brute.py`), on valid schedules, mutants and random rows."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.verify.checker import verify_schedule
from tests.drawn import examples, given_at_least, rngs
from tests.verify.brute import brute_force
from tests.verify.build import build, network
from tests.verify.schedules import mutated, random_schedule

thorough = examples(250)


def agree(schedule: Schedule) -> bool:
    """Both checkers on one schedule: accepted schedules are harmless, and clean ones are accepted."""
    verdict, opinion = verify_schedule(schedule), brute_force(schedule)
    assert opinion.harmless or not verdict.valid, (opinion, schedule)
    assert verdict.valid == opinion.clean, (verdict.violations, opinion)
    return verdict.valid


@given_at_least(500, rngs, st.sampled_from([0, 1, 1, 1, 2, 3, 4]))
@examples(1300)
def test_changed_rows_are_rejected_or_harmless(rng: Random, changes: int) -> bool:
    """Schedules that are built right are valid; messages name rows that exist, and are the same twice."""
    schedule = random_schedule(rng)
    for _ in range(changes):
        schedule = mutated(rng, schedule)
    is_valid, verdict = agree(schedule), verify_schedule(schedule)
    assert is_valid or changes, verdict.violations
    for violation in verdict.violations:
        assert all(0 <= row < schedule.transfers for row in violation.rows)
        assert "\n" not in violation.message
    assert verdict == verify_schedule(schedule)
    return not is_valid


@given(rngs)
@thorough
def test_random_rows_on_full_networks(rng: Random) -> None:
    """Small cases in which many right schedules exist that no tree gives: exchanges, overwritten partial sums, late copies."""
    nodes, kind = rng.choice((2, 2, 3)), rng.choice(("all-reduce", "all-gather", "reduce-scatter"))
    rows = [(0, rng.randrange(2), rng.randrange(3), *rng.sample(range(nodes), 2)) for _ in range(rng.randint(nodes - 1, 2 * nodes))]
    root = NO_ROOT if kind == "all-reduce" else rng.randrange(nodes)
    agree(build(f"full:{nodes}", kind, rows, roots=[root], delay=rng.choice((1, 1, 2))))


@given(rngs)
@thorough
def test_random_rows_over_parallel_links_and_routes(rng: Random) -> None:
    """Direct transfers next to routed ones, in steps of several rounds; routes that name one of several links, or lead nowhere."""
    links = [(0, 1, 1), (0, 1, 2), (1, 0, 1), (0, 2, 2), (2, 1, 1), (2, 0, 1), (1, 2, 2), (1, 0, 1)]
    routes = ((0,), (1,), (3, 4), (6, 5), (2,), (3, 5), (4, 3))
    leads = {(0, 1): (0, 1, 2), (1, 0): (3, 4)}
    period, some_lead_nowhere = rng.choice((None, 1, 2)), rng.random() < 1 / 3
    rows = [(rng.randrange(3), rng.randrange(2), rng.randrange(3), *rng.choice(list(leads))) for _ in range(rng.randint(2, 8))]
    schedule = build(
        network("ees", links),
        "all-reduce",
        rows,
        chunks=3,
        route=[rng.choice((-1, -1, rng.choice(range(len(routes)) if some_lead_nowhere else leads[row[3:]]))) for row in rows],
        routes=routes,
        rounds=None if period else [rng.randint(1, 2) for _ in range(3)],
        period=period,
        repeats=rng.randint(1, 3) if period else 1,
    )
    opinion, counts = brute_force(schedule), verify_schedule(schedule).counts
    contended = any("step" in fault for fault in opinion.broken)
    assert ("link" in counts) == any("route" in fault for fault in opinion.broken)
    if "link" not in counts:  # loads are counted where all rows have their links
        assert contended == ("capacity" in counts or "period" in counts), (opinion, counts)
    agree(schedule)


def test_the_generators_reach_every_rule() -> None:
    """The properties above mean something: mutants break every rule that rows can break, routes and periods included."""
    seen = set[str]()
    for seed in range(200):
        rng = Random(seed)
        seen |= verify_schedule(mutated(rng, mutated(rng, random_schedule(rng)))).counts.keys()
    assert seen >= {"self", "link", "capacity", "period", "write-conflict", "not-held", "duplicate", "missing", "causality"}
