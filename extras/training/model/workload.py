"""Workloads: the layers of a network under training, what each computes, and what it communicates."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from certree.models.common.errors import InputError
from certree.models.common.shown import Shown
from certree.models.schedule.collective import CollectiveKind

EVERYWHERE = "all"  # the group of a collective of all nodes
BITS = 62  # of cycles and bytes in files
MOST = (1 << BITS) - 1


class Phase(StrEnum):
    """The three computations of a layer in a pass."""

    FORWARD = "forward"
    INPUT_GRADIENT = "input-gradient"
    WEIGHT_GRADIENT = "weight-gradient"


class Loop(StrEnum):
    """The order in which a pass computes, asks for collectives and waits for them (`extras/training/model/passes.py`)."""

    DATA = "data"
    MODEL = "model"
    HYBRID = "hybrid"
    DLRM = "dlrm"
    TRACE = "trace"  # that of a trace of one node, which a workload lists itself


class Act(StrEnum):
    """The kind of an instruction."""

    COMPUTE = "compute"
    ASK = "ask"
    WAIT = "wait"
    IDLE = "idle"  # as long as `times` times the micro-batch that has just ended: the pipeline fills and drains


@dataclass(frozen=True, order=True)
class Communication:
    """A collective of the nodes of a group: bytes as `models/schedule/collective.py` counts those of a message.

    `demand`: of an alltoallv, which is an all-to-all, the bytes that endpoint number i has for endpoint number j; those of the
    message are all of them but each endpoint's own (`alltoallv`).
    """

    kind: CollectiveKind
    bytes: int
    group: str = EVERYWHERE
    demand: tuple[tuple[int, ...], ...] = ()

    def pieces(self, number: int) -> list["Communication"]:
        """The collective in up to `number` pieces of about the same size, one after the other; none is empty."""
        if self.demand:
            cut = [tuple(tuple(_cut(amount, number)[one] for amount in row) for row in self.demand) for one in range(number)]
            return [piece for piece in (alltoallv(amounts, self.group) for amounts in cut) if piece.bytes]
        return [replace(self, bytes=size) for size in _cut(self.bytes, number) if size]


def _cut(size: int, number: int) -> list[int]:
    """A size in that many parts, which differ by up to 1."""
    ends = [size * part // number for part in range(number + 1)]
    return [end - begin for begin, end in pairwise(ends)]


def alltoallv(amounts: tuple[tuple[int, ...], ...], group: str = EVERYWHERE) -> Communication:
    """The all-to-all with these bytes for each other endpoint."""
    moved = sum(sum(row) - row[number] for number, row in enumerate(amounts))
    return Communication(CollectiveKind.ALL_TO_ALL, moved, group, amounts)


def together(found: Iterable[Communication]) -> list[Communication]:
    """One collective in place of those of each kind and group, with the bytes of all of them."""
    merged: dict[tuple[CollectiveKind, str, int], Communication] = {}
    for one in found:
        key = one.kind, one.group, len(one.demand)
        before = merged.get(key)
        if before is None:
            merged[key] = one
        else:
            rows = zip(before.demand, one.demand, strict=True)
            amounts = tuple(tuple(map(sum, zip(*pair, strict=True))) for pair in rows)
            merged[key] = replace(one, bytes=before.bytes + one.bytes, demand=amounts)
    return list(merged.values())


@dataclass(frozen=True)
class Part:
    """A computation of a layer in cycles of the accelerator, and the collective that its result needs."""

    cycles: int = 0
    communication: Communication | None = None


@dataclass(frozen=True)
class Layer:
    """A layer. `update_cycles` pass between the end of each of its collectives and the use of the result."""

    name: str
    forward: Part
    input_gradient: Part
    weight_gradient: Part
    update_cycles: int = 0

    def part(self, phase: Phase) -> Part:
        """The computation of a phase."""
        return {
            Phase.FORWARD: self.forward, Phase.INPUT_GRADIENT: self.input_gradient, Phase.WEIGHT_GRADIENT: self.weight_gradient,
        }[phase]  # fmt: skip

    @property
    def cycles(self) -> int:
        """The number of cycles of all three computations."""
        return self.forward.cycles + self.input_gradient.cycles + self.weight_gradient.cycles


@dataclass(frozen=True, repr=False)
class Workload(Shown):
    """A workload of one node.

    `samples`: of an iteration at a node, None where it is not known. `last_bottom`: of a DLRM loop, the number of the layer behind
    which the all-to-all of layer 0 is waited for. `first_input_gradient`: whether the data loop computes that of layer 0.
    `stages` and `micro_batches`: of a pipeline; the layers are those of one stage, for one micro-batch. `groups`: how many nodes
    take part in a collective of each group; groups without an entry have all nodes. `acts`: of a trace loop, what is done in turn,
    each on the forward part of the layer of that number. `accelerator`: what computes it; empty where a file states cycles.
    """

    shown: ClassVar[Mapping[str, str]] = {
        "layers": "layers", "loop": "loop", "cycles": "cycles", "gradient bytes": "gradient_bytes",
    }  # fmt: skip

    name: str
    loop: Loop
    clock_hertz: Fraction
    layers: tuple[Layer, ...]
    source: str = ""
    samples: int | None = None
    last_bottom: int | None = None
    first_input_gradient: bool = False
    stages: int = 1
    micro_batches: int = 1
    groups: Mapping[str, int] = field(default_factory=dict)
    acts: tuple[tuple[Act, int], ...] = ()
    accelerator: str = ""

    def __post_init__(self) -> None:
        if not self.layers:
            raise InputError(f"{self.name}: no layers; a workload has 1 or more")
        if (self.loop is Loop.DLRM) != (self.last_bottom is not None):
            raise InputError(f"{self.name}: last_bottom is for the dlrm loop, which needs it; loop is {self.loop}")
        if self.last_bottom is not None and not 0 < self.last_bottom < len(self.layers) - 1:
            raise InputError(f"{self.name}: last_bottom is {self.last_bottom}; allowed: 1 to {len(self.layers) - 2}")
        if self.loop is Loop.DATA:
            self._require_weight_gradients_only()

    def _require_weight_gradients_only(self) -> None:
        for layer in self.layers:
            if layer.forward.communication or layer.input_gradient.communication:
                raise InputError(
                    f"{self.name}: layer {layer.name}: the data loop has collectives of weight gradients only; take loop hybrid"
                )

    def facts(self) -> dict[str, object]:
        """Layers, the loop, cycles and bytes of gradients."""
        return super().facts() | {"layers": len(self.layers)}

    @property
    def computed_by(self) -> str:
        """Behind the word computed: by an accelerator, or in cycles that the workload states."""
        clock = f"{float(self.clock_hertz / 10**9):.6g} GHz"
        return f"by {self.accelerator}" if self.accelerator else f"in the cycles of the workload, at {clock}"

    @property
    def cycles(self) -> int:
        """The number of cycles of an iteration of one stage, without what its loop leaves out."""
        return self.micro_batches * sum(layer.cycles for layer in self.layers)

    @property
    def gradient_bytes(self) -> int:
        """The number of bytes of the collectives of weight gradients."""
        parts = (layer.weight_gradient.communication for layer in self.layers)
        return sum(part.bytes for part in parts if part is not None)

    def communications(self) -> Iterator[Communication]:
        """The collectives of an iteration, layer by layer; several may be equal."""
        for layer in self.layers:
            for phase in Phase:
                found = layer.part(phase).communication
                if found is not None:
                    yield found

    def scaled(self, compute: Fraction) -> "Workload":
        """The workload where all computations take `compute` times as long."""
        return replace(self, clock_hertz=self.clock_hertz / compute)

    def all_at_the_end(self) -> "Workload":
        """The workload with one collective of each kind and group for all weight gradients, asked for behind the last computation
        of a pass, by layers without computation in front of the others (in a DLRM loop by layer 0)."""
        if self.loop is Loop.TRACE:
            raise InputError(f"{self.name}: a trace has no gradients that could wait for the end; leave no-overlap out")
        found = [layer.weight_gradient.communication for layer in self.layers]
        merged = together(one for one in found if one is not None)
        first, *others = [replace(layer, weight_gradient=Part(layer.weight_gradient.cycles)) for layer in self.layers]
        if self.loop is Loop.DLRM:
            if len(merged) > 1:
                raise InputError(f"{self.name}: its weight gradients have {len(merged)} kinds of collectives; allowed: 1")
            first = replace(first, weight_gradient=Part(first.weight_gradient.cycles, *merged))
            return replace(self, layers=(first, *others))
        computed = first.input_gradient.cycles if self.computes_input_gradient(0) else 0
        first = replace(first, input_gradient=Part(computed))  # whose collective layer 0 of a pass does without
        gathered = [Layer("all gradients", Part(), Part(), Part(0, communication)) for communication in merged]
        return replace(self, layers=(*gathered, first, *others))

    def computes_input_gradient(self, layer: int) -> bool:
        """Whether a pass computes the input gradient of that layer."""
        return layer > 0 or self.loop in (Loop.MODEL, Loop.HYBRID) or self.first_input_gradient
