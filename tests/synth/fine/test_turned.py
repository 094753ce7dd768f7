"""One row for each block stands for all: the same times, or none."""

import numpy as np
import pytest

from certree.models.fine.list_jobs import Costs, Turns
from certree.models.fine.list_scheduler import ListScheduler
from certree.models.schedule.timing import chunk_bytes_of
from certree.synth.fine.booking import rows_of
from certree.synth.fine.fine_schedule import schedule_of
from certree.synth.fine.order import order_of
from certree.synth.fine.shots import by_dimension
from certree.synth.fine.turned import turned
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask, make


@pytest.mark.parametrize("network", ["torus:4x4", "torus:3x6", "torus:2x8"])
@pytest.mark.parametrize("scattered", [0, 1])
def test_all_ways_on_rings_are_valid_and_turned(network, scattered):
    """Valid in any order of blocks, and in each the times of one row are those of its block."""
    request = ask(network, message_bytes=5000)
    made_for = request.remember(make("ring", request.topology)).made_for
    rng, same = np.random.default_rng(0), 0
    for label, program in by_dimension(request, scattered):
        if "groups" not in label:
            continue
        order = order_of(program)
        costs = Costs.of(program.topology, chunk_bytes_of(5000, len(program.chunk_root), 1, request.machine), request.machine)
        turns = Turns.first_of(rng.permutation(int(program.block.max()) + 1))
        found = ListScheduler(rows_of(program), order).run(costs, turns.of_rows(program.block))
        verdict = verify_schedule(schedule_of(program, order, found, 1, made_for, {}))
        assert verdict.valid, (label, verdict.violations)
        rows = turned(program, order)
        assert rows is not None, label
        same += bool((ListScheduler(*rows).run(costs, turns).fire[program.block] == found.fire).all())
    assert same > 0


@pytest.mark.parametrize("network", ["mesh:3x3", "fattree:2x3"])
def test_blocks_of_rows_that_are_not_turned_into_each_other(network):
    request = ask(network, message_bytes=5000)
    _, program = next(iter(by_dimension(request, 1)))
    assert turned(program, order_of(program)) is None
