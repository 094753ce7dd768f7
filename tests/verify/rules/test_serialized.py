"""How many rounds the transfers of a contended schedule need without contention, against a count that expands everything."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given

from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from certree.verify.rules import contention
from certree.verify.rules.contention import serialized_rounds
from tests.drawn import rngs
from tests.verify.build import COPY, PATH_ROWS, REDUCE, build, path_all_reduce
from tests.verify.schedules import mutated, random_schedule
from tests.verify.test_properties import thorough

R, C = REDUCE, COPY


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
        squeezed = build_like(schedule, period=period, repeats=rng.randint(1, 6))
    assert serialized_rounds(squeezed) == counted(squeezed)
    verdict = verify_schedule(squeezed)
    contended = verdict.counts.keys() & {"capacity", "period"}
    assert verdict.serialized_rounds == (counted(squeezed) if contended else None)


def build_like(schedule: Schedule, **fields: int) -> Schedule:
    """The same rows with another period."""
    rows = list(zip(*(getattr(schedule, name).tolist() for name in ("chunk", "op", "step", "src", "dst")), strict=True))
    target = schedule.chunk_target
    return build(
        schedule.topology,
        schedule.collective,
        rows,
        roots=schedule.chunk_root.tolist(),
        targets=None if target is None else target.tolist(),
        route=schedule.route.tolist(),
        routes=schedule.routes,
        delay=schedule.delay,
        **fields,
    )


@given(rngs)
@thorough
def test_changed_rows(rng: Random) -> None:
    schedule = mutated(rng, random_schedule(rng))
    verdict = verify_schedule(schedule)
    if verdict.counts.keys() & {"link", "self"}:
        assert verdict.serialized_rounds is None
    elif verdict.counts.keys() & {"capacity", "period"}:
        assert verdict.serialized_rounds == counted(schedule)


def test_in_turn() -> None:
    """Three all-reduces along a path at once: each of the two steps takes three rounds; in steps of that length they are right."""
    rows = [(chunk, *row[1:]) for chunk in range(3) for row in PATH_ROWS]
    assert verify_schedule(path_all_reduce(rows)).serialized_rounds == 6
    assert verify_schedule(path_all_reduce(rows, rounds=[3, 2])).serialized_rounds == 6
    assert verify_schedule(path_all_reduce(rows, rounds=[3, 3])).serialized_rounds is None
    assert verify_schedule(path_all_reduce(rows, rounds=[3, 3])).valid


def test_many_repeats() -> None:
    """Two chunks up and down a path in turn, with a period of 2: in the steady state two on each link in every step."""
    rows = [*PATH_ROWS, *((1, o, s + 2, u, v) for _, o, s, u, v in PATH_ROWS)]
    million = path_all_reduce(rows, period=2, repeats=10**6)
    assert verify_schedule(million).serialized_rounds == 2 * (2 * (10**6 - 1) + 2)


def test_too_much_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [*PATH_ROWS, *((1, o, s + 2, u, v) for _, o, s, u, v in PATH_ROWS)]
    monkeypatch.setattr(contention, "SERIALIZED_WORK", 1000)
    verdict = verify_schedule(path_all_reduce(rows, period=2, repeats=10))
    assert verdict.serialized_rounds is None
    assert "period" in verdict.counts
