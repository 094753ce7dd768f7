"""Traces of reducing switches: JSON lines (zipped where the name ends in .gz), the steps of the protocol in the order in which
they happened.

The first line states `format`, `version`, and for each of the `flows` its `packets`, `window`, `places`, `root`, `hosts`,
`switches` and the `parent` of each host and switch below the root. Every other line is a step at time `cycle` of `flow`:

    {"event": "send", "node", "number"}                    a host sends a packet, again or for the first time
    {"event": "add", "node", "number", "switch", ...}      a switch takes a contribution of child `node`
    {"event": "pass", "node", "number", "switch", ...}     switch `node`, which is `switch`, takes a result from above
    {"event": "take", "node", "number"}                    host `node` takes a result
    {"event": "lose", "way", "node", "number"}             a packet of child `node`, going "up" or "down", is lost
    {"event": "copy", "way", "node", "number"}             the network makes another one of it

`add` and `pass` state the aggregator afterwards: `works_on`, `arrived` (children), `has_result`, and what the switch `sends`:
"nothing", "up", "one" (the result to the child that asked) or "all" (to all children). After the last step follows a line for each
packet that is still in flight when the run ends, with the number of its copies:

    {"event": "left", "way", "node", "number", "copies"}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.models.common.fields import Fields
from certree.models.traces.lines import MAX_NUMBER, is_trace, trace_of_steps

FORMAT, VERSION = "certree-aggregation-trace", 2
EVENTS = ("send", "add", "pass", "take", "lose", "copy")
LEFT = "left"
SENDS = ("nothing", "up", "one", "all")
WAYS = ("up", "down")
_NUMBERS = ("packets", "window", "places", "root")
_LISTS = ("hosts", "switches")


@dataclass(frozen=True)
class TracedFlow:
    """One flow of a run: its sizes, its tree, the lines of its steps, each with its number in the file, and the copies of each
    packet (way, node, number) that are left in flight in the end."""

    packets: int
    window: int
    places: int
    root: int
    hosts: tuple[int, ...]
    switches: tuple[int, ...]
    parent: Mapping[int, int]
    steps: list[tuple[int, Mapping[str, Any]]]
    left: dict[tuple[str, int, int], int]


def is_aggregation_trace(path: Path) -> bool:
    """Whether a file begins like such a trace."""
    return is_trace(path, FORMAT)


def load_aggregation_trace(path: Path) -> list[TracedFlow]:
    """The flows of a trace; InputError with the line for anything else. O(lines)."""
    head, steps = trace_of_steps(path, "aggregate", FORMAT, VERSION)
    flows = [_flow(head.inner(entry, f"flow {index}")) for index, entry in enumerate(head.entries("flows"))]
    for number, step in steps:
        flow = flows[step.whole("flow", 0, len(flows) - 1)]
        if step.choice("event", (*EVENTS, LEFT)) == LEFT:
            _note_left(step, flow)
            continue
        if any(other.left for other in flows):
            step.refuse("a step after packets that are left in the end")
        _check_step(step, flow)
        flow.steps.append((number, step.table))
    return flows


def _flow(fields: Fields) -> TracedFlow:
    sizes = {name: fields.whole(name, int(name != "root"), MAX_NUMBER) for name in _NUMBERS}
    hosts, switches = (fields.wholes(name, 0, MAX_NUMBER) for name in _LISTS)
    parent = fields.table_of("parent")
    below = {str(node) for node in (*hosts, *switches)} - {str(sizes["root"])}
    if parent.table.keys() != below:
        fields.refuse("parent must give every host, and every switch but the root, the switch above it")
    if sizes["root"] not in switches or set(hosts) & set(switches):
        fields.refuse("the root must be one of the switches, and no host may be one")
    if sizes["window"] > sizes["packets"]:
        fields.refuse(f"a window of {sizes['window']} for {sizes['packets']} packets")
    above = {int(node): parent.choice(node, switches) for node in parent.table}
    return TracedFlow(**sizes, hosts=hosts, switches=switches, parent=above, steps=[], left={})


def _note_left(step: Fields, flow: TracedFlow) -> None:
    """A packet that is in flight in the end."""
    packet = step.choice("way", WAYS), step.choice("node", tuple(flow.parent)), step.whole("number", 0, flow.packets - 1)
    if packet in flow.left:
        step.refuse("a second line for a packet that is left in the end")
    flow.left[packet] = step.whole("copies", 1, MAX_NUMBER)


def _check_step(step: Fields, flow: TracedFlow) -> None:
    """The fields that its event has, and nodes that exist and can do that."""
    event = step.choice("event", EVENTS)
    nodes = (*flow.hosts, *flow.switches)
    step.choice("node", flow.hosts if event in ("send", "take") else nodes)
    step.whole("number", 0, flow.packets - 1)
    if event in ("lose", "copy"):
        step.choice("way", WAYS)
    if event in ("add", "pass"):
        step.choice("switch", flow.switches)
        step.choice("sends", SENDS)
        step.choice("has_result", (False, True))
        step.whole("works_on", 0, MAX_NUMBER)
        if not all(type(node) is int and node in nodes for node in step.entries("arrived", empty=True)):
            step.refuse("arrived must be a list of nodes")
