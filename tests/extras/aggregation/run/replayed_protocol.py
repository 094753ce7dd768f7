"""The protocol of reducing switches in plain Python, replaying a trace: who may send what, what a place becomes, what is
answered, and that nothing arrives which is not in flight. Written from NetReduce's Appendix C; it knows of time only time-outs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

Sum = frozenset[int]  # the hosts whose contributions are in it


@dataclass
class Place:
    """One aggregator: the packet it works on, the sums of the children that have arrived, the result."""

    number: int
    parts: dict[int, Sum] = field(default_factory=dict)
    result: Sum | None = None

    def total(self) -> Sum:
        """All parts, none of which may share a contribution."""
        assert sum(map(len, self.parts.values())) == len(frozenset().union(*self.parts.values()))
        return frozenset().union(*self.parts.values())


class ReplayedFlow:
    """One flow; `seen` counts sent, copied, lost, again (results), repeated, ignored and resent packets."""

    def __init__(self, head: Mapping[str, Any], timeout: int) -> None:
        self.packets, self.window, self.places = head["packets"], head["window"], head["places"]
        self.hosts, self.root, self.timeout = frozenset(head["hosts"]), head["root"], timeout
        self.parent = {int(node): above for node, above in head["parent"].items()}
        self.children: dict[int, set[int]] = defaultdict(set)
        for node, above in self.parent.items():
            self.children[above].add(node)
        self.work = {switch: [Place(number) for number in range(self.places)] for switch in head["switches"]}
        self.in_flight: Counter[tuple[str, int, int]] = Counter()
        self.carried: dict[tuple[str, int, int], Sum] = {}
        self.got = {host: [False] * self.packets for host in self.hosts}
        self.oldest = dict.fromkeys(self.hosts, 0)
        self.sent_at: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.next = dict.fromkeys(self.hosts, 0)
        self.seen: Counter[str] = Counter()

    def step(self, line: Mapping[str, Any]) -> None:
        """One line of the trace; AssertionError where the protocol has it otherwise."""
        getattr(self, line["event"])(line)

    def settled(self) -> None:
        """Between two points in time every host has sent all that its window allows."""
        for host in self.hosts:
            assert self.next[host] == min(self.oldest[host] + self.window, self.packets)

    def finished(self) -> None:
        """After the last line: every host has every result."""
        assert all(self.oldest[host] == self.packets for host in self.hosts)

    def put(self, direction: str, node: int, number: int, carried: Sum) -> None:
        """A packet is sent; copies of it carry the same."""
        packet = direction, node, number
        assert self.carried.setdefault(packet, carried) == carried
        self.in_flight[packet] += 1
        self.seen["sent"] += 1

    def remove(self, direction: str, line: Mapping[str, Any]) -> Sum:
        """Take a packet that arrives, or is lost."""
        packet = direction, line["node"], line["number"]
        assert self.in_flight[packet] > 0, f"{packet} is not in flight"
        self.in_flight[packet] -= 1
        return self.carried[packet]

    def send(self, line: Mapping[str, Any]) -> None:
        host, number, times = line["node"], line["number"], self.sent_at[line["node"], line["number"]]
        assert not self.got[host][number]
        assert number < self.oldest[host] + self.window
        if times:
            least = self.timeout << min(len(times) - 1, 6)
            pause = line["cycle"] - times[-1]
            assert pause == least if len(times) == 1 else least <= pause < 2 * least
            self.seen["resent"] += 1
        else:
            assert number == self.next[host]
            self.next[host] += 1
        times.append(line["cycle"])
        self.put("up", host, number, frozenset([host]))

    def add(self, line: Mapping[str, Any]) -> None:
        switch, number = self.parent[line["node"]], line["number"]
        carried, place = self.remove("up", line), self.work[switch][number % self.places]
        if number > place.number:
            assert all(self.oldest[host] > place.number for host in self.hosts), "a place is taken from who waits for its result"
            place = self.work[switch][number % self.places] = Place(number)
        answer = "nothing"
        if number < place.number:
            self.seen["ignored"] += 1
        else:
            known, is_new = place.result is not None, line["node"] not in place.parts
            self.seen["repeated"] += not is_new
            if is_new:
                place.parts[line["node"]] = carried
            if place.parts.keys() == self.children[switch]:
                if switch == self.root and not known:
                    place.result = place.total()
                answer = "up" if place.result is None else "one" if known else "all"
        self.answered(switch, place, answer, line)

    def answered(self, switch: int, place: Place, answer: str, line: Mapping[str, Any]) -> None:
        """The line tells what the place is and what was sent."""
        told = line["switch"], line["works_on"], set(line["arrived"]), line["has_result"], line["sends"]
        assert told == (switch, place.number, place.parts.keys(), place.result is not None, answer)
        if answer == "up":
            self.put("up", switch, place.number, place.total())
        elif answer == "one":
            self.put("down", line["node"], place.number, place.result)
        elif answer == "all":
            for child in self.children[switch]:
                self.put("down", child, place.number, place.result)

    def answered_below(self, line: Mapping[str, Any]) -> None:
        switch, number = line["node"], line["number"]
        result, place = self.remove("down", line), self.work[switch][number % self.places]
        is_due = place.number == number and place.parts.keys() == self.children[switch]
        if is_due:
            place.result = result
        self.answered(switch, place, "all" if is_due else "nothing", line)

    def take(self, line: Mapping[str, Any]) -> None:
        host, number = line["node"], line["number"]
        assert self.remove("down", line) == self.hosts
        self.seen["again"] += self.got[host][number]
        self.got[host][number] = True
        while self.oldest[host] < self.packets and self.got[host][self.oldest[host]]:
            self.oldest[host] += 1

    def lose(self, line: Mapping[str, Any]) -> None:
        self.remove(line["way"], line)
        self.seen["lost"] += 1

    def copy(self, line: Mapping[str, Any]) -> None:
        packet = line["way"], line["node"], line["number"]
        assert self.in_flight[packet] > 0
        self.in_flight[packet] += 1
        self.seen["copied"] += 1


setattr(ReplayedFlow, "pass", ReplayedFlow.answered_below)  # a word of the language


def replay(head: Mapping[str, Any], lines: Iterable[Mapping[str, Any]], timeout: int) -> Counter[str]:
    """Replay the lines of a trace of a run that ended well; returns the counts of all flows, and what is in flight in the end."""
    flows = [ReplayedFlow(flow, timeout) for flow in head["flows"]]
    for _, together in groupby(lines, key=lambda line: line["cycle"]):
        for line in together:
            flows[line["flow"]].step(line)
        for flow in flows:
            flow.settled()
    seen: Counter[str] = Counter()
    for flow in flows:
        flow.finished()
        seen.update(flow.seen)
        seen["in flight"] += flow.in_flight.total()
    return seen
