"""Tables with fine slots, model-checked: right ones are on time and keep the promise, a row that fires a cycle earlier is late."""

from dataclasses import replace

import numpy as np
import pytest

from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.demand import Demand
from certree.models.fine.rebooking import with_guards
from certree.models.schedule.collective import parse_collective
from certree.models.tables.table_columns import Profile
from certree.models.tables.tables import Tables
from certree.verify.tla.table_model import model_check_tables
from tests.hw.counted import exchanges
from tests.hw.trees import MULTITREE
from tests.verify.build import build

RING = build("ring:4", "all-reduce", "3+2; 2+1; 1+0; 0>1 0>3; 1>2")


def fine(schedule) -> Tables:
    """Its tables in slots of a cycle."""
    return lower(with_guards(schedule, 256, MULTITREE, 0), 256, MULTITREE)


@pytest.mark.parametrize(("schedule", "profile"), [(RING, Profile.TREES), (exchanges(2, 1, 1, 0, 1), Profile.BUFFERS)])
def test_right_tables(schedule, profile):
    tables = fine(schedule)
    assert (tables.profile, tables.fine_slots, tables.slot_cycles) == (profile, True, 1)
    found = model_check_tables(tables)
    assert (found.as_expected, found.mode) == (True, "exhaustive"), found.message


def demand_of(*sizes: int) -> Tables:
    """A block of node 0 for node 1, and one for node 2 that goes by node 1."""
    collective = parse_collective("alltoallv", demand=Demand(((0, 1, sizes[0]), (0, 2, sizes[1]))))
    made = build(
        "mesh:1x3",
        collective,
        "0>1 1:0>1; 1:1>2",
        roots=[0, 0],
        targets=[1, 2],
        chunk_granules=sizes,
        rounds=[sum(sizes), sizes[1]],
    )
    return lower(made, 16 * sum(sizes), MULTITREE)


def test_a_demand():
    """Blocks of one size keep their promise; for several sizes the model has no time."""
    found = model_check_tables(demand_of(2, 2))
    assert (found.as_expected, found.mode) == (True, "exhaustive"), found.message
    with pytest.raises(UnsupportedError, match="model checks: not supported for messages of several sizes"):
        model_check_tables(demand_of(1, 2))


def test_a_cycle_earlier_is_late():
    tables = fine(RING)
    step = tables.step.copy()
    step[np.argmax(step)] -= 1
    found = model_check_tables(replace(tables, step=step))
    assert not found.as_expected
    assert found.message.startswith("NoLateRow")


def test_sums_of_different_times():
    """Two sums that come together, and one that comes alone: the model has one time for all."""
    late = build("full:4", "reduce", "1+0 2+0; 3+0", roots=[0], collective_root=0)
    with pytest.raises(UnsupportedError, match="model checks: sums take"):
        model_check_tables(replace(lower(late, 4096, MULTITREE), fine_slots=True))
