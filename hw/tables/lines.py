"""Columns in lines: groups of values as rows of a table, and pairs of equal numbers."""

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32
from certree.models.tables import NIL

Int64 = NDArray[np.int64]


def match(wanted: Int64, offered: Int64) -> tuple[Int64, Int64]:
    """All pairs (i, j) with wanted[i] == offered[j], as two index columns; `wanted` may repeat and so may `offered`."""
    order = np.argsort(offered, kind="stable")
    low, high = (np.searchsorted(offered[order], wanted, side) for side in ("left", "right"))
    count = high - low
    first = np.repeat(np.cumsum(count) - count, count)
    return np.repeat(np.arange(len(wanted)), count), order[np.repeat(low, count) + np.arange(count.sum()) - first]


def ragged(group: Int64, value: Int32, groups: int) -> Int32:
    """One line per group, its values ascending and filled up with NIL."""
    order = np.lexsort((value, group))
    group, value = group[order], value[order]
    place = np.arange(len(group)) - np.searchsorted(group, group)
    lines = np.full((groups, int(place.max()) + 1 if len(place) else 0), NIL, np.int32)
    lines[group, place] = value
    return lines


def widen(lines: Int32, width: int) -> Int32:
    """The lines, filled up with NIL to that width."""
    return np.pad(lines, ((0, 0), (0, width - lines.shape[1])), constant_values=NIL)
