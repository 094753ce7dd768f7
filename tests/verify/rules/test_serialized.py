"""How many rounds the transfers of a contended schedule need without contention, against a count that expands everything."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given

from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from certree.verify.rules import contention
from certree.verify.rules.contention import serialized_rounds
from tests.drawn import given_at_least, rngs
from tests.transfers import transfers
from tests.verify.build import PATH, path_all_reduce
from tests.verify.schedules import mutated, random_schedule
from tests.verify.test_properties import thorough

#: up and down a path, and two steps later once more
TWO_CHUNKS = transfers(PATH) + transfers(PATH, chunk=1, later=2)


def counted(schedule: Schedule) -> int:
    """Step by step over all iterations: the most that any link, or any group of parallel links, carries over what it can."""
    topology, period = schedule.topology, schedule.period or 0
    pair_load, link_load = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for iteration in range(schedule.repeats):
        for src, dst, step, route in zip(*(getattr(schedule, n).tolist() for n in ("src", "dst", "step", "route")), strict=True):
            at = step + iteration * period
            links = [] if route == DIRECT else schedule.routes[route]
            ends = [(src, dst)] if route == DIRECT else [(topology.src[link], topology.dst[link]) for link in links]
            link_load.update((at, link) for link in links)
            for u, v in ends:
                pair_load[at, int(topology.pair_index(u, v))] += 1
    need = Counter[int]()
    for (at, pair), load in pair_load.items():
        need[at] = max(need[at], -(-load // int(topology.pair_capacity[pair])))
    for (at, link), load in link_load.items():
        need[at] = max(need[at], -(-load // int(topology.capacity[link])))
    return sum(max(1, need[at]) for at in range(schedule.total_steps))


@given(rngs)
@thorough
def test_the_sum_over_all_steps(rng: Random) -> None:
    schedule = random_schedule(rng)
    squeezed = schedule
    if schedule.period is not None:
        period = rng.randint(1, schedule.period)
        squeezed = replace(schedule, period=period, repeats=rng.randint(1, 6))
    assert serialized_rounds(squeezed) == counted(squeezed)
    verdict = verify_schedule(squeezed)
    contended = verdict.counts.keys() & {"capacity", "period"}
    assert verdict.serialized_rounds == (counted(squeezed) if contended else None)


@given_at_least(12, rngs)
@thorough
def test_changed_rows(rng: Random) -> bool:
    schedule = mutated(rng, random_schedule(rng))
    verdict = verify_schedule(schedule)
    contended = bool(verdict.counts.keys() & {"capacity", "period"}) and not verdict.counts.keys() & {"link", "self"}
    assert verdict.serialized_rounds == (counted(schedule) if contended else None)
    return contended


def test_in_turn() -> None:
    """Three all-reduces along a path at once: each of the two steps takes three rounds; in steps of that length they are right."""
    rows = [row for chunk in range(3) for row in transfers(PATH, chunk=chunk)]
    for rounds, expected in (([1, 1], 6), ([3, 2], 6), ([3, 3], None)):
        verdict = verify_schedule(path_all_reduce(rows, rounds=rounds))
        assert (verdict.serialized_rounds, verdict.valid) == (expected, expected is None)


def test_many_repeats() -> None:
    """Two chunks up and down a path in turn, with a period of 2: in the steady state two on each link in every step."""
    million = path_all_reduce(TWO_CHUNKS, period=2, repeats=10**6)
    assert verify_schedule(million).serialized_rounds == 2 * (2 * (10**6 - 1) + 2)


def test_too_much_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contention, "SERIALIZED_WORK", 1000)
    verdict = verify_schedule(path_all_reduce(TWO_CHUNKS, period=2, repeats=10))
    assert verdict.serialized_rounds is None
    assert "period" in verdict.counts
