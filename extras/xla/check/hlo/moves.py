"""Operations that put elements elsewhere: slices, updates, concatenations, paddings, transpositions, broadcasts.

Each takes known numbers and data. Indices must be known; they may differ by device.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import gcd, prod

import numpy as np

from certree.extras.xla.check.hlo.numbers import indices_of
from certree.extras.xla.check.hlo.tensors import Array, FinerError, Tensor, known, require_units, reshaped, units_of
from certree.extras.xla.model.hlo import HloOperation
from certree.models.common.budget import hold
from certree.models.common.errors import InputError

#: (operation, operands, elements of a block) -> the result; operands are all numbers or all data
Move = Callable[[HloOperation, list[Tensor], int], Tensor]
MOVES: dict[str, Move] = {}


def move(name: str) -> Callable[[Move], Move]:
    """Register the function of an operation."""

    def add(function: Move) -> Move:
        MOVES[name] = function
        return function

    return add


def broadcast(array: Array, lead: int) -> Array:
    """An array with N entries on its first axis, which takes no memory."""
    return np.broadcast_to(array, (lead, *array.shape[1:]))


@move("stablehlo.reshape")
def _reshape(operation: HloOperation, operands: list[Tensor], grain: int) -> Tensor:
    (x,), kind = operands, operation.types[0]
    units = units_of(kind.shape, grain) if x.is_data else (1,) * len(kind.shape)
    shape = [size // unit for size, unit in zip(kind.shape, units, strict=True)]
    return Tensor(reshaped(x.array, shape), kind, units if x.is_data else None)


@move("stablehlo.slice")
def _slice(operation: HloOperation, operands: list[Tensor], grain: int) -> Tensor:
    (x,), found = operands, [slice(None)]
    parts = zip(*(operation.attributes[name] for name in ("start_indices", "limit_indices", "strides")), strict=True)
    for axis, (start, limit, stride) in enumerate(parts):
        require_units(x, axis, (start, limit) if stride == 1 else (1,))
        unit = x.scale[axis]
        found.append(slice(start // unit, limit // unit, stride))
    return x.moved(x.array[tuple(found)], operation.types[0], grain)


def starts_of(operation: HloOperation, x: Tensor, indices: Sequence[Tensor], sizes: Sequence[int]) -> list[Array]:
    """The first entry along each axis of a part of these sizes, one number or one for each device: clamped to where the part
    fits."""
    found = []
    for axis, (index, size) in enumerate(zip(indices, sizes, strict=True)):
        numbers = indices_of(operation, known(index, f"{operation}: an index").reshape(-1))
        clamped = np.clip(numbers, 0, x.shape[axis] - size)
        require_units(x, axis, [size, *np.unique(clamped).tolist()])
        found.append((clamped if (clamped != clamped[0]).any() else clamped[:1]) // x.scale[axis])
    return found


@move("stablehlo.dynamic_slice")
def _dynamic_slice(operation: HloOperation, operands: list[Tensor], grain: int) -> Tensor:
    x, *indices = operands
    sizes = operation.attributes["slice_sizes"]
    array = x.array
    for axis, start in enumerate(starts_of(operation, x, indices, sizes)):
        size = sizes[axis] // x.scale[axis]
        if len(start) == 1:
            array = array[(slice(None),) * (axis + 1) + (slice(int(start[0]), int(start[0]) + size),)]
        else:
            place = (start[:, None] + np.arange(size)).reshape(len(start), *(1,) * axis, size, *(1,) * (array.ndim - axis - 2))
            array = np.take_along_axis(broadcast(array, len(start)), place, axis + 1)
    return x.moved(array, operation.types[0], grain)


@move("stablehlo.dynamic_update_slice")
def _dynamic_update_slice(operation: HloOperation, operands: list[Tensor], grain: int) -> Tensor:
    x, part, *indices = operands
    if 0 not in part.shape and part.units != x.units:
        raise FinerError(_common(x, part))
    starts = starts_of(operation, x, indices, part.shape)
    lead = max(x.array.shape[0], part.array.shape[0], *(len(one) for one in starts), 1)
    hold(8 * lead * prod(x.array.shape[1:]), f"{operation} on an array of shape {x.shape}")
    array = broadcast(x.array, lead).copy()
    count = array.ndim
    places = [np.arange(lead).reshape(lead, *(1,) * (count - 1))]
    for axis, (start, size) in enumerate(zip(starts, part.array.shape[1:], strict=True)):
        place = start[:, None] + np.arange(size)
        places.append(place.reshape(len(start), *(1,) * axis, size, *(1,) * (count - axis - 2)))
    array[tuple(places)] = part.array
    return x.moved(array, operation.types[0], grain)


def _common(x: Tensor, other: Tensor) -> int:
    """Elements of blocks that fit both: those of the last axes that are whole in both, and a part of the one before them."""
    inner = 1
    for size, part in zip(reversed(x.shape), reversed(other.shape), strict=False):
        if size != part:
            return inner * gcd(size, part)
        inner *= size
    return inner


@move("stablehlo.concatenate")
def _concatenate(operation: HloOperation, operands: list[Tensor], grain: int) -> Tensor:
    axis, kind = operation.attributes["dimension"], operation.types[0]
    parts = [one for one in operands if one.shape[axis]] or operands[:1]
    if operands[0].is_data:
        units = units_of(kind.shape, grain)
        if 0 not in kind.shape and any(one.units != units for one in parts):
            raise FinerError(prod(kind.shape[axis + 1 :]) * gcd(*(one.shape[axis] for one in parts)))
    lead = max(one.array.shape[0] for one in parts)
    hold(8 * lead * sum(prod(one.array.shape[1:]) for one in parts), f"{operation} to a shape {kind.shape}")
    return parts[0].moved(np.concatenate([broadcast(one.array, lead) for one in parts], axis + 1), kind, grain)


def padded(operation: HloOperation, x: Tensor, fill: int | float | complex, grain: int) -> Tensor:
    """The result of a padding with a number, or with an event."""
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    kind, target, source = operation.types[0], [slice(None)], [slice(None)]
    units = units_of(kind.shape, grain) if x.is_data else (1,) * len(kind.shape)
    if 0 not in x.shape and x.units not in (None, units):
        raise FinerError(_common(x, Tensor(x.array, kind)))
    for axis, (low, high, inside) in enumerate(zip(*(operation.attributes[name] for name in names), strict=True)):
        require_units(x, axis, (low, high, 1 if inside else 0))
        unit, size = units[axis], x.shape[axis] // units[axis]
        first = -(-max(0, -low // unit) // (inside + 1))
        begin, end = low // unit + first * (inside + 1), kind.shape[axis] // unit
        count = max(0, min(size - first, -(-(end - begin) // (inside + 1))))
        target.append(slice(begin, begin + (count - 1) * (inside + 1) + 1 if count else begin, inside + 1))
        source.append(slice(first, first + count))
    shape = [size // unit for size, unit in zip(kind.shape, units, strict=True)]
    hold(8 * x.array.shape[0] * prod(shape), f"{operation} to a shape {kind.shape}")
    array = np.full((x.array.shape[0], *shape), fill, x.array.dtype)
    array[tuple(target)] = x.array[tuple(source)]
    return x.moved(array, kind, grain)


@move("stablehlo.transpose")
def _transpose(operation: HloOperation, operands: list[Tensor], grain: int) -> Tensor:
    (x,), order = operands, operation.attributes["permutation"]
    found = x.array.transpose(0, *(axis + 1 for axis in order))
    if x.is_data and 0 not in x.shape:
        axes = [axis for axis in range(len(x.shape)) if x.shape[axis] > 1]  # others may go anywhere
        after = [axis for axis in order if x.shape[axis] > 1]
        kept = 1
        for axis, other in zip(reversed(axes), reversed(after), strict=True):
            if axis != other:
                break
            kept *= x.shape[axis]
        if kept % grain:
            raise FinerError(kept)
    return x.moved(found, operation.types[0], grain)


@move("stablehlo.broadcast_in_dim")
def _broadcast(operation: HloOperation, operands: list[Tensor], grain: int) -> Tensor:
    (x,), axes, kind = operands, operation.attributes["broadcast_dimensions"], operation.types[0]
    if any(one >= two for one, two in pairwise(axes)):
        raise InputError(f"{operation}: axes {list(axes)} change their order")
    units = units_of(kind.shape, grain) if x.is_data else (1,) * len(kind.shape)
    if x.is_data and 0 not in kind.shape:
        own = dict(zip(axes, zip(x.shape, x.scale, strict=True), strict=True))
        pairs = [(own.get(axis, (1, 1)), (size, units[axis])) for axis, size in enumerate(kind.shape)]
        if any(mine[1] != due[1] or (due[1] > 1 and mine != due) for mine, due in pairs):
            raise FinerError(_trailing(x.shape, axes, kind.shape))
    shape = [1] * len(kind.shape)
    for axis, size in zip(axes, x.array.shape[1:], strict=True):
        shape[axis] = size
    target = [size // unit for size, unit in zip(kind.shape, units, strict=True)]
    array = np.broadcast_to(x.array.reshape(x.array.shape[0], *shape), (x.array.shape[0], *target))
    return Tensor(array, kind, units if x.is_data else None)


def _trailing(shape: Sequence[int], axes: Sequence[int], target: Sequence[int]) -> int:
    """The number of elements of the last axes that are the same in a tensor and in its broadcast."""
    found = 1
    for back, axis in enumerate(reversed(axes), 1):
        if axis != len(target) - back or shape[len(axes) - back] != target[axis]:
            break
        found *= target[axis]
    return found
