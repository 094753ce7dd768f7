"""The order in which one iteration computes, asks for collectives and waits for them.

As in the training loops of ASTRA-sim 1.0, on which published studies rest. Before each layer of the forward pass the collective of
its weight gradient of the iteration before has ended. Then, by loop:

- data: from the last layer, the weight gradient, its collective (not waited for), the input gradient
- model, hybrid: a forward collective is waited for at once. Backward, the input gradient, its collective, the weight gradient and
  its collective; then the collective of the input gradient is waited for. The first layer has none
- dlrm: as data; the collective of layer 0 (embeddings) is waited for behind layer `last_bottom`, that of its input gradient is
  asked for behind the input gradient of the layer after it, and waited for at the end. Both go before all others

- trace: what the workload lists

In a pipeline every micro-batch makes a pass; the last one asks for the collectives of weight gradients, which are sums over all.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from certree.extras.training.model.workload import Act, Loop, Phase, Workload

USUAL, FIRST = 0, 1  # priorities of collectives


@dataclass(frozen=True)
class Instruction:
    """An act on the part of a layer, in `times` copies or of a priority."""

    act: Act
    layer: int
    phase: Phase
    priority: int = USUAL
    times: int = 1


def iteration(workload: Workload) -> Iterator[Instruction]:
    """All instructions of one iteration, in order."""
    yield from (Instruction(act, layer, Phase.FORWARD) for act, layer in workload.acts)
    if workload.loop is Loop.TRACE:
        return
    for micro_batch in range(workload.micro_batches):
        yield from _one_pass(workload, last=micro_batch == workload.micro_batches - 1)
        if micro_batch == 0 and workload.stages > 1:
            yield Instruction(Act.IDLE, 0, Phase.FORWARD, times=workload.stages - 1)


def last_waits(workload: Workload) -> Iterator[Instruction]:
    """The instructions that wait for collectives at the end of the last iteration."""
    for layer, entry in enumerate(workload.layers):
        if entry.weight_gradient.communication is not None:
            yield Instruction(Act.WAIT, layer, Phase.WEIGHT_GRADIENT)


def _one_pass(workload: Workload, *, last: bool) -> Iterator[Instruction]:
    backward = _model_backward if workload.loop in (Loop.MODEL, Loop.HYBRID) else _data_backward
    for layer in range(len(workload.layers)):
        yield from _forward(workload, layer)
    for layer in reversed(range(len(workload.layers))):
        yield from backward(workload, layer, last)


def _forward(workload: Workload, layer: int) -> Iterator[Instruction]:
    entry, embedding = workload.layers[layer], workload.loop is Loop.DLRM and layer == 0
    if entry.weight_gradient.communication is not None:
        yield Instruction(Act.WAIT, layer, Phase.WEIGHT_GRADIENT)
    yield Instruction(Act.COMPUTE, layer, Phase.FORWARD)
    if entry.forward.communication is not None:
        yield Instruction(Act.ASK, layer, Phase.FORWARD, FIRST if embedding else USUAL)
        if not embedding:
            yield Instruction(Act.WAIT, layer, Phase.FORWARD)
    if layer == workload.last_bottom and workload.layers[0].forward.communication is not None:
        yield Instruction(Act.WAIT, 0, Phase.FORWARD)


def _data_backward(workload: Workload, layer: int, last: bool) -> Iterator[Instruction]:
    entry = workload.layers[layer]
    yield Instruction(Act.COMPUTE, layer, Phase.WEIGHT_GRADIENT)
    if last and entry.weight_gradient.communication is not None:
        yield Instruction(Act.ASK, layer, Phase.WEIGHT_GRADIENT)
    if workload.computes_input_gradient(layer):
        yield Instruction(Act.COMPUTE, layer, Phase.INPUT_GRADIENT)
    if workload.last_bottom is not None and workload.layers[0].input_gradient.communication is not None:
        if layer == workload.last_bottom + 1:
            yield Instruction(Act.ASK, 0, Phase.INPUT_GRADIENT, FIRST)
        elif layer == 0:
            yield Instruction(Act.WAIT, 0, Phase.INPUT_GRADIENT)


def _model_backward(workload: Workload, layer: int, last: bool) -> Iterator[Instruction]:
    entry = workload.layers[layer]
    waits = layer > 0 and entry.input_gradient.communication is not None
    yield Instruction(Act.COMPUTE, layer, Phase.INPUT_GRADIENT)
    if waits:
        yield Instruction(Act.ASK, layer, Phase.INPUT_GRADIENT, FIRST)
    yield Instruction(Act.COMPUTE, layer, Phase.WEIGHT_GRADIENT)
    if last and entry.weight_gradient.communication is not None:
        yield Instruction(Act.ASK, layer, Phase.WEIGHT_GRADIENT)
    if waits:
        yield Instruction(Act.WAIT, layer, Phase.INPUT_GRADIENT)
