"""Chips by their published peaks: a product takes as long as its operations or its memory traffic, whichever is longer.

For a product of P x K by K x F numbers of e bytes, a chip of peak p for that size of number and memory bandwidth m:

    seconds = max(2 P K F / (p efficiency), e (P K + K F + P F) / m)

rounded up to whole nanoseconds. Each operand is read once and the result written once, except for what stays on the chip: the
scores of attention, whose two products are one kernel. With the default efficiency of 1 this is
less than any such chip needs: what a kernel attains of the peak is not published for all shapes, so none is assumed.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated

from certree.extras.training.model.accelerators.accelerator import Accelerator
from certree.models.common.errors import InputError
from certree.models.common.fields import Limits

NANOSECONDS = 10**9


@dataclass(frozen=True)
class Chip(Accelerator):
    """A chip. `operations_per_second`: by the bytes of a number, multiplications and additions counted as two."""

    name: str
    memory_bytes_per_second: Fraction
    operations_per_second: Mapping[int, Fraction] = field(default_factory=dict)
    efficiency: Annotated[Fraction, Limits(0, 1, above=True)] = Fraction(1)
    batch: int = 1
    element_bytes: int = 2
    arrays = 1
    clock_hertz = Fraction(NANOSECONDS)

    def __post_init__(self) -> None:
        if self.element_bytes not in self.operations_per_second:
            known = ", ".join(map(str, sorted(self.operations_per_second)))
            raise InputError(f"{self.name}: no peak for numbers of {self.element_bytes} bytes; give element_bytes, one of {known}")

    @property
    def title(self) -> str:
        """Such as `h100 at its peak of 989.4 Tflop/s for numbers of 2 bytes`."""
        peak = float(self.operations_per_second[self.element_bytes] / 10**12)
        share = "" if self.efficiency == 1 else f"{float(self.efficiency):.4g} of "
        return f"{self.name} at {share}its peak of {peak:.6g} Tflop/s for numbers of {self.element_bytes} bytes"

    def product(self, positions: int, products: int, filters: int, kept: int = 0) -> int:
        """The number of nanoseconds of a matrix product."""
        operations = 2 * positions * products * filters
        moved = self.element_bytes * (positions * products + products * filters + positions * filters - kept)
        rate = self.operations_per_second[self.element_bytes] * self.efficiency
        return math.ceil(NANOSECONDS * max(operations / rate, moved / self.memory_bytes_per_second))

    def addition(self, numbers: int) -> int:
        """Nothing: there is one array."""
        return 0
