"""Traces of a run: a JSON line for each message, or the events that Perfetto and chrome://tracing draw."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from certree.hw import _core
from certree.hw.program import Program
from certree.models.files import write_atomically

CHROME_SUFFIX = ".json"
_NODES, _LANES = 0, 1  # processes of the picture: a track for each network interface, one for each lane


def write_trace(path: Path, program: Program, core: "_core.Run", *, force: bool) -> None:
    """Write the trace of a traced run; the form goes by the suffix of the name. O(hops of all messages) time and memory."""
    if path.suffix == CHROME_SUFFIX:
        data = json.dumps(chrome_document(program, core), separators=(",", ":")).encode()
    else:
        data = "".join(json.dumps(entry) + "\n" for entry in message_entries(program, core)).encode()
    write_atomically(path, data, force=force)


def message_entries(program: Program, core: "_core.Run") -> Iterator[dict[str, Any]]:
    """Node, row (of that node), iteration, destination, and the times of each message, in the order in which they became usable."""
    for row, iteration, destination, fired, first, complete, usable, _ in sorted(core.trace(), key=lambda record: record[-2::-1]):
        node, place = program.played.node_of(row)
        yield {
            "node": node,
            "row": place,
            "iteration": iteration,
            "destination": destination,
            "fired": fired,
            "first_flit": first,
            "last_flit_arrived": complete,
            "usable": usable,
        }


def chrome_document(program: Program, core: "_core.Run") -> dict[str, Any]:
    """The Trace Event Format (JSON object form): times are cycles, written as microseconds.

    Process 0 has a track for each network interface: a slice from "complete" to "usable" for each arriving REDUCE, an instant for
    each copy that is written and for each row that fires. Process 1 has a track for each lane: a slice while a message has it.
    """
    columns, flits = program.columns, program.scalars["message_flits"]
    ends = list(zip(columns["bundle_source"].tolist(), columns["bundle_destination"].tolist(), strict=True))
    begin = columns["bundle_begin"].tolist()
    names = [
        f"{source}>{destination}" + (f" lane {lane - begin[bundle]}" if begin[bundle + 1] - begin[bundle] > 1 else "")
        for bundle, (source, destination) in enumerate(ends)
        for lane in range(begin[bundle], begin[bundle + 1])
    ]
    events: list[dict[str, Any]] = [
        _name("process_name", _NODES, 0, "network interfaces"),
        _name("process_name", _LANES, 0, "links"),
    ]
    events += [_name("thread_name", _NODES, node, f"node {node}") for node in range(program.scalars["nodes"])]
    events += [_name("thread_name", _LANES, lane, name) for lane, name in enumerate(names)]
    labels: dict[int, str] = defaultdict(str)
    drawn = []
    fired = set()
    for row, iteration, destination, firing, _, complete, usable, number in core.trace():
        node, place = program.played.node_of(row)
        labels[number] = f"flow {columns['row_flow'][row]} of {iteration}"
        if (row, iteration) not in fired:
            fired.add((row, iteration))
            drawn.append(_instant(node, firing, f"row {place} fires: {labels[number]}"))
        if usable > complete:
            drawn.append(_slice(_NODES, destination, complete, usable - complete, f"reduce {labels[number]} from {node}"))
        else:
            drawn.append(_instant(destination, usable, f"write {labels[number]} from {node}"))
    drawn += [_slice(_LANES, lane, start, flits, labels[number]) for number, lane, start in core.hops()]
    drawn.sort(key=lambda event: (event["ts"], event["pid"], event["tid"], event["name"]))
    return {"traceEvents": events + drawn, "displayTimeUnit": "ns", "otherData": {"unit of time": "cycle"}}


def _name(what: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": track, "args": {"name": name}}


def _slice(process: int, track: int, start: int, cycles: int, name: str) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": process, "tid": track, "ts": start, "dur": cycles}


def _instant(node: int, when: int, name: str) -> dict[str, Any]:
    return {"ph": "i", "name": name, "pid": _NODES, "tid": node, "ts": when, "s": "t"}
