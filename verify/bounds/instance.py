"""The instance that a bound applies to: a network, a collective, and the shares, delay and routes of a schedule."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.verify.order.additions import additions_of, makes_sums_once


@dataclass(frozen=True, eq=False)
class Instance:
    """The instance that a bound applies to. `delay`: steps from a send to the use of the data. `passing`: whether routes may lead
    through endpoints; on a direct network the distance then no longer bounds the number of steps.

    `shares`: the part of the message that is rooted at each endpoint, in rank order, summing to 1. All-gather and reduce-scatter
    may have any shares (equal by default); in a broadcast or reduce the root has the whole message; other collectives ignore them.
    Endpoints that take no part (`collective.members`) have no share: bounds count what members need (M2 in
    docs/decisions/0007-schedule-version-2.md). With a demand, the message is the whole demand.

    `adds`: the expression in whose order every chunk is added, or the schedule that says so.
    """

    topology: Topology
    collective: Collective
    shares: tuple[Fraction, ...] = ()
    delay: int = 1
    passing: bool = False
    adds: AnySchedule | str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "collective", self.collective.fitted(self.topology))
        endpoints = len(self.topology.endpoints)
        if self.collective.kind in (CollectiveKind.BROADCAST, CollectiveKind.REDUCE):
            at_root = self.topology.endpoints == self.collective.root
            part = (Fraction(0), Fraction(1))
            object.__setattr__(self, "shares", tuple(part[flag] for flag in at_root.tolist()))
        if not self.shares:
            part = (Fraction(0), Fraction(1, self.count))
            object.__setattr__(self, "shares", tuple(part[flag] for flag in self.members.tolist()))
        if len(self.shares) != endpoints or min(self.parts[0]) < 0 or sum(self.parts[0]) != self.parts[1]:
            raise InputError(f"shares must be {endpoints} parts of the message, one for each endpoint, that add up to 1")
        if self.delay < 1:
            raise InputError(f"delay is {self.delay}; allowed: 1 or more")

    def on(self, topology: Topology) -> "Instance":
        """The instance on a network with other capacities."""
        return self if topology is self.topology else replace(self, topology=topology)

    @classmethod
    def of(cls, schedule: AnySchedule) -> "Instance":
        """The instance that a schedule solves, on links of exact capacities. Each share is the number of chunks of a root, divided
        by K; `passing` follows from its routes."""
        shares: tuple[Fraction, ...] = ()
        if schedule.collective.is_rooted and not schedule.collective.has_targets:
            ranks = schedule.topology.rank[schedule.chunk_root]
            held = np.bincount(ranks, minlength=len(schedule.topology.endpoints))
            share = {count: Fraction(count, schedule.chunks) for count in np.unique(held).tolist()}
            shares = tuple(share[count] for count in held.tolist())
        return cls(schedule.topology.exact, schedule.collective, shares, schedule.delay, _passes_endpoints(schedule), schedule)

    @cached_property
    def order(self) -> str | None:
        """The order of additions of all chunks at all ranks, as an expression; None where there are several, or it is not fixed."""
        if self.adds is None or isinstance(self.adds, str):
            return self.adds
        found = additions_of(self.adds)
        return None if found is None else found.certain

    @cached_property
    def makes_sums_once(self) -> bool:
        """Whether the schedule makes each sum at one node, or has a stated order, whose bounds say so; False where the instance has
        neither."""
        return self.adds is not None and (isinstance(self.adds, str) or makes_sums_once(self.adds))

    @cached_property
    def parts(self) -> tuple[list[int], int]:
        """The shares as (numerators, denominator): adding many integers is far faster than adding rationals."""
        whole = math.lcm(*{share.denominator for share in self.shares})
        return [share.numerator * (whole // share.denominator) for share in self.shares], whole

    @cached_property
    def shares_are_equal(self) -> bool:
        """Whether all endpoints that take part have the same share."""
        return len(set(compress(self.parts[0], self.members.tolist()))) == 1

    @cached_property
    def is_endpoint(self) -> NDArray[np.bool_]:
        """Whether each node is an endpoint."""
        return np.asarray(self.topology.kind == NodeKind.ENDPOINT)

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Whether each endpoint, by rank, takes part."""
        return np.asarray(np.isin(self.topology.endpoints, self.collective.members_of(self.topology)))

    @cached_property
    def is_member(self) -> NDArray[np.bool_]:
        """Whether each node takes part."""
        flags = np.zeros(len(self.topology.kind), np.bool_)
        flags[self.collective.members_of(self.topology)] = True
        return flags

    @property
    def blocks(self) -> int:
        """The blocks of equal size that the message of a collective with targets is cut into: N, or the granules of a demand."""
        return self.count if self.collective.demand is None else self.collective.demand.granules

    def owes(self, source: int, target: int) -> bool:
        """Whether data of one endpoint are due at another one, given the node ids of a source and a sink."""
        demand = self.collective.demand
        return demand is None or bool(((demand.columns[0] == source) & (demand.columns[1] == target)).any())

    @property
    def noun(self) -> str:
        """The noun of messages for an endpoint that takes part."""
        return "an endpoint" if self.collective.members is None else "a member"

    @property
    def count(self) -> int:
        """N, the endpoints that take part."""
        return len(self.collective.members_of(self.topology))

    @cached_property
    def exists(self) -> NDArray[np.bool_]:
        """Whether each node exists: false for ids of removed nodes."""
        return np.asarray(self.topology.kind != NodeKind.ABSENT)

    @cached_property
    def sources(self) -> NDArray[np.bool_]:
        """Whether the data of each endpoint, by rank, are due elsewhere. Part of a source's initial data is due at every sink
        except itself, or with a demand at some sinks."""
        if self.collective.demand is not None:
            return np.isin(self.topology.endpoints, self.collective.demand.columns[0])
        return self._rooted(self.collective.gathers, CollectiveKind.SCATTER)

    @cached_property
    def sinks(self) -> NDArray[np.bool_]:
        """Whether data of every source, or with a demand of some sources, are due at each endpoint, by rank."""
        if self.collective.demand is not None:
            return np.isin(self.topology.endpoints, self.collective.demand.columns[1])
        return self._rooted(self.collective.reduces, CollectiveKind.GATHER)

    def _rooted(self, by_share: bool, at_root: CollectiveKind) -> NDArray[np.bool_]:
        """The endpoints that root a share of the message; the single root in a collective of kind `at_root`; otherwise all that
        take part."""
        if self.collective.is_rooted and by_share:
            return np.array(self.parts[0], object) > 0
        if self.collective.kind is at_root:
            return np.asarray(self.topology.endpoints == self.collective.root)
        return self.members

    def capacity(self, tails: NDArray[np.bool_], heads: NDArray[np.bool_]) -> int:
        """Total capacity of the links from `tails` to `heads` (flags by node id)."""
        crossing = tails[self.topology.src] & heads[self.topology.dst]
        return int(self.topology.capacity[crossing].sum(dtype=np.int64))

    def share(self, inside: NDArray[np.bool_]) -> Fraction:
        """The part of the message that is rooted at the endpoints flagged."""
        flags = inside[self.topology.endpoints].tolist()
        parts, whole = self.parts
        return Fraction(sum(part for part, flag in zip(parts, flags, strict=True) if flag), whole)

    def addressed(self, outside: NDArray[np.bool_], inside: NDArray[np.bool_]) -> Fraction:
        """The part of the message that endpoints of `outside` send to endpoints of `inside`, in a collective with targets: one of
        the N blocks from every source to every sink, or what the demand says (disjoint flags by node id)."""
        demand = self.collective.demand
        if demand is not None:
            source, target, granules = demand.columns
            return Fraction(int(granules[outside[source] & inside[target]].sum()), demand.granules)
        sources, sinks = self.sources & outside[self.topology.endpoints], self.sinks & inside[self.topology.endpoints]
        return Fraction(int(sources.sum()) * int(sinks.sum()), self.count)


def _passes_endpoints(schedule: AnySchedule) -> bool:
    """Whether a route in use leads through a forwarding endpoint. O(links of the routes)."""
    if isinstance(schedule, SymmetricSchedule) or not schedule.routes:
        return False
    used = np.zeros(len(schedule.routes) + 1, np.bool_)
    used[schedule.route] = True  # the last entry is that of DIRECT
    links, start = schedule.flat_routes
    inner = np.repeat(used[:-1], np.diff(start))
    inner[start[1:] - 1] = False
    passable = schedule.topology.forwards & (schedule.topology.kind == NodeKind.ENDPOINT)
    return bool(passable[schedule.topology.dst[links[inner]]].any())
