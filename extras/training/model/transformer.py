"""A transformer by formula: the layers of one node under tensor, data, pipeline and expert parallelism.

A block has the matrix products of attention and of a perceptron four times as wide as the model, of which a node has 1/tensor. For
s tokens a sequence, b sequences a micro-batch and width d, activations are s·b·d numbers. Collectives of a block:

- tensor: an all-reduce of the activations behind the projection and behind the contraction, backward in front of both halves
- expert: an all-to-all of the activations in front of the perceptron and behind it, the same backward (one expert for a token)
- data: an all-reduce of the weight gradients of each layer; experts have gradients over data/expert nodes
- pipeline: the activations to the next stage, and their gradients back: a broadcast between two nodes

Embeddings, norms, biases and softmax are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from certree.extras.training.model.systolic import Accelerator
from certree.extras.training.model.workload import Communication, Layer, Loop, Part, Workload
from certree.models.common.errors import InputError
from certree.models.common.fields import Fields, FromZero
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.timing import ceil_div

TRANSFORMER = "transformer:"
_WIDER = 4  # the perceptron than the model


@dataclass(frozen=True)
class Transformer:
    """The model and how it is cut; `batch` sequences of a node in an iteration, in `micro_batches`."""

    layers: int
    width: int
    heads: int
    sequence: int
    batch: int = 1
    tensor: int = 1
    data: int = 1
    pipeline: int = 1
    expert: int = 1
    micro_batches: int = 1
    vocabulary: FromZero = 0

    def require_divisible(self, where: str) -> None:
        """InputError for parts that are not whole."""
        for whole, part in (
            ("layers", "pipeline"), ("width", "heads"), ("heads", "tensor"), ("batch", "micro_batches"), ("data", "expert"),
        ):  # fmt: skip
            if getattr(self, whole) % getattr(self, part):
                raise InputError(f"{where}: {whole}={getattr(self, whole)} is not a multiple of {part}={getattr(self, part)}")


def parse_transformer(text: str, accelerator: Accelerator) -> Workload:
    """The workload of `transformer:layers=24,width=1024,heads=16,sequence=512`, with more fields of `Transformer`."""
    fields: dict[str, str] = {}
    for entry in text.removeprefix(TRANSFORMER).split(","):
        name, equals, value = entry.partition("=")
        if not (name and equals) or name in fields:
            raise InputError(f"{text}: {entry!r}: expected NAME=NUMBER, every name once")
        fields[name] = value
    model = Fields(fields, text, quotes_optional=True).read(Transformer)
    model.require_divisible(text)
    return transformer_workload(model, accelerator, text)


def transformer_workload(model: Transformer, accelerator: Accelerator, name: str = "transformer") -> Workload:
    """The layers of one node of one stage. Cycles by `accelerator`, whose arrays share each product's rows."""
    block = _Blocks(model, accelerator)
    layers = [layer for number in range(model.layers // model.pipeline) for layer in block.layers(f"{number}.")]
    if model.vocabulary:
        layers.append(block.dense("vocabulary", model.width, ceil_div(model.vocabulary, model.tensor)))
    if model.pipeline > 1:
        sent = block.exchange(CollectiveKind.BROADCAST, "pipeline")
        layers.append(Layer("stage", sent, sent, Part()))
    groups = {"tensor": model.tensor, "data": model.data, "expert": model.expert, "pipeline": min(model.pipeline, 2)}
    groups |= {"expert data": model.data // model.expert}
    used = {found.group for layer in layers for part in _parts(layer) if (found := part.communication) is not None}
    return Workload(
        name, Loop.HYBRID, accelerator.clock_hertz, tuple(layers), "by formula", samples=model.batch, stages=model.pipeline,
        micro_batches=model.micro_batches, groups={group: size for group, size in groups.items() if group in used},
    )  # fmt: skip


def _parts(layer: Layer) -> tuple[Part, ...]:
    return layer.forward, layer.input_gradient, layer.weight_gradient


@dataclass(frozen=True)
class _Blocks:
    model: Transformer
    accelerator: Accelerator

    @property
    def tokens(self) -> int:
        return self.model.sequence * self.model.batch // self.model.micro_batches

    def exchange(self, kind: CollectiveKind, group: str, cycles: int = 0) -> Part:
        """A collective of the activations of a micro-batch; nothing in a group of one node."""
        one = getattr(self.model, group) == 1
        size = self.tokens * self.model.width * self.accelerator.element_bytes
        return Part(cycles, None if one else Communication(kind, size, group))

    def layers(self, prefix: str) -> list[Layer]:
        model, tensor = self.model, self.model.tensor
        width, inner, own = model.width, _WIDER * model.width // tensor, model.width // tensor
        before, behind = {"input_gradient": "tensor"}, {"forward": "tensor"}
        group = "expert data" if model.expert > 1 else "data"
        attention = [
            self.dense(f"{prefix}qkv", width, 3 * own, before),
            self.products(f"{prefix}scores", width // model.heads, model.sequence),
            self.products(f"{prefix}context", model.sequence, width // model.heads),
            self.dense(f"{prefix}projection", own, width, behind),
        ]
        perceptron = [
            self.dense(f"{prefix}expand", width, inner, before, group),
            self.dense(f"{prefix}contract", inner, width, behind, group),
        ]
        if model.expert > 1:
            moved = self.exchange(CollectiveKind.ALL_TO_ALL, "expert")
            perceptron = [
                Layer(f"{prefix}dispatch", moved, moved, Part()), *perceptron, Layer(f"{prefix}combine", moved, moved, Part()),
            ]  # fmt: skip
        return attention + perceptron

    def dense(self, name: str, wide: int, filters: int, tensor: Mapping[str, str] | None = None, group: str = "data") -> Layer:
        """A product with weights; `tensor`: the part behind which activations are summed."""
        sums = {
            part: self.exchange(CollectiveKind.ALL_REDUCE, "tensor").communication
            for part in ("forward", "input_gradient")
            if part in (tensor or {})
        }
        members = self.model.data // self.model.expert if group == "expert data" else self.model.data
        size = wide * filters * self.accelerator.element_bytes
        gradients = Communication(CollectiveKind.ALL_REDUCE, size, group) if members > 1 else None
        return Layer(
            name,
            Part(self._cycles(self.tokens, wide, filters), sums.get("forward")),
            Part(self._cycles(self.tokens, filters, wide), sums.get("input_gradient")),
            Part(self._weight_gradient(wide, filters), gradients),
        )

    def products(self, name: str, wide: int, filters: int) -> Layer:
        """The products of the heads of a node: `sequence` rows each; backward one for each of the two operands."""
        copies = self.model.batch // self.model.micro_batches * (self.model.heads // self.model.tensor)
        rows = self.model.sequence
        each = ceil_div(copies, self.accelerator.arrays)
        return Layer(
            name,
            Part(each * self.accelerator.product(rows, wide, filters)),
            Part(each * self.accelerator.product(rows, filters, wide)),
            Part(each * self.accelerator.product(wide, rows, filters)),
        )

    def _weight_gradient(self, wide: int, filters: int) -> int:
        """Each array has the tokens of its rows; the gradients of all arrays are added."""
        array = self.accelerator
        return array.product(wide, ceil_div(self.tokens, array.arrays), filters) + array.addition(wide * filters)

    def _cycles(self, rows: int, wide: int, filters: int) -> int:
        return self.accelerator.product(ceil_div(rows, self.accelerator.arrays), wide, filters)
