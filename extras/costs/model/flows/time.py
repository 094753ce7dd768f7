"""GenModel on a network, step by step: flows share links with incast, then servers reduce (GenTree, Sections 3 and 5.3).

A step starts up, transfers and reduces, one after the other (Fig. 2), and the next one starts when all have finished. What the
paper leaves open is a `Reading` (an interpretation); READINGS names the choices. Exact rationals throughout.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import product
from math import lcm

import numpy as np

from certree.extras.costs.model.flows.flows import Flows, Int64, flows_of
from certree.extras.costs.model.flows.pauses import FORM, NOTHING_LOST, Lost, Pauses, Work, parse_pauses, time_lost
from certree.extras.costs.model.flows.rates import equal_shares, makespan, max_min
from certree.extras.costs.model.formulas.genmodel import FLOAT_BYTES, GenModel
from certree.extras.costs.model.link_kinds import LinkKind, full_link, link_kinds, switches_passed
from certree.models.common.errors import InputError, unknown_name
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.schedule import Schedule

#: choices for each field of `Reading`, the default first
READINGS: Mapping[str, tuple[str, ...]] = {
    "sharing": ("max-min", "equal", "busiest", "added-incast"),
    "communicators": ("senders", "fan-in", "flows"),
    "incast": ("everywhere", "inside", "to-servers"),
}
#: those and the form of pauses, which take the place of incast
CHOICES: Mapping[str, tuple[str, ...]] = {**READINGS, "pauses": (FORM,)}


@dataclass(frozen=True)
class Reading:
    """An interpretation of the paper where it leaves something open.

    `sharing`: flows take max-min fair or equal shares of their links; or a step takes the time of its busiest link; or
    (`added-incast`) that of its slowest flow: the time of the busiest link on its route without incast, plus the incast of all
    links on its route, a link being shared by flows that pass the same kinds of links. `communicators`: the w of a link is one more
    than the number of servers that send over it, than the largest number that send to one server over it, or than that of its
    flows. `incast`: on every link, on those inside trees (not Cross DC), or only on those into servers.
    """

    sharing: str = "max-min"
    communicators: str = "senders"
    incast: str = "everywhere"

    def __str__(self) -> str:
        return ", ".join(getattr(self, field.name) for field in fields(self))


def parse_reading(chosen: Mapping[str, str]) -> Reading:
    """The reading with these fields; InputError for an unknown field or value."""
    for name, value in chosen.items():
        if name not in READINGS:
            raise InputError(unknown_name("reading", name, READINGS))
        if value not in READINGS[name]:
            raise InputError(f"reading {name}={value!r}; allowed: {', '.join(READINGS[name])}")
    return replace(Reading(), **chosen)


def reading_and_pauses(chosen: Mapping[str, str]) -> tuple[Reading, Pauses | None]:
    """The reading with these fields, and the pauses if `chosen` has any (`parse_pauses`).

    InputError for an unknown field or value, and for fields on incast together with pauses: pauses take its place.
    """
    if unknown := [name for name in chosen if name not in CHOICES]:
        raise InputError(unknown_name("reading", unknown[0], CHOICES))
    if "pauses" not in chosen:
        return parse_reading(chosen), None
    for name in ("communicators", "incast"):
        if name in chosen:
            raise InputError(f"reading {name}={chosen[name]!r}: not with pauses, which take the place of incast")
    reading = parse_reading({name: value for name, value in chosen.items() if name != "pauses"})
    if reading.sharing == "added-incast":
        raise InputError("reading sharing='added-incast': not with pauses, which take the place of incast")
    return reading, parse_pauses(chosen["pauses"])


def all_readings() -> list[Reading]:
    """Every combination of READINGS."""
    return [Reading(*values) for values in product(*READINGS.values())]


@dataclass(frozen=True)
class FlowTime:
    """Seconds of a schedule, as the sum of start-up, transfer and reduction, and its number of steps.

    `lost`: the part of the transfer that pauses of links take, `pauses` of them; 0 without pauses.
    """

    steps: int
    start_up: Fraction
    transfer: Fraction
    reduction: Fraction
    lost: Fraction = Fraction(0)
    pauses: int = 0

    @property
    def seconds(self) -> Fraction:
        """The sum of the three parts, in seconds."""
        return self.start_up + self.transfer + self.reduction

    def stretched(self, factor: Fraction) -> "FlowTime":
        """The time of the same steps for a message `factor` times as long, without pauses; start-up stays the same."""
        return FlowTime(self.steps, self.start_up, self.transfer * factor, self.reduction * factor)

    def __add__(self, other: "FlowTime") -> "FlowTime":
        return FlowTime(
            self.steps + other.steps,
            self.start_up + other.start_up,
            self.transfer + other.transfer,
            self.reduction + other.reduction,
            self.lost + other.lost,
            self.pauses + other.pauses,
        )


NO_TIME = FlowTime(0, Fraction(0), Fraction(0), Fraction(0))


def schedule_time(
    schedule: Schedule, model: GenModel, floats: Fraction, reading: Reading, pauses: Pauses | None = None
) -> FlowTime:
    """The time of a schedule for a message of `floats`; errors as `flows_of`, `FlowTimer` and `time_lost`.

    Steps with the same flows are timed once.
    """
    return FlowTimer(schedule.topology, model, floats, reading, pauses).total(flows_of(schedule))


class FlowTimer:
    """Times steps on one network, for messages of `floats`; with `pauses` what these add in place of incast.

    InputError where servers would have no data or the parameters lack a kind of links, of a step where a flow is shorter than a
    frame of `pauses`. Making it costs O(switches · links), a step
    O(completions · bottlenecks · hops) for shares of links, O(hops log hops) otherwise.
    """

    def __init__(
        self, topology: Topology, model: GenModel, floats: Fraction, reading: Reading, pauses: Pauses | None = None
    ) -> None:
        servers = len(topology.endpoints)
        self._capacity, full = full_link(topology)
        if floats < servers:
            raise InputError(
                f"a message of {floats} floats of {FLOAT_BYTES} bytes leaves some of the {servers} servers without data"
            )
        self._topology, self._model, self._floats, self._reading, self._pauses = topology, model, floats, reading, pauses
        self._kinds = link_kinds(topology)
        self._levels = {kind: model.level(LinkKind(kind)) for kind in np.unique(self._kinds).tolist()}
        self._narrowest = {kind: max(full, int(self._capacity[self._kinds == kind].min())) for kind in self._levels}
        self._known: dict[bytes, FlowTime] = {}
        self._work = Work()

    def total(self, steps: Iterable[Flows]) -> FlowTime:
        """The steps one after the other."""
        total = NO_TIME
        for flows in steps:
            total += self.step(flows)
        return total

    def step(self, flows: Flows) -> FlowTime:
        """One step."""
        key = flows.key
        if key not in self._known:
            lost, steps = self._lost(flows), int(len(flows.src) > 0)
            transfer = self._transfer(flows) + lost.seconds
            self._known[key] = FlowTime(steps, self.start_up(flows), transfer, self.reduction(flows), lost.seconds, lost.pauses)
        return self._known[key]

    def _lost(self, flows: Flows) -> Lost:
        if self._pauses is None or not len(flows.hop_pair):
            return NOTHING_LOST
        used, link = np.unique(flows.hop_pair, return_inverse=True)
        share = self._floats / flows.shares
        seconds = [plain / share for plain, _ in self._link_costs(flows, used, np.zeros(len(used), np.int64))]
        parts, kind = np.unique(flows.parts, return_inverse=True)
        floats = [count * share for count in parts.tolist()]
        if (shortest := floats[0] * FLOAT_BYTES) < self._pauses.frame:
            flow = int(np.argmin(flows.parts))
            raise InputError(
                f"pauses: FRAME is {self._pauses.frame:,} bytes; allowed: at most {int(shortest):,}, those of the flow from node "
                f"{flows.src[flow]} to node {flows.dst[flow]}"
            )
        return time_lost(floats, kind, flows.hop_flow, link, seconds, self._pauses, self._work)

    def start_up(self, flows: Flows) -> Fraction:
        """The largest start-up of a flow: servers and switches on its route; a Cross DC link counts instead of its two ends."""
        passed = switches_passed(self._topology, self._kinds, flows.hop_flow, flows.hop_pair, len(flows.src))
        return max((self._model.start_seconds(*way) for way in np.unique(passed, axis=0).tolist()), default=Fraction(0))

    def _transfer(self, flows: Flows) -> Fraction:
        sharing = self._reading.sharing
        if not len(flows.hop_pair):  # nothing leaves its node
            return Fraction(0)
        if sharing == "busiest":
            return self.least_transfer(flows)
        if sharing == "added-incast":
            return max(self.least_transfer(flows), self._slowest_with_added_incast(flows))
        used, link = np.unique(flows.hop_pair, return_inverse=True)
        costs = self._link_costs(flows, used, self._counted(flows, used, link))
        capacity = [1 / (plain + added) for plain, added in costs]
        return makespan(flows.parts, flows.hop_flow, link, capacity, max_min if sharing == "max-min" else equal_shares)

    def least_transfer(self, flows: Flows) -> Fraction:
        """The time of the busiest link, a lower bound for any sharing and any other flows."""
        used, link = np.unique(flows.hop_pair, return_inverse=True)
        load = np.zeros(len(used), np.int64)
        np.add.at(load, link, flows.parts[flows.hop_flow])
        costs = self._link_costs(flows, used, self._counted(flows, used, link))
        return max(parts * (plain + added) for parts, (plain, added) in zip(load.tolist(), costs, strict=True))

    def _slowest_with_added_incast(self, flows: Flows) -> Fraction:
        """The maximum over flows of the time of the busiest link without incast, plus the incast of all links."""
        used, link = np.unique(flows.hop_pair, return_inverse=True)
        passed = np.zeros(len(flows.src), np.int64)
        np.bitwise_or.at(passed, flows.hop_flow, 1 << self._kinds[flows.hop_pair].astype(np.int64))
        # a link counts once for each set of kinds that the flows over it pass
        places, place = np.unique(passed[flows.hop_flow] * len(used) + link, return_inverse=True)
        load = np.zeros(len(places), np.int64)
        np.add.at(load, place, flows.parts[flows.hop_flow])
        of_place = places % len(used)
        costs = self._link_costs(flows, used[of_place], self._counted(flows, used, link)[of_place])
        # whole multiples of one fraction of a second, as Python's own integers
        scale = lcm(*(seconds.denominator for cost in costs for seconds in cost))
        plain, added = (
            np.array([int(n * cost[of] * scale) for n, cost in zip(load.tolist(), costs, strict=True)], object) for of in (0, 1)
        )
        slowest = np.zeros(len(flows.src), object)
        np.maximum.at(slowest, flows.hop_flow, plain[place])
        np.add.at(slowest, flows.hop_flow, added[place])
        return Fraction(max(slowest), scale)

    def _counted(self, flows: Flows, used: Int64, link: Int64) -> Int64:
        """The w of each of the links `used`, 0 where the reading has no incast, or pauses in its place; `link`: of every hop."""
        if self._pauses is not None:
            return np.zeros(len(used), np.int64)
        communicators = self._communicators(flows, used, link)
        if self._reading.incast == "inside":
            communicators[self._kinds[used] == LinkKind.CROSS] = 0
        if self._reading.incast == "to-servers":
            communicators[self._topology.kind[self._topology.pair_dst[used]] == NodeKind.SWITCH] = 0
        return communicators

    def _link_costs(self, flows: Flows, links: Int64, communicators: Int64) -> Sequence[tuple[Fraction, Fraction]]:
        """Seconds that a share takes over each of the links without incast, and those that incast adds (Equation 10)."""
        rows = np.stack([self._kinds[links], self._capacity[links], communicators])
        distinct, which = np.unique(rows, axis=1, return_inverse=True)
        share = self._floats / flows.shares
        costs: list[tuple[Fraction, Fraction]] = []
        for kind, capacity, w in distinct.T.tolist():
            level, part = self._levels[kind], share * Fraction(self._narrowest[kind], capacity)
            plain = part * level.beta_seconds_per_float
            costs.append((plain, part * level.flow_seconds(w) - plain))
        return [costs[number] for number in which.ravel().tolist()]

    def _communicators(self, flows: Flows, used: Int64, link: Int64) -> Int64:
        counted = self._reading.communicators
        if counted == "flows":
            return np.bincount(link, minlength=len(used)) + 1
        nodes = len(self._topology.kind)
        if counted == "senders":
            over = _distinct(link * nodes + flows.src[flows.hop_flow])
            return np.bincount(over // nodes, minlength=len(used)) + 1
        over = (link * nodes + flows.dst[flows.hop_flow]) * nodes + flows.src[flows.hop_flow]
        towards, senders = np.unique(_distinct(over) // nodes, return_counts=True)
        most = np.zeros(len(used), np.int64)
        np.maximum.at(most, towards // nodes, senders)
        return most + 1

    def reduction(self, flows: Flows) -> Fraction:
        """The busiest server's additions and memory accesses."""
        share, server = self._floats / flows.shares, self._model.server
        work = np.unique(np.stack([flows.additions, flows.accesses]), axis=1).T.tolist()
        return max(
            (share * (a * server.gamma_seconds_per_float + b * server.delta_seconds_per_float) for a, b in work),
            default=Fraction(0),
        )


def _distinct(values: Int64) -> Int64:
    """The different values, ascending, by sorting: on millions of keys several times as fast as the hashing of `np.unique`."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]
