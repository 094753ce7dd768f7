"""Symmetric schedules with several buffers and with fine slots: files, rules, times, and runs from tables."""

from dataclasses import replace

import pytest

from certree.api.reports.schedule_report import closed_form
from certree.hw.run import run
from certree.models.common.errors import ScheduleFormatError
from certree.models.network.action import Action
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_file import (
    load_any_schedule,
    save_any_schedule,
    symmetric_document,
    symmetric_from_document,
)
from certree.models.schedule.symmetric.symmetric_schedule import SymmetricSchedule
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Verdict
from tests.hw.fine import ROOMY
from tests.models.test_schemas import validator
from tests.verify.build import build

FOR = MadeFor(4 * 3 * ROOMY.flit_bytes, ROOMY)
#: a chunk of node 0 of ring:4 goes both ways; nodes 0 and 1 pass on what they keep in a scratch buffer
BASE = build(
    "ring:4", "broadcast", "0>0 0>1; 0>3 1>1; 1>2", roots=[0], collective_root=0, buffers=2,
    src_buffer=[0, 0, 1, 0, 1], dst_buffer=[1, 0, 0, 1, 0],
)  # fmt: skip


def whole(base=BASE) -> SymmetricSchedule:
    """Moved around the ring."""
    return SymmetricSchedule(base, Action.of_box([4]), made_for=FOR)


def fine(apart: int) -> SymmetricSchedule:
    """A schedule in fine slots with N cycles between the steps."""
    steps = 2 * apart + 1
    return whole(replace(BASE, step=apart * BASE.step, rounds=[1] * steps, slot_cycles=1, made_for=FOR))


def agree(schedule: SymmetricSchedule) -> Verdict:
    """The verdict, which is that on all transfers by the rules that are broken."""
    verdict = verify_schedule(schedule)
    assert set(verdict.counts) == set(verify_schedule(schedule.written_out()).counts)
    return verdict


@pytest.mark.parametrize("made", [whole(), fine(100)])
def test_files_rules_times_and_runs(tmp_path, made: SymmetricSchedule) -> None:
    save_any_schedule(made, tmp_path / "made.json")
    loaded = load_any_schedule(tmp_path / "made.json")
    assert isinstance(loaded, SymmetricSchedule)
    assert (loaded.digest, loaded.buffers, loaded.slot_cycles) == (made.digest, 2, made.slot_cycles)
    assert not list(validator("symmetric-schedule").iter_errors(symmetric_document(made)))
    assert agree(loaded).valid
    times = [closed_form(one, FOR.message_bytes, ROOMY)["time_cycles"] for one in (loaded, loaded.written_out())]
    done = run(loaded)
    assert [done.cycles, done.cycles] == times
    assert done.data_ok


@pytest.mark.parametrize(
    ("base", "rule"),
    [
        (replace(BASE, src_buffer=[0, 1, 1, 0, 1]), "not-held"),
        (replace(BASE, delay=2, step=[0, 0, 2, 2, 3], rounds=[1] * 4), "in-flight"),
        (replace(BASE, step=[0, 0, 2, 1, 2]), "capacity"),
        (replace(BASE, dst_buffer=[1, 0, 0, 1, 1]), "missing"),
    ],
)
def test_wrong_buffers(base, rule: str) -> None:
    if rule == "capacity":  # both ways round are one link
        base = replace(base, dst=[0, 1, 1, 1, 2])
    assert rule in agree(whole(base)).counts


@pytest.mark.parametrize(("apart", "rule"), [(2, "in-flight"), (60, None)])
def test_fine_slots_are_checked_on_all_transfers(apart: int, rule: str | None) -> None:
    verdict = agree(fine(apart))
    assert verdict.valid if rule is None else rule in verdict.counts


def test_reserved_by_an_image() -> None:
    """Two chunks of a node over one link at once: their images meet likewise."""
    twice = build("ring:4", "broadcast", "0>1 1:0>1", roots=[0, 0], collective_root=0, slot_cycles=1, made_for=FOR)
    assert "reserved" in agree(whole(twice)).counts


def test_what_is_refused() -> None:
    with pytest.raises(ScheduleFormatError, match="made_for is not that of the base, for which its fine slots are"):
        replace(fine(100), made_for=None)
    document = symmetric_document(whole())
    with pytest.raises(ScheduleFormatError, match="version 2 without buffers and slot_cycles; such a schedule has version 1"):
        symmetric_from_document({name: value for name, value in document.items() if name != "buffers"}, "a.json")
    with pytest.raises(ScheduleFormatError, match="unknown field 'buffers'"):
        symmetric_from_document(document | {"version": 1}, "a.json")
    with pytest.raises(ScheduleFormatError, match=r"field members \(version 2\) is given; .* so that all take part"):
        symmetric_from_document(document | {"members": [0, 1]}, "a.json")
