"""Parameters of a training run, and changes of one of them at a time."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from certree.api import parsing
from certree.api.parsing import Entry, Network, parse_entry
from certree.extras.endpoints.model.endpoint import Endpoint, LinkKind
from certree.extras.training.model.placement import Groups
from certree.extras.training.model.queue import Order
from certree.extras.training.model.workload import Loop, Workload
from certree.models.common.errors import InputError, UnsupportedError, located, short
from certree.models.common.fields import exact_number
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind, parse_kind, parse_members

AUTO = "auto"
#: tables without routers, where they were not asked for: what runs on endpoints next to PROGRAMS
LANES = "lanes"
#: programs that a run may leave for another one, with a reason
UNASKED = (AUTO, LANES)
_SCALED = ("link_latency_cycles", "router_cycles", "ni_cycles", "ni_issue_cycles", "ni_start_cycles")


class Timing(StrEnum):
    """The source of the time of a collective."""

    CLOSED_FORM = "closed-form"
    SLOTTED = "slotted"  # simulated, in slots
    PACED = "paced"  # simulated, each transfer as soon as it can
    ENDPOINTS = "endpoints"  # simulated, with the costs of endpoints
    AGGREGATE = "aggregate"  # simulated, added in switches
    MEASURED = "measured"  # interpolated between times that were measured elsewhere


#: those that are computed here
TIMINGS = tuple(timing for timing in Timing if timing is not Timing.MEASURED)


@dataclass(frozen=True)
class Speeds:
    """Factors: compute and links as many times as fast, latencies as many times as long."""

    compute: Fraction = Fraction(1)
    bandwidth: Fraction = Fraction(1)
    latency: Fraction = Fraction(1)
    free: bool = False  # collectives take no time


FACTORS = ("compute", "bandwidth", "latency")


def scaled(speeds: Speeds, name: str, factor: Fraction) -> Speeds:
    """The speeds with one of FACTORS multiplied."""
    found = {known: getattr(speeds, known) * (factor if known == name else 1) for known in FACTORS}
    return Speeds(**found, free=speeds.free)


@dataclass(frozen=True)
class Settings:
    """A training run. `methods`: of a kind of collective, None for all others; `groups`: the network of
    a group, or the endpoints of the whole one that it has, of one group of ranks or of several; `flow`, in simulations:
    chunks as messages or packets; `system`, of the `endpoint`: who runs collectives; `program`, of PROGRAMS, or LANES: what runs
    there. `measured`: (bytes, seconds) of all-reduces, ascending, for the timing of that name. `together`: by tables, as where
    collectives may meet (`may_meet`), since this is so in a run that it is compared with."""

    workload: Workload
    topology: Topology
    machine: Machine
    groups: Mapping[str, Topology | Groups] = field(default_factory=lambda: MappingProxyType({}))
    methods: Mapping[CollectiveKind | None, Entry] = field(default_factory=lambda: MappingProxyType({}))
    timing: Timing = Timing.CLOSED_FORM
    flow: str = "message"
    without_routers: bool = False
    endpoint: Endpoint | None = None
    system: str | None = None
    program: str = "auto"
    iterations: int = 2
    order: Order = Order.FIFO
    pieces: int = 1
    shared: bool = False  # collectives of all groups take turns
    joint: bool = False  # those of all groups of ranks run at once, as in joint schedules; if shared, of one kind of groups
    overlap: bool = True
    speeds: Speeds = Speeds()
    measured: tuple[tuple[int, Fraction], ...] = ()
    together: bool = False

    def __post_init__(self) -> None:
        for name, value in (("iterations", self.iterations), ("pieces", self.pieces)):
            if not 1 <= value <= 1 << 20:
                raise InputError(f"{name} is {value}; allowed: 1 to {1 << 20}")
        groups = sorted({found.group for found in self.workload.communications()})
        unknown = sorted(set(self.groups) - set(groups))
        if unknown:
            known = ", ".join(groups) or "none"
            raise InputError(f"group {unknown[0]!r} has no collective in {self.workload.name}; groups that have: {known}")
        for group in groups:
            self._check_size(group)

    def _check_size(self, group: str) -> None:
        stated, network, members = self.workload.groups.get(group), self.network(group), self.members(group)
        for place in () if members is None else self.places(group):
            with located(f"group {group}"):
                Collective(CollectiveKind.ALL_REDUCE, members=place).require_fits(network)
        found = len(network.endpoints if members is None else members)
        if stated is not None and stated != found:
            there = f"{network.name} has {found} endpoints" if members is None else f"{found} are listed"
            raise InputError(
                f"group {group} has {stated} nodes, {there}; give the group a network of its own, or endpoints: "
                f"{group}=TOPOLOGY or {group}=0,2,4-7"
            )

    @property
    def may_meet(self) -> bool:
        """Whether collectives run together by tables: a group has several in an iteration of a data loop, or `together` says so.
        Known before any run, so that all systems and sizes have one rule."""
        if self.together or self.workload.loop is not Loop.DATA:
            return self.together
        workload = self.workload if self.overlap else self.workload.all_at_the_end()
        return max(Counter(found.group for found in workload.communications()).values(), default=0) > 1

    def network(self, group: str) -> Topology:
        """The network of a group: its own, or the whole one."""
        found = self.groups.get(group)
        return found if isinstance(found, Topology) else self.topology

    def members(self, group: str) -> tuple[int, ...] | None:
        """The endpoints of the whole network that a group has, of several groups of ranks the first; None: all those of its
        network."""
        found = self.groups.get(group)
        return found[0] if isinstance(found, tuple) else None

    def places(self, group: str) -> tuple[tuple[int, ...] | None, ...]:
        """The endpoints of each group of ranks on the whole network; None: all of them. UnsupportedError for a network of its
        own."""
        found = self.groups.get(group, (None,))
        if isinstance(found, Topology):
            raise UnsupportedError(f"group {group} has a network of its own, {found.name}, and shares no links")
        return found

    def network_scaled(self, group: str) -> Topology:
        """The network of a group with the factors of bandwidth and latency in the latencies that its links state.

        In cycles: of the machine, whose clock is as many times as fast as links are; of endpoints, whose clock stays as it is."""
        network, clock = self.network(group), Fraction(1) if self.timing is Timing.ENDPOINTS else self.speeds.bandwidth
        factor = self.speeds.latency * clock
        if factor == 1 or (network.latency < 0).all():
            return network
        cycles = [latency if latency < 0 else round(latency * factor) for latency in network.latency.tolist()]
        return replace(network, latency=np.array(cycles, np.int32))

    def method(self, kind: CollectiveKind) -> Entry | None:
        """The method for a kind of collective; None where none was named."""
        return self.methods.get(kind, self.methods.get(None))

    def with_links_scaled(self) -> tuple[Machine, Endpoint | None]:
        """Machine and endpoint with the factors of bandwidth and latency (`scaled_machine`)."""
        faster, longer = self.speeds.bandwidth, self.speeds.latency
        if faster == longer == 1:
            return self.machine, self.endpoint
        machine = scaled_machine(self.machine, faster, longer)
        if self.endpoint is None:
            return machine, None
        kinds = (self.endpoint.intra_package, self.endpoint.inter_package)
        intra, inter = (
            LinkKind(kind.bytes_per_second * faster, kind.efficiency, round(kind.latency_cycles * longer)) for kind in kinds
        )
        return machine, replace(self.endpoint, intra_package=intra, inter_package=inter)


def scaled_machine(machine: Machine, faster: Fraction, longer: Fraction) -> Machine:
    """A machine whose links are as many times as fast, and whose latencies are as many times as long: a faster clock, and as many
    more cycles of latency, rounded to whole cycles."""
    cycles = {name: round(getattr(machine, name) * faster * longer) for name in _SCALED}
    return replace(machine, clock_hz=round(machine.clock_hz * faster), **cycles)


def parse_methods(texts: str | list[str] | tuple[str, ...]) -> dict[CollectiveKind | None, Entry]:
    """`ring` for all collectives, `all-to-all=ring-all-to-all` for those of a kind, each with `:option=value`; InputError."""
    found: dict[CollectiveKind | None, Entry] = {}
    for text in [texts] if isinstance(texts, str) else texts:
        first = text.split(":")[0]
        kind = parse_kind(first.partition("=")[0]) if "=" in first else None
        if kind in found:
            raise InputError(f"method {text!r}: {kind or 'all collectives'} has one already")
        found[kind] = parse_entry(text.partition("=")[2] if kind else text)
    return found


def parse_group(given: Network | Sequence[int] | Sequence[Sequence[int]]) -> Topology | Groups:
    """The network of a group, or its endpoints in the whole network: a text such as `0,2,4-7`, or ids; several groups of ranks
    stand behind each other, as in `0-3;4-7`. InputError."""
    if isinstance(given, str) and re.fullmatch(r"[0-9][0-9,\- ;]*", given):
        groups = tuple(parse_members(text) for text in given.split(";"))
    elif isinstance(given, Sequence) and not isinstance(given, str):
        groups = _listed(given)
    else:
        return parsing.topology(given)
    if len({len(one) for one in groups}) > 1 or len({rank for one in groups for rank in one}) < sum(map(len, groups)):
        raise InputError("groups of ranks must have equally many endpoints, and none in common")
    return groups


def _listed(given: Sequence[object]) -> Groups:
    """Ids, or several groups of them. InputError for anything else, such as both."""
    lists = [given] if all(type(one) is int for one in given) else given
    found = [tuple(one) for one in lists if isinstance(one, Sequence) and not isinstance(one, str)]
    if not given or len(found) < len(lists) or not all(one and all(type(rank) is int for rank in one) for one in found):
        raise InputError(
            f"group {short(given)}: expected ids of endpoints, such as [0, 2], or groups of them, such as [[0, 2], [1, 3]]"
        )
    return tuple(found)


def parse_factor(text: str | float | Fraction, what: str) -> Fraction:
    """A factor from 1/1000 to 1000, such as 1.2 or 4/5; InputError."""
    value = exact_number(str(text))
    if value is None or not Fraction(1, 1000) <= value <= 1000:
        raise InputError(f"{what} {text!r}: expected a factor from 1/1000 to 1000, such as 1.2 or 4/5")
    return value
