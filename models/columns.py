"""Checked conversion of JSON lists and numpy arrays to integer columns."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.errors import InputError


def int_column(
    table: Mapping[str, Any],
    name: str,
    where: str,
    low: int,
    high: int,
    length: int | None,
    error: type[InputError] = InputError,
    default: list[int] | None = None,
) -> NDArray[np.int32]:
    """The int32 column `table[name]`; `error` names the column and row of the first entry that is not a whole number
    in low..high, or the length when it is not `length`. A numpy column must be of int32 already. O(rows)."""
    values = table.get(name, default)
    if isinstance(values, np.ndarray):
        return _checked_array(values, f"{where}.{name}", low, high, length, error)
    if not isinstance(values, list):
        raise error(f"{where}.{name} must be a list of whole numbers")
    if length is not None and len(values) != length:
        raise error(f"{where}.{name} has {len(values)} rows; expected {length}")
    if not set(map(type, values)) <= {int}:  # bool and float are other types
        row = next(row for row, value in enumerate(values) if type(value) is not int)
        raise error(f"{where}.{name} row {row}: {values[row]!r} is not a whole number")
    if values and not (low <= min(values) and max(values) <= high):
        row = next(row for row, value in enumerate(values) if not low <= value <= high)
        raise error(f"{where}.{name} row {row}: {values[row]}; allowed: {low} to {high}")
    return np.array(values, np.int32)


def _checked_array(
    values: NDArray[Any], where: str, low: int, high: int, length: int | None, error: type[InputError]
) -> NDArray[np.int32]:
    if values.ndim != 1 or values.dtype != np.int32:
        raise error(f"{where} must be a column of int32, not {values.dtype} of shape {values.shape}")
    if length is not None and len(values) != length:
        raise error(f"{where} has {len(values)} rows; expected {length}")
    bad = np.flatnonzero((values < low) | (values > high))
    if len(bad):
        raise error(f"{where} row {bad[0]}: {values[bad[0]]}; allowed: {low} to {high}")
    return values


def have_common(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether any number is in both columns. O(n log n), by sorting: far faster than hashing or searching each."""
    both = np.sort(np.concatenate([_distinct(one), _distinct(other)]))
    return bool((both[1:] == both[:-1]).any())


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    values = np.sort(values)
    fresh = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=fresh[1:])
    return values if fresh.all() else values[fresh]
