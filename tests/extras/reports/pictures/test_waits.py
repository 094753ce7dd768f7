"""Waits by channel, on runs in which they are known."""

import pytest

import certree.api as ct
from certree.extras.reports.pictures.schedules.waits import waits_by_channel
from certree.hw.engines.runs import Options
from certree.hw.run import run


def waits(schedule, mode, engine="auto"):
    found = []
    options = Options(mode=mode, engine=engine, observer=found.append)
    ended = run(schedule, options)
    return ended, waits_by_channel(found[0].core.trace(), found[0].link_uses())


def test_nothing_waits_in_slots():
    ended, found = waits(ct.synthesize("mesh:3x3", method="multitree", size="64KiB"), "slotted")
    assert ended.contention_cycles == 0
    assert found == {}


@pytest.mark.parametrize("engine", ["auto", "lanes"])
def test_messages_wait_where_they_meet(engine):
    """Eight endpoints below two switches: what crosses between the switches shares their channels."""
    ended, found = waits(ct.synthesize("fattree:2x2", method="multitree", size="16KiB"), "paced", engine)
    assert ended.contention_cycles > 0
    assert found
    assert all(waited > 0 for waited in found.values())


def test_the_run_itself_is_the_same():
    schedule = ct.synthesize("fattree:2x2", method="multitree", size="16KiB")
    assert waits(schedule, "paced")[0] == run(schedule, Options(mode="paced"))
