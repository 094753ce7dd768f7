"""Limits of MSCCL's executor (Azure/msccl-executor-nccl, `msccl_struct.h` and `msccl_parser.cc`) and of that of MSCCL++
(microsoft/mscclpp, `execution_common.hpp`, `execution_kernel.hpp` and `execution_plan.cc`)."""

from collections import Counter
from collections.abc import Iterator

from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.plan import MEMORY, PORT, Operation, OpName, Plan
from certree.extras.runtimes.model.program import Program, StepType

MOST_STEPS = 64  # of a thread block
MORE_STEPS = 256  # in microsoft/msccl
#: executors of programs in MSCCL's XML, and the steps of a thread block that each takes
EXECUTORS = {"msccl-0.7.4": MORE_STEPS, "rccl": MOST_STEPS}
PLAN_EXECUTOR = "mscclpp-0.9"
MOST_COUNT = 72  # chunks of a step are fewer
MOST_CHANNELS = 32
MOST_ELEMENTS = 4096  # that a rank reads: all gpus, and its own thread blocks and steps
MOST_BLOCKS = 32  # that send, or that receive, on one channel of a rank
MOST_AWAITED = 128  # thread blocks of a rank that others can wait for: their numbers have 8 bits

MOST_OPERATIONS = 64  # of a thread block of a plan, those in loops included
MOST_BLOCK_CHANNELS = 16  # of one type, that a thread block of a plan uses
MOST_OPERATION_CHANNELS = 8
MOST_SPANS = 10  # sources, and targets, of one operation
MOST_BARRIERS = 16  # of a rank of a plan
MOST_OPERATION_SEMAPHORES = 16


def limits(program: Program, most_steps: int = MOST_STEPS) -> Iterator[str]:
    """A sentence for every limit that a program exceeds, with the limit and the number. O(steps)."""
    if most_steps == MOST_STEPS:
        yield from program.lacks
    if program.channels > MOST_CHANNELS:
        yield f"{program.channels} channels; the executor has {MOST_CHANNELS}"
    for rank, owner in enumerate(program.ranks):
        elements = 1 + len(program.ranks) + sum(1 + len(block.steps) for block in owner.blocks)
        if elements > MOST_ELEMENTS:
            yield f"rank {rank} reads {elements} XML elements; the executor reads {MOST_ELEMENTS}"
        for what in ("send", "receive"):
            used = Counter(block.channel for block in owner.blocks if getattr(block, what) >= 0)
            for channel, count in used.items():
                if count > MOST_BLOCKS:
                    blocks = f"{count} thread blocks that {what} on channel {channel}"
                    yield f"rank {rank} has {blocks}; the executor takes {MOST_BLOCKS}"
        for number, block in enumerate(owner.blocks):
            where = f"rank {rank}, thread block {number}"
            if block.channel >= min(program.channels, MOST_CHANNELS):
                yield f"{where}: channel {block.channel}; the file has {program.channels}, the executor {MOST_CHANNELS}"
            if len(block.steps) > most_steps:
                yield f"{where}: {len(block.steps)} steps; the executor takes {most_steps}"
            for index, step in enumerate(block.steps):
                if step.type is not StepType.NOTHING and not 1 <= step.count < MOST_COUNT:
                    yield f"{where}, step {index}: {step.count} chunks; the executor takes 1 to {MOST_COUNT - 1}"
                if step.waits_for is not None and step.waits_for[0] >= MOST_AWAITED:
                    yield f"{where}, step {index}: waits for thread block {step.waits_for[0]}; numbers are below {MOST_AWAITED}"


def plan_limits(plan: Plan) -> Iterator[str]:
    """A sentence for every limit of its executor that a plan exceeds. O(operations)."""
    if plan.is_old:
        yield "a file as of 2024, which the executor does not read: channels say which buffers they join"
    for rank, owner in enumerate(plan.ranks):
        yield from _size_limits(plan, rank)
        for number, block in enumerate(owner.blocks):
            where = f"rank {rank}, thread block {number}"
            many = sum(1 + len(one.body) for one in block)
            if many > MOST_OPERATIONS:
                yield f"{where}: {many} operations; the executor takes {MOST_OPERATIONS}"
            used = [inner for one in block for inner in (one, *one.body)]
            for kind in (MEMORY, PORT):
                channels = {channel for one in used for channel in one.channels if channel[0] == kind}
                if len(channels) > MOST_BLOCK_CHANNELS:
                    yield f"{where}: {len(channels)} {kind} channels; the executor takes {MOST_BLOCK_CHANNELS}"
            for index, one in enumerate(block):
                for inner in (one, *one.body):
                    for sentence in _operation_limits(inner, plan.alignment):
                        yield f"{where}, operation {index} ({inner.name}): {sentence}"


def _size_limits(plan: Plan, rank: int) -> Iterator[str]:
    root = 0 if plan.roles.members is None else plan.roles.members[0]
    owner, layout = plan.ranks[rank], Layout(plan.kind, len(plan.ranks), plan.chunks_per_loop, root, plan.roles)
    sizes = [layout.sizes(one) for one in layout.members]
    expected = max(inputs for inputs, _ in sizes), max(outputs for _, outputs in sizes)
    for what, has, due in (("input", owner.inputs, expected[0]), ("output", owner.outputs, expected[1])):
        if has != due:
            yield f"rank {rank} has {has} {what} chunks; {plan.kind} of {plan.chunks_per_loop} chunks has {due}, all of one size"


def _operation_limits(one: Operation, alignment: int) -> Iterator[str]:
    if len(one.channels) > MOST_OPERATION_CHANNELS:
        yield f"{len(one.channels)} channels; the executor takes {MOST_OPERATION_CHANNELS}"
    if max(len(one.src), len(one.dst)) > MOST_SPANS:
        yield f"{max(len(one.src), len(one.dst))} buffers; the executor takes {MOST_SPANS}"
    if len(one.semaphores) > MOST_OPERATION_SEMAPHORES:
        yield f"{len(one.semaphores)} semaphores; the executor takes {MOST_OPERATION_SEMAPHORES}"
    if one.name is OpName.BARRIER and one.barrier >= MOST_BARRIERS:
        yield f"barrier {one.barrier}; the executor has {MOST_BARRIERS}"
    if one.name in (OpName.PUT_SIGNAL, OpName.PUT_SIGNAL_FLUSH, OpName.FLUSH) and one.channel_type == MEMORY:
        yield "for port channels only; the executor gives no signal on a memory channel"
    if one.name is OpName.GET and any(src.offset != dst.offset for src, dst in zip(one.src, one.dst, strict=True)):
        yield "from one offset to another one; the executor exchanges the two"
    if one.name is OpName.PUT and one.channel_type == MEMORY and len({span.buffer for span in one.src}) > 1:
        yield "sources in several buffers; the executor reads all from the first one's"
    if one.name is OpName.LOOP and one.unit_bytes % alignment:
        yield f"{one.unit_bytes} bytes at a time; expected a multiple of {alignment}"
