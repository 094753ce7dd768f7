"""Spanning-tree packing: the strength of a network, and trees that reach it (`docs/explanation/packing.md`)."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.synth import _native
from certree.synth.packing.trees import NONE, TreeFamily, family_from_parents

MAX_TREES = 4096  # in one packing
COARSE = (8, 64)  # periods in which a rate that needs a longer one is tried first
MOVES, MOVES_PER_NODE, MAX_MOVES = 60_000, 16, 1 << 20  # random exchanges that shorten the trees of a packing


class Fabric(Protocol):
    """A network into which trees over all endpoints are packed, for one collective."""

    @property
    def topology(self) -> Topology:
        """The network itself."""
        ...

    @property
    def size(self) -> int:
        """The number of endpoints."""
        ...

    @property
    def strength(self) -> Fraction:
        """An upper bound on the trees per round."""
        ...

    @property
    def tight(self) -> tuple[int, int]:
        """(K, L): the fewest trees, and the period that holds them, at just that rate."""
        ...

    @property
    def multiple(self) -> int:
        """Trees come in multiples of this number."""
        ...

    @property
    def edge_capacity(self) -> Fraction:
        """The most tree edges per round."""
        ...

    @property
    def is_even(self) -> bool:
        """Whether reduces load both directions of a link equally, because trees have roots all over the network."""
        ...

    def least_height(self, period: int) -> int:
        """A lower bound on the height of a tree that fits into a period."""
        ...

    def pack(self, collective: Collective, trees: int, period: int, *, moves: int, seed: int) -> TreeFamily | None:
        """`trees` spanning trees that a `period` holds, shortened by `moves` random exchanges; None when none were found."""
        ...


@dataclass(frozen=True, eq=False)
class AllReduceNetwork:
    """The common part of networks with trees for an all-reduce: any number of trees, and any node as a root."""

    topology: Topology

    @property
    def size(self) -> int:
        """The number of endpoints."""
        return len(self.topology.endpoints)

    @property
    def strength(self) -> Fraction:
        """The strength, as in a `Fabric`."""
        raise NotImplementedError

    @property
    def tight(self) -> tuple[int, int]:
        """The strength as trees and period."""
        return self.strength.numerator, self.strength.denominator

    @property
    def multiple(self) -> int:
        """Any number of trees will do."""
        return 1


class Network(AllReduceNetwork):
    """A direct network as an undirected graph over ranks: edges `u` < `v` with `capacity`, that of both directions."""

    @cached_property
    def _edges(self) -> tuple[Int32, Int32, NDArray[np.int64]]:
        topology, rank = self.topology, self.topology.rank
        back = topology.pair_index(topology.pair_dst, topology.pair_src)
        forward = np.flatnonzero((topology.pair_src < topology.pair_dst) & (back >= 0))
        return (
            rank[topology.pair_src[forward]],
            rank[topology.pair_dst[forward]],
            np.minimum(topology.pair_capacity[forward], topology.pair_capacity[back[forward]]),
        )

    @property
    def is_connected(self) -> bool:
        """Whether these edges join all nodes."""
        return self.radius < self.size

    @cached_property
    def _eccentricity(self) -> NDArray[np.int64]:
        u, v, _ = self._edges
        return eccentricities(self.size, u, v)

    @property
    def diameter(self) -> int:
        """The number of hops of the longest shortest path."""
        return int(self._eccentricity.max())

    @property
    def radius(self) -> int:
        """Least height of a spanning tree."""
        return int(self._eccentricity.min())

    @property
    def is_even(self) -> bool:
        """Whether all nodes are equally good roots."""
        return self.radius == self.diameter

    def least_height(self, period: int) -> int:
        """The radius, whatever the period."""
        return self.radius

    @property
    def edge_capacity(self) -> Fraction:
        """The most tree edges per round: the total capacity of the edges, in one direction."""
        return Fraction(int(self._edges[2].sum()))

    @property
    def strength(self) -> Fraction:
        """The most trees per round: min over partitions P of capacity(between parts) / (|P| - 1) (Tutte, Nash-Williams).

        It is an upper bound when `is_strength_proved` is false.
        """
        return self._tight[0]

    @property
    def tight_partition(self) -> Int32:
        """The part of every node id (-1 for absent ids) in a partition whose ratio is `strength`."""
        parts = np.full(len(self.topology.kind), NONE, np.int32)
        parts[self.topology.endpoints] = self._tight[1]
        return parts

    @property
    def is_strength_proved(self) -> bool:
        """Whether trees were packed at that rate; capacities without a common measure can ask for too many trees to try."""
        return self._tight[2]

    @cached_property
    def _tight(self) -> tuple[Fraction, Int32, bool]:
        """Newton's iteration: pack a/b trees; where that fails, the failed augmentation leaves a partition of smaller ratio.

        Few trees fail sooner than many, so the nearest rates with short periods are tried first (COARSE). Capacities are measured
        in their greatest common divisor. Each packing of K trees costs O(K · n) augmentations of O(K · (n + links)) at worst; more
        than `MAX_TREES` trees are not tried.
        """
        ratio, parts = self._ratio(np.arange(self.size)), np.arange(self.size, dtype=np.int32)
        for rank in range(self.size if self.size > 2 else 0):
            alone = (np.arange(self.size) == rank).astype(np.int32)
            if self._ratio(alone) < ratio:
                ratio, parts = self._ratio(alone), alone
        unit = int(np.gcd.reduce(self._edges[2]))
        for period in (*COARSE, None):
            while (asked := _trial(ratio / unit, period, self.size)) is not None:
                packed, found = self._pack(**asked, unit=unit, seed=0)
                if packed and period is None:
                    return ratio, parts, True
                if packed:
                    break
                smaller = self._ratio(found)
                if smaller >= ratio:
                    raise AssertionError("a failed packing must leave a partition of smaller ratio")
                ratio, parts = smaller, found
        return ratio, parts, False

    def _ratio(self, parts: NDArray[Any]) -> Fraction:
        u, v, capacity = self._edges
        return Fraction(int(capacity[parts[u] != parts[v]].sum()), len(np.unique(parts)) - 1)

    @cached_property
    def _latest(self) -> dict[tuple[int, ...], tuple[bool, Int32]]:
        """The latest packings by their parameters: the packing that proves the strength is requested again for scheduling."""
        return {}

    def _pack(self, trees: int, period: int, *, unit: int = 1, moves: int, seed: int) -> tuple[bool, Int32]:
        key = (trees, period, unit, moves, seed)
        if key not in self._latest:
            self._latest.clear()
            self._latest[key] = self._pack_anew(trees, period, unit=unit, moves=moves, seed=seed)
        return self._latest[key]

    def _pack_anew(self, trees: int, period: int, *, unit: int, moves: int, seed: int) -> tuple[bool, Int32]:
        u, v, capacity = self._edges
        height = self._height(trees)
        centres = np.flatnonzero(self._eccentricity <= height).astype(np.int32)
        return pack_into(self.size, u, v, capacity // unit * period, trees, centres, height, moves=moves, seed=seed)

    def _height(self, trees: int) -> int:
        """The target height of trees: the radius, or one more where few nodes are centres only because a link is missing. Many
        trees with few roots would then load one direction of links with reduces and the other with copies."""
        central, near = (int((self._eccentricity <= self.radius + more).sum()) for more in (0, 1))
        return self.radius + (trees > self.size and 2 * central < self.size < 2 * near)

    def pack(self, collective: Collective, trees: int, period: int, *, moves: int, seed: int) -> TreeFamily | None:
        """`trees` spanning trees, each edge in at most capacity · `period` of them, shortened by `moves` random exchanges and
        rooted at their centres; None when there are none (trees / period exceeds the strength)."""
        packed, parents = self._pack(trees, period, moves=moves, seed=seed)
        if not packed:
            return None
        ids = self.topology.endpoints
        table = np.full((trees, len(self.topology.kind)), NONE, np.int32)
        table[:, ids] = np.where(parents == NONE, NONE, ids[np.maximum(parents, 0)])
        return family_from_parents(self.topology, collective, table, {"trees": "packing", "packed": f"{trees}/{period}"})


def _trial(rate: Fraction, period: int | None, size: int) -> dict[str, int] | None:
    """The packing to try for a rate in trees per round: the most that a period may hold, if its rate justifies one; without a
    period just that rate. None where that is too many trees."""
    if period is None:
        asked = {"trees": rate.numerator, "period": rate.denominator, "moves": usual_moves(rate.numerator, size)}
    else:
        asked = {"trees": int(rate * period), "period": period, "moves": 0}
    shorter = period is None or rate.denominator > period
    return asked if shorter and 0 < asked["trees"] <= MAX_TREES else None


def usual_moves(trees: int, size: int) -> int:
    """The default number of random exchanges for `trees` trees over `nodes` nodes."""
    return min(MAX_MOVES, max(MOVES, MOVES_PER_NODE * trees * size))


def pack_into(
    size: int,
    u: Int32,
    v: Int32,
    capacity: NDArray[np.int64],
    trees: int,
    centres: Int32,
    height: int,
    *,
    moves: int,
    seed: int,
) -> tuple[bool, Int32]:
    """(True, parents[tree, node]) of spanning trees over nodes 0 .. size - 1 with edge i in at most capacity[i] of them, or (False,
    part of every node) that proves that there are none. They are grown from `centres` in turn, then shortened by `moves` random
    exchanges towards a `height`. Costs as in `Network._tight`."""
    packed, result = _native.pack_trees(
        nodes=size,
        u=u,
        v=v,
        capacity=capacity,
        roots=centres[np.arange(trees) % len(centres)],
        height=height,
        moves=moves,
        seed=seed,
    )
    return packed, result


def eccentricities(size: int, u: Int32, v: Int32) -> NDArray[np.int64]:
    """Edges from each node to the one farthest from it; `size` where it does not reach all. O(radius · edges · size / 64)."""
    tails, heads = np.concatenate((u, v)), np.concatenate((v, u))
    order = np.argsort(heads, kind="stable")
    tails, (heads, first) = tails[order], np.unique(heads[order], return_index=True)
    node = np.arange(size)
    reached = np.zeros((size, -(-size // 64)), np.uint64)
    reached[node, node // 64] = bits = np.uint64(1) << (node % 64).astype(np.uint64)
    far, before = np.full(size, size, np.int64), np.zeros_like(reached)
    for hops in range(1, size):
        before, reached = reached, reached.copy()
        reached[heads] |= np.bitwise_or.reduceat(before[tails], first, axis=0)
        everywhere = np.bitwise_and.reduce(reached, axis=0)  # a bit for each start that has reached every node
        far[(far == size) & ((everywhere[node // 64] & bits) != 0)] = hops
        if (far < size).all() or np.array_equal(before, reached):
            break
    return far


@lru_cache(maxsize=4)
def network_of(topology: Topology) -> Network:
    """The network of a topology, remembered while it is worked on: the packing and its bound share one strength."""
    return Network(topology)
