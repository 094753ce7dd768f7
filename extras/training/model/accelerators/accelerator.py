"""Accelerators: how long each computes a layer, from its shape."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from certree.extras.training.model.workload import EVERYWHERE, Communication, Layer, Part
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.timing import ceil_div


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
        """The number of positions of the output of one sample."""
        along = ceil_div(self.height - self.filter_height + 1, self.stride)
        return along * ceil_div(self.width - self.filter_width + 1, self.stride)

    @property
    def products(self) -> int:
        """The products of one output value."""
        return self.filter_height * self.filter_width * self.channels

    @property
    def weights(self) -> int:
        """All filters, without biases."""
        return self.products * self.filters


class Accelerator(ABC):
    """An accelerator that computes the layers of a workload. `batch` samples are dealt to its `arrays`; numbers have
    `element_bytes`; cycles are those of `clock_hertz`."""

    arrays: int
    clock_hertz: Fraction
    batch: int
    element_bytes: int

    @property
    @abstractmethod
    def title(self) -> str:
        """The title in outputs: its name, or its size and speed."""

    @abstractmethod
    def product(self, positions: int, products: int, filters: int, kept: int = 0) -> int:
        """Cycles of a matrix product, of positions x products by products x filters, in one array. Of operands and result, `kept`
        numbers stay inside from a product before it or for one behind it."""

    @abstractmethod
    def addition(self, numbers: int) -> int:
        """The number of cycles to add up as many numbers of all arrays."""

    @property
    def samples(self) -> int:
        """The samples of the batch in one array, at most."""
        return ceil_div(self.batch, self.arrays)

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
