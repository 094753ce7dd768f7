"""Execution plans: for each rank thread blocks whose operations also read and write the buffers of other ranks.

Source: microsoft/mscclpp 0.9, `src/core/executor` and `src/core/include/execution_kernel.hpp`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from certree.extras.runtimes.model.program import Buffer
from certree.extras.runtimes.model.roles import EVERYONE, Roles
from certree.models.schedule.collective import CollectiveKind

#: (type of channel, the rank at its other end, which of several between the two)
Channel = tuple[str, int, int]
MEMORY, PORT, SWITCH = "memory", "port", "switch"


class OpName(StrEnum):
    """The kind of an operation. The threads of a block execute operations without waiting for each other: only after `nop` and
    `barrier` everything before is over in all of them."""

    NOTHING = "nop"
    BARRIER = "barrier"
    PUT = "put"
    PUT_SIGNAL = "pws"
    PUT_SIGNAL_FLUSH = "pwsf"
    GET = "get"
    COPY = "copy"
    SIGNAL = "signal"
    WAIT = "wait"
    RELAXED_SIGNAL = "rlxsignal"
    RELAXED_WAIT = "rlxwait"
    FLUSH = "flush"
    REDUCE = "re"
    REDUCE_SEND = "res"
    READ_REDUCE = "rre"
    READ_REDUCE_SEND = "rres"
    SWITCH_REDUCE_STORE = "glres"
    SWITCH_STORE = "gstore"
    SWITCH_STORE_PACKETS = "gstorepkt"
    ACQUIRE = "sem_acquire"
    RELEASE = "sem_release"
    LOOP = "pipeline"
    PUT_PACKETS = "ppkt"
    READ_PUT_PACKETS = "rppkt"
    COPY_PACKETS = "cpkt"
    UNPACK_PACKETS = "upkt"
    REDUCE_PACKETS = "repkt"
    REDUCE_COPY_PACKETS = "recpkt"
    REDUCE_SEND_PACKETS = "respkt"
    REDUCE_COPY_SEND_PACKETS = "recspkt"

    @property
    def signals(self) -> bool:
        """Whether it signals on its channels."""
        return self in (OpName.SIGNAL, OpName.RELAXED_SIGNAL, OpName.PUT_SIGNAL, OpName.PUT_SIGNAL_FLUSH)

    @property
    def waits(self) -> bool:
        """Whether it waits for a signal on each of its channels."""
        return self in (OpName.WAIT, OpName.RELAXED_WAIT)

    @property
    def puts(self) -> bool:
        """Whether it copies each source to the target of the same number."""
        return self in (OpName.PUT, OpName.PUT_SIGNAL, OpName.PUT_SIGNAL_FLUSH, OpName.GET, OpName.COPY) or self in _PACKET_COPIES

    @property
    def adds(self) -> bool:
        """Whether it adds up its sources and stores the sum in all of its targets."""
        return self in (OpName.REDUCE, OpName.REDUCE_SEND, OpName.READ_REDUCE, OpName.READ_REDUCE_SEND) or self in _PACKET_SUMS

    @property
    def reads_packets(self) -> tuple[bool, bool]:
        """Whether the first of its sources, and whether the others, are packets: data with flags, for which it waits."""
        first = self in (OpName.READ_PUT_PACKETS, OpName.UNPACK_PACKETS)
        return first, first or self in _PACKET_SUMS

    @property
    def writes_packets(self) -> tuple[bool, bool]:
        """Whether the first of its targets, and whether the others, become packets."""
        first = self in (OpName.PUT_PACKETS, OpName.READ_PUT_PACKETS, OpName.COPY_PACKETS, OpName.SWITCH_STORE_PACKETS)
        return first, first or self in _PACKET_SUMS

    @property
    def switches(self) -> bool:
        """Whether a switch reads, or writes, the same place of all ranks of a group."""
        return self in (OpName.SWITCH_REDUCE_STORE, OpName.SWITCH_STORE, OpName.SWITCH_STORE_PACKETS)


_PACKET_COPIES = (OpName.PUT_PACKETS, OpName.READ_PUT_PACKETS, OpName.COPY_PACKETS, OpName.UNPACK_PACKETS)
_PACKET_SUMS = (
    OpName.REDUCE_PACKETS,
    OpName.REDUCE_COPY_PACKETS,
    OpName.REDUCE_SEND_PACKETS,
    OpName.REDUCE_COPY_SEND_PACKETS,
)


@dataclass(frozen=True, slots=True)
class Span:
    """`count` chunks from `offset` of a buffer of a rank; of a group of ranks where `group` is their number among the groups."""

    rank: int
    buffer: Buffer
    offset: int
    count: int = 1
    group: int = -1


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `part`: (number, of how many) thread blocks that do it together. `body`, `unit_bytes`, `loop_chunks`: the
    operations of a loop, the bytes of each chunk that one iteration handles, and the chunks that the loop is about."""

    name: OpName
    src: tuple[Span, ...] = ()
    dst: tuple[Span, ...] = ()
    channels: tuple[Channel, ...] = ()
    channel_type: str = ""
    part: tuple[int, int] = (0, 1)
    barrier: int = 0
    blocks: int = 0
    semaphores: tuple[int, ...] = ()
    body: tuple["Operation", ...] = ()
    unit_bytes: int = 0
    loop_chunks: int = 1


@dataclass(frozen=True, slots=True)
class PlanRank:
    """The sizes of the buffers in chunks, the operations of each thread block, first values of semaphores, groups of ranks whose
    buffer (of this kind) a switch reads and writes as one, and how many channels of each type there are to each rank."""

    inputs: int
    outputs: int
    scratch: int
    blocks: tuple[tuple[Operation, ...], ...]
    semaphores: tuple[int, ...] = ()
    groups: tuple[tuple[Buffer, tuple[int, ...]], ...] = ()

    def size(self, buffer: Buffer) -> int:
        """The number of chunks of a buffer."""
        return {Buffer.INPUT: self.inputs, Buffer.OUTPUT: self.outputs, Buffer.SCRATCH: self.scratch}[buffer]


@dataclass(frozen=True)
class Plan:
    """A collective of all ranks, or as `roles` say, for messages of `min_bytes` to `max_bytes` whose chunks are multiples of
    `alignment` bytes. `alternates`: whether calls in turn use two halves of scratch. `is_old`: whether its file is as of 2024."""

    name: str
    kind: CollectiveKind
    protocol: str
    in_place: bool
    min_bytes: int
    max_bytes: int
    alignment: int
    threads: int
    reuses_resources: bool
    ranks: tuple[PlanRank, ...]
    roles: Roles = EVERYONE
    alternates: bool = False
    is_old: bool = False

    @property
    def chunks_per_loop(self) -> int:
        """The number of chunks of the message, as `layout` counts them: in a gather and a scatter those of one block."""
        sizes = max(rank.inputs for rank in self.ranks), max(rank.outputs for rank in self.ranks)
        return min(sizes) if self.kind in (CollectiveKind.GATHER, CollectiveKind.SCATTER) else max(sizes)

    def operations(self) -> Iterator[tuple[int, int, int, Operation]]:
        """(rank, thread block, number, operation) of every operation, those in loops with the number of their loop."""
        for rank, owner in enumerate(self.ranks):
            for block, operations in enumerate(owner.blocks):
                for number, operation in enumerate(operations):
                    yield rank, block, number, operation
                    for inner in operation.body:
                        yield rank, block, number, inner
