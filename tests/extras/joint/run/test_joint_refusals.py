"""Joint schedules that routers may spoil are refused before a model without routers is asked."""

from dataclasses import replace

import pytest

import certree.api as ct
from certree.api.api_errors import DeadlockError, InvalidScheduleError
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.run import joint_refusals
from certree.extras.joint.run.joint_model import model_check_joint
from certree.extras.joint.run.joint_refusals import require_joint_free, require_joint_in_time
from certree.extras.joint.run.joint_rows import tables_of
from certree.verify.deadlock.freedom import deadlock_of_tables

RACING = "sum"


def test_a_circle_through_several_collectives():
    """Each of two exchanges over two links is free of deadlock; with one virtual channel both are not."""
    entries = [Entry(f"c{at}", ct.collective("all-to-all", members=[at, (at + 2) % 5]), 1 << 16) for at in range(2)]
    made = joint("ring:5", entries, machine=replace(ct.machine("multitree"), vc_count=1), relay="all")
    tables = tables_of(made)
    assert all(deadlock_of_tables(one).free for one in tables)
    with pytest.raises(DeadlockError, match="that is a circle"):
        model_check_joint(made)
    require_joint_free(replace(made, parts=made.parts[:1]), tables[:1])


def test_slots_that_routers_may_spoil(monkeypatch):
    """Where routers add time, a collective whose order only slots keep is refused, by its name; others are not."""
    of = ct.collective
    made = joint("ring:4", [Entry(RACING, of("all-reduce"), 256), Entry("copies", of("broadcast", 0), 64)])
    tables = tables_of(made)
    require_joint_in_time(made, tables)
    monkeypatch.setattr(joint_refusals, "joint_effect", lambda tables: "interfaces are shared")
    require_joint_in_time(replace(made, parts=tuple(part for part in made.parts if part.name != RACING)), tables)
    with pytest.raises(InvalidScheduleError, match=f"late: .*messages may be late: interfaces are shared, in {RACING}"):
        require_joint_in_time(made, tables)
