"""Tables with fine slots: what their files say, what runs, and what is refused with a reason."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from certree.hw.engines.runs import Options
from certree.hw.engines.table_framing import packet_lengths
from certree.hw.run import run
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import TableFormatError, UnsupportedError
from certree.models.fine.equal import in_equal_slots
from certree.models.routers.transparency import PLANNED_WAITS
from certree.models.schedule.schedule import Schedule
from certree.models.tables.table_columns import Profile
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from certree.verify.order.agreement import agreement_of_tables, race_of_tables
from certree.verify.tables.table_checker import verify_tables
from tests.drawn import examples, given_at_least, rngs
from tests.end_to_end.by_hand.test_fine_slots import one_shot, swing_in_fine_slots
from tests.hw.fine import into_one, takes_its_closed_form, without_waits
from tests.models.test_schemas import validator
from tests.verify.build import build
from tests.verify.fine_moved import MACHINE

FRAMINGS = (("message", "lanes"), ("packet", "lanes"), ("packet", "flit"))


def lowered(schedule: Schedule) -> Tables:
    """The tables of a schedule, for what it was made for."""
    assert schedule.made_for is not None
    return lower(schedule, schedule.made_for.message_bytes, schedule.made_for.machine)


@given_at_least(25, rngs)
@examples(60)
def test_drawn_schedules_take_their_closed_form(rng: Random) -> bool:
    schedule = without_waits(rng)
    if schedule is None:
        return False
    tables = lowered(schedule)
    assert verify_tables(tables).valid
    takes_its_closed_form(tables)
    return True


@given_at_least(15, rngs)
@examples(30)
def test_planned_waits_are_what_routers_do(rng: Random) -> bool:
    """Messages that wait for each other at a switch enter its link as planned; one that is to enter later is refused."""
    schedule = into_one(rng)
    assert verify_schedule(schedule).valid
    tables = lowered(schedule)
    assert verify_tables(tables).valid
    takes_its_closed_form(tables)
    if schedule.waits is None:
        return False
    last = max(range(len(schedule.waits)), key=lambda row: schedule.step[row] + schedule.waits[row][0])
    later = replace(schedule, waits=[(wait + (row == last),) for row, (wait,) in enumerate(schedule.waits)])
    assert verify_schedule(later).valid
    with pytest.raises(UnsupportedError, match="routers send on first come, first served, and as early as they can"):
        lowered(later)
    assert "forwarding" in verify_tables(replace(tables, waits=later.waits)).counts
    return True


@pytest.mark.parametrize("made", [swing_in_fine_slots(4, 256), one_shot(4, 1024)])
def test_by_hand(made: Schedule) -> None:
    tables = lowered(made)
    assert (tables.profile, tables.fine_slots, tables.slot_cycles, tables.delay) == (Profile.BUFFERS, True, 1, 1)
    takes_its_closed_form(tables)


@pytest.mark.parametrize("form", ["json", "readmemh"])
@given(rngs)
@examples(4)
def test_files_and_back(form: str, rng: Random) -> None:
    """The manifest says that slots are fine, and what waits; tables of trees then have version 2 as well."""
    made = into_one(rng)
    tables = lowered(made)
    with TemporaryDirectory() as folder:
        export_tables(tables, Path(folder) / "t", form)
        manifest = json.loads((Path(folder) / "t" / "manifest.json").read_text())
        again = read_tables(Path(folder) / "t")
    validator("tables").validate(manifest)
    assert (manifest["version"], manifest["profile"], manifest["fine_slots"]) == (2, str(tables.profile), True)
    assert again.schedule.digest == tables.schedule.digest == tables.schedule_digest
    assert (again.waits, again.fine_slots) == (tables.waits, True)


SQUARE = build(
    "ring:4", "broadcast", "0>1; 0>3; 1>2", collective_root=0, slot_cycles=40,
    made_for=swing_in_fine_slots(4, 256).made_for,
)  # fmt: skip


def test_trees_in_fine_slots() -> None:
    """Rows that wait for named peers, in slots that are shorter than a message and its latency."""
    sent = replace(SQUARE, step=[0, 1, 8], rounds=[1] * 9)
    tables = lowered(sent)
    assert (tables.profile, tables.in_flight, verify_tables(tables).valid) == (Profile.TREES, 1, True)
    takes_its_closed_form(tables)


@pytest.mark.parametrize("size", [64, 4096, 1 << 16])
def test_packets_get_fine_slots_of_their_own(size: int) -> None:
    """The closed form has a header for each packet: runs on lanes and through routers agree with it."""
    tables = lowered(one_shot(3, size))
    whole, *packets = (run(tables, Options(framing=framing, engine=engine)) for framing, engine in FRAMINGS)
    heads = len(packet_lengths(tables, "packet"))
    for result in packets:
        assert (result.cycles, result.contention_cycles, result.data_ok) == (result.closed_form_cycles, 0, True)
        assert (result.cycles > whole.cycles) is (heads > 1)


@given_at_least(15, rngs)
@examples(60)
def test_drawn_schedules_in_packets_take_their_closed_form(rng: Random) -> bool:
    """Also where they then use work memory otherwise than whole messages do."""
    schedule = without_waits(rng)
    if schedule is None:
        return False
    machine = replace(schedule.made_for.machine, packet_payload_bytes=schedule.made_for.machine.flit_bytes)
    given = replace(schedule, made_for=replace(schedule.made_for, machine=machine))
    try:
        tables = lowered(given)
        result = run(tables, Options(framing="packet", engine="lanes"))
    except UnsupportedError:
        return False
    assert (result.cycles, result.data_ok) == (result.closed_form_cycles, True)
    return len(packet_lengths(tables, "packet")) > 1


@given_at_least(15, rngs)
@examples(60)
def test_what_is_right_at_any_timing_can_be_paced(rng: Random) -> bool:
    schedule = without_waits(rng)
    if schedule is None:
        return False
    tables = lowered(schedule)
    if race_of_tables(tables) is not None:
        return False
    result = run(tables, Options(mode="paced", at_any_timing=True))
    assert result.data_ok
    return True


def test_routers_do_not_keep_planned_waits() -> None:
    made = next(made for made in map(into_one, map(Random, range(9))) if made.waits is not None)
    with pytest.raises(UnsupportedError, match="planned waits need links that serve one message after the other"):
        run(lowered(made), Options(engine="flit"))
    assert agreement_of_tables(lowered(made)) == PLANNED_WAITS


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"delay": 2}, "delay is 2; allowed with fine slots: 1"),
        ({"slot_cycles": 1 << 31}, "slot_cycles is 2147483648; allowed in fine slots"),
        ({"fine_slots": False, "waits": ((1,),)}, "waits are given without fine slots"),
        ({"waits": ((1,),)}, "waits are not one list for each route"),
    ],
)
def test_wrong_fields(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(TableFormatError, match=reason):
        replace(lowered(swing_in_fine_slots(4, 256)), **fields)


@pytest.mark.parametrize("repeats", [1, 3])
def test_another_size_gets_other_slots(repeats: int) -> None:
    """Booked anew; where iterations repeat, the same transfers in equal slots."""
    made = replace(SQUARE, step=[0, 8, 16], rounds=[1] * 17, period=None if repeats == 1 else 12, repeats=repeats)
    tables = lower(made, 1 << 14, made.made_for.machine)
    assert (tables.fine_slots, verify_tables(tables).valid) == (repeats == 1, True)
    done = run(tables, Options(engine="fast", without_routers=True))
    assert (done.data_ok, done.late, done.cycles) == (True, 0, done.closed_form_cycles)


def test_no_equal_slots() -> None:
    """Two messages on one link in one step, and two buffers."""
    made = build(
        "full:2", "all-reduce", "0>0 1>1 1:0>0 1:1>1;" + 40 * ";" + "0+1 1+0; ; 1:0+1 1:1+0", buffers=2, slot_cycles=1,
        src_buffer=[0] * 4 + [1] * 4, dst_buffer=[1] * 4 + [0] * 4, made_for=swing_in_fine_slots(4, 256).made_for,
    )  # fmt: skip
    made = replace(made, step=[0] * 4 + [41] * 4)
    with pytest.raises(UnsupportedError, match="it has no equal slots: in step 41 several messages share a link"):
        in_equal_slots(made)
    assert lower(made, 1 << 10, MACHINE).fine_slots
