"""Runs of joint schedules: to the cycle on both engines, with data of each collective; what the checker rejects goes wrong."""

from copy import deepcopy
from typing import Any

import pytest

import certree.api as ct
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_file import joint_document, joint_from_document
from certree.extras.joint.run.joint_run import run_joint
from tests.extras.joint.small_joint import entries, small


@pytest.mark.parametrize("engine", ["fast", "lanes", "flit"])
def test_to_the_cycle(engine: str) -> None:
    done = run_joint(small(), engine)
    assert done.holds, done
    assert done.cycles == small().cycles
    assert done.messages == sum(part.schedule.transfers for part in small().parts)


def test_other_engines_are_refused() -> None:
    with pytest.raises(ct.UnsupportedError, match="engine flow: not for joint schedules; those that run them: fast, lanes, flit"):
        run_joint(small(), "flow")


def test_routers_that_share_an_interface() -> None:
    """Where an interface has one port for all links, the fast engine says so before, and the flit engine is later."""
    made = joint("ring:4", entries(), machine="booksim2")
    quick, done = run_joint(made), run_joint(made, "flit")
    assert quick.holds
    assert quick.router_effect == "messages over several links share an interface"
    assert done.data_ok
    assert done.cycles > made.cycles
    assert done.late > 0
    assert done.ends is not None
    assert all(end >= made.ends[name] for name, end in done.ends.items())


def _moved(document: Any, name: str, begin: int) -> Any:
    changed = deepcopy(document)
    next(one for one in changed["collectives"] if one["name"] == name)["begin"] = begin
    return joint_from_document(changed, "joint.json")


def test_meetings_show_in_the_run() -> None:
    """Two all-reduces at once on the same links wait for each other."""
    done = run_joint(_moved(joint_document(small()), "more", 100))
    assert not done.holds
    assert done.contention_cycles > 0


def test_sums_of_several_sizes() -> None:
    """Chunks of several sizes are added in times of their own (a node's unit adds 2 KiB eight times as long as 256 bytes)."""
    of = ct.collective("reduce", 1)
    made = joint("mesh:1x3", [Entry("large", of, 1 << 15), Entry("small", of, 256), Entry("next", of, 1 << 14, after=("small",))])
    assert run_joint(made).holds
    assert run_joint(made, "lanes").holds
