"""Counterexamples of the NILockstep models in words: the fault, its place, and the run up to it as a table of slots."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

from certree.extras.tla.check.tlc import Result, State, TlcRun
from certree.models.common.extras import provided
from certree.models.network.topology import Topology

MAX_LINES = 60
_HEADS = ("slot", "node", "row", "what", "what happened")
# The fault of the last step, for properties of steps.
_BLAME = {
    "OnlyExpected": "sends what its destination does not expect",
    "EveryArrivalAwaited": "does not wait for all that feeds it",
    "TypeOK": "leaves the state out of its types (a counter beyond the repeats, or a malformed row)",
    "ExactlyOnce": "adds a contribution a second time",
    "AddedOnce": "adds a contribution a second time",
    "KeptApart": "brings data of one collective to another",
    "SendsAfterOthers": "sends before a collective that it is after has ended",
    "UnitsApart": "comes to a reduction unit that has a sum of another collective",
    "FiresByTheTags": "fires otherwise than its row says",
    "CountsByTheTags": "counts otherwise than its mark and its length say",
    "WaitsForOthersOnly": "waits for a lane for longer than another message is on it",
    "NothingMeets": "takes a lane that another message is on",
    "SumsInOrder": "counts before a sum that arrived earlier",
    "NothingCountsEarly": "counts before it can",
    "NothingCountsLate": "counts later than it should",
    "NoLaneLeftFree": "waits for a lane although another one is free",
    "LanesAreQueues": "takes a lane that is not free, or out of its turn",
    "StepsApart": "leaves neighbours further apart in steps than the stated bound",
    "CountersApart": "leaves neighbours further apart in steps than the stated bound",
    "StepsAsScheduled": "does what the schedule does not: what counts was not complete when it was sent",
}


@dataclass(frozen=True)
class Line:
    """One line of the table of slots; `row` is None for an arrival, since no row of that node commands it."""

    slot: int
    node: int
    row: int | None
    what: str
    happened: str
    pairs: tuple[tuple[int, int], ...] = ()  # (source, destination) of its messages

    @property
    def text(self) -> str:
        """`node 1, row 2 (REDUCE of flow 0 to node 3), slot 1: late`."""
        row = "" if self.row is None else f", row {self.row}"
        return f"node {self.node}{row} ({self.what}), slot {self.slot}: {self.happened}"


def explain(run: TlcRun) -> str:
    """One line: the violated property, then node, row and slot of the violation. Rows count from 0 within their node."""
    if run.legend is None or not run.trace:
        return run.broken or _outcome(run)
    story = _Story(run)
    return ": ".join(filter(None, (run.broken or _outcome(run), "; ".join(line.text for line in story.findings()))))


def table_of_slots(run: TlcRun) -> str:
    """The counterexample as a table, one line per row that fires and message that counts; empty without a counterexample.

    Columns: slot (of the node's own counter), node, row (of that node, from 0), what, what happened. Lines before the last
    MAX_LINES are left out, and the table says so.
    """
    if run.legend is None or not run.trace:
        return ""
    story = _Story(run)
    lines = story.events() + story.findings()
    cells = [
        (str(line.slot), str(line.node), "" if line.row is None else str(line.row), line.what, line.happened)
        for line in lines[-MAX_LINES:]
    ]
    widths = [max(len(row[column]) for row in [_HEADS, *cells]) for column in range(len(_HEADS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [_HEADS, *cells]]
    if len(lines) > MAX_LINES:
        table.insert(1, f"... {len(lines) - MAX_LINES} earlier lines")
    return "\n".join(table) + "\n"


def picture(run: TlcRun, topology: Topology) -> str:
    """SVG of the network, with the faulty nodes ringed and arrows along their messages; empty without a counterexample."""
    if run.legend is None or not run.trace:
        return ""
    findings = _Story(run).findings()
    # a wrong row may name a destination that is not a node
    inside = [tuple(pair for pair in line.pairs if max(pair) < len(topology.kind)) for line in findings]
    marked = [pair for line, found in zip(findings, inside, strict=True) for pair in found or ((line.node, line.node),)]
    drawn: str = provided("picture of a network")(topology, marked=marked, caption=explain(run))
    return drawn


def _outcome(run: TlcRun) -> str:
    return {
        Result.DEADLOCK: "deadlock",
        Result.LIVENESS: "the run need not end",
        Result.UNKNOWN: f"no answer within {run.seconds:.0f} s",
    }.get(run.result, "")


def _at(function: Any, key: Any) -> Any:
    """A function's value; TLC prints functions on 1..n as sequences."""
    return function[key - 1] if isinstance(function, tuple) else function[key]


def _keys(function: Any) -> list[Any]:
    return list(range(1, len(function) + 1)) if isinstance(function, tuple) else sorted(function)


def _peers(nodes: Any) -> str:
    return ", ".join(f"node {node}" for node in sorted(nodes))


def _flow(flow: int | tuple[int, int]) -> str:
    """A flow; one of several collectives at once is a pair of the number of its collective and the chunk."""
    return f"chunk {flow[1]} of collective {flow[0]}" if isinstance(flow, tuple) else f"flow {flow}"


def _arrival(arrival: tuple[Any, Any, int]) -> str:
    """An arrival that a row names, or a number of them in a cell."""
    first, second, third = arrival
    if isinstance(first, str):
        return f"{first} of {_flow(second)} from node {third}"
    return f"{third} arrival{'s' * (third != 1)} of {_flow(first)}" + (f" in buffer {second}" if second else "")


def _name(message: Mapping[str, Any]) -> tuple[Any, ...]:
    """The fields of a message that stay the same in flight."""
    return message["src"], message["row"], message["item"], message["dst"]


def _came(message: Mapping[str, Any]) -> int:
    """The tick in which a message reached the last link on its path so far."""
    enters, travel = message["enters"], message["travel"]
    return int(message["sent"] if len(enters) == 1 else enters[-2] + travel[len(enters) - 2] - travel[len(enters) - 1])


def _waits(message: Mapping[str, Any]) -> bool:
    return bool(message["enters"][-1] > _came(message))


class _Story:
    """A counterexample with the legend that explains its numbers."""

    def __init__(self, run: TlcRun) -> None:
        assert run.legend is not None
        self.run, self.legend, self.last = run, run.legend, run.trace[-1]
        self.nodes = _keys(self.last["fired"])
        self.is_paced = self.legend["run"] == "paced"

    def events(self) -> list[Line]:
        """The events between each state and the next; the slots show the time."""
        lines = []
        for before, after in zip(self.run.trace, self.run.trace[1:], strict=False):
            for node in self.nodes:
                if _at(after["fired"], node) > _at(before["fired"], node):
                    late = 0 if self.is_paced else before["now"] - self._opens(before, node)
                    lines.append(self._line(before, node, "fires" + (f", late by {late} ticks" if late else "")))
            under_way = {_name(message) for message in map(dict, after["flying"])}
            for message in map(dict, sorted(before["flying"] - after["flying"])):
                if _name(message) not in under_way:
                    lines.append(self._counted(before, message))
            for message in map(dict, sorted(after["flying"] - before["flying"])):
                if len(message.get("enters", ())) > 1 and _waits(message):
                    lines.append(self._held_up(after, message))
        return lines

    def findings(self) -> list[Line]:
        """The faults of the last state, by the violated property."""
        state, broken = self.last, self.run.broken
        waiting = [node for node in self.nodes if self._next(state, node) is not None]
        if broken == "NoLateRow":
            late = [node for node in waiting if state["now"] > self._opens(state, node)]
            return [self._line(state, node, f"late: {self._reason(state, node)}") for node in late]
        if broken == "LinksExist":
            unlinked = [node for node in waiting if self._is_due(state, node) and self._unlinked(state, node)]
            return [self._line(state, node, self._link_text(state, node)) for node in unlinked]
        if broken == "NoBusyPort" and self.events():
            return [self._busy(self.events()[-1])]
        if self.run.result is Result.DEADLOCK:
            stuck = [self._line(state, node, f"never fires: {self._reason(state, node)}") for node in waiting]
            return stuck + self._owed(state)
        if self.run.result is Result.LIVENESS:
            return []
        events = self.events()
        if events:
            return [self._blame(events[-1])]
        wrong = [(node, self._sums(node)) for node in self.nodes]
        return [Line(self._slot(state, node), node, None, "at the start", text) for node, text in wrong if text]

    def _blame(self, line: Line) -> Line:
        """The last step, with its fault."""
        text = _BLAME.get(self.run.broken) or self._sums(line.node) or "breaks the property"
        return replace(line, happened=text)

    def _sums(self, node: int) -> str:
        """The first item that the node has finished with contributions missing or counted twice; empty when there is none."""
        for item, bag in sorted(_at(self.last["held"], node).items()):
            if item[2:] not in ((), (0,)):  # a scratch buffer
                continue
            counts = {peer: _at(bag.get("bag", bag) if isinstance(bag, Mapping) else bag, peer) for peer in self.nodes}
            wanted = _at(self.legend["contributors"], item[0])
            twice = [peer for peer in self.nodes if counts[peer] > 1]
            missing = [peer for peer in self.nodes if peer in wanted and not counts[peer]]
            if self._is_finished(node, item[:2]) and (twice or missing):
                what = f"without the contribution of {_peers(missing)}" if missing else f"with that of {_peers(twice)} twice"
                return f"node {node} finishes {_flow(item[0])} of iteration {item[1]} {what}"
        return ""

    def _is_finished(self, node: int, item: tuple[int, int]) -> bool:
        rest = _at(self.legend["program"], node)[_at(self.last["fired"], node) :]
        flow = 0 if self._is_counted else 1
        arrivals = [arrival for arrival in _at(self.legend["arrivals"], node) if arrival[flow] == item[0]]
        fired = all(entry["item"] != item for entry in rest)
        return fired and all(self._has_counted(self.last, node, arrival, item[1]) for arrival in arrivals)

    @property
    def _is_counted(self) -> bool:
        """Whether rows wait for numbers of arrivals."""
        return bool(self.legend["profile"] != "trees")

    def _has_counted(self, state: State, node: int, arrival: tuple[Any, int, int], iteration: int) -> bool:
        """Whether an arrival has counted, as `HasCounted` of the specification."""
        counted = _at(state["count"], node) or {}
        if not self._is_counted:
            return arrival in counted and counted[arrival] > iteration
        turn, place = divmod(iteration, self.legend["inFlight"])
        brought = next((line[2] for line in _at(self.legend["arrivals"], node) if line[:2] == arrival[:2]), 0)
        counter = (*arrival[:2], place)
        return counter in counted and bool(counted[counter] >= turn * brought + arrival[2])

    def _next(self, state: State, node: int) -> Mapping[str, Any] | None:
        """The next program entry of the node; None at the end of the program."""
        program, fired = _at(self.legend["program"], node), _at(state["fired"], node)
        return program[fired] if fired < len(program) else None

    def _entry(self, state: State, node: int) -> Mapping[str, Any]:
        entry = self._next(state, node)
        assert entry is not None
        return entry

    def _opens(self, state: State, node: int) -> int:
        """The tick at which the slot of the node's next row opens by its own clock."""
        return int(_at(state["start"], node) + ceil(self._entry(state, node)["slot"] * self._slot_ticks(state, node)))

    def _slot_ticks(self, state: State, node: int) -> Fraction:
        """How long a slot of the node lasts; `drifts`, of traces: by how much its clock is slower than the common one."""
        common, drift = self.legend["slotTicks"] + _at(state["drift"], node), self.legend.get("drifts", {}).get(node, 0)
        return Fraction(common * (1 + drift))

    def _is_due(self, state: State, node: int) -> bool:
        if self.is_paced:
            return bool(_at(state["counter"], node)["step"] == self._entry(state, node)["slot"])
        return bool(state["now"] >= self._opens(state, node))

    def _slot(self, state: State, node: int) -> int:
        """The slot that the node's own counter shows."""
        if self.is_paced:
            return int(_at(state["counter"], node)["step"])
        return int((state["now"] - _at(state["start"], node)) // self._slot_ticks(state, node))

    def _line(self, state: State, node: int, happened: str) -> Line:
        """The node's next row; its slot is the planned one, which differs from the counter's when the row is late."""
        entry = self._entry(state, node)
        what = f"{entry['op']} of {_flow(entry['item'][0])} to {_peers(entry['to'])}{self._iteration(entry)}"
        return Line(entry["slot"], node, entry["row"] - 1, what, happened, tuple((node, peer) for peer in sorted(entry["to"])))

    def _iteration(self, entry: Mapping[str, Any]) -> str:
        return f", iteration {entry['item'][1]}" if self.legend["repeats"] > 1 else ""

    def _counted(self, state: State, message: Mapping[str, Any]) -> Line:
        what = f"{message['op']} of {_flow(message['item'][0])} from node {message['src']}" + self._iteration(message)
        pair = ((message["src"], message["dst"]),)
        return Line(self._slot(state, message["dst"]), message["dst"], None, what, "counts", pair)

    def _held_up(self, state: State, message: Mapping[str, Any]) -> Line:
        """A message that has reached a link on its path; the slot is the one of its row."""
        entries = _at(self.legend["program"], message["src"])
        slot = next(entry["slot"] for entry in entries if (entry["row"], entry["item"]) == (message["row"], message["item"]))
        what = f"{message['op']} of {_flow(message['item'][0])} to node {message['dst']}{self._iteration(message)}"
        ends = message["links"][len(message["enters"]) - 1]
        return Line(slot, message["src"], message["row"] - 1, what, self._busy_link(state, message), (ends,))

    def _reason(self, state: State, node: int) -> str:
        """The arrivals that the node's next row lacks, in words."""
        entry = self._entry(state, node)
        lacks = sorted(a for a in entry["awaits"] if not self._has_counted(state, node, a, entry["item"][1]))
        if lacks:
            return "waits for " + ", ".join(_arrival(arrival) for arrival in lacks)
        return self._link_text(state, node) or "the row before it was late"

    def _unlinked(self, state: State, node: int) -> list[int]:
        """Destinations of the next row that no link leads to."""
        return [peer for peer in sorted(self._entry(state, node)["to"]) if not self._leads_there(state, node, peer)]

    def _leads_there(self, state: State, node: int, peer: int) -> bool:
        return (node, peer, self._entry(state, node)["route"]) in self.legend["path"]

    def _link_text(self, state: State, node: int) -> str:
        unlinked = self._unlinked(state, node)
        return f"there is no link to {_peers(unlinked)}" if unlinked else ""

    def _busy(self, line: Line) -> Line:
        """The last step, with the resources that its messages wait for."""
        flying = [dict(message) for message in self.last["flying"]]
        texts = [self._busy_link(self.last, m) for m in sorted(filter(_waits, flying), key=lambda m: int(m["dst"]))]
        return replace(line, happened="; ".join(texts))

    def _busy_link(self, state: State, message: Mapping[str, Any]) -> str:
        """The messages that entered the lane before and still hold it when the message arrives."""
        hop = len(message["enters"]) - 1
        link, lane = message["links"][hop], message["lanes"][hop]
        flows = set()
        for other in map(dict, state["flying"]):
            for *place, enters in zip(other["links"], other["lanes"], other["enters"], strict=False):
                if place == [link, lane] and _came(message) < enters + self.legend["serTicks"] <= message["enters"][hop]:
                    flows.add(f"{other['op']} of {_flow(other['item'][0])}{self._iteration(other)}")
        where = (
            f"the port to node {message['dst']}"
            if len(message["links"]) == 1
            else f"the link from node {link[0]} to node {link[1]}"
        )
        return f"{where} is busy with {', '.join(sorted(flows))}" if flows else f"enters {where} too late"

    def _owed(self, state: State) -> list[Line]:
        """Arrivals that no node will send any more, where all rows have fired."""
        if any(self._next(state, node) is not None for node in self.nodes):
            return []
        lines = []
        for node in self.nodes:
            for arrival in sorted(_at(self.legend["arrivals"], node)):
                if not all(self._has_counted(state, node, arrival, i) for i in range(self.legend["repeats"])):
                    pair = () if self._is_counted else ((arrival[2], node),)
                    lines.append(Line(self._slot(state, node), node, None, _arrival(arrival), "never comes", pair))
        return lines
