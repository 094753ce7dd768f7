"""Cycles of a layer on systolic arrays, from its shape, in closed form.

An array of R x C units multiplies matrices fold by fold: `across` outputs or operands at a time along its rows, `along` along its
columns, `deep` cycles a fold. A convolution of a sample has oh·ow positions, K = fh·fw·c products each, and F filters:

| | positions | products | filters |
|---|---|---|---|
| forward | oh·ow | fh·fw·c | F |
| input gradient, a transposed convolution | h·w | fh·fw·F | c |
| weight gradient | fh·fw·c | oh·ow | F |

| dataflow | across rows | along columns | cycles of a fold |
|---|---|---|---|
| output stationary | positions | filters | products |
| weight stationary | products | filters | positions |
| input stationary | products | positions | filters |

With double buffering folds follow each other without a gap, and the array fills once; otherwise each fold has to fill, run and
drain: 2R + C + deep - 2 cycles, the form of SCALE-Sim's analytical mode. Its cycle-accurate mode (3.0.0) counts the same where
weights or inputs stay, and R fewer for each fold where outputs do, as they drain while the next fold begins. Filters stay within
the input, as in SCALE-Sim 1; 3.0.0 adds a row and a column of positions where the stride does not divide what is left.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from certree.extras.training.model.accelerators.accelerator import Accelerator
from certree.models.common.fields import Positive
from certree.models.schedule.timing import ceil_div


class Dataflow(StrEnum):
    """The operand that stays in the array."""

    OUTPUT = "output-stationary"
    WEIGHT = "weight-stationary"
    INPUT = "input-stationary"


@dataclass(frozen=True)
class SystolicArrays(Accelerator):
    """Systolic arrays of `rows` x `columns` units. `batch` samples are dealt to the `arrays`, whose gradients are then added:
    `lanes` numbers a cycle in each array, for each a share of the numbers."""

    rows: int = 32
    columns: int = 32
    arrays: int = 1
    clock_hertz: Positive = Fraction(10**9)
    dataflow: Dataflow = Dataflow.OUTPUT
    double_buffered: bool = True
    batch: int = 1
    element_bytes: int = 4

    @property
    def title(self) -> str:
        """Such as `16 arrays of 32x32 units at 1 GHz, output-stationary`."""
        count = f"{self.arrays} arrays of " if self.arrays > 1 else ""
        return f"{count}{self.rows}x{self.columns} units at {float(self.clock_hertz / 10**9):.6g} GHz, {self.dataflow}"

    def product(self, positions: int, products: int, filters: int, kept: int = 0) -> int:
        """The number of cycles of a matrix product in one array; memory takes no time."""
        rows, columns, deep = {
            Dataflow.OUTPUT: (positions, filters, products),
            Dataflow.WEIGHT: (products, filters, positions),
            Dataflow.INPUT: (products, positions, filters),
        }[self.dataflow]
        folds = ceil_div(rows, self.rows) * ceil_div(columns, self.columns)
        if not self.double_buffered:
            return folds * (deep + 2 * self.rows + self.columns - 2)
        if self.dataflow is Dataflow.OUTPUT:
            return folds * deep + self.rows + self.columns - 2
        return folds * max(deep, self.rows) + 2 * self.rows + self.columns - 2  # the next operand loads during a fold

    def addition(self, numbers: int) -> int:
        """The number of cycles to add up as many numbers of all arrays: each adds a share of them, a row of numbers a cycle."""
        if self.arrays == 1:
            return 0
        return ceil_div(ceil_div(numbers, self.arrays), self.columns) * self.arrays
