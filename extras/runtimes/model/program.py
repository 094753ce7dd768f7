"""Programs: for each rank its buffers, and thread blocks that execute steps one after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from certree.extras.runtimes.model.roles import EVERYONE, Roles
from certree.models.schedule.collective import CollectiveKind


class Buffer(StrEnum):
    """The buffers of a rank; offsets in them are in chunks."""

    INPUT = "i"
    OUTPUT = "o"
    SCRATCH = "s"


class StepType(StrEnum):
    """The kind of a step. Fused steps use what they receive without storing it first.

    `receives`, `sends`: whether a message comes in and goes out. `reads`, `writes`: whether it reads `src` and writes `dst`. What a
    step with `adds` sends and stores is `src` + incoming; of `re` it is dst + src.
    """

    SEND = "s"
    RECEIVE = "r"
    RECEIVE_COPY_SEND = "rcs"
    RECEIVE_REDUCE_SEND = "rrs"
    RECEIVE_REDUCE_COPY = "rrc"
    RECEIVE_REDUCE_COPY_SEND = "rrcs"
    COPY = "cpy"
    REDUCE = "re"
    NOTHING = "nop"

    @property
    def receives(self) -> bool:
        """Whether a message comes in."""
        return self.value.startswith("r") and self is not StepType.REDUCE

    @property
    def sends(self) -> bool:
        """Whether a message goes out."""
        return self.value.endswith("s")

    @property
    def adds(self) -> bool:
        """Whether it adds to something."""
        return self.value.startswith("rr") or self is StepType.REDUCE

    @property
    def reads(self) -> bool:
        """Whether it reads `src`."""
        return self in (StepType.SEND, StepType.COPY) or self.adds

    @property
    def writes(self) -> bool:
        """Whether it writes `dst`."""
        return self not in (StepType.SEND, StepType.RECEIVE_REDUCE_SEND, StepType.NOTHING)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `count` chunks from offset `src_offset` of `src` and to offset `dst_offset` of `dst`.

    `waits_for`: (thread block, step) of the same rank that must be over before it starts, or None. `is_awaited`: whether it
    signals its end; a step that others wait for must.
    """

    type: StepType
    src: Buffer = Buffer.INPUT
    src_offset: int = -1
    dst: Buffer = Buffer.OUTPUT
    dst_offset: int = -1
    count: int = 1
    waits_for: tuple[int, int] | None = None
    is_awaited: bool = False


@dataclass(frozen=True, slots=True)
class ThreadBlock:
    """Steps in their order. `send` and `receive`: the one rank that it sends to and the one that it receives from, or -1."""

    send: int
    receive: int
    channel: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Rank:
    """The sizes of the three buffers in chunks, and the thread blocks."""

    inputs: int
    outputs: int
    scratch: int
    blocks: tuple[ThreadBlock, ...]

    def size(self, buffer: Buffer) -> int:
        """The number of chunks of a buffer."""
        return {Buffer.INPUT: self.inputs, Buffer.OUTPUT: self.outputs, Buffer.SCRATCH: self.scratch}[buffer]


@dataclass(frozen=True)
class Program:
    """A collective of all ranks, or as `roles` say. Messages between two ranks on one channel stay in order.

    The runtime executes it once for each piece of `chunks_per_loop` parts, one after the other, with every part of a message of
    `min_bytes` to `max_bytes` (0: no limit). `in_place`, `out_of_place`: how the caller's buffers may lie (`layout`). `lacks`: what
    a file leaves out, or writes otherwise, that its executor requires and its meaning does not need, a sentence each. `lines`:
    by (rank, thread block, number) the line of a step in its file.
    """

    name: str
    kind: CollectiveKind
    protocol: str
    channels: int
    chunks_per_loop: int
    in_place: bool
    out_of_place: bool
    min_bytes: int
    max_bytes: int
    ranks: tuple[Rank, ...]
    roles: Roles = EVERYONE
    lacks: tuple[str, ...] = ()
    lines: Mapping[tuple[int, int, int], int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def modes(self) -> tuple[bool, ...]:
        """The layouts of the buffers that are allowed: True for in place."""
        return (False,) * self.out_of_place + (True,) * self.in_place

    def steps(self) -> Iterator[tuple[int, int, int, Step]]:
        """(rank, thread block, number, step) of every step."""
        for rank, owner in enumerate(self.ranks):
            for number, block in enumerate(owner.blocks):
                for index, step in enumerate(block.steps):
                    yield rank, number, index, step
