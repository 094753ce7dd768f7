"""Traces of routers: JSON lines (zipped where the name ends in .gz), the steps of flits and credits in the order in which they
happened.

The first line states `format`, `version`, the routers' `vcs` (virtual channels of each channel), `buffer_flits`, `flow_control` and
`vc_reuse`; `channels`, for each the nodes [from, to], -1 for a network interface; and `packets`, in the order in which they came to
their interfaces, for each [from, to, flits]. Numbers of channels and packets are their places in these lists. Of a collective it
also has `chunks`, the chunk of each packet, and `sub_message_flits`, 0 where messages travel as packets. Every other line is a step
at time `cycle`:

    {"event": "take", "channel", "vc", "packet"}             a packet takes a virtual channel, from its head until its tail has left
    {"event": "send", "channel", "vc", "packet", "flit"}     one of its flits, counted from 0, goes into the channel
    {"event": "eject", "channel", "vc", "packet", "flit"}    the interface at the end of the channel takes it
    {"event": "credit", "channel", "vc"}                     a credit is back where the channel begins

After the last step follows a line for each virtual channel with credits on their way when the run ends:

    {"event": "left", "channel", "vc", "credits"}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.models.common.fields import Fields
from certree.models.traces.lines import MAX_NUMBER, is_trace, trace_of_steps

FORMAT, VERSION = "certree-flit-trace", 1
EVENTS = ("take", "send", "eject", "credit")
LEFT = "left"
INTERFACE = -1  # the end of a channel that is a network interface
FLOW_CONTROLS, REUSES = ("wormhole", "cut-through"), ("tail", "empty")
MOST_VCS = 64


@dataclass(frozen=True)
class TracedFlits:
    """A run through routers: their sizes, the ends of each channel, source, destination and length of each packet, the lines of
    the steps with their numbers in the file, and the credits that are left in the end by (channel, virtual channel). Of a
    collective also the chunk of each packet, and the flits of a sub-message."""

    vcs: int
    buffer_flits: int
    flow_control: str
    vc_reuse: str
    channels: tuple[tuple[int, int], ...]
    packets: tuple[tuple[int, int, int], ...]
    steps: list[tuple[int, Mapping[str, Any]]]
    left: dict[tuple[int, int], int]
    chunks: tuple[int, ...] | None = None
    sub_message_flits: int = 0


def is_flit_trace(path: Path) -> bool:
    """Whether a file begins like a trace of routers."""
    return is_trace(path, FORMAT)


def load_flit_trace(path: Path) -> TracedFlits:
    """The run that a trace states; InputError with the line for anything else. O(lines)."""
    head, steps = trace_of_steps(path, "flits", FORMAT, VERSION)
    traced = TracedFlits(
        vcs=head.whole("vcs", 1, MOST_VCS),
        buffer_flits=head.whole("buffer_flits", 1, MAX_NUMBER),
        flow_control=head.choice("flow_control", FLOW_CONTROLS),
        vc_reuse=head.choice("vc_reuse", REUSES),
        channels=tuple((ends[0], ends[1]) for ends in _lists(head, "channels", 2, INTERFACE)),
        packets=tuple((entry[0], entry[1], entry[2]) for entry in _lists(head, "packets", 3, 0)),
        steps=[],
        left={},
        chunks=head.wholes("chunks", 0, MAX_NUMBER) if "chunks" in head else None,
        sub_message_flits=head.whole("sub_message_flits", 0, MAX_NUMBER, default=0),
    )
    if traced.chunks is not None and len(traced.chunks) != len(traced.packets):
        head.refuse(f"chunks has {len(traced.chunks)} entries for {len(traced.packets)} packets")
    for index, (_, _, flits) in enumerate(traced.packets):
        if flits < 1:
            head.refuse(f"packet {index} has no flits")
    for number, step in steps:
        _note(step, number, traced)
    return traced


def _lists(head: Fields, name: str, length: int, low: int) -> list[list[int]]:
    """Lists of `length` whole numbers each."""
    found = []
    for index, entry in enumerate(head.entries(name)):
        good = isinstance(entry, list) and len(entry) == length
        if not (good and all(type(value) is int and low <= value <= MAX_NUMBER for value in entry)):
            head.refuse(f"{name} {index} is not a list of {length} whole numbers from {low} to {MAX_NUMBER}")
        found.append(entry)
    return found


def _note(step: Fields, number: int, traced: TracedFlits) -> None:
    """Add a line to the run."""
    event = step.choice("event", (*EVENTS, LEFT))
    channel, vc = step.whole("channel", 0, len(traced.channels) - 1), step.whole("vc", 0, traced.vcs - 1)
    if event == LEFT:
        if (channel, vc) in traced.left:
            step.refuse(f"a second line of credits left for channel {channel}, virtual channel {vc}")
        traced.left[channel, vc] = step.whole("credits", 1, MAX_NUMBER)
        step.done()
        return
    if traced.left:
        step.refuse("a step after credits that are left in the end")
    if event != "credit":
        packet = step.whole("packet", 0, len(traced.packets) - 1)
        if event != "take":
            step.whole("flit", 0, traced.packets[packet][2] - 1)
    step.done()
    traced.steps.append((number, step.table))
