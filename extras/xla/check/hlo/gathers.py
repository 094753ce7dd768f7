"""Gathers and scatters: parts of an array at places that are known, many at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from certree.extras.xla.check.hlo.moves import broadcast, move
from certree.extras.xla.check.hlo.numbers import indices_of
from certree.extras.xla.check.hlo.tensors import Array, FinerError, Tensor, known, require_units
from certree.extras.xla.model.hlo import HloOperation
from certree.models.common.budget import hold
from certree.models.common.errors import InputError

_NAMES = {
    "stablehlo.gather": ("start_index_map", "operand_batching_dims", "start_indices_batching_dims", "collapsed_slice_dims"),
    "stablehlo.scatter": (
        "scattered_dims_to_operand_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "inserted_window_dims",
    ),
}


class _Places:
    """The places of all parts: by axis of the array an index array over (devices, parts, axes of a part)."""

    def __init__(self, operation: HloOperation, x: Tensor, indices: Tensor, sizes: Sequence[int], *, clamps: bool) -> None:
        kind = "dimension_numbers" if operation.name == "stablehlo.gather" else "scatter_dimension_numbers"
        numbers = operation.attributes[kind]
        to_axis, batching, of_indices, dropped = (numbers[name] for name in _NAMES[operation.name])
        table = indices_of(operation, known(indices, f"{operation}: an index"))
        vector = numbers["index_vector_dim"] + 1
        if vector == table.ndim:
            table = table[..., None]
        table = np.moveaxis(table, vector, -1)
        # the shape of the indices without the axis along which one place is stated
        self.batch = table.shape[1:-1]
        self.lead = table.shape[0]
        self.window = [axis for axis in range(len(x.shape)) if axis not in dropped and axis not in batching]
        count = len(self.batch)
        # of each part whether it lies in the array
        self.inside = np.ones(table.shape[:-1], bool)
        self.axes: list[Array] = []
        order = [axis - (axis > vector - 1) for axis in of_indices]
        for axis, size in enumerate(x.shape):
            part, unit = sizes[axis], x.scale[axis]
            if axis in to_axis:
                start = table[..., to_axis.index(axis)]
                self.inside &= (start >= 0) & (start <= size - part)
                start = np.clip(start, 0, size - part)
            elif axis in batching:
                along = order[batching.index(axis)]
                start = np.arange(size).reshape(1, *(size if at == along else 1 for at in range(count)))
            else:
                start = np.zeros((1,) * (1 + count), np.int64)
            require_units(x, axis, [part, *np.unique(start).tolist()])
            place = (start // unit).reshape(*start.shape, *(1,) * len(self.window))
            if axis in self.window:
                at = self.window.index(axis)
                offsets = np.arange(part // unit).reshape(*(-1 if one == at else 1 for one in range(len(self.window))))
                place = place + offsets.reshape((1,) * (1 + count) + offsets.shape)
            self.axes.append(place)
        if clamps:
            self.inside[:] = True

    def selector(self, lead: int) -> tuple[Array, ...]:
        """The index arrays, with that of the devices first."""
        devices = np.arange(lead).reshape(lead, *(1,) * (len(self.batch) + len(self.window)))
        return (devices, *self.axes)


@move("stablehlo.gather")
def _gather(operation: HloOperation, operands: list[Tensor], grain: int) -> Tensor:
    x, indices = operands
    numbers = operation.attributes["dimension_numbers"]
    places = _Places(operation, x, indices, operation.attributes["slice_sizes"], clamps=True)
    lead = max(x.array.shape[0], places.lead)
    shape = np.broadcast_shapes((lead, *(1,) * (len(places.batch) + len(places.window))), *(one.shape for one in places.axes))
    hold(8 * prod(shape), f"{operation} to a shape {operation.types[0].shape}")
    found = np.broadcast_to(broadcast(x.array, lead)[places.selector(lead)], shape)
    offsets, count = numbers["offset_dims"], len(places.batch)
    order, rest, window = [0], iter(range(1, 1 + count)), iter(range(1 + count, found.ndim))
    order += [next(window) if axis in offsets else next(rest) for axis in range(len(operation.types[0].shape))]
    return x.moved(found.transpose(order), operation.types[0], grain)


@dataclass(frozen=True, slots=True, eq=False)
class Scattered:
    """A copy of an array, the entries of it (row-major) that a scatter writes, in no device twice, and what it brings there. Parts
    that do not lie in the array are left out."""

    array: Array
    places: Array
    values: Array


def scattered(operation: HloOperation, x: Tensor, indices: Tensor, updates: Tensor) -> Scattered:
    """The values that a scatter writes. InputError where two parts have one place."""
    numbers = operation.attributes["scatter_dimension_numbers"]
    windows = numbers["update_window_dims"]
    dropped = {*numbers["inserted_window_dims"], *numbers["input_batching_dims"]}
    kept = iter(windows)
    sizes = [1 if axis in dropped else updates.shape[next(kept)] for axis in range(len(x.shape))]
    places = _Places(operation, x, indices, sizes, clamps=False)
    part = [axis for axis in range(len(updates.shape)) if axis not in windows]
    order = [0, *(axis + 1 for axis in part), *(axis + 1 for axis in windows)]
    lead = max(x.array.shape[0], places.lead, updates.array.shape[0])
    hold(8 * lead * prod(x.array.shape[1:]), f"{operation} on an array of shape {x.shape}")
    array = broadcast(x.array, lead).copy()
    values = broadcast(updates.array.transpose(order), lead)
    selector = np.broadcast_arrays(*places.selector(lead))
    if selector[0].shape[1:] != values.shape[1:]:
        raise FinerError
    inside = places.inside.reshape(*places.inside.shape, *(1,) * (values.ndim - places.inside.ndim))
    inside = np.broadcast_to(inside, values.shape)
    flat = np.ravel_multi_index([np.broadcast_to(one, values.shape)[inside] for one in selector], array.shape)
    if len(np.unique(flat)) < len(flat):
        raise InputError(f"{operation}: two parts for one place, in an order that is not stated")
    return Scattered(array, flat, values[inside])
