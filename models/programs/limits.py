"""Limits of MSCCL's executor (Azure/msccl-executor-nccl, `msccl_struct.h` and `msccl_parser.cc`)."""

from collections import Counter
from collections.abc import Iterator

from certree.models.programs.program import Program

MOST_STEPS = 64  # of a thread block; 256 in microsoft/msccl
MOST_COUNT = 72  # chunks of a step are fewer
MOST_CHANNELS = 32
MOST_ELEMENTS = 4096  # that a rank reads: all gpus, and its own thread blocks and steps
MOST_BLOCKS = 32  # that send, or that receive, on one channel of a rank
MOST_AWAITED = 128  # thread blocks of a rank that others can wait for: their numbers have 8 bits


def limits(program: Program, most_steps: int = MOST_STEPS) -> Iterator[str]:
    """A sentence for every limit that a program exceeds, with the limit and the number. O(steps)."""
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
                if not 1 <= step.count < MOST_COUNT:
                    yield f"{where}, step {index}: {step.count} chunks; the executor takes 1 to {MOST_COUNT - 1}"
                if step.waits_for is not None and step.waits_for[0] >= MOST_AWAITED:
                    yield f"{where}, step {index}: waits for thread block {step.waits_for[0]}; numbers are below {MOST_AWAITED}"
