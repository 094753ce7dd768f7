"""Tables that state a delay other than their own are refused, by the checker and before a run."""

from dataclasses import replace
from pathlib import Path

import pytest

import certree.api as ct
from certree.hw.tables.directory import export_tables
from certree.models.tables.tables import Tables
from certree.verify.tables.delay import delay_verdict


def made(delay: int | None = None) -> Tables:
    """Tables of a repeating schedule of delay 2, or with another delay and a digest to match."""
    schedule = ct.synthesize("mesh:3x3", method="packing", size="64KiB")
    tables = ct.export(schedule, "json", Path("tables"), force=True)
    assert tables.delay > 1
    return tables if delay is None else with_delay(tables, delay)


def with_delay(tables: Tables, delay: int) -> Tables:
    """The tables with another delay, as one who edits the manifest and its digest has them."""
    changed = replace(tables, delay=delay)
    return replace(changed, schedule_digest=changed.schedule.digest)


@pytest.mark.parametrize("change", [-1, 1, 5])
def test_another_delay_is_refused_everywhere(change: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables = made()
    changed = with_delay(tables, tables.delay + change)
    rule = "slot" if change < 0 else "dependency"
    assert rule in ct.verify(changed).counts
    export_tables(changed, tmp_path / "changed", "json")
    for source in (changed, tmp_path / "changed"):
        with pytest.raises(ct.InvalidScheduleError, match=rule):
            ct.simulate(source)


def test_the_own_delay_and_faults_of_another_kind_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables = made()
    assert delay_verdict(tables) is None
    assert ct.simulate(tables).data_ok
    short = replace(tables, slot_cycles=10)
    assert delay_verdict(short) is None  # no delay would be right: the run shows the late rows
    assert ct.simulate(short).late
