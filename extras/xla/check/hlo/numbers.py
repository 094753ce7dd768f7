"""Operations on numbers that are known: indices, tables, conditions. Whole numbers wrap around as StableHLO says."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from certree.extras.xla.check.hlo.tensors import INTEGERS, Array, Tensor, compact, elementwise
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
    if (two < 0).any():
        raise InputError("a power with a negative exponent")
    return np.power(one, two).astype(one.dtype)


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


#: operations on truth values that are those of StableHLO
_LOGICAL = {f"stablehlo.{name}" for name in ("add", "multiply", "maximum", "minimum", "and", "or", "xor", "not")}


@dataclass(frozen=True, slots=True)
class _Float:
    """A floating-point type. `digits`: bits of the significand; `least`: the exponent of the least normal number; `most`: the
    largest number."""

    digits: int
    least: int
    most: float
    has_infinity: bool = True

    def holds(self, numbers: Array) -> bool:
        """Whether these are numbers of the type; NaN is one of each."""
        known = numbers[~np.isnan(numbers)]
        if np.isinf(known).any() and not self.has_infinity:
            return False
        known = known[np.isfinite(known)]
        unit = np.maximum(np.frexp(known)[1] - self.digits, self.least - self.digits + 1)
        scaled = np.ldexp(known, -unit)
        return bool((np.abs(known) <= self.most).all() and (scaled == np.trunc(scaled)).all())


_FLOATS = {
    "f64": _Float(53, -1022, float(np.finfo(np.float64).max)),
    "f32": _Float(24, -126, float(np.finfo(np.float32).max)),
    "f16": _Float(11, -14, 65504.0),
    "bf16": _Float(8, -126, 255.0 * 2**120),
    "f8E5M2": _Float(3, -14, 57344.0),
    "f8E4M3": _Float(4, -6, 240.0),
    "f8E4M3FN": _Float(4, -6, 448.0, has_infinity=False),
}


def dtype_of(element: str) -> Any:
    """The type in which numpy holds such elements: whole numbers as they are, others in double precision. InputError for types
    whose numbers are not supported."""
    if element in _FLOATS:
        return np.dtype("float64")
    if element in ("complex<f32>", "complex<f64>"):
        return np.dtype("complex128")
    if element not in INTEGERS:
        raise InputError(f"numbers of type {element}, which are not supported")
    return np.dtype(INTEGERS[element])


def indices_of(operation: HloOperation, array: Array) -> Array:
    """Known numbers as indices. InputError for unsigned ones that are negative as signed ones: XLA takes these as before the start
    where they are constants, and beyond the end where they are not."""
    if array.dtype.kind == "u" and (array > np.iinfo(array.dtype).max // 2).any():
        raise InputError(f"{operation}: an unsigned index of {int(array.max())}, which may be taken as negative")
    return array.astype(np.int64)


def whole(operation: HloOperation, operands: list[Tensor]) -> Array:
    """The result of an operation on whole numbers."""
    if any(one.type.element not in INTEGERS for one in operands):
        raise InputError(f"{operation}: computes with constants of {operands[0].type.element}, which is not supported")
    if operation.name not in _LOGICAL and any(one.type.element == "i1" for one in operands):
        raise InputError(f"{operation}: of truth values is not supported")
    axes = max(len(one.shape) for one in operands)  # the bounds of a clamp may be one number for all elements
    arrays = [one.array if one.shape or not axes else one.array.reshape(-1, *(1,) * axes) for one in operands]
    try:
        return elementwise(WHOLE[operation.name], arrays)
    except InputError as error:
        raise InputError(f"{operation}: {error}") from None


def compared(operation: HloOperation, operands: list[Tensor]) -> Array:
    """The result of a comparison."""
    if operation.attributes.get("compare_type") == "TOTALORDER":
        raise InputError(f"{operation}: the total order of floating-point numbers is not supported")
    return elementwise(COMPARISONS[operation.attributes["comparison_direction"]], [one.array for one in operands])


def converted(array: Array, element: str) -> Array:
    """Known numbers as another type: to i1 whether they are not 0. InputError where a floating-point number is not the same."""
    if element == "i1":
        return elementwise(lambda a: a != 0, [array])
    target = dtype_of(element)
    if "c" in (array.dtype.kind, target.kind):
        if array.dtype != target:
            raise InputError(f"complex numbers become {element}, or others become complex; that is not supported")
    elif "f" in (array.dtype.kind, target.kind):
        require_exact(array, element)
    return elementwise(lambda a: a.astype(target), [array])


def require_exact(array: Array, element: str) -> None:
    """Raise InputError where a type does not have these numbers exactly."""
    small, target = compact(array), dtype_of(element)
    if small.dtype.kind == "f" and target.kind in "iu":
        limits = np.iinfo(target)
        # the bounds of 64 bits are not numbers of double precision: what is compared is the next power of two
        fits = np.isfinite(small) & (small >= float(limits.min)) & (small < 2.0 ** int(limits.max).bit_length())
        is_exact = bool(fits.all()) and bool((small == np.trunc(small)).all())
    elif target.kind == "f":
        is_small = small.dtype.kind not in "iu" or bool(((small <= 1 << 53) & (small >= -(1 << 53))).all())
        is_exact = is_small and _FLOATS[element].holds(small.astype(np.float64))
    else:
        return
    if not is_exact:
        raise InputError(f"numbers that {element} does not have exactly, which are rounded; that is not supported")
