"""Arrays of whole numbers in Python source: nested lists, or where these are long the type, the shape and compressed text."""

import base64
import zlib
from math import prod
from typing import Any

import numpy as np

from certree.extras.xla.model.permute_program import Int64
from certree.models.common.errors import InputError, short

MOST_LISTED = 2000  # numbers of all tables of a module that has lists
MOST_NUMBERS = 1 << 26  # of a table
_TYPES = ("u1", "<i2", "<i4")


def packed(numbers: Int64, *, as_list: bool) -> str:
    """The array as Python source."""
    if as_list:
        return repr(numbers.tolist())
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    kind = next(one for one in _TYPES if np.iinfo(one).min <= low and high <= np.iinfo(one).max)
    text = base64.b85encode(zlib.compress(numbers.astype(kind).tobytes(), 9)).decode()
    return repr((kind, numbers.shape, text))


def unpacked(value: Any, axes: int, where: str) -> Int64:
    """The array of a value that `packed` wrote; InputError for anything else, and another number of axes. `where`: the table."""
    if isinstance(value, tuple) and len(value) == 3:
        found = _decompressed(*value, where)
    else:
        if not isinstance(value, list):
            raise InputError(f"{where} is {short(value)}; expected lists of whole numbers, or type, shape and text")
        try:
            found = np.array(value)
        except ValueError:
            raise InputError(f"{where}: lists of different lengths") from None
    if found.size == 0 and found.ndim <= axes:
        found = found.reshape(*found.shape, *(0,) * (axes - found.ndim)).astype(np.int64)
    if found.ndim != axes or found.dtype.kind not in "iu":
        raise InputError(f"{where} has {found.ndim} axes of {found.dtype}; expected {axes} of whole numbers")
    return found.astype(np.int64)


def _decompressed(kind: Any, shape: Any, text: Any, where: str) -> Int64:
    is_shape = isinstance(shape, tuple) and all(type(one) is int and one >= 0 for one in shape)
    if kind not in _TYPES or not is_shape or not isinstance(text, str) or prod(shape) > MOST_NUMBERS:
        raise InputError(
            f"{where} is {short(kind)} of shape {short(shape)}; expected {', '.join(_TYPES)}, up to {MOST_NUMBERS} numbers"
        )
    size = prod(shape) * np.dtype(kind).itemsize
    try:
        data = zlib.decompressobj().decompress(base64.b85decode(text), size + 1)
    except (ValueError, zlib.error):
        raise InputError(f"{where}: damaged text") from None
    if len(data) != size:
        raise InputError(f"{where}: the text has other bytes than {size}, as its shape says")
    return np.frombuffer(data, kind).reshape(shape).astype(np.int64)
