"""Routes get layers of virtual channels where they would deadlock without, and only there; tables and routers use them."""

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import certree.api as ct
from certree.api.reports.schedule_report import schedule_report, schedule_words
from certree.hw.engines.runs import Options
from certree.hw.run import run
from certree.hw.tables.directory import read_tables
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_file import schedule_document, schedule_from_document
from certree.synth.deadlock_free_routes import with_channels
from certree.verify.checker import verify_schedule
from tests.verify.deadlock.drawn import drawn_network
from tests.verify.deadlock.routers import KIB, direct, small, switch_ring

TWO = small(vcs=2, flits=8)
THREE_LAYERS = 11  # the seed of a network that needs them


@pytest.fixture(scope="module")
def layered() -> Schedule:
    """All-reduce on a ring of four switches in one direction."""
    return direct(switch_ring(), TWO)


def test_a_ring_of_switches_gets_two_layers(layered: Schedule) -> None:
    assert layered.virtual_channel is not None
    assert set(layered.virtual_channel.tolist()) == {0, 1}
    assert ct.verify(layered).valid
    assert ct.deadlock(layered).fault() is None
    assert not ct.deadlock(replace(layered, virtual_channel=None)).free


def test_layers_stay_in_files_and_tables(layered: Schedule, tmp_path: Path) -> None:
    document = schedule_document(layered)
    assert document["version"] == 2
    assert schedule_from_document(document, "f").digest == layered.digest
    for encoding in ("json", "readmemh"):
        written = ct.export(layered, encoding, tmp_path / encoding)
        read = read_tables(tmp_path / encoding)
        assert read.virtual_channel is not None
        assert read.virtual_channel.tolist() == layered.virtual_channel.tolist()  # type: ignore[union-attr]
        assert read.schedule.digest == written.schedule_digest
        assert ct.verify(tmp_path / encoding).valid
    assert "`virtual_channel`" in (tmp_path / "readmemh" / "layout.md").read_text()


def test_another_layer_in_the_tables_is_another_schedule(layered: Schedule, tmp_path: Path) -> None:
    tables = ct.export(layered, "json", tmp_path / "t")
    assert tables.virtual_channel is not None
    other = replace(tables, virtual_channel=1 - tables.virtual_channel)
    assert set(ct.verify(other).counts) == {"digest"}
    with pytest.raises(ct.InputError, match="virtual_channel has 1 entries; routes has 12"):
        replace(tables, virtual_channel=np.zeros(1, np.int32))


@pytest.mark.parametrize("mode", ["slotted", "paced"])
@pytest.mark.parametrize("flow", ["message", "packet"])
def test_layered_routes_run_where_plain_ones_are_stuck(layered: Schedule, mode: str, flow: str) -> None:
    options = Options(engine="flit", mode=mode, framing=flow)
    ended = run(layered, options)
    assert not ended.deadlock
    assert ended.data_ok
    if mode == "slotted":
        plain = run(replace(layered, virtual_channel=None), options, message_bytes=64 * KIB, machine=small(vcs=1))
        assert plain.deadlock


def test_layers_agree_with_lanes_where_buffers_are_deep(layered: Schedule) -> None:
    machine = small(vcs=4, flits=400, flow_control="cut-through")
    answer = ct.deadlock(layered, machine=machine)
    assert (answer.free, answer.agrees) == (True, True)
    exact = ct.simulate(layered, machine=machine, engine="flit")
    assert exact.cycles == exact.closed_form_cycles == ct.simulate(layered, machine=machine, engine="lanes").cycles


def test_fine_slots_and_several_buffers_get_layers(tmp_path: Path) -> None:
    """Around a ring of eight, routes of three links and more close a circle."""
    made = ct.synthesize("mesh:3x3,without-node=4", method="one-shot", size="1KiB")
    assert isinstance(made, Schedule)
    assert (made.buffers > 1, made.slot_cycles) == (True, 1)
    assert made.virtual_channel is not None
    assert ct.verify(made).valid
    tables = ct.export(made, folder=tmp_path / "t")
    assert {ct.simulate(tables, engine=engine).cycles for engine in ("fast", "flit")} == {ct.simulate(made).closed_form_cycles}


def test_auto_passes_over_routes_that_may_deadlock() -> None:
    """With one virtual channel of 8 flits, fine slots keep their routes, which are not free."""
    made = ct.synthesize("mesh:3x3,without-node=4", size="1KiB", machine=replace(TWO, vc_count=1))
    assert ct.verify(made).valid
    assert made.provenance["auto"]["considered"]["one-shot"].startswith("deadlock: ")


def test_too_few_channels_leave_routes_plain_and_refused() -> None:
    schedule = direct(switch_ring(), small(vcs=1))
    assert schedule.virtual_channel is None
    verdict = ct.verify(schedule)
    assert set(verdict.counts) == {"deadlock"}
    assert "routes in 2 layers of virtual channels (the machine has 1)" in verdict.violations[0].message


@pytest.mark.parametrize(("vcs", "led"), [(1, True), (2, False)])
def test_up_down_routes_take_the_place_of_channels_that_are_missing(vcs: int, led: bool) -> None:
    machine, spec = small(vcs=vcs), "bigraph:2x4"
    schedule = direct(spec, machine)
    assert ("up_down_routes" in schedule.provenance) == led
    answer = ct.deadlock(schedule, machine=machine)
    assert (answer.free, answer.fault(), answer.virtual_channels) == (True, None, vcs)
    assert answer.document()["virtual_channels"] == vcs
    assert ct.verify(schedule, machine=machine).valid
    assert with_channels(schedule, machine).digest == schedule.digest
    ended = run(schedule, Options(engine="flit"), message_bytes=64 * KIB, machine=machine)
    assert ended.data_ok
    assert not ended.deadlock


def test_layers_keep_their_routes_where_only_later_ones_are_too_many() -> None:
    """A network that needs three layers, on two channels: those of the first layer stay shortest routes."""
    topology = drawn_network(Random(THREE_LAYERS))
    many, few = direct(topology, small(vcs=8), collective="all-gather"), direct(topology, small(vcs=2), collective="all-gather")
    assert many.virtual_channel is not None
    assert few.virtual_channel is not None
    assert many.virtual_channel.max() == 2
    kept = many.virtual_channel == 0
    assert [few.routes[index] for index in np.flatnonzero(kept)] == [many.routes[index] for index in np.flatnonzero(kept)]
    assert set(few.virtual_channel[~kept].tolist()) == {1}
    assert 0 < few.provenance["up_down_routes"] <= (~kept).sum()
    assert ct.verify(few, machine=small(vcs=2)).valid


def test_schedules_that_repeat_keep_their_routes() -> None:
    """Their steps cannot become longer."""
    schedule = replace(direct("bigraph:2x4", small(vcs=2)), virtual_channel=None)
    steps = schedule.steps
    repeating = replace(schedule, rounds=np.ones(steps, np.int32), period=steps, repeats=2)
    assert with_channels(repeating, small(vcs=1)) is repeating


@pytest.mark.parametrize(
    ("spec", "method", "enough"),
    [
        ("fattree:2x4", "direct", 1),
        ("torus:4x4", "halving-doubling", 2),
        ("tree:2x3", "cps", 1),
        ("mesh:4x4", "halving-doubling", 1),
    ],
)
def test_trees_and_tori_need_no_layers(spec: str, method: str, enough: int) -> None:
    """Routes go up and down in trees, and tori have datelines, for which two channels are enough."""
    schedule = ct.synthesize(spec, method=method, size="64KiB")
    assert isinstance(schedule, Schedule)
    assert schedule.virtual_channel is None
    answer = ct.deadlock(schedule)
    assert (answer.free, answer.virtual_channels) == (True, enough)
    machine = schedule.made_for.machine  # type: ignore[union-attr]
    if enough > 1:
        assert ct.deadlock(schedule, machine=replace(machine, vc_count=enough)).free
        assert not ct.deadlock(schedule, machine=replace(machine, vc_count=enough - 1)).free
    report = schedule_report(schedule, verify_schedule(schedule), 64 * KIB, machine)
    assert report["virtual_channels"] == enough
    assert ("routes need 2 virtual channels" in schedule_words(report)) == (enough == 2)


@pytest.mark.parametrize(
    ("spec", "method"), [("bigraph:2x4", "direct"), ("cayley:10@1+3", "cps"), ("bigraph:2x4", "halving-doubling")]
)
def test_other_networks_do(spec: str, method: str) -> None:
    schedule = ct.synthesize(spec, method=method, size="64KiB")
    assert isinstance(schedule, Schedule)
    assert schedule.virtual_channel is not None
    assert ct.verify(schedule).valid
    assert with_channels(schedule, schedule.made_for.machine).digest == schedule.digest  # type: ignore[union-attr]
    assert ct.simulate(schedule, engine="flit").data_ok


def test_a_deadlock_of_tables_that_count_arrivals_is_described() -> None:
    """Found by a draw: what a node waits for in the middle of a deadlock is put in words."""
    stuck = direct(switch_ring(), small(vcs=1), collective="all-to-all")
    result = ct.simulate(stuck, engine="flit", allow_deadlock=True)
    assert any("waits for the" in line for line in result.deadlock)
    assert result.deadlock[-1] == "the last of these waits for the first"
