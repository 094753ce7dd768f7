"""The network: endpoints, switches and directed links, as numpy columns."""

from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.models._lists import hops_from
from certree.models.common.errors import TopologyError, UnsupportedError
from certree.models.common.files import canonical_json, sha256
from certree.models.common.shown import Shown
from certree.models.network.diameter import farthest_pair
from certree.models.network.rates import Rates, Rounding, rounding_of

Int32 = NDArray[np.int32]
MAX_NODES = 1 << 20
MAX_DIMENSIONS = 20  # of a box: MAX_NODES nodes allow no more sizes above 1
_BLOCK = 1 << 18  # rows
MAX_PAIR_TABLE = 1 << 24  # entries of a table of all pairs of nodes
MAX_CAPACITY = 1 << 20
MAX_EXACT = (1 << 31) - 1  # of a capacity in units that divide all rates
MAX_LATENCY = 1 << 20
UNKNOWN_LATENCY = -1  # the machine parameters decide


class NodeKind(IntEnum):
    """The kind of a node id; ids of removed nodes are kept free, never reused."""

    ENDPOINT = 0
    SWITCH = 1
    ABSENT = 2


@dataclass(frozen=True, eq=False, repr=False)
class Topology(Shown):
    """A directed multigraph of endpoints and switches.

    Columns: `kind` (one entry per node id), `src`, `dst`, `capacity` (chunk units per round, at least 1) and `latency`
    (cycles of the wire, or UNKNOWN_LATENCY) with one entry per link. Link number = row. `scale`: the chunk units of a full link,
    one of capacity 1 in names and files, so that parts of it are whole too: a link of half the speed has 1 of 2 units. Times of
    M/B are for B of a full link. `rates`: the exact capacities, where the units are a choice and need not divide them: then
    `capacity` is rounded down, `scale` may be a fraction, and bounds are computed with `exact` and `roomy`. The constructor raises
    TopologyError unless ids are in range, no link is a self-loop or ends at an absent node, there are at least two endpoints, every
    endpoint can reach every other one, and the scale is the least that keeps capacities whole (not with `rates`).
    Cost: O(nodes + links) time and memory.
    """

    shown: ClassVar = {"endpoints": "endpoints", "links": "src"}
    picture: ClassVar = "picture of a network"

    name: str
    kind: NDArray[np.int8]
    src: Int32
    dst: Int32
    capacity: Int32
    latency: Int32
    reducing: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    coordinates: Int32 | None = None  # shape (nodes, dimensions)
    labels: tuple[str, ...] | None = None  # names of the nodes in the file they came from
    bandwidth: int | None = None  # bytes per second of a full link, where the file states it
    clock: int | None = None  # Hz, where the file states it
    scale: int | Fraction = 1
    rates: Rates | None = None
    notes: tuple[str, ...] = ()  # how a description by another tool was understood, a sentence each

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "kind", np.ascontiguousarray(self.kind, np.int8))
        for name in ("src", "dst", "capacity", "latency"):
            set_field(self, name, np.ascontiguousarray(getattr(self, name), np.int32))
        if len(self.reducing) == 0:
            set_field(self, "reducing", np.zeros(len(self.kind), np.bool_))
        for column in (self.kind, self.src, self.dst, self.capacity, self.latency, self.reducing):
            column.setflags(write=False)
        self._check_columns()
        self._check_connected()

    def _check_columns(self) -> None:
        nodes, links = len(self.kind), len(self.src)
        if not 2 <= nodes <= MAX_NODES:
            raise TopologyError(f"{self.name}: {nodes} node(s); a network has 2 to {MAX_NODES}")
        if not ((self.kind >= 0) & (self.kind <= NodeKind.ABSENT)).all():
            raise TopologyError(f"{self.name}: node kinds are endpoint or switch")
        if len(self.endpoints) < 2:
            raise TopologyError(f"{self.name}: {len(self.endpoints)} endpoint(s); a collective needs at least 2")
        if len(self.reducing) != nodes or any(len(c) != links for c in (self.dst, self.capacity, self.latency)):
            raise TopologyError(f"{self.name}: columns of different lengths")
        for column, low, high, what in (
            (self.src, 0, nodes - 1, "src"),
            (self.dst, 0, nodes - 1, "dst"),
            (self.capacity, 1, MAX_CAPACITY if self.rates is None else MAX_EXACT, "capacity"),
            (self.latency, UNKNOWN_LATENCY, MAX_LATENCY, "latency"),
        ):
            bad = np.flatnonzero((column < low) | (column > high))
            if len(bad):
                raise TopologyError(f"{self.name}: link {bad[0]}: {what} is {column[bad[0]]}; allowed: {low} to {high}")
        if self.rates is None and (
            type(self.scale) is not int
            or not 1 <= self.scale <= MAX_CAPACITY
            or np.gcd.reduce(self.capacity, initial=self.scale) > 1
        ):
            raise TopologyError(f"{self.name}: the scale is {self.scale}, and capacities and it have a common divisor")
        if self.rates is not None:
            self.rates.check(self.name, self.capacity, self.scale)
        for bad, what in (
            (np.flatnonzero(self.src == self.dst), "leads from a node to itself"),
            (
                np.flatnonzero((self.kind[self.src] == NodeKind.ABSENT) | (self.kind[self.dst] == NodeKind.ABSENT)),
                "ends at a node that does not exist",
            ),
        ):
            if len(bad):
                raise TopologyError(f"{self.name}: link {bad[0]} ({self.src[bad[0]]}>{self.dst[bad[0]]}) {what}")

    def _check_connected(self) -> None:
        start = int(self.endpoints[0])
        for far, template in (
            (self.distances(start), "no path from {0} to {1}"),
            (self.distances(start, backward=True), "no path from {1} to {0}"),
        ):
            lost = self.endpoints[far[self.endpoints] < 0]
            if len(lost):
                reason = template.format(start, int(lost[0]))
                raise TopologyError(f"{self.name}: disconnected: {reason}; every endpoint must reach every other")

    def distances(self, start: int, *, backward: bool = False, through: NDArray[np.bool_] | None = None) -> Int32:
        """Hops from `start` to every node id (to `start` when `backward`). `through`: by node, whether paths may lead through it
        (None: all); -1 where there is no path. O(nodes + links)."""
        head, first = self._into if backward else self._out_of
        passes = np.ones(len(self.kind), np.uint8) if through is None else through.astype(np.uint8)
        return hops_from(start, first, head, passes)

    @cached_property
    def _out_of(self) -> tuple[Int32, NDArray[np.int64]]:
        """Heads of the links by tail, and where those of each node begin (one entry more than there are nodes)."""
        return self._grouped(self.src, self.dst)

    @cached_property
    def _into(self) -> tuple[Int32, NDArray[np.int64]]:
        """Tails of the links by head, likewise."""
        return self._grouped(self.dst, self.src)

    def _grouped(self, by: Int32, ends: Int32) -> tuple[Int32, NDArray[np.int64]]:
        count = np.bincount(by, minlength=len(self.kind))
        return ends[np.argsort(by, kind="stable")], np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))

    def speed(self, capacity: int) -> Fraction:
        """The speed of a link of `capacity` chunk units as a multiple of a full link's: the capacity in names and files."""
        return Fraction(capacity) / self.scale

    @property
    def lanes(self) -> int:
        """The whole chunk units of a full link, at least 1."""
        return max(1, int(self.scale))

    @cached_property
    def exact(self) -> "Topology":
        """The network in units that divide all capacities, for bounds on bandwidth; itself without `rates`."""
        return self if self.rates is None else self._with_units(self.rates.capacity, self.rates.scale)

    @cached_property
    def roomy(self) -> "Topology":
        """The network with capacities rounded up to whole full links, for bounds on time; itself without `rates`.

        Whatever the units, lanes are no faster than full links and together no faster than these.
        """
        if self.rates is None:
            return self
        capacity = -(-self.rates.capacity // self.rates.scale)
        return replace(self, capacity=capacity.astype(np.int32), scale=1, rates=None)

    def in_units_of(self, unit: Fraction) -> "Topology":
        """The network for schedules whose chunk units have the speed of `unit` full links, capacities rounded down.

        TopologyError for a unit above a full link or the slowest link, one that leaves a link more than MAX_CAPACITY units or that
        files cannot state, and where links have parts of the full speed without being described by rates.
        """
        rates = self.rates
        if rates is None:
            if self.scale != 1:
                raise TopologyError(f"{self.name}: links have units of 1/{self.scale} of a full link; no other unit can be chosen")
            rates = Rates(self.capacity.astype(np.int64), 1)
        capacity, scale = rates.counted(unit, self.name, MAX_CAPACITY, self.bandwidth), 1 / unit
        made = replace(self, capacity=capacity, scale=int(scale) if scale.denominator == 1 else scale, rates=rates)
        is_plain = made.scale == 1 and rates.scale == 1 and (capacity == rates.capacity).all()
        return replace(made, rates=None) if is_plain else made

    def _with_units(self, capacity: NDArray[np.int64], scale: int) -> "Topology":
        same = scale == self.scale and bool((self.capacity == capacity).all())
        return self if same else replace(self, capacity=capacity.astype(np.int32), scale=scale)

    @property
    def rounded(self) -> Rounding | None:
        """The rates that are not whole multiples of the units that schedules count in; None where all are."""
        return None if self.rates is None else rounding_of(self.rates, self.capacity, self.scale, self.bandwidth)

    def require_full_links(self, what: str) -> None:
        """Raise UnsupportedError where a link has a part of a full link's speed, which `what` cannot take into account."""
        if self.scale != 1:
            raise UnsupportedError(f"{self.name} has links of a part of the full speed; {what} works with whole capacities only")

    @cached_property
    def endpoints(self) -> Int32:
        """Ids of the nodes that hold data, ascending."""
        return np.flatnonzero(self.kind == NodeKind.ENDPOINT).astype(np.int32)

    @cached_property
    def rank(self) -> Int32:
        """Position of each node id among the endpoints; -1 for switches and absent ids."""
        ranks = np.full(len(self.kind), -1, np.int32)
        ranks[self.endpoints] = np.arange(len(self.endpoints), dtype=np.int32)
        return ranks

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Sorted keys src·nodes + dst of the joined pairs, their total capacity, and the pair of every link."""
        keys = self.src.astype(np.int64) * len(self.kind) + self.dst
        unique, pair_of_link = np.unique(keys, return_inverse=True)
        capacity = np.zeros(len(unique), np.int64)
        np.add.at(capacity, pair_of_link, self.capacity)
        return unique, capacity, pair_of_link.astype(np.int64)

    def pair_index(self, src: NDArray[Any], dst: NDArray[Any]) -> NDArray[np.int64]:
        """For each (src, dst): the number of that joined pair (parallel links count as one pair), or -1."""
        if self._has_table_for(src):
            found = np.empty(len(src), np.int64)
            self._look_up(np.asarray(src), np.asarray(dst), found)
            return found
        keys = np.asarray(src, np.int64) * len(self.kind) + np.asarray(dst, np.int64)
        unique = self._pairs[0]
        where = np.minimum(np.searchsorted(unique, keys), len(unique) - 1)
        return np.where(unique[where] == keys, where, -1)

    def narrow_pair_index(self, src: Int32, dst: Int32) -> Int32:
        """The result of `pair_index` in half the memory."""
        if not self._has_table_for(src):
            return self.pair_index(src, dst).astype(np.int32)
        found = np.empty(len(src), np.int32)
        self._look_up(src, dst, found)
        return found

    def _has_table_for(self, src: NDArray[Any]) -> bool:
        """Whether a table of all pairs of nodes is faster than searching for these pairs."""
        return np.ndim(src) == 1 and len(self.kind) ** 2 <= min(8 * len(src), MAX_PAIR_TABLE)

    def _look_up(self, src: NDArray[Any], dst: NDArray[Any], found: NDArray[Any]) -> None:
        """Fill `found` from the table, block by block: memory that is used again need not be fetched from the system."""
        for low in range(0, len(src), _BLOCK):
            block = slice(low, low + _BLOCK)
            found[block] = self._pair_table[src[block] * np.int64(len(self.kind)) + dst[block]]

    @cached_property
    def _pair_table(self) -> NDArray[np.int32]:
        """The result of `pair_index` for every src·nodes + dst."""
        table = np.full(len(self.kind) ** 2, -1, np.int32)
        table[self._pairs[0]] = np.arange(len(self._pairs[0]))
        return table

    @property
    def pair_capacity(self) -> NDArray[np.int64]:
        """Total capacity of each joined pair, in `pair_index` order."""
        return self._pairs[1]

    @cached_property
    def pair_src(self) -> NDArray[np.int64]:
        """Source node of each joined pair, in `pair_index` order."""
        return self._pairs[0] // len(self.kind)

    @cached_property
    def pair_dst(self) -> NDArray[np.int64]:
        """Destination node of each joined pair, in `pair_index` order."""
        return self._pairs[0] % len(self.kind)

    @property
    def pair_of_link(self) -> NDArray[np.int64]:
        """The joined pair of every link."""
        return self._pairs[2]

    def neighbours(self, node: int) -> list[int]:
        """Heads of the links out of `node`, in link order, each once."""
        return list(dict.fromkeys(self.dst[self.src == node].tolist()))

    @cached_property
    def diameter(self) -> tuple[int, int, int]:
        """(hops, from, to): the longest shortest path between endpoints; of equals the first by (from, to)."""
        hops, start = farthest_pair(len(self.kind), self.src, self.dst, self.endpoints)
        far = self.distances(start)[self.endpoints]
        return hops, start, int(self.endpoints[int(far.argmax())])

    @cached_property
    def is_direct(self) -> bool:
        """Whether there are no switches: every node holds data."""
        return not bool((self.kind == NodeKind.SWITCH).any())

    @cached_property
    def forwards(self) -> NDArray[np.bool_]:
        """Flags of the nodes that forward: the switches, and on a direct network every node, each having a router."""
        return np.asarray((self.kind == NodeKind.SWITCH) | ((self.kind == NodeKind.ENDPOINT) & self.is_direct))

    @cached_property
    def holds(self) -> NDArray[np.bool_]:
        """Flags of the nodes that hold chunks, where transfers may start and end: endpoints, and switches marked `reducing`."""
        return np.asarray((self.kind == NodeKind.ENDPOINT) | ((self.kind == NodeKind.SWITCH) & self.reducing))

    @property
    def is_full_duplex(self) -> bool:
        """Whether every joined pair has the same capacity in both directions."""
        back = self.pair_index(self.pair_dst, self.pair_src)
        return bool((back >= 0).all() and (self.pair_capacity[back] == self.pair_capacity).all())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that a schedule depends on: nodes, links, capacities, latencies; not the name and the drawing."""
        rates = {} if self.rates is None else {"rates": [self.rates.scale, *self.rates.capacity.tolist()]}
        scale = self.scale if isinstance(self.scale, int) else str(self.scale)
        return self._sha(self.capacity.tolist(), {} if scale == 1 else {"scale": scale}, rates)

    def is_network_of(self, other: "Topology") -> bool:
        """Whether both are the same network, in whatever units: nodes, links, exact capacities and latencies."""
        if (self.rates is None) == (other.rates is None) and self.scale == other.scale:
            return self.digest == other.digest
        return self.exact._speeds == other.exact._speeds and self._sha([]) == other._sha([])

    @property
    def _speeds(self) -> list[Fraction]:
        return [self.speed(capacity) for capacity in self.capacity.tolist()]

    def _sha(self, capacity: list[int], *more: dict[str, Any]) -> str:
        document = {
            "kind": self.kind.tolist(),
            "reducing": self.reducing.tolist(),
            "src": self.src.tolist(),
            "dst": self.dst.tolist(),
            "capacity": capacity,
            "latency": self.latency.tolist(),
        }
        return sha256(canonical_json({key: value for part in (document, *more) for key, value in part.items()}))
