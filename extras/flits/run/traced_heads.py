"""The heads of messages in a traced run through routers: their fields and bits at each channel that they pass."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from certree.extras.flits.model.flit_format import FlitFormat, FlitType, flit_type
from certree.extras.flits.run.core_flits import numbers_of, pack, turn, unpack
from certree.models.common.errors import InputError
from certree.models.common.files import write_atomically
from certree.models.traces.flits import INTERFACE, TracedFlits


@dataclass(frozen=True)
class TracedHead:
    """A head in a channel: cycle, ends of the channel (-1: an interface), packet, its fields by name, and the bits of the flit."""

    cycle: int
    source: int
    target: int
    packet: int
    fields: dict[str, int]
    word: int


def traced_heads(traced: TracedFlits, layout: FlitFormat) -> Iterator[TracedHead]:
    """The heads of a run in the order of the trace, as they go into channels.

    Output ports of a router are numbered by the channels that leave it, in the order of the trace: links, then interfaces. The tree
    is the chunk that the trace states for the packet. A message's route is that of its head, whose fields turn at every router; a
    packet whose head never came to an interface is left out, since its route is not known. InputError where the trace is of other
    routers than the layout is for, and for routes that are longer than the field. O(steps + heads · bits).
    """
    if traced.chunks is None:
        raise InputError("the trace states no chunks: its packets are of no tree; expected that of simulate --trace-flits")
    ports = _ports(traced, layout)
    sends = [step for _, step in traced.steps if step["event"] == "send" and step["flit"] == 0]
    routes: dict[int, list[int]] = {}
    ended = set()
    for step in sends:
        source, target = traced.channels[step["channel"]]
        if source != INTERFACE:
            routes.setdefault(step["packet"], []).append(ports[step["channel"]])
        if target == INTERFACE:
            ended.add(step["packet"])
    kept = [step for step in sends if step["packet"] in ended]
    if not kept:
        return
    kinds = [flit_type(0, traced.packets[step["packet"]][2], traced.sub_message_flits) for step in kept]
    filled = {packet: list(layout.route(routes[packet]).values()) for packet in ended}
    columns = {
        "type": np.array(kinds),
        "vc": np.array([step["vc"] for step in kept]),
        "dest": np.array([traced.packets[step["packet"]][1] for step in kept]),
        "src": np.array([traced.packets[step["packet"]][0] for step in kept]),
        "tree": np.array([traced.chunks[step["packet"]] for step in kept]),
        "route": np.array([filled[step["packet"]] for step in kept]),
    }
    words = pack(layout, columns)
    turns = np.array(list(_turns(kept, traced)))
    for count in range(1, int(turns.max()) + 1):
        words[turns >= count] = turn(layout, words[turns >= count])
    fields, _, _ = unpack(layout, words)
    for at, (step, kind, word) in enumerate(zip(kept, kinds, numbers_of(words), strict=True)):
        named = {name: int(fields[name][at]) for name in ("vc", "type")}
        if kind is FlitType.MESSAGE_HEAD:
            named |= dict(zip(layout.route_names, fields["route"][at].tolist(), strict=True)) | {"tree": int(fields["tree"][at])}
        else:
            named |= {name: int(fields[name][at]) for name in ("dest", "src")}
        source, target = traced.channels[step["channel"]]
        yield TracedHead(step["cycle"], source, target, step["packet"], named, word)


def write_heads(path: Path, heads: list[TracedHead], layout: FlitFormat, *, force: bool = False) -> None:
    """Write heads as CSV, completely or not at all; a cell is empty where the flit has no such field, or no port in it."""
    names = ("vc", "type", *layout.route_names, "tree", "dest", "src")
    lines = [",".join(("cycle", "from", "to", "packet", *names, "flit"))]
    digits = -(-layout.bits // 4)
    for head in heads:
        shown = {name: value for name, value in head.fields.items() if name not in layout.route_names or value != layout.no_port}
        cells = [head.cycle, head.source, head.target, head.packet, *(shown.get(name, "") for name in names)]
        lines.append(",".join([*map(str, cells), f"{head.word:0{digits}x}"]))
    write_atomically(path, ("\n".join(lines) + "\n").encode(), force=force)


def _ports(traced: TracedFlits, layout: FlitFormat) -> list[int]:
    """The port by which each channel leaves its router; 0 for those of interfaces, into the network, which have none."""
    used: dict[int, int] = {}
    ports = []
    for source, _ in traced.channels:
        ports.append(used.get(source, 0) if source != INTERFACE else 0)
        if source != INTERFACE:
            used[source] = ports[-1] + 1
    if (most := max(used.values(), default=0)) > layout.ports:
        raise InputError(f"the trace has a router of {most} ports; the layout has {layout.ports}")
    nodes = max((node for packet in traced.packets for node in packet[:2]), default=0)
    for what, value, bits in (
        ("node", nodes, layout.node),
        ("virtual channel", traced.vcs - 1, layout.vc),
        ("chunk", max(traced.chunks or (), default=0), layout.tree),
    ):
        if value >= 1 << bits:
            raise InputError(f"the trace has {what} {value}; the layout has {bits} bits for it")
    return ports


def _turns(sends: list[Mapping[str, Any]], traced: TracedFlits) -> Iterator[int]:
    """How often the head has been turned when it goes into the channel: once for each link to another router."""
    passed: dict[int, int] = {}
    for step in sends:
        source, target = traced.channels[step["channel"]]
        if INTERFACE not in (source, target):
            passed[step["packet"]] = passed.get(step["packet"], 0) + 1
        yield passed.get(step["packet"], 0)
