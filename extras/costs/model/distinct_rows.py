"""Rows of columns that differ."""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]


def distinct(*columns: NDArray[np.integer[Any]]) -> tuple[tuple[Int64, ...], Int64]:
    """The distinct rows of columns of numbers from 0 on, ascending, as columns, and how often each occurs.

    O(rows log rows): rows are sorted as one number each, or where that has more than 62 bits column by column.
    """
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if prod(sizes) >= 1 << 62:
        rows, count = np.unique(np.stack(columns), axis=1, return_counts=True)
        return tuple(rows.astype(np.int64)), count.astype(np.int64)
    every = np.zeros(len(columns[0]), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        every = every * size + column
    key, count = np.unique(every, return_counts=True)
    found: list[Int64] = []
    for size in reversed(sizes):
        key, column = key // size, key % size
        found.append(column.astype(np.int64))
    return tuple(reversed(found)), count.astype(np.int64)


def totals(key: Int64, amount: Int64) -> tuple[Int64, Int64]:
    """The distinct keys, ascending, and the total amount of each. O(keys log keys)."""
    found, which = np.unique(key, return_inverse=True)
    total = np.zeros(len(found), np.int64)
    np.add.at(total, which, amount)
    return found, total
