"""Writes traces of flits and credits (`models/traces/flits.py`)."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.hw.routers.network import INTERFACE, RouterNetwork
from certree.models.common.files import write_atomically
from certree.models.traces import flits
from certree.models.traces.flits import EVENTS, FORMAT, LEFT, VERSION


def write_flit_trace(
    path: Path, network: RouterNetwork, core: Any, *, chunks: NDArray[np.integer] | None = None, force: bool
) -> None:
    """Write the steps of a run that has ended, whose core kept them; completely or not at all. `chunks`: of a
    collective, by message. O(steps) time and memory."""
    ends = zip(network.columns["channel_source"].tolist(), network.columns["channel_destination"].tolist(), strict=True)
    router = network.machine.router
    document = {
        "format": FORMAT,
        "version": VERSION,
        "vcs": network.machine.vc_count,
        "buffer_flits": network.machine.vc_buffer_flits,
        "flow_control": router.flow_control,
        "vc_reuse": router.vc_reuse,
        "channels": [[flits.INTERFACE if end == INTERFACE else end for end in pair] for pair in ends],
        "packets": [list(packet) for packet in core.traced_packets()],
    }
    if chunks is not None:
        document["chunks"] = [int(chunks[message]) for message in core.traced_messages()]
        document["sub_message_flits"] = network.classes[0].sub_message_flits
    texts = [json.dumps(document)]
    texts += [json.dumps(_entry(*event)) for event in core.flit_events()]
    for (channel, vc), credits in sorted(Counter(core.credits_left()).items()):
        texts.append(json.dumps({"cycle": core.cycle, "event": LEFT, "channel": channel, "vc": vc, "credits": credits}))
    write_atomically(path, ("\n".join(texts) + "\n").encode(), force=force)


def _entry(cycle: int, step: int, channel: int, vc: int, packet: int, flit: int) -> dict[str, Any]:
    """One line."""
    entry: dict[str, Any] = {"cycle": cycle, "event": EVENTS[step], "channel": channel, "vc": vc}
    if entry["event"] != "credit":
        entry["packet"] = packet
    if entry["event"] in ("send", "eject"):
        entry["flit"] = flit
    return entry
