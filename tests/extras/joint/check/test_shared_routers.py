"""Messages of several collectives in routers: one answer about circles and late messages, whichever command is asked."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import certree.api as ct
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.check.shared_routers import joint_effect
from certree.extras.joint.make import joining, routed
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_file import save_joint
from certree.extras.joint.model.joint_schedule import JointSchedule, Part
from certree.extras.joint.run.joint_refusals import InvalidJointError
from certree.extras.joint.run.joint_rows import tables_of
from certree.extras.joint.run.joint_run import run_joint
from certree.hw.engines.router_transparency import router_effect
from certree.models.machine.machine import Machine
from certree.models.schedule.made_for import MadeFor
from certree.verify.deadlock.freedom import deadlock_of_tables
from certree.verify.order.races import race_of
from tests.cli.running import certree, json_of

ONE_CHANNEL = replace(ct.machine("multitree"), vc_count=1)
SHALLOW = replace(ct.machine("multitree"), vc_buffer_flits=32)
BY_NODE = replace(ct.machine("multitree"), router=replace(ct.machine("multitree").router, interfaces="node"))
RACING = "sum"


@cache
def stuck() -> JointSchedule:
    """Two exchanges over two links of a ring, one after the other. Each is free of deadlock with one virtual channel, both are
    not."""
    first, second = (
        joint("ring:5", [Entry(f"c{at}", ct.collective("all-to-all", members=[at, (at + 2) % 5]), 1 << 16)], machine=ONE_CHANNEL)
        for at in range(2)
    )
    (early,), (late,) = first.parts, second.parts
    return replace(first, parts=(early, replace(late, begin=early.landed)), bounds=())


@cache
def spoiled() -> JointSchedule:
    """An all-reduce that relies on slots, and broadcasts that together fill the buffers on one link, on a machine with shallow
    ones. Of each alone routers add nothing."""
    of = ct.collective
    entries = [Entry(f"c{number}", of("broadcast", 0, members=[0, 1]), 256) for number in range(6)]
    made = joint("ring:3", [*entries, Entry(RACING, of("all-reduce"), 256)])
    return replace(made, machine=SHALLOW, parts=tuple(_on(part, SHALLOW) for part in made.parts), bounds=())


def _on(part: Part, machine: Machine) -> Part:
    """The collective in its slots, stated for a machine on which messages without routers take as long."""
    return replace(part, schedule=replace(part.schedule, made_for=MadeFor(part.entry.size, machine), certificate=None))


def test_a_circle_through_several_collectives(tmp_path: Path) -> None:
    """Nothing meets in its slots, and on lanes it runs to the cycle; every command refuses it, with the same words."""
    wrong = stuck()
    assert all(deadlock_of_tables(tables).free for tables in tables_of(wrong))
    assert all(verify_joint(replace(wrong, parts=(part,))).valid for part in wrong.parts)
    assert run_joint(wrong).holds
    (found,) = verify_joint(wrong).violations
    assert found.rule == "deadlock"
    assert "that is a circle. Repairs: routes in 2 layers of virtual channels (the machine has 1)" in found.message
    with pytest.raises(InvalidJointError) as refused:
        ct.model_check(schedule=wrong)  # type: ignore[arg-type]  # as the path of its file
    assert str(refused.value) == f"the schedule is invalid: deadlock: {found.message}"
    path = tmp_path / "stuck.json"
    save_joint(wrong, path)
    assert [one["message"] for one in json_of("verify", path, code=1)["violations"]] == [found.message]
    for command in (("simulate", path), ("simulate", path, "--engine", "flit"), ("model-check", "schedule", path)):
        ran = certree(*command)
        assert (ran.code, ran.out) == (1, "")
        assert f"the schedule is invalid: deadlock: {found.message}" in ran.err


def test_messages_that_several_collectives_make_late() -> None:
    wrong = spoiled()
    assert all(router_effect(tables, "message", in_time=True) is None for tables in tables_of(wrong))
    assert joint_effect(wrong) == "buffers of 32 flits do not cover the loop of a credit, 304 cycles"
    ran = run_joint(wrong, "flit")
    assert ran.cycles > wrong.cycles
    (found,) = verify_joint(wrong).violations
    assert found.rule == "late"
    assert f"304 cycles, in {RACING}. Repairs: " in found.message
    assert verify_joint(replace(wrong, parts=tuple(part for part in wrong.parts if part.name != RACING))).valid


def test_what_is_made_is_right() -> None:
    """On the same machines: schedules that need no slots, or none at all."""
    entries = [part.entry for part in spoiled().parts]
    made = joint("ring:3", entries, machine=SHALLOW)
    assert all(race_of(part.schedule) is None for part in made.parts)
    assert run_joint(made, "flit").data_ok
    with pytest.raises(ct.UnsupportedError, match=r"machine multitree: deadlock: the packet on .* that is a circle"):
        joint("ring:5", [part.entry for part in stuck().parts], machine=ONE_CHANNEL)


def test_layers_for_all_collectives() -> None:
    """Where routes of several collectives close circles, they get layers together; all in one layer deadlocks, and a layer that the
    machine does not have is refused."""
    two = replace(ONE_CHANNEL, vc_count=2, router=replace(ONE_CHANNEL.router, datelines=False))
    made = joint("ring:5", [part.entry for part in stuck().parts], machine=two)
    assert max(part.schedule.virtual_channel.max() for part in made.parts if part.schedule.virtual_channel is not None) == 1
    assert _rules(made, lambda channels: channels) == set()
    assert _rules(made, np.zeros_like) == {"deadlock"}
    assert _rules(made, lambda channels: channels + 2) == {"channel"}


@pytest.mark.parametrize("channels", [2, 3])
def test_layers_next_to_datelines(channels: int) -> None:
    """All routes of one collective in layer 0 would be stored as no layers at all, in the halves by datelines."""
    shallow = replace(ct.machine("multitree"), vc_count=channels, vc_buffer_flits=16)
    assert shallow.router.datelines
    of = ct.collective
    entries = [Entry("a", of("reduce-scatter", members=[2, 3]), 64), Entry("b", of("all-to-all", members=[0, 2, 3, 4, 5]), 1000)]
    made = joint("mesh:2x3", entries, machine=shallow, relay="all")
    assert all(part.schedule.virtual_channel is not None for part in made.parts)
    assert verify_joint(made).valid


def test_layers_that_are_whole_collectives() -> None:
    """No collective keeps all of its routes in layer 0: layers change places, or count from 1 on."""
    stated = routed._stated
    assert stated(*_layers([1, 0], [0, 0])).tolist() == [0, 1, 1, 1]
    assert stated(*_layers([0, 0], [1, 1])).tolist() == [1, 1, 2, 2]
    assert stated(*_layers([0, 0], [1, 1], [2, 0])).tolist() == [2, 2, 1, 1, 0, 2]


def _layers(*parts: list[int]) -> tuple[np.ndarray, list[np.ndarray]]:
    own = [np.array(part, np.int32) for part in parts]
    return np.concatenate(own), own


def test_other_choices_where_the_best_may_deadlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without layers the fastest schedules of both close a circle; one of them has another that does not."""
    monkeypatch.setattr(joining, "with_joint_channels", lambda joint: joint)
    shallow = replace(ct.machine("multitree"), vc_count=3, vc_buffer_flits=16)
    of = ct.collective
    entries = [Entry("a", of("reduce-scatter", members=[2, 3]), 64), Entry("b", of("all-to-all", members=[0, 2, 3, 4, 5]), 1000)]
    with pytest.raises(ct.UnsupportedError, match="that is a circle"):
        joint("mesh:2x3", entries, machine=shallow, relay="all")
    made = joint("mesh:2x3", entries, machine=shallow)
    assert "members" in made.provenance["relays"].values()


def _rules(made: JointSchedule, change) -> set[str]:  # type: ignore[no-untyped-def]
    """The rules that it breaks with other virtual channels."""
    parts = []
    for part in made.parts:
        schedule = part.schedule
        channels = np.zeros(len(schedule.routes), np.int32) if schedule.virtual_channel is None else schedule.virtual_channel
        parts.append(replace(part, schedule=replace(schedule, virtual_channel=change(channels))))
    return set(verify_joint(replace(made, parts=tuple(parts), bounds=())).counts)


def test_interfaces_that_collectives_share() -> None:
    """Each collective has one link of node 0; together they have two, and the node one interface."""
    of = ct.collective
    entries = [Entry(f"to {node}", of("broadcast", 0, members=[0, node]), 256) for node in (1, 3)]
    made = joint("ring:4", entries, machine=BY_NODE, relay="members")
    assert [joint_effect(replace(made, parts=(part,))) for part in made.parts] == [None, None]
    assert joint_effect(made) == "messages over several links share an interface"
    first, second = made.parts
    assert joint_effect(replace(made, parts=(first, replace(second, begin=first.landed)))) is None


def test_interfaces_in_turn() -> None:
    """One after the other they share no interface, so the fastest schedules of each, which rely on slots, are right."""
    of = ct.collective
    entries = [Entry("a", of("all-reduce", members=[0, 1]), 256), Entry("b", of("all-reduce", members=[0, 3]), 256, after=("a",))]
    made = joint("ring:4", entries, machine=BY_NODE)
    assert all(race_of(part.schedule) is not None for part in made.parts)
    assert made.cycles == made.provenance["one_after_the_other_cycles"]
    assert run_joint(made, "flit").holds


@pytest.mark.parametrize("relay", ["members", "all"])
def test_relays_at_any_timing(relay: str) -> None:
    """Together they share an interface and need others than their fastest schedules: with the relays that were asked for."""
    of = ct.collective
    entries = [Entry(f"with {node}", of("all-reduce", members=[0, node]), 256) for node in (1, 3)]
    made = joint("ring:4", entries, machine=BY_NODE, relay=relay)
    assert set(made.provenance["relays"].values()) == {relay}
    assert all(race_of(part.schedule) is None for part in made.parts)
    assert made.cycles < made.provenance["one_after_the_other_cycles"]
    assert run_joint(made, "flit").data_ok


def test_after_one_that_may_be_late(tmp_path: Path) -> None:
    """Slots open whatever is late: where routers delay messages, nothing keeps a collective behind the one that it is after."""
    of = ct.collective
    pair = [
        Entry("a", of("broadcast", 0, members=[0, 1]), 4096),
        Entry("b", of("broadcast", 1, members=[0, 1]), 4096, after=("a",)),
    ]
    made = joint("ring:3", pair)
    wrong = replace(made, machine=SHALLOW, parts=tuple(_on(part, SHALLOW) for part in made.parts), bounds=())
    assert run_joint(wrong, "flit").early
    path = tmp_path / "after.json"
    save_joint(wrong, path)
    done = certree("verify", path)
    assert done.code == 0
    assert "note: buffers of 32 flits do not cover the loop of a credit, 304 cycles: b may send before a has ended" in done.out
    save_joint(made, path, force=True)
    assert "note" not in certree("verify", path).out
