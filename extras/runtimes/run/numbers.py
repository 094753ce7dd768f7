"""Elements of messages: types and operations, with one result for each, bit for bit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[Any]

#: name -> type of numpy; bfloat16 are the upper halves of float32
TYPES: dict[str, Any] = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16, "int32": np.int32}
OPERATIONS: dict[str, np.ufunc] = {"sum": np.add, "max": np.maximum, "min": np.minimum}


def combined(kind: str, operation: str, first: Vector, second: Vector) -> Vector:
    """The elements of both, combined one by one and rounded to the type: to the nearest, ties to even."""
    if kind != "bfloat16":
        with np.errstate(over="ignore"):
            result: Vector = OPERATIONS[operation](first, second)
            return result
    wide = OPERATIONS[operation](_widened(first), _widened(second))
    return narrowed(wide)


def contribution(kind: str, rank: int, chunk: int, count: int, seed: int = 0) -> Vector:
    """The input of a rank for a chunk: pseudo-random, the same ones for the same numbers. int32 so small that sums fit."""
    drawn = np.random.default_rng((seed, rank, chunk))
    if kind == "int32":
        return drawn.integers(-(1 << 20), 1 << 20, count, dtype=np.int32)
    values = drawn.standard_normal(count, dtype=np.float32)
    return narrowed(values) if kind == "bfloat16" else values.astype(TYPES[kind])


def narrowed(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """bfloat16 of float32, rounded to the nearest, ties to even. For finite values."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def _widened(values: Vector) -> NDArray[np.float32]:
    return (values.astype(np.uint32) << 16).view(np.float32)


def exact(kind: str, values: Vector) -> NDArray[np.float64]:
    """The values as float64, which holds each of them exactly."""
    return (_widened(values) if kind == "bfloat16" else values).astype(np.float64)
