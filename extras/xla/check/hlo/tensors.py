"""Values of a StableHLO program on all devices: known numbers, or data in blocks of elements that stay together.

Every array has a first axis of its own: the devices, or one entry where all devices have the same. Data are numbers of events
(`events`), one for each block of `grain` consecutive elements in row-major order. In which units that cuts each axis of a
tensor follows from its shape; where an operation cuts a block, FinerError names a grain that does not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.xla.model.hlo import HloType
from certree.models.common.budget import hold, spend
from certree.models.common.errors import InputError

Array = NDArray[Any]
INTEGERS = {"i1": "bool", "index": "int64"} | {
    f"{sign}i{bits}": f"{'u' if sign else ''}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


class FinerError(Exception):
    """Blocks must be smaller: at most `grain` elements, or where that is 0 fewer than now."""

    def __init__(self, grain: int = 0) -> None:
        super().__init__(f"blocks of {grain} elements")
        self.grain = grain


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A tensor on all devices. `units`: of data by axis how many of its elements are one entry of the array; None: known
    numbers. `sources`: where histories are told, the places of the operations that computed known numbers. `turns`: of numbers that
    differ by turn of a loop whose turns are executed at once, those of all turns."""

    array: Array
    type: HloType
    units: tuple[int, ...] | None = None
    sources: frozenset[str] = frozenset()
    turns: "tuple[Tensor, ...]" = ()

    @property
    def is_data(self) -> bool:
        """Whether its elements are data, not numbers that are known."""
        return self.units is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape on one device."""
        return self.type.shape

    @property
    def scale(self) -> tuple[int, ...]:
        """`units`, or ones."""
        return self.units if self.units is not None else (1,) * len(self.shape)

    def moved(self, array: Array, kind: HloType, grain: int) -> "Tensor":
        """The result of an operation that moves entries. FinerError where its blocks are not those of its shape."""
        if self.units is None:
            return Tensor(array, kind)
        units = units_of(kind.shape, grain)
        if array.shape[1:] != tuple(size // unit for size, unit in zip(kind.shape, units, strict=True)):
            raise FinerError
        return replace(self, array=array, type=kind, units=units)


def units_of(shape: Sequence[int], grain: int) -> tuple[int, ...]:
    """How many elements along each axis are one entry where blocks have `grain` elements: all of the last axes, a part of one, and
    1 of the others."""
    units, left, inner = [1] * len(shape), grain, 1
    for axis in reversed(range(len(shape))):
        size = shape[axis]
        if not size:
            return tuple(units)
        if left % size == 0:
            units[axis], left = size, left // size
        elif size % left == 0:
            units[axis], left = left, 1
        else:
            raise FinerError(inner * gcd(left, size))
        inner *= size
    if left != 1:
        raise FinerError(inner)
    return tuple(units)


def require_units(tensor: Tensor, axis: int, numbers: Sequence[int]) -> None:
    """Raise FinerError where indices or sizes along an axis cut a block."""
    unit = tensor.scale[axis]
    if any(number % unit for number in numbers):
        raise FinerError(prod(tensor.shape[axis + 1 :]) * gcd(unit, *numbers))


def is_splat(array: Array) -> bool:
    """Whether an array has one number only, as far as its strides say."""
    return array.shape[0] == 1 and all(step == 0 or size == 1 for step, size in zip(array.strides, array.shape, strict=True))


def splat(array: Array, shape: Sequence[int]) -> Array:
    """An array of the one number of another one, in a shape on one device; it takes no memory."""
    return np.broadcast_to(array.reshape(-1)[:1].reshape((1,) * (len(shape) + 1)), (1, *shape))


def reshaped(array: Array, shape: Sequence[int]) -> Array:
    """The array with another shape on one device."""
    if is_splat(array) and array.size:
        return splat(array, shape)
    return array.reshape(array.shape[0], *shape)


def compact(array: Array) -> Array:
    """An array with one entry on each axis along which it repeats itself, as far as its strides say."""
    return array[tuple(slice(0, 1) if step == 0 else slice(None) for step in array.strides)]


def elementwise(function: Callable[..., Array], arrays: Sequence[Array]) -> Array:
    """A function of known numbers, element by element; where all repeat themselves the result does, too, and takes no memory."""
    shape = np.broadcast_shapes(*(one.shape for one in arrays))
    small = [compact(one) for one in arrays]
    count = prod(np.broadcast_shapes(*(one.shape for one in small)))
    spend(count, f"{count:,} numbers that the program computes")
    hold(8 * count, f"{count:,} numbers that the program computes")
    with np.errstate(all="ignore"):
        return np.broadcast_to(function(*small), shape)


def in_blocks(array: Array, units: Sequence[int]) -> Array:
    """Known numbers, one for each block; FinerError where a block has different ones."""
    small = compact(array)
    cut = [unit if size > 1 else 1 for unit, size in zip(units, small.shape[1:], strict=True)]
    found = small[(slice(None), *(slice(None, None, unit) for unit in cut))]
    again = found
    for axis, unit in enumerate(cut):
        again = np.repeat(again, unit, axis + 1)
    if not np.array_equal(again, small):
        raise FinerError
    return np.broadcast_to(found, (len(array), *(size // unit for size, unit in zip(array.shape[1:], units, strict=True))))


def known(tensor: Tensor, what: str) -> Array:
    """The numbers of a tensor; InputError where they are data."""
    if tensor.is_data:
        raise InputError(f"{what} depends on the data of a message; supported are programs whose course the file says")
    return tensor.array
