"""Traces of a run: a JSON line per message, and the events that Perfetto and chrome://tracing draw."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.hw.engines.core_program import Program
from certree.hw.engines.runs import EndpointEvents
from certree.hw.engines.table_rows import Rows
from certree.models.common.files import write_atomically
from certree.models.schedule.paths import far_hops
from certree.models.schedule.schedule import Schedule

CHROME_SUFFIX = ".json"
#: approximate bytes of a message in each form, and of a link that it passes: means over traces of some thousand messages; then the
#: further bytes with endpoints, of which the picture shows fetches and intakes
_LINE, _CHROME_MESSAGE, _CHROME_LINK = 140, 135, 100
_LINE_AT_ENDPOINTS, _CHROME_AT_ENDPOINTS = 30, 400
_NODES, _LINKS, _ENDPOINTS = 0, 1, 2  # processes of the picture: a track for each network interface, lane and endpoint

#: row, iteration, destination, fired, first, complete, usable, number
Record = tuple[int, int, int, int, int, int, int, int]


@dataclass(frozen=True)
class LinkUses:
    """The uses of lanes over time: `names` of the lanes; (message, lane, start, cycles) of each run of a collective's flits; and
    (id, lane, start, cycles) of other packets."""

    names: Sequence[str]
    messages: Sequence[tuple[int, int, int, int]]
    others: Sequence[tuple[int, int, int, int]] = ()


def write_trace(
    path: Path,
    rows: Rows,
    records: Iterable[Record],
    uses: Callable[[], LinkUses],
    endpoints: EndpointEvents | None = None,
    *,
    force: bool,
) -> None:
    """Write the trace of a run, with its endpoints where it has them, in the form given by the file suffix. O(messages + link uses)
    time and memory, sorted."""
    if path.name.removesuffix(".gz").endswith(CHROME_SUFFIX):
        data = json.dumps(chrome_document(rows, records, uses(), endpoints), separators=(",", ":")).encode()
    else:
        data = "".join(json.dumps(entry) + "\n" for entry in _entries(rows, records, endpoints)).encode()
    write_atomically(path, data, force=force)


def expected_size(schedule: Schedule, path: Path, *, has_endpoints: bool) -> tuple[int, int]:
    """Messages of a run of the schedule, and the approximate size of its trace in bytes, before compression.

    Packets of a chunk and turns on a shared link make it longer. O(transfers).
    """
    messages = schedule.transfers * schedule.repeats
    links = len(far_hops(schedule)[0]) * schedule.repeats
    if path.name.removesuffix(".gz").endswith(CHROME_SUFFIX):
        return messages, (_CHROME_MESSAGE + has_endpoints * _CHROME_AT_ENDPOINTS) * messages + _CHROME_LINK * links
    return messages, (_LINE + has_endpoints * _LINE_AT_ENDPOINTS) * messages


def _entries(rows: Rows, records: Iterable[Record], endpoints: EndpointEvents | None) -> list[dict[str, Any]]:
    """Messages and the events of iterations at endpoints, in the order of time; messages first."""
    entries = list(message_entries(rows, records, endpoints))
    if endpoints is not None:
        entries += [
            {"endpoint": node, "iteration": iteration, "event": event, "cycle": cycle}
            for cycle, node, iteration, event in endpoints.steps
        ]
        entries.sort(key=lambda entry: int(entry["usable"] if "usable" in entry else entry["cycle"]))
    return entries


def message_entries(rows: Rows, records: Iterable[Record], endpoints: EndpointEvents | None = None) -> Iterator[dict[str, Any]]:
    """Node, row (of that node), iteration, destination, and the times of each message, in the order in which they became usable."""
    for row, iteration, destination, fired, first, complete, usable, number in sorted(records, key=lambda record: record[-2::-1]):
        node, place = rows.node_of(row)
        yield {
            "node": node,
            "row": place,
            "iteration": iteration,
            "destination": destination,
            "fired": fired,
            **({} if endpoints is None else {"at_interface": endpoints.at_interface.get(number, fired)}),
            "first_flit": first,
            "last_flit_arrived": complete,
            "usable": usable,
        }


def lane_uses(program: Program, hops: Iterable[tuple[int, int, int, int]]) -> LinkUses:
    """The lanes of a program, and (message, lane, start, cycles) of every lane that a message got."""
    columns = program.columns
    ends = zip(columns["bundle_source"].tolist(), columns["bundle_destination"].tolist(), strict=True)
    begin = columns["bundle_begin"].tolist()
    names = [
        f"{source}>{destination}" + (f" lane {lane - begin[bundle]}" if begin[bundle + 1] - begin[bundle] > 1 else "")
        for bundle, (source, destination) in enumerate(ends)
        for lane in range(begin[bundle], begin[bundle + 1])
    ]
    return LinkUses(names, list(hops))


def chrome_document(
    rows: Rows, records: Iterable[Record], uses: LinkUses, endpoints: EndpointEvents | None = None
) -> dict[str, Any]:
    """The Trace Event Format (JSON object form): times are cycles, written as microseconds.

    Process 0 has a track for each network interface: a slice from "complete" to "usable" for each arriving REDUCE, an instant for
    each copy that is written and for each row that fires. Process 1 has a track for each lane: a slice while flits of a message, or
    of another packet, follow each other on it. Process 2, of runs with endpoints, has a track for each endpoint: fetches and
    intakes from beginning to end, and the events of iterations.
    """
    events: list[dict[str, Any]] = [
        _name("process_name", _NODES, 0, "network interfaces"),
        _name("process_name", _LINKS, 0, "links"),
    ]
    events += [_name("thread_name", _NODES, node, f"node {node}") for node in range(rows.scalars["nodes"])]
    events += [_name("thread_name", _LINKS, lane, name) for lane, name in enumerate(uses.names)]
    labels: dict[int, str] = defaultdict(lambda: "in flight")  # a message that never arrived, in a run that cannot go on
    records = list(records)
    drawn = list(_interface_events(rows, records, labels, has_endpoints=endpoints is not None))
    if endpoints is not None:
        events.append(_name("process_name", _ENDPOINTS, 0, "endpoints"))
        events += [_name("thread_name", _ENDPOINTS, node, f"node {node}") for node in range(rows.scalars["nodes"])]
        drawn += _endpoint_events(rows, records, endpoints, labels)
    drawn += [_slice(_LINKS, lane, start, cycles, labels[number]) for number, lane, start, cycles in uses.messages]
    drawn += [_slice(_LINKS, lane, start, cycles, f"packet {name}") for name, lane, start, cycles in uses.others]
    drawn.sort(key=lambda event: (event["ts"], event["pid"], event["tid"], event["name"]))
    return {"traceEvents": events + drawn, "displayTimeUnit": "ns", "otherData": {"unit of time": "cycle"}}


def _endpoint_events(
    rows: Rows, records: Iterable[Record], endpoints: EndpointEvents, labels: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    """The events at endpoints. Several are in progress at a time, so each has separate begin and end events."""
    for row, _, destination, fired, _, complete, usable, number in records:
        node, _ = rows.node_of(row)
        if number in endpoints.at_interface:
            yield from _span(node, fired, endpoints.at_interface[number], f"fetch {labels[number]}", 2 * number)
        yield from _span(destination, complete, usable, f"take in {labels[number]} from {node}", 2 * number + 1)
    for cycle, node, iteration, event in endpoints.steps:
        yield {**_instant(node, cycle, f"iteration {iteration}: {event}"), "pid": _ENDPOINTS}


def _interface_events(
    rows: Rows, records: Iterable[Record], labels: dict[int, str], *, has_endpoints: bool
) -> Iterator[dict[str, Any]]:
    """The events at network interfaces; `labels` gets the name of each message. Endpoints add in place of the reduction unit."""
    fired = set()
    for row, iteration, destination, firing, _, complete, usable, number in records:
        node, place = rows.node_of(row)
        labels[number] = f"flow {rows.rows['row_flow'][row]} of {iteration}"
        if (row, iteration) not in fired:
            fired.add((row, iteration))
            yield _instant(node, firing, f"row {place} fires: {labels[number]}")
        if usable > complete and not has_endpoints:
            yield _slice(_NODES, destination, complete, usable - complete, f"reduce {labels[number]} from {node}")
        else:
            yield _instant(destination, usable, f"write {labels[number]} from {node}")


def _name(what: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": track, "args": {"name": name}}


def _slice(process: int, track: int, start: int, cycles: int, name: str) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": process, "tid": track, "ts": start, "dur": cycles}


def _span(node: int, start: int, end: int, name: str, number: int) -> Iterator[dict[str, Any]]:
    common = {"cat": "endpoint", "name": name, "pid": _ENDPOINTS, "tid": node, "id": number}
    return iter(({**common, "ph": "b", "ts": start}, {**common, "ph": "e", "ts": end}))


def _instant(node: int, when: int, name: str) -> dict[str, Any]:
    return {"ph": "i", "name": name, "pid": _NODES, "tid": node, "ts": when, "s": "t"}
