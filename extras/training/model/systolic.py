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

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from certree.extras.training.model.workload import EVERYWHERE, Communication, Layer, Part
from certree.models.common.fields import Positive
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.timing import ceil_div


class Dataflow(StrEnum):
    """The operand that stays in the array."""

    OUTPUT = "output-stationary"
    WEIGHT = "weight-stationary"
    INPUT = "input-stationary"


@dataclass(frozen=True)
class Shape:
    """A convolution without padding; a fully connected layer has height and width 1, a matrix product `height` positions."""

    name: str
    height: int
    width: int
    filter_height: int
    filter_width: int
    channels: int
    filters: int
    stride: int = 1

    @property
    def positions(self) -> int:
        """Of the output of one sample."""
        along = ceil_div(self.height - self.filter_height + 1, self.stride)
        return along * ceil_div(self.width - self.filter_width + 1, self.stride)

    @property
    def products(self) -> int:
        """Of one output value."""
        return self.filter_height * self.filter_width * self.channels

    @property
    def weights(self) -> int:
        """All filters, without biases."""
        return self.products * self.filters


@dataclass(frozen=True)
class Accelerator:
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
    def samples(self) -> int:
        """Of the batch in one array, at most."""
        return ceil_div(self.batch, self.arrays)

    def product(self, positions: int, products: int, filters: int) -> int:
        """Cycles of a matrix product in one array."""
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
        """Cycles to add up as many numbers of all arrays: each adds a share of them, a row of numbers a cycle."""
        if self.arrays == 1:
            return 0
        return ceil_div(ceil_div(numbers, self.arrays), self.columns) * self.arrays

    def cycles(self, shape: Shape) -> tuple[int, int, int]:
        """Forward, input gradient and weight gradient with its addition over the arrays."""
        samples = self.samples
        forward = self.product(samples * shape.positions, shape.products, shape.filters)
        back = self.product(
            samples * shape.height * shape.width, shape.filter_height * shape.filter_width * shape.filters, shape.channels
        )
        weight = self.product(shape.products, samples * shape.positions, shape.filters)
        return forward, back, weight + self.addition(shape.weights)


def layer_of(shape: Shape, accelerator: Accelerator, group: str = EVERYWHERE, update_cycles: int = 0) -> Layer:
    """The layer of a shape under data parallelism: an all-reduce of its weight gradients in a group."""
    forward, back, weight = accelerator.cycles(shape)
    gradients = Communication(CollectiveKind.ALL_REDUCE, shape.weights * accelerator.element_bytes, group)
    return Layer(shape.name, Part(forward), Part(back), Part(weight, gradients), update_cycles)


def layers_of(shapes: Sequence[Shape], accelerator: Accelerator) -> tuple[Layer, ...]:
    """A layer for each shape."""
    return tuple(layer_of(shape, accelerator) for shape in shapes)
