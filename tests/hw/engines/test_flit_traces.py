"""Traces of runs on routers: the same lines as without routers where these add nothing, and a picture of who had which link."""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import certree.api as ct
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.traces import expected_size
from certree.hw.routers.packets import synthetic_packets
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables
from tests.drawn import examples
from tests.hw.made import made, tables_of
from tests.hw.routers.packet_lists import packets
from tests.hw.runs import on_lanes, on_routers
from tests.hw.trees import MULTITREE, schedules


def assert_same_lines(source: Tables | SimulatedSchedule, run: str, flow: str, folder: Path) -> None:
    routers, lanes = folder / "routers.ndjson", folder / "lanes.ndjson"
    result = on_routers(source, run, framing=flow, trace=routers, force=True)
    on_lanes(source, run, framing=flow, trace=lanes, force=True)
    assert len(routers.read_bytes().splitlines()) == result.messages > 0
    assert routers.read_bytes() == lanes.read_bytes()


@given(schedules(routed=True), st.integers(1, 20_000), st.sampled_from(["message", "packet"]))
@examples(20)
def test_every_message_has_the_times_that_it_has_without_routers(
    tmp_path_factory: pytest.TempPathFactory, schedule: Schedule, size: int, flow: str
):
    assert_same_lines(lower(schedule, size, MULTITREE), "slotted", flow, tmp_path_factory.getbasetemp())


@pytest.mark.parametrize("flow", ["message", "packet"])
@pytest.mark.parametrize("spec", ["torus:4x4", "ring:6,capacity=2"])
def test_paced_messages_wait_for_the_same_ports(tmp_path: Path, spec: str, flow: str):
    assert_same_lines(tables_of("multitree", spec, 1 << 15), "paced", flow, tmp_path)


def test_a_schedule_without_tables_leaves_a_trace(tmp_path: Path):
    plan = SimulatedSchedule.of(made("halving-doubling", "switch:8", 1 << 14), 1 << 14, MULTITREE)
    assert_same_lines(plan, "slotted", "packet", tmp_path)


def picture(path: Path) -> tuple[dict[tuple[int, int], str], list[dict]]:
    """The tracks by (process, thread), and what is drawn on them."""
    events = json.loads(path.read_text())["traceEvents"]
    tracks = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    return tracks, [event for event in events if event["ph"] != "M"]


def slices_by_lane(drawn: list[dict]) -> list[tuple[int, int, int]]:
    return sorted((event["tid"], event["ts"], event["dur"]) for event in drawn if event["pid"] == 1)


@pytest.mark.parametrize("spec", ["torus:3x3", "fattree:2x3", "ring:4,capacity=2"])
def test_the_picture_has_every_flit_on_its_link(tmp_path: Path, spec: str):
    """A track for each interface and lane; slices of one lane do not overlap, and are as long as all flits that passed it."""
    tables = tables_of("ring", spec, 1 << 14)
    others = synthetic_packets(tables.topology, load=Fraction(1, 5), flits=5, cycles=1500, seed=4)
    result = on_routers(tables, others=others, trace=tmp_path / "t.json")
    assert result.others.arrived == len(others.id)
    tracks, drawn = picture(tmp_path / "t.json")
    assert {(event["pid"], event["tid"]) for event in drawn} <= set(tracks)
    nodes = {f"node {i}" for i in range(len(tables.topology.kind))}
    assert {name for (process, _), name in tracks.items() if process == 0} == nodes
    lanes = slices_by_lane(drawn)
    for (lane, start, cycles), (other, after, _) in pairwise(lanes):
        assert lane != other or start + cycles <= after
    assert sum(cycles for _, _, cycles in lanes) == result.flit_hops
    named = {event["name"] for event in drawn if event["pid"] == 1}
    assert {name for name in named if name.startswith("packet")} <= {f"packet {i}" for i in others.id.tolist()}
    assert {name for name in named if not name.startswith("packet")} == {f"flow {i} of 0" for i in range(tables.chunks)}


def test_packets_that_share_a_link_take_turns_on_it(tmp_path: Path):
    """A message and a long packet, each with a VC of its own: while both have flits, each flit is a slice of its own."""
    tables = tables_of("ring", "ring:4", 1 << 14)
    on_routers(tables, others=packets((0, 1, 100, 0)), trace=tmp_path / "t.json")
    tracks, drawn = picture(tmp_path / "t.json")
    lane = next(thread for (process, thread), name in tracks.items() if (process, name) == (1, "0>1"))
    shared = [event for event in drawn if event["pid"] == 1 and event["tid"] == lane][:150]
    packet, message = (
        [event["ts"] for event in shared if event["name"].startswith(kind) and event["dur"] == 1] for kind in ("packet", "flow")
    )
    assert min(len(packet), len(message)) > 50
    assert {b - a for a, b in pairwise(packet)} == {2}
    assert set(message).isdisjoint(packet)


def test_a_trace_is_not_overwritten(tmp_path: Path):
    (tmp_path / "t.json").write_text("mine")
    with pytest.raises(InputError, match="--force"):
        on_routers(tables_of("ring", "ring:4", 4096), trace=tmp_path / "t.json")
    assert (tmp_path / "t.json").read_text() == "mine"


def test_the_size_of_a_trace_of_fine_slots_is_estimated():
    """Hops of steps that have a slot of their own count, too."""
    fine = ct.synthesize("mesh:2x2", method="two-shot", size="1KiB")
    assert isinstance(fine, Schedule)
    assert fine.has_fine_slots
    messages, length = expected_size(fine, Path("t.json"), has_endpoints=False)
    assert messages == fine.transfers
    assert length > 100 * messages
