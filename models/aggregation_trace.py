"""Traces of reducing switches: JSON lines, the steps of the protocol in the order in which they happened.

The first line says what ran: `format`, `version`, and for each of the `flows` its `packets`, `window`, `places`, `root`, `hosts`,
`switches` and the `parent` of each host and switch below the root. Every other line is a step at time `cycle` of `flow`:

    {"event": "send", "node", "number"}                    a host puts a packet on its way, again or for the first time
    {"event": "add", "node", "number", "switch", ...}      a switch takes a contribution of child `node`
    {"event": "pass", "node", "number", "switch", ...}     switch `node`, which is `switch`, takes a result from above
    {"event": "take", "node", "number"}                    host `node` takes a result
    {"event": "lose", "way", "node", "number"}             a packet of child `node`, on its way "up" or "down", is lost
    {"event": "copy", "way", "node", "number"}             the network makes another one of it

`add` and `pass` say what the place is afterwards: `works_on`, `arrived` (children), `has_result`, and what the switch `sends`:
"nothing", "up", "one" (the result to the child that asked) or "all" (to all children).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.models.errors import InputError
from certree.models.files import check_format, read_bytes

FORMAT, VERSION = "certree-aggregation-trace", 1
EVENTS = ("send", "add", "pass", "take", "lose", "copy")
SENDS = ("nothing", "up", "one", "all")
WAYS = ("up", "down")
_NUMBERS = ("packets", "window", "places", "root")
_LISTS = ("hosts", "switches")


@dataclass(frozen=True)
class TracedFlow:
    """One flow of a run: its sizes, its tree, and the lines of its steps, each with its number in the file."""

    packets: int
    window: int
    places: int
    root: int
    hosts: tuple[int, ...]
    switches: tuple[int, ...]
    parent: Mapping[int, int]
    steps: list[tuple[int, Mapping[str, Any]]]


def is_aggregation_trace(path: Path) -> bool:
    """Whether a file begins as such a trace does."""
    try:
        with path.open("rb") as stream:
            return f'"format": "{FORMAT}"'.encode() in stream.read(200)
    except OSError:
        return False  # whoever reads it next says what is wrong


def load_aggregation_trace(path: Path) -> list[TracedFlow]:
    """The flows of a trace; InputError with the line for anything else. O(lines)."""
    lines = read_bytes(path).splitlines()
    if not lines:
        raise InputError(f"{path} is empty; expected a trace of aggregate")
    head = check_format(_object(lines[0], f"{path}, line 1"), FORMAT, VERSION, f"{path}, line 1")
    flows = [_flow(entry, f"{path}, line 1: flow {index}") for index, entry in enumerate(_list(head.get("flows"), path))]
    for number, line in enumerate(lines[1:], 2):
        where = f"{path}, line {number}"
        step = _object(line, where)
        flow = step.get("flow")
        if type(flow) is not int or not 0 <= flow < len(flows):
            raise InputError(f"{where}: flow is {flow!r}; allowed: 0 to {len(flows) - 1}")
        _check_step(step, flows[flow], where)
        flows[flow].steps.append((number, step))
    return flows


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        raise InputError(f"{where}: not JSON") from None
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected an object")
    return value


def _list(value: Any, path: Path) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{path}, line 1: flows must be a list of one flow or more")
    return value


def _flow(entry: Any, where: str) -> TracedFlow:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object")
    for name in _NUMBERS:
        if type(entry.get(name)) is not int or entry[name] < (name != "root"):
            raise InputError(f"{where}: {name} is {entry.get(name)!r}; expected a whole number")
    for name in _LISTS:
        values = entry.get(name)
        if not isinstance(values, list) or not values or any(type(value) is not int for value in values):
            raise InputError(f"{where}: {name} must be a list of nodes")
    hosts, switches, parent = entry["hosts"], entry["switches"], entry.get("parent")
    below = {str(node) for node in (*hosts, *switches)} - {str(entry["root"])}
    if not isinstance(parent, dict) or parent.keys() != below or any(above not in switches for above in parent.values()):
        raise InputError(f"{where}: parent must give every host, and every switch but the root, the switch above it")
    if entry["root"] not in switches or set(hosts) & set(switches):
        raise InputError(f"{where}: the root must be one of the switches, and no host may be one")
    if entry["window"] > entry["packets"]:
        raise InputError(f"{where}: a window of {entry['window']} for {entry['packets']} packets")
    above = {int(node): switch for node, switch in parent.items()}
    sizes = {name: entry[name] for name in _NUMBERS}
    return TracedFlow(**sizes, hosts=tuple(hosts), switches=tuple(switches), parent=above, steps=[])


def _check_step(step: Mapping[str, Any], flow: TracedFlow, where: str) -> None:
    """The fields that its event has, and nodes that exist."""
    event = step.get("event")
    allowed: dict[str, tuple[Any, ...]] = {"event": EVENTS, "node": (*flow.hosts, *flow.switches)}
    if event in ("lose", "copy"):
        allowed["way"] = WAYS
    if event in ("add", "pass"):
        allowed |= {"switch": flow.switches, "sends": SENDS, "has_result": (False, True)}
    for name, values in allowed.items():
        if step.get(name) not in values or type(step.get(name)) is not type(values[0]):
            raise InputError(f"{where}: {name} is {step.get(name)!r}; allowed: {', '.join(map(str, values))}")
    for name in ("cycle", "number", *(("works_on",) if event in ("add", "pass") else ())):
        if type(step.get(name)) is not int or step[name] < 0:
            raise InputError(f"{where}: {name} is {step.get(name)!r}; expected a whole number")
    if event in ("add", "pass") and not (
        isinstance(step.get("arrived"), list) and all(type(node) is int and node in allowed["node"] for node in step["arrived"])
    ):
        raise InputError(f"{where}: arrived must be a list of nodes")
