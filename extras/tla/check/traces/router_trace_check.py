"""Traces of routers as behaviours of the specification: `specs/TraceSubPacketFlow.tla`, with the log as constant.

Routes, lanes of links, virtual channels and kinds of flits are computed from the schedule, or from the network for packets that
bring no route. The interfaces of a node that a packet takes are those of the trace, as are the lanes of packets that bring no route
and of schedules whose messages all go to neighbours.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from certree.extras.tla.check.generated import Generated, function, members, record, sequence, string
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.routers.sent_messages import Sent
from certree.extras.tla.check.routers.waiting_packets import kinds_of, messages_on_lanes
from certree.extras.tla.check.traces.traced_steps import check_steps, log_text
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.routers.virtual_channels import ClassVcs
from certree.models.schedule.timing import packet_lengths
from certree.models.tables.tables import Tables
from certree.models.traces.flits import INTERFACE, TracedFlits
from certree.verify.deadlock.walks import Walks, packet_walks, schedule_vcs, schedule_walks

#: property that the next line may violate -> what is wrong with it
_WRONG = {
    "StaysOnItsRoute": "the channel is not on the packet's route",
    "TakesAFreeVC": "another packet has that virtual channel",
    "TakesAnAllowedVC": "the packet may not take that virtual channel there",
    "TakesOneVC": "the packet has a virtual channel there",
    "TakesWhenItsTurnComes": "its head is not the next flit into the channel",
    "TakesWhatHasRoom": "there is no room for what must fit behind a head",
    "TakesWhatIsEmpty": "not all credits of that virtual channel are back",
    "LeavesInOrder": "another flit is to leave before it",
    "EntersItsVC": "the packet has not taken that virtual channel",
    "EntersWhatHasRoom": "the buffer is full, as far as the sender knows",
    "TakenOnArrival": "it is not the oldest flit there",
    "ReturnsOnce": "no credit is on its way there",
}
#: property that the end of a trace may violate -> what is missing then
_LACKS = {
    "ArrivedInTheEnd": "some packet has not arrived",
    "BalancedInTheEnd": "the credits that have not come back are not those that it says are left",
}
#: each line is a step of SubPacketFlow by definition: that (`IsBehaviour`) and the invariants of that module are checked in the
#: models of `specs/models.toml`; here they would take most of the time, for each line more, the more packets there are
_INVARIANTS = (*_WRONG, *_LACKS)


@dataclass(frozen=True)
class _Due:
    """A packet that must be in the trace: its ends, the pairs of neighbours on its route, the virtual channels that it may take at
    its source and at each hop behind, and the kinds of its flits. `lanes`: the number of its lane between each pair; None: any."""

    ends: tuple[int, int]
    pairs: tuple[tuple[int, int], ...]
    vcs: tuple[tuple[int, ...], ...]
    kinds: tuple[str, ...]
    lanes: tuple[int, ...] | None = None


def check_schedule_flits(
    traced: TracedFlits, tables: Tables, framing: str, trace: Path, *, time_limit: float = 300.0
) -> ModelResult:
    """Check step by step that a trace written by `simulate --trace-flits` is a behaviour of the specification, and that its packets
    are the messages of the tables, framed as `framing`, on their routes.

    `trace`: the file, for messages. A failure names the first line for which specification and trace differ, and the rule. The
    trace of a run that stalled fails, too: it ends before packets arrive. Raises InputError for a trace of another network, machine
    or schedule, UnsupportedError for packets of one flit, ToolMissingError without Java or TLC. TLC's time grows with lines times
    (packets + virtual channels).
    """
    machine, schedule = tables.machine, tables.schedule
    lengths = packet_lengths(tables.chunk_bytes, machine, framing)
    vcs = schedule_vcs(schedule, machine)
    walks = schedule_walks(schedule, machine, vcs, 1)
    kinds = [kinds_of(flits, machine.router.sub_message_flits if framing == "message" else 0) for flits in lengths]
    due = []
    for walk, lanes, messages in messages_on_lanes(Sent.of_tables(tables), walks):
        nodes = walks.nodes(walk)
        hops = _hops(walks, walk, vcs, machine)
        due += [_Due((nodes[0], nodes[-1]), *hops, kind, lanes) for kind in kinds] * messages
    return _checked(traced, due, tables.topology, machine, trace, "", time_limit)


def check_injected_flits(
    traced: TracedFlits, topology: Topology, machine: Machine, trace: Path, *, time_limit: float = 300.0
) -> ModelResult:
    """Check a trace written by `inject --trace-flits`: packets bring no route; which packets there are is known from the trace
    only, and the message says so."""
    known = set(topology.endpoints.tolist())
    for index, (first, end, _) in enumerate(traced.packets):
        if not {first, end} <= known:
            raise InputError(f"{trace}, line 1: packet {index} goes from {first} to {end}, not endpoints of {topology.name}")
    src, dst, flits = (np.array(column, np.int64) for column in zip(*traced.packets, strict=True))
    vcs, nodes = ClassVcs(0, machine.vc_count - 1), len(topology.kind)
    walks = packet_walks(topology, machine, vcs, src, dst, flits)
    walk_of = np.unique(src * nodes + dst, return_inverse=True)[1].tolist()
    due = [
        _Due((a, b), *_hops(walks, walk, vcs, machine), kinds_of(length, 0))
        for (a, b, length), walk in zip(traced.packets, walk_of, strict=True)
    ]
    believed = f", with {len(due)} packet{'s' if len(due) > 1 else ''} as stated in the trace"
    return _checked(traced, due, topology, machine, trace, believed, time_limit)


def _hops(
    walks: Walks, walk: int, vcs: ClassVcs, machine: Machine
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, ...], ...]]:
    """The pairs of nodes of a walk, and the virtual channels at its source, at each of them, and at its end."""
    hops = slice(int(walks.begin[walk]), int(walks.begin[walk + 1]))
    topology, every = walks.topology, vcs.masks(machine)[0]
    pairs = tuple((int(topology.pair_src[pair]), int(topology.pair_dst[pair])) for pair in walks.pair[hops].tolist())
    masks = (every, *walks.mask[hops].tolist(), every)
    return pairs, tuple(tuple(vc for vc in range(machine.vc_count) if mask >> vc & 1) for mask in masks)


def _checked(
    traced: TracedFlits,
    due: Sequence[_Due],
    topology: Topology,
    machine: Machine,
    trace: Path,
    believed: str,
    time_limit: float,
) -> ModelResult:
    """The answer of TLC, after the statements of the first line."""
    if any(len(packet.kinds) < 2 for packet in due):
        raise UnsupportedError("traces of routers: not supported for packets of one flit, head and tail at once")
    _check_routers(traced, topology, machine, trace)
    routes, packets = _routes(traced, due, topology, trace)
    used = {channel for route in routes for channel in route} | {step["channel"] for _, step in traced.steps}
    named = [string(index) for index in range(len(packets))]
    tables = {
        "Route": function(zip(named, map(sequence, routes), strict=True)),
        "Flits": function((name, sequence(map(string, packet.kinds))) for name, packet in zip(named, packets, strict=True)),
        "MayTake": function((name, sequence(map(members, packet.vcs))) for name, packet in zip(named, packets, strict=True)),
        "Log": log_text(traced.steps, _line_text),
        "Left": members(sequence((channel, vc, credits)) for (channel, vc), credits in sorted(traced.left.items())),
    }
    values = {
        "Worms": members(named),
        "VCs": members(range(traced.vcs)),
        "Depth": machine.vc_buffer_flits,
        "Switching": string(machine.router.flow_control),
        "Endless": "{}",
        "Reuse": string(machine.router.vc_reuse),
        "Channels": members(sorted(used)),
    }
    model = Generated("TraceSubPacketFlow", tables, values, _INVARIANTS, spec="TraceSpec")
    name = f"trace of routers, {topology.name}"

    def words(step: Mapping[str, Any]) -> str:
        what = "a credit returns" if step["event"] == "credit" else f"{step['event']} of packet {step['packet']}"
        flit = f", flit {step['flit']}" if "flit" in step else ""
        return f"{what}{flit}, {_channel(traced, step['channel'])}, virtual channel {step['vc']}"

    return check_steps(name, model, traced.steps, words, _LACKS, wrong=_WRONG, believed=believed, time_limit=time_limit)


def _channel(traced: TracedFlits, channel: int) -> str:
    """A channel in words."""
    src, dst = traced.channels[channel]
    if src == INTERFACE:
        return f"injection channel {channel} of node {dst}"
    return f"ejection channel {channel} of node {src}" if dst == INTERFACE else f"channel {channel}, {src}>{dst}"


def _line_text(step: Mapping[str, Any]) -> str:
    """A line of the log; flits count from 1 in TLA+."""
    worm = string(step["packet"]) if "packet" in step else string("nobody")
    flit = step["flit"] + 1 if "flit" in step else 0
    return record(event=string(step["event"]), worm=worm, flit=flit, channel=step["channel"], vc=step["vc"])


def _check_routers(traced: TracedFlits, topology: Topology, machine: Machine, trace: Path) -> None:
    """Raise InputError with the first statement about the routers that is wrong for the network and the machine."""
    where, router = f"{trace}, line 1", machine.router
    sizes = {
        "vcs": (traced.vcs, machine.vc_count),
        "buffer_flits": (traced.buffer_flits, machine.vc_buffer_flits),
        "flow_control": (traced.flow_control, router.flow_control),
        "vc_reuse": (traced.vc_reuse, router.vc_reuse),
    }
    for name, (stated, right) in sizes.items():
        if stated != right:
            raise InputError(f"{where}: {name} is {stated}; machine {machine.name} has {right}")
    pairs = zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True)
    lanes = dict(zip(pairs, topology.pair_capacity.tolist(), strict=True))
    stated_lanes = Counter(ends for ends in traced.channels if INTERFACE not in ends)
    for src, dst in sorted(lanes.keys() | stated_lanes.keys()):
        stated, right = stated_lanes[src, dst], int(lanes.get((src, dst), 0))
        if stated != right:
            raise InputError(f"{where}: {stated} channel(s) from node {src} to node {dst}; {topology.name} has {right}")


def _routes(traced: TracedFlits, due: Sequence[_Due], topology: Topology, trace: Path) -> tuple[list[list[int]], list[_Due]]:
    """The channels of each packet's route: the given ones of the trace, then those that are due and missing there.

    A packet is taken for the first one that is due with its ends and length, of those on the channels that its head passes if
    there are any.
    """
    passed: list[list[int]] = [[] for _ in traced.packets]
    for _, step in traced.steps:
        if step["event"] == "send" and step["flit"] == 0:
            passed[step["packet"]].append(step["channel"])
    between: dict[tuple[int, int], list[int]] = {}
    for channel, ends in enumerate(traced.channels):
        between.setdefault(ends, []).append(channel)
    waiting: dict[tuple[int, int, int], list[_Due]] = {}
    for packet in due:
        waiting.setdefault((*packet.ends, len(packet.kinds)), []).append(packet)
    chosen = []
    for index, stated in enumerate(traced.packets):
        options = waiting.get(stated, [])
        if not options:
            raise InputError(
                f"{trace}, line 1: packet {index} from node {stated[0]} to node {stated[1]}, {stated[2]} flits: there is none, or "
                f"no other one, on {topology.name}"
            )
        links = [channel for channel in passed[index] if INTERFACE not in traced.channels[channel]]
        fitting = (place for place, option in enumerate(options) if _is_on(option, links, traced, between))
        chosen.append(options.pop(next(fitting, 0)))
    missing = [packet for options in waiting.values() for packet in options]
    routes = [
        list(_channels(packet, given, traced, between, trace))
        for packet, given in zip([*chosen, *missing], [*passed, *([] for _ in missing)], strict=True)
    ]
    return routes, [*chosen, *missing]


def _is_on(packet: _Due, links: Sequence[int], traced: TracedFlits, between: Mapping[tuple[int, int], Sequence[int]]) -> bool:
    """Whether a route begins with these channels."""
    if len(links) > len(packet.pairs):
        return False
    if packet.lanes is None:
        return all(traced.channels[link] == pair for link, pair in zip(links, packet.pairs, strict=False))
    return all(link == between[pair][lane] for link, pair, lane in zip(links, packet.pairs, packet.lanes, strict=False))


def _channels(
    packet: _Due, passed: Sequence[int], traced: TracedFlits, between: Mapping[tuple[int, int], Sequence[int]], trace: Path
) -> Iterator[int]:
    """The channels of a route: those of its lanes; to and from interfaces, and where any lane will do, those that the packet's head
    passes, or the first between the same nodes."""
    taken = {traced.channels[channel]: channel for channel in reversed(passed)}
    lanes: Sequence[int | None] = packet.lanes or (None,) * len(packet.pairs)
    route = zip(((INTERFACE, packet.ends[0]), *packet.pairs, (packet.ends[1], INTERFACE)), (None, *lanes, None), strict=True)
    for ends, lane in route:
        if ends not in between:
            node = packet.ends[ends[1] == INTERFACE]
            raise InputError(f"{trace}, line 1: node {node} has no channel {'to' if ends[1] == INTERFACE else 'from'} an interface")
        yield taken.get(ends, between[ends][0]) if lane is None else between[ends][lane]
