"""A transformer by formula: the layers of one node under tensor, data, pipeline and expert parallelism.

A block has the matrix products of attention and of a perceptron, of which a node has 1/tensor. The perceptron is four times as wide
as the model, or `inner`; a gated one has a second product of that width. Of the key and value heads there may be fewer than
of the others (`kv_heads`). With `experts` each token passes `active` perceptrons of them, and all get as many tokens; a node has
experts/expert of them. For s tokens a sequence, b sequences a micro-batch and width d, activations are s·b·d numbers. Collectives
of a block:

- tensor: an all-reduce of the activations behind the projection and behind the contraction, backward in front of both halves and
  of the vocabulary; `active` times the activations around experts of other nodes
- expert: an all-to-all of the activations, `active` times, in front of the perceptron and behind it, the same backward
- data: an all-reduce of the weight gradients of each layer; experts have gradients over data/expert nodes
- pipeline: the activations to the next stage, and their gradients back: a broadcast between two nodes

With pipeline parallelism the stage is the last one, which has the vocabulary and sets the pace. Embeddings, routers of experts,
norms, biases and softmax are left out, as are optimizer steps; products of attention are counted without the half that a causal
mask would leave out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from certree.extras.training.model.accelerators.accelerator import Accelerator
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
    inner: FromZero = 0  # width of the perceptron; 0: four times that of the model
    gated: FromZero = 0  # 1: the perceptron has a gate
    kv_heads: FromZero = 0  # heads of keys and values; 0: as many as others
    experts: FromZero = 0  # perceptrons of a block, of which a token passes `active`; 0: one at each node of the group
    active: int = 1

    @property
    def local(self) -> int:
        """The number of experts of a node."""
        return max(1, self.experts // self.expert)

    def require_possible(self, where: str) -> None:
        """Raise InputError where a number is not a multiple of the number of its parts, such as layers of pipeline stages."""
        for whole, part in (
            ("layers", "pipeline"), ("width", "heads"), ("heads", "tensor"), ("kv_heads", "tensor"), ("inner", "tensor"),
            ("batch", "micro_batches"), ("data", "expert"), ("experts", "expert"),
        ):  # fmt: skip
            if getattr(self, whole) % getattr(self, part):
                raise InputError(f"{where}: {whole}={getattr(self, whole)} is not a multiple of {part}={getattr(self, part)}")
        if self.kv_heads and self.heads % self.kv_heads:
            raise InputError(f"{where}: heads={self.heads} is not a multiple of kv_heads={self.kv_heads}")
        if self.gated > 1:
            raise InputError(f"{where}: gated={self.gated}; allowed: 0 or 1")
        if self.active > 1 and self.active > self.experts:
            raise InputError(
                f"{where}: a token passes active={self.active} of experts={self.experts}; allowed: at most all of them"
            )


def parse_transformer(text: str, accelerator: Accelerator, stated: Mapping[str, Any] | None = None) -> Workload:
    """The workload of `transformer:layers=24,width=1024,heads=16,sequence=512`, with more fields of `Transformer`.

    The name may be another one; `stated` are fields of the model that the text changes."""
    fields: dict[str, str] = {}
    _, _, entries = text.partition(":")
    for entry in entries.split(",") if entries or stated is None else ():
        field, equals, value = entry.partition("=")
        if not (field and equals) or field in fields:
            raise InputError(f"{text}: {entry!r}: expected NAME=NUMBER, every name once")
        fields[field] = value
    model = Fields({**(stated or {}), **fields}, text, quotes_optional=True).read(Transformer)
    model.require_possible(text)
    return transformer_workload(model, accelerator, text)


def transformer_workload(model: Transformer, accelerator: Accelerator, name: str = "transformer") -> Workload:
    """The layers of one node of one stage. Cycles by `accelerator`, whose arrays share each product's rows."""
    block = _Blocks(model, accelerator)
    layers = [layer for number in range(model.layers // model.pipeline) for layer in block.layers(f"{number}.")]
    if model.vocabulary:
        layers.append(
            block.dense("vocabulary", model.width, ceil_div(model.vocabulary, model.tensor), {"input_gradient": "tensor"})
        )
    if model.pipeline > 1:
        sent = block.exchange(CollectiveKind.BROADCAST, "pipeline")
        layers.append(Layer("stage", sent, sent, Part()))
    groups = {"tensor": model.tensor, "data": model.data, "expert": model.expert, "pipeline": min(model.pipeline, 2)}
    groups |= {"expert data": model.data // model.expert}
    used = {found.group for layer in layers for part in _parts(layer) if (found := part.communication) is not None}
    return Workload(
        name, Loop.HYBRID, accelerator.clock_hertz, tuple(layers), "by formula", samples=model.batch, stages=model.pipeline,
        micro_batches=model.micro_batches, groups={group: size for group, size in groups.items() if group in used},
        accelerator=accelerator.title,
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

    def exchange(self, kind: CollectiveKind, group: str, times: int = 1) -> Part:
        """A collective of N times the activations of a micro-batch; nothing in a group of one node."""
        one = getattr(self.model, group) == 1
        size = times * self.tokens * self.model.width * self.accelerator.element_bytes
        return Part(0, None if one else Communication(kind, size, group))

    def layers(self, prefix: str) -> list[Layer]:
        """The layers of a block."""
        model, tensor = self.model, self.model.tensor
        width, own, before, behind = model.width, model.width // tensor, {"input_gradient": "tensor"}, {"forward": "tensor"}
        kept = width // model.heads * (model.kv_heads or model.heads) // tensor
        return [
            self.dense(f"{prefix}qkv", width, own + 2 * kept, before),
            self.products(f"{prefix}scores", width // model.heads, model.sequence),
            self.products(f"{prefix}context", model.sequence, width // model.heads),
            self.dense(f"{prefix}projection", own, width, behind),
            *self.perceptrons(prefix),
        ]

    def perceptrons(self, prefix: str) -> list[Layer]:
        """The perceptron of a block, or the experts of a node, which get the tokens that were sent to them."""
        model, before, behind = self.model, {"input_gradient": "tensor"}, {"forward": "tensor"}
        wide = (model.inner or _WIDER * model.width) // model.tensor
        group = "expert data" if model.expert > 1 else "data"
        layers = [
            self.dense(f"{prefix}expand", model.width, (1 + model.gated) * wide, before, group, model.local),
            self.dense(f"{prefix}contract", wide, model.width, behind, group, model.local),
        ]
        if model.expert == 1:
            return layers
        moved = self.exchange(CollectiveKind.ALL_TO_ALL, "expert", model.active)
        return [Layer(f"{prefix}dispatch", moved, moved, Part()), *layers, Layer(f"{prefix}combine", moved, moved, Part())]

    def dense(
        self, name: str, wide: int, filters: int, tensor: Mapping[str, str] | None = None, group: str = "data", copies: int = 0
    ) -> Layer:
        """A product with weights; `tensor`: the part behind which activations are summed. With `copies`, as many experts, to which
        each token goes `active` times."""
        times = self.model.active if copies and self.model.expert > 1 else 1
        sums = {
            part: self.exchange(CollectiveKind.ALL_REDUCE, "tensor", times).communication
            for part in ("forward", "input_gradient")
            if part in (tensor or {})
        }
        members = self.model.data // self.model.expert if group == "expert data" else self.model.data
        size = max(1, copies) * wide * filters * self.accelerator.element_bytes
        gradients = Communication(CollectiveKind.ALL_REDUCE, size, group) if members > 1 else None
        each = max(1, copies)
        tokens = ceil_div(self.tokens * self.model.active, each) if copies else self.tokens
        return Layer(
            name,
            Part(each * self._cycles(tokens, wide, filters), sums.get("forward")),
            Part(each * self._cycles(tokens, filters, wide), sums.get("input_gradient")),
            Part(each * self._weight_gradient(tokens, wide, filters), gradients),
        )

    def products(self, name: str, wide: int, filters: int) -> Layer:
        """The products of the heads of a node: `sequence` rows each; backward one for each of the two operands. Scores, one for
        each pair of tokens, stay in the accelerator."""
        copies = self.model.batch // self.model.micro_batches * (self.model.heads // self.model.tensor)
        rows, product = self.model.sequence, self.accelerator.product
        each, kept = ceil_div(copies, self.accelerator.arrays), rows**2
        return Layer(
            name,
            Part(each * product(rows, wide, filters, kept)),
            Part(each * product(rows, filters, wide, kept)),
            Part(each * product(wide, rows, filters, kept)),
        )

    def _weight_gradient(self, tokens: int, wide: int, filters: int) -> int:
        """Each array has the tokens of its rows; the gradients of all arrays are added."""
        array = self.accelerator
        return array.product(wide, ceil_div(tokens, array.arrays), filters) + array.addition(wide * filters)

    def _cycles(self, rows: int, wide: int, filters: int) -> int:
        return self.accelerator.product(ceil_div(rows, self.accelerator.arrays), wide, filters)
