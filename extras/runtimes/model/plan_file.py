"""Execution plans of MSCCL++ as JSON, read; `plan_writer` writes them.

Channels of a thread block are numbered by their place in its list, those of a rank by their place among all of one type; the k-th
of one rank to another is joined to the k-th of that one back. Remote buffers are numbered likewise (microsoft/mscclpp 0.9,
`src/core/executor/execution_plan.cc` and `executor.cc`).
"""

from collections import Counter
from typing import Any

from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.old_plan import SIZES as OLD_SIZES
from certree.extras.runtimes.model.old_plan import OldReader, is_old, ranks_of_group
from certree.extras.runtimes.model.plan import MEMORY, PORT, SWITCH, Channel, Operation, OpName, Plan, PlanRank, Span
from certree.extras.runtimes.model.program import Buffer
from certree.extras.runtimes.model.roles import Roles
from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.schedule.collective import ALLTOALLV, CollectiveKind

SUFFIX = ".json"
MAX_BYTES = 1 << 26  # of a file
MAX_RANKS = 1 << 10
MAX_CHUNKS = 1 << 15
MAX_MESSAGE = (1 << 64) - 1
PROTOCOLS = ("Simple", "LL")
COLLECTIVES = {str(kind).replace("-", ""): kind for kind in CollectiveKind} | {ALLTOALLV: CollectiveKind.ALL_TO_ALL}


class PlanFields(Fields):
    """Tables of a plan, which are counted from 0, as their ids are."""

    first = 0


def is_plan(data: bytes) -> bool:
    """Whether a JSON file looks like a plan."""
    return b'"gpus"' in data and b'"protocol"' in data


def plan_of(document: Any, where: str) -> Plan:
    """The plan in a JSON document.

    InputError, with the place in the file, for what is missing, of another type, or no rank, channel, buffer or offset of the file.
    O(operations).
    """
    top, old = PlanFields(document, where), is_old(document)
    name = top.text("colletive" if old and "collective" not in top else "collective", known=COLLECTIVES)  # as plans of 2024 have it
    kind = COLLECTIVES[name]
    gpus = top.tables("gpus", least=2)
    if len(gpus) > MAX_RANKS:
        top.refuse(f"{len(gpus)} gpus; allowed: up to {MAX_RANKS}")
    for number, gpu in enumerate(gpus):
        if gpu.whole("id", 0) != number:
            gpu.refuse(f"id is {gpu.whole('id', 0)}; ranks are listed in their order, and this is number {number}")
    names = OLD_SIZES if old else ("input_chunks", "output_chunks", "scratch_chunks")
    sizes = [tuple(gpu.whole(name, 0, MAX_CHUNKS) for name in names) for gpu in gpus]
    members = top.wholes("members", 0, len(gpus) - 1) if "members" in top else None
    blocks = tuple(gpu.wholes("blocks", 0, MAX_CHUNKS) for gpu in gpus) if name == ALLTOALLV else ()
    plan = Plan(
        name=top.text("name"),
        kind=kind,
        protocol=top.text("protocol", known=PROTOCOLS),
        in_place=top.choice("inplace", (True, False)),
        min_bytes=top.whole("min_message_size", 0, MAX_MESSAGE, default=0),
        max_bytes=top.whole("max_message_size", 0, MAX_MESSAGE, default=MAX_MESSAGE),
        alignment=top.whole("buffer_alignment", 1, 1 << 20, default=16),
        threads=top.whole("num_threads_per_block", 1, 1024, default=1024),
        reuses_resources=top.choice("reuse_resources", (True, False), default=False),
        # in 2024 packets always did, whatever the file says
        alternates=top.choice("use_double_scratch_buffer", (True, False), default=False) or old,
        ranks=tuple((_old_rank if old else _rank)(rank, gpu, sizes) for rank, gpu in enumerate(gpus)),
        roles=Roles(members, blocks),
        is_old=old,
    )
    try:
        Layout(kind, len(gpus), plan.chunks_per_loop, roles=plan.roles)
    except InputError as error:
        top.refuse(str(error))
    return plan


def _rank(number: int, gpu: Fields, sizes: list[tuple[int, ...]]) -> PlanRank:
    return _Reader(number, gpu, sizes).rank()


def _old_rank(number: int, gpu: Fields, sizes: list[tuple[int, ...]]) -> PlanRank:
    rank, operations = OldReader(number, gpu, sizes).rank()
    for table, operation in operations:
        _check(table, operation)
    return rank


class _Reader:
    """Reads one rank. `sizes`: (input, output, scratch) chunks of all ranks."""

    def __init__(self, number: int, gpu: Fields, sizes: list[tuple[int, ...]]) -> None:
        self.number, self.gpu, self.sizes = number, gpu, sizes
        self.channels: dict[str, list[Channel]] = {MEMORY: [], PORT: []}
        self._to_peer = Counter[tuple[str, int]]()  # channels so far
        self.groups: list[tuple[Buffer, tuple[int, ...]]] = []
        for table in gpu.tables("channels"):
            self._channels(table)
        self.remote = [
            (entry.whole("rank", 0, len(sizes) - 1), Buffer(entry.text("type", known=Buffer)))
            for entry in gpu.tables("remote_buffers")
        ]
        self.semaphores = tuple(entry.whole("init_value", 0, 1 << 20) for entry in gpu.tables("semaphores"))

    def rank(self) -> PlanRank:
        """The rank."""
        blocks = []
        for number, block in enumerate(self.gpu.tables("threadblocks")):
            if block.whole("id", 0) != number:
                block.refuse(f"id is {block.whole('id', 0)}; thread blocks are listed in their order, and this is number {number}")
            blocks.append(self._block(block))
        inputs, outputs, scratch = self.sizes[self.number]
        return PlanRank(inputs, outputs, scratch, tuple(blocks), self.semaphores, tuple(self.groups))

    def _channels(self, table: Fields) -> None:
        kind = table.text("channel_type", known=(MEMORY, PORT, SWITCH))
        if kind == SWITCH:
            buffer = Buffer(table.text("buffer_type", known=Buffer))
            groups = table.tables("rank_groups", least=1)
            self.groups += [(buffer, ranks_of_group(group, self.number, len(self.sizes))) for group in groups]
            return
        for peer in table.entries("connected_to", empty=True):
            if type(peer) is not int or not 0 <= peer < len(self.sizes) or peer == self.number:
                table.refuse(f"connected_to has {peer!r}; allowed: ranks 0 to {len(self.sizes) - 1} other than {self.number}")
            self.channels[kind].append((kind, peer, self._to_peer[kind, peer]))
            self._to_peer[kind, peer] += 1

    def _block(self, table: Fields) -> tuple[Operation, ...]:
        own: dict[str, list[int]] = {MEMORY: [], PORT: [], SWITCH: []}
        for entry in table.tables("channels"):
            kind = entry.text("channel_type", known=own)
            there = len(self.groups if kind == SWITCH else self.channels[kind])
            for number in entry.entries("channel_ids", empty=True):
                own[kind].append(self._index(entry, "channel_ids", number, there))
        remote: dict[str, list[int]] = {MEMORY: [], PORT: []}
        for entry in table.tables("remote_buffer_refs"):
            kind = entry.text("access_channel_type", known=remote)
            for number in entry.entries("remote_buffer_ids", empty=True):
                remote[kind].append(self._index(entry, "remote_buffer_ids", number, len(self.remote)))
        return tuple(self._operation(entry, own, remote) for entry in table.tables("ops"))

    def _index(self, table: Fields, name: str, value: Any, count: int) -> int:
        if type(value) is not int or not 0 <= value < count:
            table.refuse(f"{name} has {value!r}; this rank has {count} of them, numbered from 0")
        return int(value)

    def _operation(
        self, table: Fields, own: dict[str, list[int]], remote: dict[str, list[int]], *, inner: bool = False
    ) -> Operation:
        name = OpName(table.text("name", known=OpName))
        kind = table.text("channel_type", default="", known=(*own, "none", ""))
        places = Fields.tables
        src, dst = (
            tuple(self._span(entry, kind, own, remote) for entry in places(table, side)) for side in ("src_buff", "dst_buff")
        )
        channels = []
        if kind in (MEMORY, PORT) and "channel_ids" in table:
            for number in table.entries("channel_ids", empty=True):
                channels.append(self.channels[kind][own[kind][self._index(table, "channel_ids", number, len(own[kind]))]])
        part = (0, 1)
        if "tbg_info" in table:
            info = table.table_of("tbg_info")
            size = info.whole("tbg_size", 1, 64)
            part = (info.whole("tb_id", 0, size - 1), size)
        fields: dict[str, Any] = {}
        if name is OpName.BARRIER:
            fields = {"barrier": table.whole("barrier_id", 0, 1 << 10), "blocks": table.whole("num_threadblocks", 1, 1 << 10)}
        if name in (OpName.ACQUIRE, OpName.RELEASE):
            ids = table.entries("semaphore_ids")
            fields = {"semaphores": tuple(self._index(table, "semaphore_ids", one, len(self.semaphores)) for one in ids)}
        if name is OpName.LOOP:
            if inner:
                table.refuse("a pipeline in a pipeline")
            context = table.table_of("iter_context")
            fields = {
                "unit_bytes": context.whole("unit_size", 1, 1 << 32),
                "loop_chunks": context.whole("num_chunks", 1, MAX_CHUNKS),
                "body": tuple(self._operation(entry, own, remote, inner=True) for entry in table.tables("ops", least=1)),
            }
        operation = Operation(name, src, dst, tuple(channels), kind, part, **fields)
        _check(table, operation)
        return operation

    def _span(self, table: Fields, kind: str, own: dict[str, list[int]], remote: dict[str, list[int]]) -> Span:
        offset, count = table.whole("index", 0, MAX_CHUNKS), table.whole("size", 1, MAX_CHUNKS)
        rank, group = self.number, -1
        if "buffer_id" in table:
            if kind not in remote:
                table.refuse("buffer_id needs an operation with channel_type memory or port")
            rank, buffer = self.remote[remote[kind][self._index(table, "buffer_id", table.raw("buffer_id"), len(remote[kind]))]]
        elif "switch_channel_id" in table:
            number = self._index(table, "switch_channel_id", table.raw("switch_channel_id"), len(own[SWITCH]))
            group = own[SWITCH][number]
            buffer = self.groups[group][0]
        else:
            buffer = Buffer(table.text("type", known=Buffer))
        size = self.sizes[rank][list(Buffer).index(buffer)]
        if offset + count > size:
            table.refuse(f"{buffer}[{offset}] and {count - 1} after it; buffer {buffer} of rank {rank} has {size} chunks")
        return Span(rank, buffer, offset, count, group)


def _check(table: Fields, operation: Operation) -> None:
    """Refuse an operation whose buffers or channels are not what it needs."""
    name, src, dst = operation.name, operation.src, operation.dst
    if name.puts and (not dst or len(src) != len(dst)):
        table.refuse(f"{name} has {len(src)} sources and {len(dst)} targets; expected equally many")
    if name.adds and (len(src) < 1 or not dst):
        table.refuse(f"{name} has {len(src)} sources and {len(dst)} targets; expected some of each")
    packets = [span for spans, which in ((src, name.reads_packets), (dst, name.writes_packets)) for span in _packed(spans, which)]
    if any(span.buffer is not Buffer.SCRATCH for span in packets):
        table.refuse(f"{name}: packets in buffer {packets[0].buffer}; expected scratch")
    if (name.signals or name.waits) and not operation.channels:
        table.refuse(f"{name} has no channels")
    if not name.switches and any(span.group >= 0 for span in (*src, *dst)):
        table.refuse(f"{name} has switch_channel_id; expected buffers of single ranks")
    if name.switches and (len(src), len(dst)) != (1, 1):
        table.refuse(f"{name} has {len(src)} sources and {len(dst)} targets; expected one of each")
    if name.switches and (dst[0].group < 0 or (src[0].group < 0) is (name is OpName.SWITCH_REDUCE_STORE)):
        table.refuse(
            f"{name}: expected switch_channel_id in dst_buff{', and in src_buff' if name is OpName.SWITCH_REDUCE_STORE else ''}"
        )
    if len({span.count for span in (*src, *dst)} if not name.puts else ()) > 1:
        table.refuse(f"{name}: sources and targets of different sizes")
    if name.puts and any(one.count != two.count for one, two in zip(src, dst, strict=True)):
        table.refuse(f"{name}: a source and its target of different sizes")


def _packed(spans: tuple[Span, ...], which: tuple[bool, bool]) -> tuple[Span, ...]:
    """The spans that are packets: whether the first is, and whether the others are."""
    return (spans[:1] if which[0] else ()) + (spans[1:] if which[1] else ())
