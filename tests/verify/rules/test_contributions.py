"""The abstract machine by itself: degenerate promises, many words, groups of chunks."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.verify.checker import verify_schedule
from certree.verify.rules import contributions as machine
from certree.verify.rules.contributions import Outcome, execute
from certree.verify.rules.obligations import EVERYONE, Promise
from tests.verify.build import COPY, REDUCE, build, path_all_reduce
from tests.verify.schedules import mutated, random_schedule


def outcome(schedule: Schedule, promise: Promise | None = None) -> Outcome:
    return execute(schedule, promise or Promise.of(schedule), np.ones(schedule.transfers, np.bool_))


def test_a_promise_met_from_the_start_needs_no_transfers() -> None:
    """Every chunk is due only where it lies: met by nothing, and by anything that keeps it."""
    schedule = build("ring:4", "all-gather", [], roots=[2, 0])
    met = replace(Promise.of(schedule), due=np.array([2, 0]))
    assert outcome(schedule, met).unmet_count == 0
    busy = build("ring:4", "all-gather", "2>3; 3>2", roots=[2, 0])
    assert outcome(busy, met).unmet_count == 0


def test_a_promise_of_a_missing_contribution_is_never_met() -> None:
    schedule = path_all_reduce()
    assert outcome(schedule).unmet_count == 0
    never = replace(Promise.of(schedule), contributions=4)
    assert outcome(schedule, never).unmet.tolist() == [0, 1, 2]


def test_untouched_chunks_are_owed_everywhere_but_at_their_holder() -> None:
    schedule = build("ring:4", "all-gather", "1:3>0", roots=[2, 3, 1])
    assert outcome(schedule).unmet.tolist() == [0, 1, 3, 4 + 1, 4 + 2, 8 + 0, 8 + 2, 8 + 3]


def long_path(nodes: int, drop: int | None = None) -> Schedule:
    """An all-reduce up and down a path, more ranks than one word has bits; without the reduce number `drop`."""
    up = [(0, REDUCE, d, d, d + 1) for d in range(nodes - 1) if d != drop]
    down = [(0, COPY, 2 * nodes - 3 - d, d + 1, d) for d in range(nodes - 1)]
    return build(f"mesh:1x{nodes}", "all-reduce", up + down)


@pytest.mark.parametrize("nodes", [63, 64, 65, 128, 130, 200])
def test_sets_of_many_words(nodes: int) -> None:
    assert verify_schedule(long_path(nodes)).valid
    for drop in (0, nodes - 2):
        verdict = verify_schedule(long_path(nodes, drop))
        lost = drop + 1
        assert set(verdict.counts) == {"missing"}
        assert f"node 0 lacks the contribution{'s of nodes' if lost > 1 else ' of node'} 0" in verdict.violations[0].message
        twice = build(
            f"mesh:1x{nodes}", "reduce-scatter", [(0, REDUCE, d, d, d + 1) for d in range(nodes - 1)] * 2, roots=[nodes - 1]
        )
        assert "duplicate" in verify_schedule(twice).counts


def test_groups_of_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    schedules = [mutated(Random(seed), random_schedule(Random(seed))) for seed in range(60)]
    whole = [verify_schedule(schedule) for schedule in schedules]
    monkeypatch.setattr(machine, "GROUP_BYTES", 24)
    assert [verify_schedule(schedule) for schedule in schedules] == whole


def test_promises_of_the_three_collectives() -> None:
    for kind, roots, holder, due, contributions in (
        ("all-reduce", [NO_ROOT, NO_ROOT], [EVERYONE, EVERYONE], [EVERYONE, EVERYONE], 3),
        ("reduce-scatter", [3, 1], [EVERYONE, EVERYONE], [2, 0], 3),
        ("all-gather", [3, 1], [2, 0], [EVERYONE, EVERYONE], 1),
    ):
        promise = Promise.of(build("mesh:1x4,without-node=0", kind, [], roots=roots))
        assert (promise.holder.tolist(), promise.due.tolist(), promise.contributions) == (holder, due, contributions)
