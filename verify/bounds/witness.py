"""Lower bounds and the witnesses that prove them, re-checked exactly and without any solver.

A bound is a JSON document {"kind", "quantity": "bandwidth" | "latency", "value", "witness"}. Bandwidth values are coefficients of
M/B: rounds that any schedule needs per chunk, as the message grows, written as a rational ("9/16"); latency values are steps of
one iteration ("15"). The value must be exactly the one that the witness proves.

Every proof rests on this: a transfer moves one chunk of one iteration; over each link of its path it is one *message* of one chunk
unit, and a link carries at most `capacity` messages per round. A collective that needs m messages per chunk over links of total
capacity c takes at least m / c rounds per chunk, however often the schedule repeats.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import int_column
from certree.models.common.errors import CertreeError, InputError, short
from certree.models.common.fields import Fields
from certree.models.common.registry import Registry, import_folder
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.symmetric.symmetric import AnySchedule, SymmetricSchedule
from certree.verify.rule import Subject, rule
from certree.verify.wording import network_text

QUANTITIES = ("bandwidth", "latency")
_KEYS = ("kind", "quantity", "value", "witness")
_RATIONAL = re.compile(r"[1-9][0-9]{0,30}(/[1-9][0-9]{0,30})?")

Bound = dict[str, Any]


class WitnessError(CertreeError):
    """A bound that its witness does not prove. `rule`: witness-malformed, witness-foreign, witness-wrong or witness-value."""

    exit_code = 1

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule, self.message = rule, message


@dataclass(frozen=True, eq=False)
class Instance:
    """The instance that a bound applies to. `delay`: steps from a send to the use of the data. `passing`: whether routes may lead
    through endpoints; on a direct network the distance then no longer bounds the number of steps.

    `shares`: the part of the message that is rooted at each endpoint, in rank order, summing to 1. All-gather and reduce-scatter
    may have any shares (equal by default); in a broadcast or reduce the root has the whole message; other collectives ignore them.
    Endpoints that take no part (`collective.members`) have no share: bounds count what members need (M2 in
    docs/decisions/0007-schedule-version-2.md). With a demand the message is all of it.
    """

    topology: Topology
    collective: Collective
    shares: tuple[Fraction, ...] = ()
    delay: int = 1
    passing: bool = False

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

    @classmethod
    def of(cls, schedule: AnySchedule) -> "Instance":
        """The instance that a schedule solves: its shares are its chunks per root, over K; `passing` as its routes do."""
        shares: tuple[Fraction, ...] = ()
        if schedule.collective.is_rooted and not schedule.collective.has_targets:
            ranks = schedule.topology.rank[schedule.chunk_root]
            held = np.bincount(ranks, minlength=len(schedule.topology.endpoints))
            share = {count: Fraction(count, schedule.chunks) for count in np.unique(held).tolist()}
            shares = tuple(share[count] for count in held.tolist())
        return cls(schedule.topology, schedule.collective, shares, schedule.delay, _passes_endpoints(schedule))

    @cached_property
    def parts(self) -> tuple[list[int], int]:
        """(numerators, denominator) of the shares: adding many integers is far faster than adding rationals."""
        whole = math.lcm(*{share.denominator for share in self.shares})
        return [share.numerator * (whole // share.denominator) for share in self.shares], whole

    @cached_property
    def is_endpoint(self) -> NDArray[np.bool_]:
        """By node id."""
        return np.asarray(self.topology.kind == NodeKind.ENDPOINT)

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """By rank: endpoints that take part."""
        return np.asarray(np.isin(self.topology.endpoints, self.collective.members_of(self.topology)))

    @cached_property
    def is_member(self) -> NDArray[np.bool_]:
        """By node id."""
        flags = np.zeros(len(self.topology.kind), np.bool_)
        flags[self.collective.members_of(self.topology)] = True
        return flags

    @property
    def blocks(self) -> int:
        """The blocks of equal size that the message of a collective with targets is cut into: N, or the granules of a demand."""
        return self.count if self.collective.demand is None else self.collective.demand.granules

    def owes(self, source: int, target: int) -> bool:
        """Whether data of one endpoint is due at another one (node ids), which are a source and a sink."""
        demand = self.collective.demand
        return demand is None or bool(((demand.columns[0] == source) & (demand.columns[1] == target)).any())

    @property
    def noun(self) -> str:
        """What messages call an endpoint that takes part."""
        return "an endpoint" if self.collective.members is None else "a member"

    @property
    def count(self) -> int:
        """N, the endpoints that take part."""
        return len(self.collective.members_of(self.topology))

    @cached_property
    def exists(self) -> NDArray[np.bool_]:
        """By node id: false for ids of removed nodes."""
        return np.asarray(self.topology.kind != NodeKind.ABSENT)

    @cached_property
    def sources(self) -> NDArray[np.bool_]:
        """By rank: endpoints whose data is due elsewhere. Part of a source's initial data is due at every sink except itself, or
        with a demand at some sinks."""
        if self.collective.demand is not None:
            return np.isin(self.topology.endpoints, self.collective.demand.columns[0])
        return self._rooted(self.collective.gathers, CollectiveKind.SCATTER)

    @cached_property
    def sinks(self) -> NDArray[np.bool_]:
        """By rank: endpoints at which data of every source is due, or with a demand of some sources."""
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


#: kind -> (instance, witness document) -> (quantity, value that the witness shows); raises WitnessError
WITNESSES: Registry[Callable[[Instance, Mapping[str, Any]], tuple[str, Fraction]]] = Registry("witness")


def load_witnesses() -> Registry[Callable[[Instance, Mapping[str, Any]], tuple[str, Fraction]]]:
    """The registry, with every module of `certree.verify.bounds.witnesses` imported."""
    import_folder("certree.verify.bounds.witnesses")
    return WITNESSES


@rule(
    "witness-malformed",
    "a bound or its witness is not a document of this kind, or names nodes that do not exist",
    "certificate.bounds.1.witness.label = []",
    Subject.BOUNDS,
)
@rule(
    "witness-foreign",
    "this kind of witness does not apply to the collective or network",
    'certificate.bounds.0.kind = "cut"; certificate.bounds.0.witness = {"set": [0]}',
    Subject.BOUNDS,
)
@rule(
    "witness-wrong",
    "the witness proves nothing",
    'certificate.bounds.0.kind = "partition"; certificate.bounds.0.witness = {"part": [0, 0, 0, 0, 0]}',
    Subject.BOUNDS,
)
@rule(
    "witness-value",
    "the witness proves a value other than the stated one, higher or lower",
    'certificate.bounds.0.value = "1/100"',
    Subject.BOUNDS,
)
def check_bound(instance: Instance, bound: Any) -> Fraction:
    """The value of a bound, once its witness proves exactly that value for this instance.

    Raises WitnessError: `witness-malformed` (not a document of this kind, or nodes that are not in the topology),
    `witness-foreign` (the kind does not apply to this collective or topology), `witness-wrong` (the witness proves nothing),
    `witness-value` (it proves another value). O(nodes + links).
    """
    fields, kinds = Fields(bound, "bound", malformed).only(*_KEYS), load_witnesses()
    kind, value = fields.text("kind", known=kinds), fields.text("value")
    quantity = fields.choice("quantity", QUANTITIES)
    if not _RATIONAL.fullmatch(value) or str(Fraction(value)) != value:
        fields.refuse(f"value is {short(value)}; allowed: a positive rational in lowest terms, such as '9/16' or '15'")
    witness = fields.table_of("witness").table
    shown_for, shown = kinds[kind](instance, witness)
    if shown_for != quantity:
        raise WitnessError("witness-wrong", f"a {kind} witness bounds the {shown_for}, not the {quantity}")
    if shown != Fraction(value):
        raise WitnessError("witness-value", f"the {kind} witness shows a {quantity} bound of {shown}, not {value}")
    return shown


def malformed(message: str) -> WitnessError:
    """The error for a document that is not a witness."""
    return WitnessError("witness-malformed", message)


def only_fields(kind: str, witness: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise unless the witness document has exactly these fields."""
    Fields(witness, f"{kind} witness", malformed).only(*names)


def node_id(instance: Instance, kind: str, value: Any) -> int:
    """The id of a node that exists."""
    count = len(instance.topology.kind)
    if type(value) is not int or not 0 <= value < count or not instance.exists[value]:
        raise malformed(f"{kind} witness: {short(value)} is not a node of {network_text(instance.topology)}")
    return value


def node_numbers(instance: Instance, kind: str, name: str, value: Any, absent: int = -1) -> NDArray[np.int64]:
    """A list with one number for each node id, from 0, and `absent` for ids of removed nodes."""
    count = len(instance.topology.kind)
    numbers = int_column(value, f"{kind} witness: {name}", -1, count - 1, count, malformed).astype(np.int64)
    wrong = np.flatnonzero(np.where(instance.exists, numbers < 0, numbers != absent))
    if len(wrong):
        raise malformed(
            f"{kind} witness: node {wrong[0]} has the {name} number {numbers[wrong[0]]}; -1 is for removed nodes, and only for them"
        )
    return numbers


def node_set(instance: Instance, kind: str, value: Any) -> NDArray[np.bool_]:
    """Flags by node id of a list of distinct existing nodes that has an endpoint that takes part inside, and one outside."""
    if not isinstance(value, list) or not value:
        raise malformed(f"{kind} witness: set must be a list of node ids")
    flags = np.zeros(len(instance.topology.kind), np.bool_)
    for entry in value:
        flags[node_id(instance, kind, entry)] = True
    if flags.sum() != len(value):
        raise malformed(f"{kind} witness: set names a node twice")
    if not (flags & instance.is_member).any() or not (~flags & instance.is_member).any():
        raise WitnessError("witness-wrong", f"{kind} witness: the set must have {instance.noun} inside and one outside")
    return flags


def make_bound(instance: Instance, kind: str, witness: Bound) -> Bound:
    """The bound document of a witness, with the value that it proves; WitnessError when it proves nothing."""
    quantity, value = load_witnesses()[kind](instance, witness)
    return {"kind": kind, "quantity": quantity, "value": str(value), "witness": witness}


def best_bounds(instance: Instance, bounds: Sequence[Bound]) -> dict[str, tuple[Fraction, Bound]]:
    """By quantity: the largest re-checked value among `bounds`, and the first bound with that value. Raises WitnessError."""
    best: dict[str, tuple[Fraction, Bound]] = {}
    for bound in bounds:
        value = check_bound(instance, bound)
        if bound["quantity"] not in best or value > best[bound["quantity"]][0]:
            best[bound["quantity"]] = (value, bound)
    return best
