"""Columns in lines: groups of values as rows of a table, and tables of columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32
from certree.models.tables.table_columns import NIL
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]


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


def filled(header: dict[str, Any], columns: dict[str, Any], **profile: Any) -> Tables:
    """Tables of columns of rows and arrivals, with the sizes of rows, and the addresses that they have in `trees`; `header`: the
    fields that all profiles have, `profile`: those of one."""
    unit, flow = header["chunk_bytes"] // header["machine"].flit_bytes, columns["flow"].astype(np.int64)
    sizes = header["chunk_granules"]
    size = np.full(len(flow), unit, np.int64) if sizes is None else sizes.astype(np.int64)[flow] * unit
    return Tables(addr=flow * unit, size=size, **header, **columns, **profile)
