"""Cells whose run is refused or goes wrong do not count, whatever their closed form is."""

from dataclasses import replace

import pytest

from certree.api.parsing import parse_entry
from certree.extras.designs.model.cells import GRID, DesignCell
from certree.extras.designs.model.rows import closed_forms, row_of, timed
from certree.extras.sweeps.run.comparing import comparison
from certree.hw.run import run
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, CollectiveKind
from tests.verify.deadlock.routers import small, switch_ring

ALL_REDUCE = Collective(CollectiveKind.ALL_REDUCE)
CELL = DesignCell(GRID, "ring:4", "key", "label")
KNOWN = {"status": "valid", "time_cycles": 100, "seconds": "1/10000000", "simulated_cycles": 100, "data_ok": True}


def test_a_run_that_may_deadlock():
    asked = comparison.Comparison(switch_ring(), ALL_REDUCE, small(), 1, 0, "slotted")
    found = asked.cell(parse_entry("direct"), 65536)
    assert found["valid"]
    row = row_of(CELL, 4, {"status": "valid"} | found)
    assert (row["status"], row["seconds"], row["closed_form_cycles"]) == ("invalid", None, found["time_cycles"])
    assert row["message"].startswith("the run is refused: the schedule is invalid: deadlock")
    assert timed([row]) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"data_ok": False}, "the run ends with wrong data"),
        ({"late": 1}, "the run is not as planned: 1 row late, 0 cycles of contention of 0 planned, and 78,463 cycles for a"),
    ],
)
def test_runs_that_fail(changed, message, monkeypatch):
    monkeypatch.setattr(comparison, "run_schedule", lambda *given: replace(run(*given), **changed))
    asked = comparison.Comparison(parse_topology("ring:4"), ALL_REDUCE, load_machine("multitree"), 1, 0, "slotted")
    found = asked.cell(parse_entry("multitree"), 1 << 20)
    row = row_of(CELL, 4, {"status": "valid"} | found)
    assert row["message"].startswith(message)
    assert (row["status"], row["time_cycles"]) == ("invalid", None)


def test_what_engines_do_not_support_is_a_closed_form():
    row = row_of(CELL, 4, {**KNOWN, "simulated_cycles": None, "not_simulated": "too large"})
    assert (row["status"], row["time_source"], row["time_cycles"]) == ("valid", "closed form", 100)
    assert (closed_forms([row]), closed_forms([row_of(CELL, 4, KNOWN)])) == (1, 0)
