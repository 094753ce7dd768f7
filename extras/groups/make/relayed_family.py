"""Families of trees in which endpoints that take no part add and copy for those that do."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, NodeKind
from certree.models.schedule.schedule_columns import Op
from certree.synth.packing.trees import Transfers, TreeFamily, depths


@dataclass(frozen=True, eq=False)
class RelayedFamily(TreeFamily):
    """Trees over the members of a collective and relays, which start empty: the first sum that reaches a relay is a copy."""

    @cached_property
    def transfers(self) -> Transfers:
        """The transfers of a family; of those into a relay the one from the lowest subtree comes first, and is a copy.

        O(K · N · height).
        """
        plain = super().transfers
        into_relay = np.flatnonzero((plain.op == Op.REDUCE) & self._is_relay[plain.dst])
        if not len(into_relay):
            return plain
        cell = plain.chunk[into_relay].astype(np.int64) * len(self.topology.kind) + plain.dst[into_relay]
        height = _heights(self.up)[plain.chunk[into_relay], plain.src[into_relay]]
        order = np.lexsort((plain.src[into_relay], height, cell))
        cell, row = cell[order], into_relay[order]
        is_first = np.append(True, cell[1:] != cell[:-1])
        first = row[is_first][np.cumsum(is_first) - 1]
        op = plain.op.copy()
        op[row[is_first]] = Op.COPY
        before = np.concatenate((plain.before, first[~is_first])).astype(np.int32)
        after = np.concatenate((plain.after, row[~is_first])).astype(np.int32)
        return replace(plain, op=op, before=before, after=after)

    @property
    def _is_relay(self) -> NDArray[np.bool_]:
        """The endpoints that take no part, as a mask over node ids."""
        relays: NDArray[np.bool_] = self.topology.kind == NodeKind.ENDPOINT
        relays[self.collective.members_of(self.topology)] = False
        return relays


def _heights(parent: Int32) -> NDArray[np.int64]:
    """Edges from each node to the farthest leaf below it, by chunk and node id."""
    depth, height = depths(parent), np.zeros(parent.shape, np.int64)
    for level in range(int(depth.max()), 0, -1):
        chunk, node = np.nonzero(depth == level)
        np.maximum.at(height, (chunk, parent[chunk, node]), height[chunk, node] + 1)
    return height
