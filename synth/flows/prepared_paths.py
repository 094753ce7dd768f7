"""A few paths between all endpoints of a network, prepared once, from which each new demand chooses.

The search for paths and the cutting of paths into transfers are the same for all demands, so they are kept: a new matrix costs
the choice only (`native/flows/path_choice.hpp`), which compares paths by the loads of their links.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import ranges
from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.synth import _native
from certree.synth.flows.block_paths import Paths
from certree.synth.flows.block_slots import Moves, moves_of

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

DRAWS, FEW_DRAWS = 1024, 16  # of lengths of links, over endpoints, and at least: most paths of a pair
MOST_ENDPOINTS = 256  # prepared paths of more would take too much memory
KEPT = 8  # networks
_KEPT: dict[tuple[str, int], "Prepared"] = {}  # by digest and seed, those used last at the end


@dataclass(frozen=True, eq=False)
class Prepared:
    """The paths of pair s · N + t of endpoint numbers are `first[pair]` to `first[pair + 1]` of `paths`."""

    topology: Topology
    first: Int32
    paths: Paths

    @cached_property
    def moves(self) -> Moves:
        """The transfers of all paths (`moves_of`); the `block` of a transfer is the number of its path."""
        return moves_of(self.topology, self.paths)

    @cached_property
    def _rows(self) -> Int64:
        """The first row of each path among `moves`, and the end."""
        return np.searchsorted(self.moves.block, np.arange(len(self.paths.offset)))

    @cached_property
    def _hops(self) -> Int64:
        """The fewest hops of each pair."""
        lengths = np.append(np.diff(self.paths.offset), 0).astype(np.int64)
        hops = np.minimum.reduceat(lengths, self.first[:-1])
        return np.where(np.diff(self.first) > 0, hops, 0)

    @cached_property
    def _ends(self) -> tuple[Int64, Int64]:
        """The capacity of all links out of each node, and into it."""
        topology, nodes = self.topology, len(self.topology.kind)
        ends = (topology.pair_src, topology.pair_dst)
        out, into = (np.bincount(end, topology.pair_capacity, nodes).astype(np.int64) for end in ends)
        return out, into

    def pairs(self, source: Int64, target: Int64) -> Int32:
        """The numbers of pairs of nodes. UnsupportedError where no path leads from one to the other."""
        rank = self.topology.rank.astype(np.int64)
        pair = (rank[source] * len(self.topology.endpoints) + rank[target]).astype(np.int32)
        if (self.first[pair] == self.first[pair + 1]).any():
            raise UnsupportedError(f"no path joins some endpoints of {self.topology.name}")
        return pair

    def least_rounds(self, source: Int64, target: Int64, size: Int64) -> int:
        """A lower bound on the rounds of any paths: all hops divided by all links, and messages at a node by its links."""
        needs = [1, -(-int(self._hops[self.pairs(source, target)] @ size) // int(self.topology.pair_capacity.sum()))]
        for blocks, width in zip((source, target), self._ends, strict=True):
            load = np.zeros(len(width), np.int64)
            np.add.at(load, blocks, size)
            needs.append(int((-(-load // np.maximum(width, 1))).max()))
        return max(needs)

    def chosen(self, source: Int64, target: Int64, size: Int64, sweeps: int) -> tuple[Int32, int]:
        """The number of the path of each message, and the rounds that the fullest pair of nodes then takes."""
        path, rounds = _native.choose_paths(
            first=self.first,
            offset=self.paths.offset,
            arc=self.paths.pair,
            capacity=self.topology.pair_capacity.astype(np.int64),
            pair=self.pairs(source, target),
            size=np.ascontiguousarray(size, np.int64),
            sweeps=sweeps,
            goal=self.least_rounds(source, target, size),
        )
        return path, int(rounds)

    def most_hops(self, path: Int32) -> int:
        """The most links that one of these paths passes."""
        return int(np.diff(self.paths.offset)[path].max())

    def moves_along(self, path: Int32) -> Moves:
        """The transfers of messages along these paths: as `moves_of`, block i being the one of `path[i]`. O(hops)."""
        whole = self.moves
        block, row = ranges(self._rows[path], np.diff(self._rows)[path])
        used = whole.route[row]
        named = used >= 0
        numbers, route = np.unique(used[named], return_inverse=True)
        column = np.full(len(row), -1, np.int32)
        column[named] = route
        length = np.diff(whole.offset)[row]
        place = ranges(whole.offset[row], length)[1]
        return Moves(
            block=block.astype(np.int32),
            src=whole.src[row],
            dst=whole.dst[row],
            route=column,
            routes=tuple(whole.routes[number] for number in numbers.tolist()),
            offset=np.append(0, np.cumsum(length)).astype(np.int32),
            pair=whole.pair[place],
            is_last=whole.is_last[row],
        )


def prepared(topology: Topology, seed: int) -> Prepared:
    """The paths of a network, from a search the first time; those of the KEPT networks that were used last are kept.

    UnsupportedError for more than MOST_ENDPOINTS. O(DRAWS · links · log nodes) at first.
    """
    if len(topology.endpoints) > MOST_ENDPOINTS:
        raise UnsupportedError(
            f"paths are prepared for up to {MOST_ENDPOINTS} endpoints; {topology.name} has {len(topology.endpoints)}"
        )
    key = topology.digest, seed
    found = _KEPT.pop(key, None)
    if found is None:
        offset = np.searchsorted(topology.pair_src, np.arange(len(topology.kind) + 1)).astype(np.int32)
        head, ends = topology.pair_dst.astype(np.int32), topology.endpoints.astype(np.int32)
        draws = max(FEW_DRAWS, DRAWS // len(ends))
        first, begin, pair = _native.prepare_paths(offset=offset, head=head, ends=ends, tries=draws, seed=seed)
        found = Prepared(topology, first, Paths(begin, pair, 0))
    _KEPT[key] = found
    if len(_KEPT) > KEPT:
        del _KEPT[next(iter(_KEPT))]
    return found
