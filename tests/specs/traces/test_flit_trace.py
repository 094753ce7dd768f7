"""Traces of flits in routers are behaviours of the specification; tampered ones are refused, with the line and the rule."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.tlc import Result
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.tables.tables import Tables
from certree.models.traces.flits import EVENTS, load_flit_trace
from tests.hw.routers.packet_lists import packets
from tests.verify.deadlock.routers import direct, small, switch_ring

EMPTY = {"vc_choice": "any", "vc_reuse": "empty"}


def tables_of(topology: Topology | str, machine: Machine, size: int) -> Tables:
    """Through switches all endpoints send to all others; elsewhere an all-reduce along trees whose edges are routes."""
    network = parse_topology(topology) if isinstance(topology, str) else topology
    if network.is_direct:
        made = ct.synthesize(network, method="double-binary-tree", size=size, machine=machine)
    else:
        made = direct(network, machine, size, "all-gather")
    return lower(made, size, machine)


def all_to_one(network: str, flits: int) -> list[tuple[int, int, int, int]]:
    """A packet from every other endpoint to the first, all at once."""
    first, *others = parse_topology(network).endpoints.tolist()
    return [(node, first, flits, 0) for node in others]


def crosswise(network: str, flits: int) -> list[tuple[int, int, int, int]]:
    """A packet from each endpoint to the one as far along the list as half of it, and to itself."""
    ends = parse_topology(network).endpoints.tolist()
    return [
        (node, ends[(at + len(ends) // 2 + turn) % len(ends)], flits, 3 * turn) for turn in (0, 1) for at, node in enumerate(ends)
    ]


def check_collective(folder: Path, topology: Topology | str, machine: Machine, size: int, flow: str = "message") -> int:
    """Simulate, check the trace, and return the number of steps."""
    tables, trace = tables_of(topology, machine, size), folder / "flits.ndjson"
    run = ct.simulate(tables, engine="flit", flow=flow, trace_flits=trace, force=True, allow_late=True)
    assert run.data_ok
    (checked,) = ct.model_check(schedule=tables, trace=trace, flow=flow)
    return steps_of(trace, checked, "")


def check_injected(folder: Path, network: str, machine: Machine, rows: list[tuple[int, int, int, int]]) -> int:
    trace = folder / "flits.ndjson"
    run = ct.inject(network, packets(*rows), machine=machine, trace_flits=trace, force=True).result
    assert not run.deadlock
    (checked,) = ct.model_check(network, trace=trace, machine=machine)
    return steps_of(trace, checked, f", with {len(rows)} packets as stated in the trace")


def steps_of(trace: Path, checked: ModelResult, believed: str) -> int:
    assert checked.as_expected, checked.message
    steps = len(load_flit_trace(trace).steps)
    assert checked.message == f"{steps} steps, all as in the specification{believed}"
    assert checked.distinct_states == steps + 1
    return steps


#: network, machine, and bytes or packets: small networks, both kinds of switching, one and several virtual channels
COLLECTIVES = {
    "ring of switches": (switch_ring(3), small(2, 2), 96),
    "ring of switches, cut-through": (switch_ring(4), small(2, 4, flow_control="cut-through", sub_message_flits=3), 512),
    "ring with datelines": ("ring:5", small(4, 3), 480),
    "mesh": ("mesh:2x3", small(1, 2), 384),
    "torus": ("torus:3x3", small(2, 3, flow_control="cut-through", sub_message_flits=2), 288),
    "hypercube": ("hypercube:3", small(2, 2, vc_choice="any"), 256),
    "fat tree": ("fattree:2x2", small(2, 3), 256),
    "leaves and spines": ("leafspine:2x2x2", small(3, 4, **EMPTY), 256),
    "one switch": ("switch:4", small(1, 2, vc_reuse="empty"), 256),
    "two lanes": ("mesh:2x2,capacity=2", small(2, 2), 256),
    "two lanes behind switches": ("leafspine:2x2x2@2", small(2, 4), 64),
    "interfaces of nodes": ("mesh:2x2", small(2, 2, interfaces="node"), 256),
}
PACKETS = {
    "incast": ("switch:5", small(2, 3), all_to_one("switch:5", 5)),
    "incast, cut-through": ("fattree:2x2", small(2, 6, flow_control="cut-through"), all_to_one("fattree:2x2", 5)),
    "torus, other datelines": ("torus:4x4", small(4, 2, dateline_rule="ends"), crosswise("torus:4x4", 4)),
}
QUICK = ("ring of switches", "fat tree", "incast, cut-through")


def some(cases: dict[str, object]) -> list[object]:
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow, id=name) for name in cases]


@pytest.mark.parametrize("name", some(COLLECTIVES))
def test_collectives(name: str, tmp_path: Path) -> None:
    topology, machine, size = COLLECTIVES[name]
    assert check_collective(tmp_path, topology, machine, size) > 100


@pytest.mark.slow
def test_a_chunk_in_packets(tmp_path: Path) -> None:
    machine = replace(small(2, 4, flow_control="cut-through"), packet_payload_bytes=32)
    assert check_collective(tmp_path, "mesh:2x3", machine, 80, "packet") > 100


@pytest.mark.parametrize("name", some(PACKETS))
def test_packets(name: str, tmp_path: Path) -> None:
    assert check_injected(tmp_path, *PACKETS[name]) > 100


@pytest.fixture(scope="module")
def two_packets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Machine, list[str]]:
    """Two packets that share a link, on two virtual channels: the machine and the lines of the trace."""
    folder, machine = tmp_path_factory.mktemp("two"), small(2, 3)
    ct.inject("switch:3", packets((1, 0, 4, 0), (2, 0, 4, 0)), machine=machine, trace_flits=folder / "trace")
    return machine, (folder / "trace").read_text().splitlines()


def is_about(line: str, **fields: object) -> bool:
    return fields.items() <= json.loads(line).items()


def place_of(lines: list[str], which: int = 0, **fields: object) -> int:
    """The place of a line with these fields, of several the one with that number."""
    return [place for place, line in enumerate(lines) if is_about(line, **fields)][which]


def moved(lines: list[str], source: int, target: int) -> list[str]:
    """A line in another place, in the cycle of the line that is there."""
    entry = json.loads(lines[source]) | {"cycle": json.loads(lines[target])["cycle"]}
    rest = lines[:source] + lines[source + 1 :]
    return [*rest[:target], json.dumps(entry), *rest[target:]]


def changed(lines: list[str], place: int, **fields: object) -> list[str]:
    return [*lines[:place], json.dumps(json.loads(lines[place]) | fields), *lines[place + 1 :]]


def credit_twice(lines: list[str]) -> list[str]:
    """The last credit of a channel comes once more."""
    at = [place for place, line in enumerate(lines) if is_about(line, event="credit", channel=1)][-1]
    return [*lines[: at + 1], lines[at], *lines[at + 1 :]]


def overtaken(lines: list[str]) -> list[str]:
    first, second = (place_of(lines, event="send", packet=0, flit=flit, channel=LAST) for flit in (1, 2))
    return moved(lines, second, first)


def held_taken(lines: list[str]) -> list[str]:
    """Both packets take the same virtual channel out of the switch."""
    first, second = (place_of(lines, event="take", packet=packet, channel=LAST) for packet in (0, 1))
    return changed(lines, max(first, second), vc=json.loads(lines[min(first, second)])["vc"])


def taken_early(lines: list[str]) -> list[str]:
    sent = place_of(lines, 0, event="send", packet=0, flit=0, channel=LAST)
    return moved(lines, place_of(lines, 0, event="eject", packet=0, flit=0), sent)


def sent_on_another_channel(lines: list[str]) -> list[str]:
    at = place_of(lines, event="send", packet=1, flit=3, channel=LAST)
    return changed(lines, at, channel=1)


def without_the_last(lines: list[str]) -> list[str]:
    at = max(place_of(lines, event="eject", packet=packet, flit=3) for packet in (0, 1))
    return lines[:at]


def without_a_credit(lines: list[str]) -> list[str]:
    at = place_of(lines, -1, event="credit")
    return lines[:at] + lines[at + 1 :]


LAST = 3  # the channel from the switch to node 0
THERE = "channel 3, 3>0, virtual channel {}"
TAMPERED = {
    credit_twice: "ReturnsOnce: line {}, cycle {}: a credit returns, channel 1, 1>3, virtual channel 0: no credit is on its way "
    "there",
    overtaken: f"LeavesInOrder: line {{}}, cycle {{}}: send of packet 0, flit 2, {THERE}: another flit is to leave before it",
    held_taken: f"TakesAFreeVC: line {{}}, cycle {{}}: take of packet {{}}, {THERE}: another packet has that virtual channel",
    taken_early: "TakenOnArrival: line {}, cycle {}: eject of packet 0, flit 0, ejection channel {} of node 0, virtual channel {}: "
    "it is not the oldest flit there",
    sent_on_another_channel: "StaysOnItsRoute: line {}, cycle {}: send of packet 1, flit 3, channel 1, 1>3, virtual channel {}: "
    "the channel is not on the packet's route",
    without_the_last: "ArrivedInTheEnd: the trace ends after {} steps, and some packet has not arrived",
    without_a_credit: "BalancedInTheEnd: the trace ends after {} steps, and the credits that have not come back are not those that "
    "it says are left",
}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=() if fault in (credit_twice, held_taken) else pytest.mark.slow, id=fault.__name__)
        for fault in TAMPERED
    ],
)
def test_tampered_traces_are_refused(fault, two_packets, tmp_path):
    machine, lines = two_packets
    path = tmp_path / "trace"
    path.write_text("\n".join(fault(lines)) + "\n")
    (checked,) = ct.model_check("switch:3", trace=path, machine=machine)
    assert (checked.result, checked.as_expected) == (Result.SAFETY, False)
    pattern = re.escape(TAMPERED[fault]).replace(r"\{\}", r"\d+")
    assert re.fullmatch(pattern, checked.message), checked.message


def test_a_packet_on_another_lane_is_refused(tmp_path):
    """Each message of a schedule with routes has its lane of each link, by `models/routers/lanes.py`."""
    tables, path = tables_of("leafspine:2x2x2@2", small(2, 4), 64), tmp_path / "trace"
    ct.simulate(tables, engine="flit", trace_flits=path, allow_late=True)
    lines = path.read_text().splitlines()
    channels = [tuple(ends) for ends in json.loads(lines[0])["channels"]]
    wide = next(channel for channel, ends in enumerate(channels) if channels.count(ends) == 2 and min(ends) >= 0)
    other = channels.index(channels[wide], wide + 1)
    swapped = [json.loads(line) for line in lines[1:]]
    for step in swapped:
        if step["channel"] in (wide, other):
            step["channel"] = wide + other - step["channel"]
    path.write_text("\n".join([lines[0], *map(json.dumps, swapped)]) + "\n")
    (checked,) = ct.model_check(schedule=tables, trace=path)
    assert checked.message.startswith("StaysOnItsRoute: line ")
    assert checked.message.endswith("the channel is not on the packet's route")


@pytest.mark.slow
def test_a_run_that_stalls_does_not_arrive(tmp_path):
    machine = small(1, 2)
    tables, trace = tables_of(switch_ring(4), machine, 2048), tmp_path / "trace"
    run = ct.simulate(tables, engine="flit", trace_flits=trace, allow_deadlock=True, allow_late=True)
    assert run.deadlock
    (checked,) = ct.model_check(schedule=tables, trace=trace)
    assert checked.message.startswith("ArrivedInTheEnd: the trace ends after ")


def test_traces_of_other_runs_are_refused(two_packets, tmp_path):
    machine, lines = two_packets
    path = tmp_path / "trace"
    path.write_text("\n".join(lines) + "\n")
    for network, on, message in (
        ("switch:3", small(2, 4), "line 1: buffer_flits is 3; machine small has 4"),
        ("switch:3", small(2, 3, vc_reuse="empty"), "line 1: vc_reuse is tail; machine small has empty"),
        ("switch:4", machine, r"line 1: 1 channel\(s\) from node 0 to node 3; switch:4 has 0"),
    ):
        with pytest.raises(InputError, match=message):
            ct.model_check(network, trace=path, machine=on)
    tables = tables_of("switch:3", machine, 96)
    with pytest.raises(InputError, match=r"packet 0 from node 1 to node 0, 4 flits: there is none, or no other one, on switch:3"):
        ct.model_check(schedule=tables, trace=path)


def test_packets_of_one_flit_are_refused(tmp_path):
    ct.inject("switch:3", packets((1, 0, 1, 0)), machine=small(2, 3), trace_flits=tmp_path / "trace")
    with pytest.raises(UnsupportedError, match="not supported for packets of one flit"):
        ct.model_check("switch:3", trace=tmp_path / "trace", machine=small(2, 3))


def test_traces_need_routers(tmp_path):
    with pytest.raises(InputError, match="traces of flits need the flit engine"):
        ct.simulate(tables_of("switch:3", small(2, 3), 96), engine="lanes", trace_flits=tmp_path / "trace")
    with pytest.raises(InputError, match="traces of flits: not supported next to other packets"):
        ct.simulate(tables_of("switch:3", small(2, 3), 96), background=packets((1, 0, 4, 0)), trace_flits=tmp_path / "trace")


def test_a_traced_run_is_the_same_run(tmp_path):
    """The trace has every flit on every channel of its route once, in the time of the report."""
    tables = tables_of("fattree:2x2", small(2, 3), 256)
    plain = ct.simulate(tables, engine="flit", allow_late=True)
    assert ct.simulate(tables, engine="flit", trace_flits=tmp_path / "trace", allow_late=True) == plain
    traced = load_flit_trace(tmp_path / "trace")
    found = Counter(step["event"] for _, step in traced.steps)
    between = Counter(
        ends[0] >= 0 and ends[1] >= 0 for ends in (traced.channels[s["channel"]] for _, s in traced.steps if s["event"] == "send")
    )
    assert set(found) == set(EVENTS)
    assert between[True] == plain.flit_hops
    assert found["eject"] == sum(flits for _, _, flits in traced.packets)
    assert found["send"] == found["credit"] + sum(traced.left.values())
