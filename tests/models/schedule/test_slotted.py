"""Long steps as a slotted run executes them: the delay that is fastest for the message, and nothing but the same transfers."""

import numpy as np
import pytest

from certree.models.machine.machine import load_machine
from certree.models.network.routing import routes_between
from certree.models.network.spec import parse_topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.schedule.timing import schedule_cycles, slot_timing, slotted
from certree.models.schedule.unit_rounds import in_unit_rounds
from certree.verify.checker import verify_schedule
from tests.models.examples import schedule as schedule_of

MULTITREE = load_machine("multitree")


def rotation(endpoints: int, delay: int = 1) -> Schedule:
    """Two exchanges of everybody with everybody, each in one long step: reduce-scatter, then all-gather."""
    ranks = np.arange(endpoints)
    src, dst = (grid[~np.eye(endpoints, dtype=bool)] for grid in np.meshgrid(ranks, ranks, indexing="ij"))
    topology = parse_topology(f"switch:{endpoints}")
    route, routes = routes_between(topology, src, dst)
    pairs = list(zip(src.tolist(), dst.tolist(), strict=True))
    rows = [(b, Op.REDUCE, 0, a, b) for a, b in pairs] + [(a, Op.COPY, delay, a, b) for a, b in pairs]
    fields = {"route": np.tile(route, 2), "routes": routes, "rounds": [endpoints - 1] * (delay + 1), "delay": delay}
    return schedule_of(topology, "all-reduce", [NO_ROOT] * endpoints, rows, **fields)


def test_rounds_of_one_step_do_not_wait_for_each_other():
    schedule = rotation(4)
    plan, timing = slotted(schedule, 4 * 16 * 64, MULTITREE)
    assert plan.delay > 1
    assert timing.slot_cycles == max(timing.ser, timing.work, -(-(timing.ser + timing.lat + timing.red) // plan.delay))
    assert plan.steps == 6 + plan.delay - 1  # the empty steps lie between the two exchanges only
    assert verify_schedule(plan).valid
    slow = in_unit_rounds(schedule)
    assert schedule_cycles(plan, timing, MULTITREE) < schedule_cycles(slow, slot_timing(slow, 4 * 16 * 64, MULTITREE), MULTITREE)


@pytest.mark.parametrize("size", [64, 4096, 1 << 16, 1 << 22])
def test_no_other_delay_is_faster(size):
    schedule = rotation(4)
    best = schedule_cycles(*slotted(schedule, size, MULTITREE), MULTITREE)
    every = []
    for delay in range(1, 60):
        plan = in_unit_rounds(schedule, delay)
        every.append(schedule_cycles(plan, slot_timing(plan, size, MULTITREE), MULTITREE))
    assert best == min(every)


def test_schedules_in_unit_rounds_stay_as_they_are():
    assert slotted(rotation(2), 64, MULTITREE)[0].delay == 1  # steps of one round
    assert slotted(rotation(4, delay=2), 64, MULTITREE)[0].delay == 2
