"""Checked conversion of JSON lists and numpy arrays to integer columns."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError, short

_BLOCK = 1 << 18  # rows
_LARGEST_TABLE = 1 << 20  # words

_Hashable = TypeVar("_Hashable", bound=Hashable)
_Number = TypeVar("_Number", bound=np.integer[Any])


def int_column(
    values: Any, where: str, low: int, high: int, length: int | None = None, error: Callable[[str], Exception] = InputError
) -> NDArray[np.int32]:
    """A list of whole numbers as an int32 column; `error` names the row of the first entry that is not a whole number in low..high,
    or the length when it is not `length`. A numpy column must be of int32 already. O(rows)."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1 or values.dtype != np.int32:
            raise error(f"{where} must be a column of int32, not {values.dtype} of shape {values.shape}")
    elif not isinstance(values, list):
        raise error(f"{where} must be a list of whole numbers")
    if length is not None and len(values) != length:
        raise error(f"{where} has {len(values)} rows; expected {length}")
    if isinstance(values, np.ndarray):
        check_range(values, where, low, high, error)
        return values
    if not set(map(type, values)) <= {int}:  # bool and float are other types
        row = next(row for row, value in enumerate(values) if type(value) is not int)
        raise error(f"{where} row {row}: {short(values[row])} is not a whole number")
    if values and not (low <= min(values) and max(values) <= high):
        row = next(row for row, value in enumerate(values) if not low <= value <= high)
        raise error(f"{where} row {row}: {short(values[row])}; allowed: {low} to {high}")
    return np.array(values, np.int32)


def whole_column(
    values: Any, where: str, dtype: type[_Number], error: Callable[[str], Exception] = InputError, dimensions: int = 1
) -> NDArray[_Number]:
    """Whole numbers as a read-only column of that type, or as lines of a table; `error` names the fault. numpy would silently cut
    off fractions and high bits. O(entries)."""
    given = np.asarray(values)
    if given.ndim != dimensions or (given.size and given.dtype.kind not in "iu"):
        shape = "column" if dimensions == 1 else "table"
        raise error(f"{where} must be a {shape} of whole numbers, not {given.dtype} of shape {given.shape}")
    limits = np.iinfo(dtype)
    if given.size and not limits.min <= int(given.min()) <= int(given.max()) <= limits.max:
        raise error(f"{where} has entries outside {limits.min} to {limits.max}")
    column = np.ascontiguousarray(given, dtype)
    column.setflags(write=False)
    return column


def check_range(values: NDArray[Any], where: str, low: int, high: int, error: Callable[[str], Exception] = InputError) -> None:
    """Raise `error` naming the first row of a column, or of lines of numbers, that has an entry outside low..high. O(entries)."""
    if values.size and not low <= int(values.min()) <= int(values.max()) <= high:
        row, *_ = np.argwhere((values < low) | (values > high))[0]
        raise error(f"{where} row {row}: {values[row]}; allowed: {low} to {high}")


def first_repeated(values: Iterable[_Hashable]) -> _Hashable | None:
    """The first value that occurs a second time; None where there is none. O(values)."""
    seen: set[_Hashable] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def within_words(most: int, *columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """The columns, or the ranks of their entries among all, in the same order, where `most` times their largest entry needs more
    than 64 bits. Entries are from 0. O(1) where they are small, else O(n log n)."""
    if most * (1 + max((int(column.max(initial=0)) for column in columns), default=0)) < 1 << 62:
        return columns
    ranks = np.unique(np.concatenate(columns), return_inverse=True)[1].astype(np.int64)
    return tuple(np.split(ranks, np.cumsum([len(column) for column in columns])[:-1]))


def flat(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of all lists in one column, and where each list begins in it, with the end of the last. O(numbers)."""
    begin = np.concatenate(([0], np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)))))
    return np.fromiter(chain.from_iterable(lists), np.int64, int(begin[-1])), begin


def ranges(low: NDArray[Any] | int, count: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(i, j) for each i and the `count[i]` numbers j from `low[i]` on, as two columns. O(pairs)."""
    row = np.repeat(np.arange(len(count)), count)
    first = low - (np.cumsum(count) - count)
    return row, first[row] + np.arange(len(row))


def numbered(keys: NDArray[Any], order: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """For each entry its number, from 0, among the equal ones: in their order, or in an `order` that has equal ones together."""
    order = np.argsort(keys, kind="stable") if order is None else order
    found, together = np.empty(len(order), np.int64), keys[order]
    found[order] = np.arange(len(order)) - np.searchsorted(together, together)
    return found


def match(wanted: NDArray[np.int64], offered: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs (i, j) with wanted[i] == offered[j], as two index columns; `wanted` may repeat and so may `offered`."""
    order = np.argsort(offered, kind="stable")
    low, high = (np.searchsorted(offered[order], wanted, side) for side in ("left", "right"))
    row, place = ranges(low, high - low)
    return row, order[place]


def have_common(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether any number is in both columns. O(n log n), by sorting: far faster than hashing or searching each."""
    both = np.sort(np.concatenate([distinct(one), distinct(other)]))
    return bool((both[1:] == both[:-1]).any())


def distinct(values: NDArray[_Number]) -> NDArray[_Number]:
    """The values, ascending, each once; `numpy.unique` hashes, which can be a hundred times slower on multiples of large powers.
    O(n log n)."""
    values = np.sort(values)
    fresh = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=fresh[1:])
    return values if fresh.all() else values[fresh]


def json_list(values: NDArray[np.signedinteger[Any]]) -> Iterator[bytes]:
    """The JSON text of a column, `[1,2,3]`, in pieces: short where a list of Python numbers would take much memory. O(n)."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    table = None
    if high - low < min(len(values), _LARGEST_TABLE):
        words = np.array([f"{value}," for value in range(low, high + 1)], np.bytes_)
        table = words.view(np.uint8).reshape(len(words), -1)
    yield b"["
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        if table is None:
            text = (",".join(map(str, block.tolist())) + ",").encode()
        else:
            letters = table[block.astype(np.int64) - low]
            text = letters[letters != 0].tobytes()
        yield text if start + _BLOCK < len(values) else text[:-1]
    yield b"]"


def json_pieces(value: Any) -> Iterator[bytes]:
    """The JSON text of a document, without spaces, in pieces; columns of it may be arrays. O(n)."""
    if isinstance(value, Mapping):
        for number, (name, held) in enumerate(value.items()):
            yield f"{',' if number else '{'}{json.dumps(name)}:".encode()
            yield from json_pieces(held)
        yield b"}" if value else b"{}"
    elif isinstance(value, np.ndarray):
        yield from json_list(value)
    else:
        yield json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def is_sorted(keys: Sequence[NDArray[Any]]) -> bool:
    """Whether rows ascend by the first key, among equal ones by the second, and so on. O(rows · keys)."""
    tied = np.ones(max(0, len(keys[0]) - 1), np.bool_)
    for key in keys:
        if (tied & (key[1:] < key[:-1])).any():
            return False
        tied &= key[1:] == key[:-1]
    return True
