"""Traces of reducing switches: JSON lines (zipped where the name ends in .gz), the steps of the protocol in the order in which
they happened.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError
from certree.models.common.files import check_format, first_bytes, parse_object, read_bytes

FORMAT, VERSION = "certree-aggregation-trace", 1
EVENTS = ("send", "add", "pass", "take", "lose", "copy")
SENDS = ("nothing", "up", "one", "all")
WAYS = ("up", "down")
_NUMBERS = ("packets", "window", "places", "root")
_LISTS = ("hosts", "switches")
_MAX = (1 << 31) - 1  # whole numbers of TLC


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
    return f'"format": "{FORMAT}"'.encode() in first_bytes(path, 200)


def load_aggregation_trace(path: Path) -> list[TracedFlow]:
    """The flows of a trace; InputError with the line for anything else. O(lines)."""
    lines = read_bytes(path).splitlines()
    if not lines:
        raise InputError(f"{path} is empty; expected a trace of aggregate")
    head = check_format(parse_object(lines[0], f"{path}, line 1"), FORMAT, VERSION, f"{path}, line 1")
    flows = [_flow(entry, f"{path}, line 1: flow {index}") for index, entry in enumerate(_list(head.get("flows"), path))]
    now = 0
    for number, line in enumerate(lines[1:], 2):
        where = f"{path}, line {number}"
        step = parse_object(line, where)
        flow = step.get("flow")
        if type(flow) is not int or not 0 <= flow < len(flows):
            raise InputError(f"{where}: flow is {flow!r}; allowed: 0 to {len(flows) - 1}")
        _check_step(step, flows[flow], where)
        if step["cycle"] < now:
            raise InputError(f"{where}: cycle is {step['cycle']}, before that of the line above, {now}")
        now = step["cycle"]
        flows[flow].steps.append((number, step))
    return flows


def _list(value: Any, path: Path) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{path}, line 1: flows must be a list of one flow or more")
    return value


def _flow(entry: Any, where: str) -> TracedFlow:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected an object")
    for name in _NUMBERS:
        _check_whole(entry, name, where, int(name != "root"))
    for name in _LISTS:
        values = entry.get(name)
        if not isinstance(values, list) or not values or any(type(value) is not int or not 0 <= value <= _MAX for value in values):
            raise InputError(f"{where}: {name} must be a list of nodes")
    hosts, switches, parent = entry["hosts"], entry["switches"], entry.get("parent")
    below = {str(node) for node in (*hosts, *switches)} - {str(entry["root"])}
    if not isinstance(parent, dict) or parent.keys() != below or not _are_nodes(list(parent.values()), switches):
        raise InputError(f"{where}: parent must give every host, and every switch but the root, the switch above it")
    if entry["root"] not in switches or set(hosts) & set(switches):
        raise InputError(f"{where}: the root must be one of the switches, and no host may be one")
    if entry["window"] > entry["packets"]:
        raise InputError(f"{where}: a window of {entry['window']} for {entry['packets']} packets")
    above = {int(node): switch for node, switch in parent.items()}
    sizes = {name: entry[name] for name in _NUMBERS}
    return TracedFlow(**sizes, hosts=tuple(hosts), switches=tuple(switches), parent=above, steps=[])


def _check_step(step: Mapping[str, Any], flow: TracedFlow, where: str) -> None:
    """The fields that its event has, and nodes that exist and can do that."""
    event = step.get("event")
    nodes = (*flow.hosts, *flow.switches)
    allowed: dict[str, tuple[Any, ...]] = {"event": EVENTS, "node": flow.hosts if event in ("send", "take") else nodes}
    if event in ("lose", "copy"):
        allowed["way"] = WAYS
    if event in ("add", "pass"):
        allowed |= {"switch": flow.switches, "sends": SENDS, "has_result": (False, True)}
    for name, values in allowed.items():
        if step.get(name) not in values or type(step.get(name)) is not type(values[0]):
            raise InputError(f"{where}: {name} is {step.get(name)!r}; allowed: {', '.join(map(str, values))}")
    _check_whole(step, "cycle", where, 0, None)
    _check_whole(step, "number", where, 0, flow.packets - 1)
    if event in ("add", "pass"):
        _check_whole(step, "works_on", where, 0)
        if not isinstance(step.get("arrived"), list) or not _are_nodes(step["arrived"], nodes):
            raise InputError(f"{where}: arrived must be a list of nodes")


def _check_whole(entry: Mapping[str, Any], name: str, where: str, low: int, high: int | None = _MAX) -> None:
    value = entry.get(name)
    if type(value) is not int or value < low or (high is not None and value > high):
        allowed = f"{low} or more" if high is None else f"{low} to {high}"
        raise InputError(f"{where}: {name} is {value!r}; expected a whole number, {allowed}")


def _are_nodes(values: list[Any], nodes: Sequence[int]) -> bool:
    return all(type(value) is int and value in nodes for value in values)
