"""One file for a whole run: events of interfaces, endpoints and routers, in the order of time, as JSON lines.

The first line states `format` and `version`; `run`, the mode; `endpoint`, the system as it was named, or null; `framing` of chunks;
`equal_clocks`; and `routers`, what the first line of a trace of flits says (`models/traces/flits.py`). Each other line is one of a
trace of messages and engines, in its place by `usable` or `cycle`, or of a trace of flits. Of one cycle, routers come first.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.common.files import Opened, canonical_json
from certree.models.traces.flits import FORMAT as FLITS
from certree.models.traces.flits import VERSION as FLITS_VERSION
from certree.models.traces.lines import is_trace, trace_lines

FORMAT, VERSION = "certree-run-trace", 1


@dataclass(frozen=True)
class WholeTrace:
    """The two traces that a file holds, as text, and how the run was asked for."""

    run: str
    endpoint: str | None
    framing: str
    equal_clocks: bool
    messages: str
    flits: str


def is_whole_trace(file: Path | Opened) -> bool:
    """Whether a file begins like such a trace."""
    return is_trace(file, FORMAT)


def joined(whole: WholeTrace) -> bytes:
    """The file. O(lines log lines)."""
    head, *steps = whole.flits.splitlines()
    routers = {name: value for name, value in json.loads(head).items() if name not in ("format", "version")}
    asked = {"run": whole.run, "endpoint": whole.endpoint, "framing": whole.framing, "equal_clocks": whole.equal_clocks}
    lines = [(_time(json.loads(line)), 0, line) for line in steps]
    lines += [(_time(json.loads(line)), 1, line) for line in whole.messages.splitlines()]
    lines.sort(key=lambda line: line[:2])
    first = canonical_json({"format": FORMAT, "version": VERSION, **asked, "routers": routers}).decode().rstrip("\n")
    return ("\n".join([first, *(line for _, _, line in lines)]) + "\n").encode()


def _time(entry: dict[str, Any]) -> int:
    return int(entry["usable"] if "usable" in entry else entry["cycle"])


def load_whole_trace(path: Path) -> WholeTrace:
    """The contents of a trace file. InputError for anything else, with the line; lines themselves are read by those who check or
    draw them."""
    lines = trace_lines(path, "a run")
    _, first = next(lines)
    head = Fields.of_format(first.table, FORMAT, VERSION, first.where)
    run, framing = head.choice("run", ("slotted", "paced")), head.choice("framing", ("message", "packet"))
    endpoint, is_equal, routers = (head.table.get(name) for name in ("endpoint", "equal_clocks", "routers"))
    if not (isinstance(endpoint, str | None) and isinstance(is_equal, bool) and isinstance(routers, dict)):
        raise InputError(f"{first.where}: endpoint is a text or null, equal_clocks true or false, routers an object")
    kept: dict[bool, list[str]] = {False: [], True: [json.dumps({"format": FLITS, "version": FLITS_VERSION, **routers})]}
    for _, line in lines:
        kept["channel" in line].append(json.dumps(line.table))
    texts = {is_flits: "".join(f"{line}\n" for line in found) for is_flits, found in kept.items()}
    return WholeTrace(run, endpoint, framing, is_equal, texts[False], texts[True])
