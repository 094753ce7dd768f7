"""Seconds of collectives: by closed form, by simulation, with the costs of endpoints, or added in switches."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Any

from certree.api.parsing import Entry
from certree.api.reports.text import one_line, size_words
from certree.api.runs.deadlocks import run_free
from certree.api.settings import Tell, silent
from certree.extras.aggregation.run.aggregations import aggregate
from certree.extras.endpoints.run.endpoint_program import Payload
from certree.extras.endpoints.run.endpoint_runs import endpoints
from certree.extras.joint.make.choices import FEWEST
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry as JointEntry
from certree.extras.sweeps.tuning.curve import cycles_at
from certree.extras.training.model.queue import Order, Queue, Server, Shared, Together
from certree.extras.training.model.workload import Communication, Loop
from certree.extras.training.run.settings import AUTO, LANES, UNASKED, Settings, Timing
from certree.extras.training.run.table_times import NoTablesError, Single, TableTimes, WrongDataError
from certree.hw.engines.runs import Options
from certree.hw.run import tables_or_plan
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.demand import demand_of_bytes
from certree.models.fine.rebooking import fitted
from certree.models.network.topology import Topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.method import Request, load_methods

ANCHORS = 3  # sizes for which `auto` searches; every other takes the fastest of what it found


@dataclass
class Known:
    """Schedules and times that runs share: what one has found others do not compute again."""

    made: dict[Hashable, AnySchedule] = field(default_factory=dict)
    seconds: dict[Hashable, Fraction] = field(default_factory=dict)
    joint: dict[Hashable, list[Fraction]] = field(default_factory=dict)
    tables: dict[Hashable, TableTimes] = field(default_factory=dict)
    parts: dict[Hashable, Any] = field(default_factory=dict)  # schedules that joint schedules are made of


def collective_among(topology: Topology, kind: CollectiveKind, members: tuple[int, ...] | None) -> Collective:
    """The collective among some endpoints, or all; one with a root has the first of them."""
    first = int(topology.endpoints[0]) if members is None else members[0]
    return Collective(kind, first if kind in WITH_ONE_ROOT else None, members)


class Timers:
    """Seconds of the collectives of a run, each timed once."""

    def __init__(self, settings: Settings, known: Known | None = None, tell: Tell = silent) -> None:
        self.settings, self._tell = settings, tell
        self.machine, self.endpoint = settings.with_links_scaled()
        self._known = Known() if known is None else known
        self._tables = self._table_times()
        self._sizes = _sizes(settings)
        self._networks = {group: settings.network_scaled(group) for group in self._sizes}
        #: all that times depend on, other than the collective and its network
        self._how = (
            str(self.machine), str(self.endpoint), settings.system, settings.timing, settings.flow, settings.without_routers,
            settings.program, settings.measured, settings.speeds.bandwidth, settings.may_meet,
            tuple(sorted((str(kind), entry.text) for kind, entry in settings.methods.items())),
        )  # fmt: skip

    def servers(self) -> dict[str, Server]:
        """The network of each group of the workload."""
        settings, groups = self.settings, {found.group for found in self.settings.workload.communications()}
        if settings.joint and not settings.speeds.free:
            return self._joint_servers(groups)
        if settings.timing in (Timing.ENDPOINTS, Timing.AGGREGATE, Timing.MEASURED):
            for found in settings.workload.communications():
                self._collective(found).require_everyone(f"timing {settings.timing}")
        if settings.timing is Timing.ENDPOINTS and settings.workload.loop is Loop.DATA and not settings.speeds.free:
            if settings.pieces > 1:
                raise InputError(f"pieces is {settings.pieces}; endpoints cut collectives into chunks themselves; allowed: 1")
            return {group: Together(self._together) for group in groups}
        if settings.shared:
            return dict.fromkeys(groups, Queue(self.seconds, settings.order, settings.pieces))
        return {group: Queue(self.seconds, settings.order, settings.pieces) for group in groups}

    def _table_times(self) -> TableTimes | None:
        """The times of tables, on endpoints where these run."""
        settings, endpoint = self.settings, self.endpoint
        if settings.timing is not Timing.ENDPOINTS or settings.program == "messages" or endpoint is None or settings.system is None:
            return None
        without_routers = settings.without_routers or settings.program == LANES
        key = str(endpoint), settings.system, without_routers
        found = TableTimes(endpoint, endpoint.system(settings.system), without_routers)
        return self._known.tables.setdefault(key, found)

    def require_tables(self) -> None:
        """Where tables run unasked, NoTablesError unless all different collectives together take no longer than tables may."""
        if self._tables is not None and self.settings.program in UNASKED and not self.settings.speeds.free:
            try:
                every = (self._single(found) for found in self.settings.workload.communications())
                self._tables.require_short(every, meet=self.settings.may_meet)
            except UnsupportedError as error:
                raise NoTablesError(str(error)) from None

    def _single(self, asked: Communication) -> Single:
        return Single(self._networks[asked.group], asked.kind, asked.bytes, self.settings.method(asked.kind))

    def _joint_servers(self, groups: Iterable[str]) -> dict[str, Server]:
        settings = self.settings
        if settings.timing is not Timing.CLOSED_FORM or settings.pieces > 1:
            raise UnsupportedError("joint links are for timing closed-form and one piece")
        for method in settings.methods.values():
            if method.text != AUTO:
                raise UnsupportedError(f"joint links are for the method auto, which joint schedules are made by; not {method.text}")
        if any(found.demand for found in settings.workload.communications()):
            raise UnsupportedError(f"{settings.workload.name} has an alltoallv, which is not for joint links")
        if settings.shared:
            return dict.fromkeys(groups, Queue(lambda one: self._at_once([one])[0], settings.order, 1))
        return dict.fromkeys(groups, Shared(self._at_once, settings.order, Fraction(1, self.machine.clock_hz)))

    def _at_once(self, asked: Sequence[Communication]) -> list[Fraction]:
        """Seconds until each of some collectives ends, all groups of ranks of all of them at once in a joint schedule."""
        places = tuple(self.settings.places(one.group) for one in asked)
        key = "joint", str(self.machine), self.settings.network_scaled(asked[0].group).digest, places, tuple(asked)
        if key not in self._known.joint:
            self._known.joint[key] = self._jointly(asked)
        return self._known.joint[key]

    def _jointly(self, asked: Sequence[Communication]) -> list[Fraction]:
        settings = self.settings
        topology = settings.network_scaled(asked[0].group)
        entries, names = [], []
        for number, one in enumerate(asked):
            places = settings.places(one.group)
            names.append([f"{number} {place}" for place in range(len(places))])
            for name, members in zip(names[-1], places, strict=True):
                entries.append(JointEntry(name, collective_among(topology, one.kind, members), one.bytes))
        self._tell(f"{len(entries)} collectives at once on {one_line(topology.name)}")
        ends = joint(topology, entries, machine=self.machine, relay=FEWEST, known=self._known.parts).ends
        return [Fraction(max(ends[name] for name in its), self.machine.clock_hz) for its in names]

    def seconds(self, asked: Communication) -> Fraction:
        """Seconds of a collective that has the network to itself."""
        if self.settings.speeds.free:
            return Fraction(0)
        key = self._how, self._networks[asked.group].digest, self.settings.members(asked.group), asked, self._anchors(asked)
        if key not in self._known.seconds:
            self._known.seconds[key] = self._timed(asked)
        return self._known.seconds[key]

    def _timed(self, asked: Communication) -> Fraction:
        settings, topology = self.settings, self._networks[asked.group]
        if settings.timing is Timing.ENDPOINTS:
            return self._together([(Fraction(0), asked)])[0]
        if settings.timing is Timing.AGGREGATE:
            return self._aggregated(asked, topology)
        if settings.timing is Timing.MEASURED:
            return self._interpolated(asked)
        made = self.fastest(asked)
        return Fraction(self._cycles(made, self.message_bytes(asked)), self.machine.clock_hz)

    def _anchors(self, asked: Communication) -> tuple[int, ...]:
        """The sizes for which schedules are made: its own for a method that was named, a few of the workload's for `auto`."""
        method = self.settings.method(asked.kind)
        if asked.demand or (method is not None and method.method != AUTO):
            return (self.message_bytes(asked),)
        sizes = [size for kind, size in self._sizes.get(asked.group, []) if kind is asked.kind]
        return tuple(_spread(sizes or [asked.bytes]))

    def fastest(self, asked: Communication) -> AnySchedule:
        """The fastest schedule of a collective in closed form; fine slots are booked anew for the size."""
        topology = self._networks[asked.group]
        found = {made.digest: made for made in (self._schedule(asked, size, topology) for size in self._anchors(asked))}
        if len(found) == 1:
            (only,) = found.values()
            return self._at(only, self.message_bytes(asked))
        timed = [
            (cycles, number) for number, made in enumerate(found.values()) if (cycles := cycles_at(made, asked.bytes, self.machine))
        ]
        if not timed:
            raise UnsupportedError(
                f"{asked.kind} of {size_words(asked.bytes)} on {topology.name}: no schedule has a time at this size"
            )
        return self._at(list(found.values())[min(timed)[1]], asked.bytes)

    def _at(self, made: AnySchedule, size: int) -> AnySchedule:
        return fitted(made, size, self.machine) if isinstance(made, Schedule) else made

    def _request(self, asked: Communication, size: int, topology: Topology) -> Request:
        method = self.settings.method(asked.kind)
        return Request(topology, self._collective(asked), size, self.machine, options=method.options if method else {})

    def _collective(self, asked: Communication) -> Collective:
        """The collective among the endpoints of its group; one with a root has the first of them."""
        topology, members = self._networks[asked.group], self.settings.members(asked.group)
        demand = demand_of_bytes(asked.demand, topology, self.machine.flit_bytes) if asked.demand else None
        return replace(collective_among(topology, asked.kind, members), demand=demand)

    def message_bytes(self, asked: Communication) -> int:
        """The number of bytes of the message: of a demand whole granules."""
        demand = self._collective(asked).demand
        return asked.bytes if demand is None else demand.granules * self.machine.flit_bytes

    def _schedule(self, asked: Communication, size: int, topology: Topology) -> AnySchedule:
        method = self.settings.method(asked.kind) or Entry(AUTO, AUTO, {})
        key = topology.digest, method.text, str(self.machine), self._collective(asked), size
        if key not in self._known.made:
            self._tell(f"{asked.kind} of {size_words(size)} on {one_line(topology.name)} by {method.text}")
            self._known.made[key] = load_methods()[method.method](self._request(asked, size, topology))
        return self._known.made[key]

    def _cycles(self, made: AnySchedule, size: int) -> int:
        settings, machine = self.settings, self.machine
        if settings.timing is Timing.CLOSED_FORM:
            return Request(made.topology, made.collective, size, machine).cycles(made)
        self._tell(f"simulating {size_words(size)} on {one_line(made.topology.name)}")
        options = Options(mode=str(settings.timing), framing=settings.flow, without_routers=settings.without_routers)
        source = tables_or_plan(made, size, machine, files=False)
        try:
            result = run_free(source, options)
        except UnsupportedError:
            if settings.timing is Timing.SLOTTED:
                raise
            result = run_free(source, replace(options, mode=str(Timing.SLOTTED)))
        if not result.data_ok:
            raise WrongDataError(f"{made.title()}, {size} bytes: the simulation ends with wrong data")
        return result.cycles

    def _aggregated(self, asked: Communication, topology: Topology) -> Fraction:
        if asked.kind is not CollectiveKind.ALL_REDUCE:
            raise UnsupportedError(f"{asked.kind}: switches add; timing aggregate is for all-reduce only")
        found = aggregate(topology, size=asked.bytes, machine=self.machine, without_routers=self.settings.without_routers)
        if not found.result.data_ok:
            raise WrongDataError(f"{found.title()}, {asked.bytes} bytes: the simulation ends with wrong data")
        return Fraction(found.result.cycles, self.machine.clock_hz)

    def _interpolated(self, asked: Communication) -> Fraction:
        """On the line through the two measured points around a size, or through the nearest two; links as many times as fast."""
        points = self.settings.measured
        if asked.kind is not CollectiveKind.ALL_REDUCE or len(points) < 2:
            raise UnsupportedError(
                f"{asked.kind}: measured times are of all-reduces, of two sizes or more; there are {len(points)}"
            )
        place = min(max(1, sum(size < asked.bytes for size, _ in points)), len(points) - 1)
        (less, short), (more, long) = points[place - 1 : place + 1]
        seconds = short + (long - short) * (asked.bytes - less) / (more - less)
        return max(Fraction(0), seconds) / self.settings.speeds.bandwidth

    def _together(self, asked: Sequence[tuple[Fraction, Communication]]) -> list[Fraction]:
        """Seconds from the first asking to the end of each; the endpoints count whole cycles."""
        key = self._how, self.settings.order, self._networks[asked[0][1].group].digest, tuple(asked)
        if key not in self._known.joint:
            self._known.joint[key] = self._run_together(asked)
        return self._known.joint[key]

    def _run_together(self, asked: Sequence[tuple[Fraction, Communication]]) -> list[Fraction]:
        if self._tables is not None:
            try:
                every = [(begin, self._single(found)) for begin, found in asked]
                return self._tables.ends(every, together=self.settings.may_meet, lifo=self.settings.order is Order.LIFO)
            except UnsupportedError as error:
                if self.settings.program in UNASKED:
                    raise NoTablesError(str(error)) from None
                raise UnsupportedError(f"no run of tables: {error}") from None
        settings, endpoint, first = self.settings, self.endpoint, asked[0][1]
        if endpoint is None or settings.system is None:
            raise InputError("timing endpoints needs a system, such as ace")
        if any((found.kind, found.group) != (first.kind, first.group) for _, found in asked):
            raise UnsupportedError("collectives that run together on endpoints must be of one kind")
        method = settings.method(first.kind)
        clock = endpoint.interface.clock_hertz
        payloads = [Payload(found.bytes, ceil(begin * clock)) for begin, found in asked]
        runs = endpoints(
            self._networks[first.group], Collective(first.kind), method=method.method if method else None,
            options=method.options if method else None, payloads=payloads, systems=[settings.system], endpoint=endpoint,
            lifo=settings.order == "lifo", program="messages",
        )  # fmt: skip
        if not runs.correct:
            raise WrongDataError(f"{runs.title()}: the simulation ends with wrong data, or in a deadlock")
        return [Fraction(end) / clock for end in runs.results[0].ends]


def _sizes(settings: Settings) -> dict[str, list[tuple[CollectiveKind, int]]]:
    """Different collectives of each group, by size."""
    found: dict[str, set[tuple[CollectiveKind, int]]] = {}
    for asked in settings.workload.communications():
        found.setdefault(asked.group, set()).add((asked.kind, asked.bytes))
    return {group: sorted(entries, key=lambda entry: entry[1]) for group, entries in found.items()}


def _spread(sizes: Sequence[int]) -> list[int]:
    """At most ANCHORS of the sizes: the ends, and others evenly spread between them."""
    if len(sizes) <= ANCHORS:
        return list(sizes)
    return [sizes[number * (len(sizes) - 1) // (ANCHORS - 1)] for number in range(ANCHORS)]
