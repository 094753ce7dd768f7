"""Fine slots in schedules and their files: what is allowed, and what the digest says."""

import json
from dataclasses import replace

import pytest

from certree.models.common.errors import ScheduleFormatError, UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_file import load_schedule, save_schedule, schedule_document, schedule_from_document
from certree.models.schedule.timing import slotted
from tests.models.examples import pair_all_reduce
from tests.models.test_schemas import validator
from tests.verify.build import build

MADE = pair_all_reduce(slot_cycles=4, made_for=MadeFor(4096, load_machine("multitree")))


ROUTED = build(
    "ring:4", "broadcast", "0>2 0>1 0>3", route=[0, -1, -1], routes=((0, 2),), collective_root=0, slot_cycles=1,
    made_for=MADE.made_for, waits=((7,),),
)  # fmt: skip


@pytest.mark.parametrize("name", ["s.json", "s.json.gz", "s.npz"])
@pytest.mark.parametrize("made", [MADE, ROUTED])
def test_round_trip(tmp_path, made, name):
    save_schedule(made, tmp_path / name)
    again = load_schedule(tmp_path / name)
    assert (again.digest, again.slot_cycles, again.waits) == (made.digest, made.slot_cycles, made.waits)
    assert again.version_2_fields == ("slot_cycles",)
    document = schedule_document(made)
    assert document["version"] == 2
    validator("schedule").validate(document)


def test_the_digest_has_what_the_times_depend_on():
    other = replace(MADE, made_for=MadeFor(8192, MADE.made_for.machine))
    alone = replace(MADE, slot_cycles=None)
    assert len({MADE.digest, other.digest, replace(MADE, slot_cycles=5).digest, alone.digest}) == 4
    assert alone.digest == replace(alone, made_for=None).digest


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"slot_cycles": 0}, "slot_cycles is 0; allowed: 1 to 1073741824"),
        ({"slot_cycles": True}, "slot_cycles is True; allowed"),
        ({"slot_cycles": 1.0}, "slot_cycles is 1.0; allowed"),
        ({"made_for": None}, "made_for is missing; fine slots are for one message size and machine"),
        ({"delay": 2}, "delay is 2; allowed with slot_cycles: 1"),
        ({"rounds": [1, 2]}, "rounds are not all 1"),
    ],
)
def test_wrong_fields(change, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        replace(MADE, **change)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("waits", "reason"),
    [
        ((), "waits has 0 entries; routes has 1"),
        (((1, 2),), "waits row 0 has 2 entries; its route has 1 routers"),
        (((-1,),), "waits row 0: [-1]; allowed: whole cycles from 0 to 1073741824"),
        (((True,),), "waits row 0: [True]; allowed"),
    ],
)
def test_wrong_waits(waits, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        replace(ROUTED, waits=waits)
    assert reason in str(caught.value)


def test_waits_need_fine_slots():
    with pytest.raises(ScheduleFormatError, match="waits are given without slot_cycles"):
        replace(ROUTED, slot_cycles=None)


def test_waits_of_nothing_are_none():
    assert replace(ROUTED, waits=((0,),)).waits is None
    assert replace(ROUTED, waits=((0,),)).digest == replace(ROUTED, waits=None).digest != ROUTED.digest


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 1}, "unknown field 'slot_cycles'"),
        ({"slot_cycles": 0}, "slot_cycles is 0; allowed: whole numbers from 1 to 1073741824"),
        ({"slot_cycles": None}, "slot_cycles is None"),
        ({"waits": [[]]}, "waits has 1 entries; routes has 0"),
        ({"waits": [0]}, "waits must be a list of lists of whole numbers from 0 to 1073741824"),
        ({"delay": 2}, "delay is 2; allowed with slot_cycles: 1"),
    ],
)
def test_wrong_documents(change, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        schedule_from_document(json.loads(json.dumps({**schedule_document(MADE), **change})), "s.json")
    assert reason in str(caught.value)


def test_times_on_a_machine():
    """4 KiB in one chunk: the serialization and the path of closed forms."""
    times, plain = fine_times(MADE), replace(MADE, slot_cycles=None)
    _, timing = slotted(plain, 4096, MADE.made_for.machine)
    assert (times.ser, times.latency.tolist()) == (timing.ser, [timing.lat, timing.lat])
    assert times.fire.tolist() == [0, 4]
    assert times.landing[1] == 4 + timing.ser + timing.lat


def test_other_times_refuse_it():
    with pytest.raises(
        UnsupportedError, match=r"closed-form times: not supported for schedules that use slot_cycles \(version 2\)"
    ):
        slotted(MADE, 4096, MADE.made_for.machine)
