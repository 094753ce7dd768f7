"""Execution plans of MSCCL++ as of 2024 (microsoft/mscclpp 0.5 to 0.6): the same operations under other names, whose channels say
which buffers they join."""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

from certree.extras.runtimes.model.plan import MEMORY, PORT, SWITCH, Channel, Operation, OpName, PlanRank, Span
from certree.extras.runtimes.model.program import Buffer
from certree.models.common.fields import Fields

SIZES = ("inputChunks", "outputChunks", "scratchChunks")
NAMES = {
    "nop": OpName.NOTHING,
    "barrier": OpName.BARRIER,
    "put": OpName.PUT,
    "pws": OpName.PUT_SIGNAL,
    "pwsf": OpName.PUT_SIGNAL_FLUSH,
    "get": OpName.GET,
    "copy": OpName.COPY,
    "signal": OpName.SIGNAL,
    "wait": OpName.WAIT,
    "flush": OpName.FLUSH,
    "re": OpName.REDUCE,
    "rs": OpName.REDUCE_SEND,
    "rrc": OpName.READ_REDUCE,
    "rrcs": OpName.READ_REDUCE_SEND,
    "ppkt": OpName.PUT_PACKETS,
    "cpkt": OpName.UNPACK_PACKETS,
    "tpkt": OpName.COPY_PACKETS,
    "rpkt": OpName.REDUCE_PACKETS,
    "rspkt": OpName.REDUCE_SEND_PACKETS,
    "glres": OpName.SWITCH_REDUCE_STORE,
}
_NO_SENDING = (OpName.REDUCE, OpName.READ_REDUCE, OpName.REDUCE_PACKETS)  # whose channels for output nobody reads
_KINDS = {"sm": MEMORY, "proxy": PORT, "none": ""}
_GROUP = "nvls"  # the type of channels through a switch
_ENDS = (("src", "srcs"), ("dst", "dsts"))

#: (type, own buffer, buffer of the other rank) of channels
_Key = tuple[str, Buffer, Buffer]


def is_old(document: Any) -> bool:
    """Whether a document is a plan of this kind."""
    gpus = document.get("gpus") if isinstance(document, dict) else None
    return isinstance(gpus, list) and any(isinstance(gpu, dict) and SIZES[0] in gpu for gpu in gpus)


def ranks_of_group(group: Fields, rank: int, ranks: int) -> tuple[int, ...]:
    """The ranks of a group of a switch, this one among them."""
    found = group.wholes("ranks", 0, ranks - 1)
    if len(set(found)) != len(found) or rank not in found:
        group.refuse(f"ranks are {list(found)}; expected different ones, and {rank} among them")
    if group.whole("size", 0) != len(found):
        group.refuse(f"size is {group.whole('size', 0)}; there are {len(found)} ranks")
    return tuple(found)


class OldReader:
    """Reads one rank. `sizes`: (input, output, scratch) chunks of all ranks."""

    def __init__(self, number: int, gpu: Fields, sizes: list[tuple[int, ...]]) -> None:
        self.number, self.gpu, self.sizes = number, gpu, sizes
        gpu.whole("chunkGroups", 1, default=1)
        self.channels: defaultdict[_Key, list[Channel]] = defaultdict(list)
        self.groups: list[tuple[Buffer, tuple[int, ...]]] = []
        to_peer = Counter[tuple[str, int]]()
        for table in gpu.tables("channels"):
            if table.text("type", known=(*_KINDS, _GROUP)) == _GROUP:
                buffer = Buffer(table.text("buff", known=Buffer))
                self.groups += [
                    (buffer, ranks_of_group(group, number, len(sizes))) for group in table.tables("rankGroups", least=1)
                ]
                continue
            key = self._key(table, "srcbuff", "dstbuff", "type")
            for peer in table.entries("connectedTo", empty=True):
                if type(peer) is not int or not 0 <= peer < len(sizes) or peer == number or not key[0]:
                    table.refuse(
                        f"connectedTo has {peer!r}; allowed: ranks 0 to {len(sizes) - 1} other than {number}, of sm or proxy"
                    )
                self.channels[key].append((key[0], peer, to_peer[key[0], peer]))
                to_peer[key[0], peer] += 1

    def rank(self) -> tuple[PlanRank, list[tuple[Fields, Operation]]]:
        """The rank, and its operations with their places in the file."""
        tables = self.gpu.tables("threadblocks")
        lengths = [len(table.entries("ops", empty=True)) for table in tables]
        read = [self._block(number, table, lengths) for number, table in enumerate(tables)]
        inputs, outputs, scratch = self.sizes[self.number]
        blocks = tuple(tuple(operation for _, operation in block) for block in read)
        return PlanRank(inputs, outputs, scratch, blocks, groups=tuple(self.groups)), [one for block in read for one in block]

    def _key(self, table: Fields, src: str, dst: str, kind: str) -> _Key:
        ends = [Buffer(table.text(name, known=Buffer)) for name in (src, dst)]
        return _KINDS[table.text(kind, known=_KINDS)], ends[0], ends[1]

    def _block(self, number: int, block: Fields, lengths: list[int]) -> list[tuple[Fields, Operation]]:
        if block.whole("id", 0) != number:
            block.refuse(f"id is {block.whole('id', 0)}; thread blocks are listed in their order, and this is number {number}")
        own: defaultdict[_Key, list[Channel]] = defaultdict(list)
        groups: dict[Buffer, list[int]] = {buffer: [] for buffer in Buffer}
        for table in block.tables("channels"):
            if table.text("ctype", known=(*_KINDS, _GROUP)) == _GROUP:
                buffer = Buffer(table.text("src", known=Buffer))
                known_groups = [number for number, (of, _) in enumerate(self.groups) if of is buffer]
                for index in table.entries("cids", empty=True):
                    groups[buffer].append(known_groups[self._index(table, "cids", index, len(known_groups))])
                continue
            key = self._key(table, "src", "dst", "ctype")
            known = self.channels.get(key, [])
            for index in table.entries("cids", empty=True):
                own[key].append(known[self._index(table, "cids", index, len(known))])
        return [(table, self._operation(table, own, groups, lengths)) for table in block.tables("ops")]

    def _index(self, table: Fields, name: str, value: Any, count: int) -> int:
        if type(value) is not int or not 0 <= value < count:
            table.refuse(f"{name} has {value!r}; there are {count} of them, numbered from 0")
        return int(value)

    def _operation(
        self, table: Fields, own: dict[_Key, list[Channel]], groups: dict[Buffer, list[int]], lengths: list[int]
    ) -> Operation:
        name = NAMES[table.text("name", known=NAMES)]
        for wait in table.tables("deps"):
            wait.whole("step", 0, lengths[wait.whole("tb", 0, len(lengths) - 1)] - 1)
        if name is OpName.NOTHING:
            return Operation(name)
        if name is OpName.BARRIER:
            blocks = table.whole("nthread_blocks", 1, 1 << 10, default=len(lengths))
            return Operation(name, barrier=table.whole("barrier_id", 0, 1 << 10), blocks=blocks)
        if name.switches:
            table.text("ctype", known=(_GROUP,))
            src, dst = ([self._of_group(table, end, side, groups)] for end, side in (("src", "i"), ("dst", "o")))
            return Operation(name, tuple(src), tuple(dst), channel_type=SWITCH)
        kind = _KINDS[table.text("ctype", known=_KINDS, default="none")]
        moves_nothing = name is OpName.FLUSH or name in (OpName.SIGNAL, OpName.WAIT)
        count = 1 if moves_nothing else table.whole("cnt", 1, 1 << 15)
        reached = {side: self._reached(table, side, kind, count, own) for side in ("i", "o")}
        if name in _NO_SENDING:
            reached["o"] = []
        if name.signals or name.waits or name is OpName.FLUSH:
            channels = tuple(channel for channel, _ in reached["i" if name.waits else "o"])
            if moves_nothing:
                return Operation(name, channels=channels, channel_type=kind)
        else:
            channels = tuple(channel for side in ("i", "o") for channel, _ in reached[side])
        src, dst = (
            [*self._local(table, *ends, count), *(span for _, span in reached[side])]
            for ends, side in zip(_ENDS, "io", strict=True)
        )
        if name.puts and len(src) == 1:
            src = src * len(dst)
        return Operation(name, tuple(src), tuple(dst), channels, kind)

    def _reached(
        self, table: Fields, side: str, kind: str, count: int, own: dict[_Key, list[Channel]]
    ) -> list[tuple[Channel, Span]]:
        """Channels with the places of other ranks that they reach."""
        if f"{side}_cids" not in table:
            return []
        buffers = table.table_of(f"{side}_buff")
        here, there = (Buffer(buffers.text(name, known=Buffer)) for name in ("src", "dst"))
        known = own.get((kind, here, there), [])
        found = []
        for entry in table.tables(f"{side}_cids"):
            channel = known[self._index(entry, "id", entry.raw("id"), len(known))]
            found.append((channel, self._span(entry, channel[1], there, entry.whole("off", 0, 1 << 15), count)))
        return found

    def _local(self, table: Fields, end: str, several: str, count: int) -> list[Span]:
        """Places of this rank."""
        found = []
        if f"{end}buff" in table:
            buffer = Buffer(table.text(f"{end}buff", known=Buffer))
            found.append(self._span(table, self.number, buffer, table.whole(f"{end}off", 0, 1 << 15), count))
        for entry in table.tables(several):
            buffer = Buffer(entry.text("buff", known=Buffer))
            found.append(self._span(entry, self.number, buffer, entry.whole("off", 0, 1 << 15), count))
        return found

    def _of_group(self, table: Fields, end: str, side: str, groups: dict[Buffer, list[int]]) -> Span:
        """A place that is read or written at all ranks of a group."""
        buffer = Buffer(table.text(f"{end}buff", known=Buffer))
        entry = table.tables(f"{side}_cids", least=1)[0]
        known = groups[buffer]
        group = known[self._index(entry, "id", entry.raw("id"), len(known))]
        span = self._span(table, self.number, buffer, table.whole(f"{end}off", 0, 1 << 15), table.whole("cnt", 1, 1 << 15))
        return replace(span, group=group)

    def _span(self, table: Fields, rank: int, buffer: Buffer, offset: int, count: int) -> Span:
        size = self.sizes[rank][list(Buffer).index(buffer)]
        if offset + count > size:
            table.refuse(f"{buffer}[{offset}] and {count - 1} after it; buffer {buffer} of rank {rank} has {size} chunks")
        return Span(rank, buffer, offset, count)
