"""Operations on numbers that are known: indices, tables, conditions. Whole numbers wrap around as StableHLO says."""

from collections.abc import Callable
from typing import Any

import numpy as np

from certree.extras.xla.check.hlo.tensors import INTEGERS, Array, Tensor, elementwise
from certree.extras.xla.model.hlo import HloOperation
from certree.models.common.errors import InputError

COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
}  # fmt: skip


def _divided(one: Array, two: Array) -> Array:
    """Rounded towards zero; -1 (all ones) where the divisor is 0."""
    safe = np.where(two == 0, 1, two).astype(two.dtype)
    found = np.floor_divide(one, safe)
    found = found + ((found < 0) & (found * safe != one)).astype(found.dtype)
    return np.where(two == 0, np.array(-1).astype(found.dtype), found).astype(one.dtype)


def _remainder(one: Array, two: Array) -> Array:
    """With the sign of the dividend; the dividend where the divisor is 0."""
    return np.where(two == 0, one, np.fmod(one, np.where(two == 0, 1, two).astype(two.dtype))).astype(one.dtype)


def _power(one: Array, two: Array) -> Array:
    return np.where(two < 0, 0, np.power(one, np.maximum(two, 0))).astype(one.dtype)


def _shifted(function: Callable[[Array, Array], Array], kind: str, *, keeps_sign: bool = False) -> Callable[[Array, Array], Array]:
    """A shift of whole numbers taken as signed ("i") or unsigned ("u"); by all bits or more it leaves zeros, or the sign."""

    def shift(one: Array, two: Array) -> Array:
        size = one.dtype.itemsize
        whole, most = one.view(f"{kind}{size}"), 8 * size - 1
        fits = (two >= 0) & (two <= most)
        found = function(whole, np.where(fits, two, most).astype(whole.dtype))
        return (found if keeps_sign else np.where(fits, found, 0)).astype(one.dtype)

    return shift


WHOLE: dict[str, Callable[..., Array]] = {
    "stablehlo.add": lambda a, b: np.logical_or(a, b) if a.dtype == bool else a + b,
    "stablehlo.subtract": np.subtract,
    "stablehlo.multiply": lambda a, b: np.logical_and(a, b) if a.dtype == bool else a * b,
    "stablehlo.divide": _divided,
    "stablehlo.remainder": _remainder,
    "stablehlo.maximum": np.maximum,
    "stablehlo.minimum": np.minimum,
    "stablehlo.power": _power,
    "stablehlo.and": np.bitwise_and,
    "stablehlo.or": np.bitwise_or,
    "stablehlo.xor": np.bitwise_xor,
    "stablehlo.not": np.invert,
    "stablehlo.negate": np.negative,
    "stablehlo.abs": np.abs,
    "stablehlo.sign": np.sign,
    "stablehlo.shift_left": _shifted(np.left_shift, "u"),
    "stablehlo.shift_right_arithmetic": _shifted(np.right_shift, "i", keeps_sign=True),
    "stablehlo.shift_right_logical": _shifted(np.right_shift, "u"),
    "stablehlo.clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
}


def dtype_of(element: str) -> Any:
    """The type in which numpy holds such elements: whole numbers as they are, others in double precision."""
    return np.dtype(INTEGERS.get(element, "complex128" if element.startswith("complex") else "float64"))


def whole(operation: HloOperation, operands: list[Tensor]) -> Array:
    """The result of an operation on whole numbers."""
    if any(one.type.element not in INTEGERS for one in operands):
        raise InputError(f"{operation}: computes with constants of {operands[0].type.element}, which is not judged")
    return elementwise(WHOLE[operation.name], [one.array for one in operands])


def compared(operation: HloOperation, operands: list[Tensor]) -> Array:
    """The result of a comparison."""
    return elementwise(COMPARISONS[operation.attributes["comparison_direction"]], [one.array for one in operands])


def converted(array: Array, element: str) -> Array:
    """Known numbers as another type: to i1 whether they are not 0."""
    if element == "i1":
        return elementwise(lambda a: a != 0, [array])
    return elementwise(lambda a: a.astype(dtype_of(element)), [array])
