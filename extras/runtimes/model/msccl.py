"""MSCCL's XML: `algo` > `gpu` > `tb` > `step`, and of some tools `gpu` > `copy`.

The attributes are those that the executor of Azure/msccl-executor-nccl requires (its `src/misc/msccl/msccl_parser.cc`), in the
double quotes that it requires.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Never

from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.program import Buffer, Program, Rank, Step, StepType, ThreadBlock
from certree.extras.runtimes.model.roles import Roles
from certree.models.common.elements import Element, parse_elements
from certree.models.common.errors import InputError, UnsupportedError, short, unknown_name
from certree.models.schedule.collective import ALLTOALLV, CollectiveKind

SUFFIX = ".xml"
MAX_BYTES = 1 << 25  # of a file
MAX_RANKS = 1 << 12  # the executor reads 4,096 XML nodes, of which every rank is one
MAX_CHUNKS = 1 << 15  # offsets have 16 bits
MAX_MESSAGE = 1 << 50
PROTOCOLS = ("Simple", "LL", "LL128")
COLLECTIVES = {str(kind).replace("-", ""): kind for kind in CollectiveKind} | {ALLTOALLV: CollectiveKind.ALL_TO_ALL}
MOST_LETTERS = 255  # of an attribute that the executor reads

_SINGLE_QUOTES = re.compile(rb"<[^>]*\s[\w:.-]+\s*=\s*'")
_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NUMBERS = re.compile(r"[0-9]{1,9}(?:,[0-9]{1,9})*", re.ASCII)


def read_msccl(data: bytes, where: str) -> Program:
    """The program in an XML file.

    InputError, with line, element and attribute, for a file that is not well-formed, attributes that are missing, and numbers of
    ranks, thread blocks, steps or places in a buffer that do not exist. `certree.extras.runtimes.check` checks whether the program
    is right, and within the limits of the executor.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"{where}: {len(data)} bytes; allowed: up to {MAX_BYTES}")
    reader = _Reader(where)
    if (quoted := _SINGLE_QUOTES.search(data)) is not None:
        line = data.count(b"\n", 0, quoted.end()) + 1
        reader.lacks.append(f"line {line}: an attribute in single quotes; the executor reads double quotes")
    return reader.program(parse_elements(data, where))


class _Reader:
    """Reads one file; `where` is its name for messages."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.lacks: list[str] = []
        self.lines: dict[tuple[int, int, int], int] = {}

    def program(self, algo: Element) -> Program:
        self._require_tag(algo, "algo")
        count = self._whole(algo, "ngpus", 2, MAX_RANKS)
        chunks = self._whole(algo, "nchunksperloop", 1, MAX_CHUNKS)
        name = self._choice(algo, "coll", COLLECTIVES)
        kind = COLLECTIVES[name]
        gpus = {self._whole(gpu, "id", 0, count - 1): gpu for gpu in algo.children}
        if len(gpus) != len(algo.children) or len(gpus) != count:
            self._refuse(algo, f"{len(algo.children)} gpu elements with {len(gpus)} different ids; ngpus is {count}")
        members = self._numbers(algo, "members") if "members" in algo.attributes else None
        blocks = tuple(self._numbers(gpus[rank], "blocks") for rank in range(count)) if name == ALLTOALLV else ()
        try:
            Layout(kind, count, chunks, roles=Roles(members, blocks))
        except InputError as error:
            self._refuse(algo, f"nchunksperloop, members and blocks: {error}")
        in_place = bool(self._whole(algo, "inplace", 0, 1))
        out_of_place = bool(self._optional(algo, "outofplace", 1, default=int(not in_place)))
        if not (in_place or out_of_place):
            self._refuse(algo, "inplace and outofplace are 0: it is for no call at all")
        return Program(
            name=self._text(algo, "name", ""),
            kind=kind,
            protocol=self._choice(algo, "proto", PROTOCOLS),
            channels=self._whole(algo, "nchannels", 1, MAX_CHUNKS),
            chunks_per_loop=chunks,
            in_place=in_place,
            out_of_place=out_of_place,
            min_bytes=self._optional(algo, "minBytes", MAX_MESSAGE, default=0),
            max_bytes=self._optional(algo, "maxBytes", MAX_MESSAGE, default=0),
            ranks=tuple(self._rank(gpus[rank], count) for rank in range(count)),
            roles=Roles(members, blocks),
            lacks=tuple(self.lacks),
            lines=self.lines,
        )

    def _rank(self, gpu: Element, count: int) -> Rank:
        self._require_tag(gpu, "gpu")
        inputs, outputs, scratch = (self._whole(gpu, name, 0, MAX_CHUNKS) for name in ("i_chunks", "o_chunks", "s_chunks"))
        copies = [child for child in gpu.children if child.tag == "copy"]
        listed = [child for child in gpu.children if child.tag != "copy"]
        blocks = {self._whole(block, "id", 0, len(listed) - 1): block for block in listed}
        if len(blocks) != len(listed):
            self._refuse(gpu, "two tb elements have the same id; allowed: 0, 1, 2, ...")
        lengths = [len(blocks[number].children) for number in range(len(blocks))]
        empty = Rank(inputs, outputs, scratch, ())
        own = self._whole(gpu, "id", 0, count - 1)
        blocks_read = tuple(self._block(blocks[number], own, count, empty, lengths) for number in range(len(blocks)))
        if copies:
            blocks_read += (self._copies(copies, own, empty, len(blocks_read)),)
        return Rank(inputs, outputs, scratch, blocks_read)

    def _copies(self, copies: list[Element], own: int, rank: Rank, number: int) -> ThreadBlock:
        """A thread block of its own for the elements `copy`, chunks of the input that are due in the output of the same rank, which
        SCCL, TACCL and TE-CCL write, and executors do not read."""
        steps = []
        for index, copy in enumerate(copies):
            self.lacks.append(f"line {copy.line}: <copy>; the executor reads no such element")
            offsets = [self._whole(copy, f"{end}_off", 0, rank.size(Buffer(end)) - 1) for end in ("i", "o")]
            self.lines[own, number, index] = copy.line
            steps.append(Step(StepType.COPY, Buffer.INPUT, offsets[0], Buffer.OUTPUT, offsets[1]))
        return ThreadBlock(-1, -1, 0, tuple(steps))

    def _block(self, tb: Element, own: int, count: int, rank: Rank, lengths: list[int]) -> ThreadBlock:
        self._require_tag(tb, "tb")
        send, receive = (self._whole(tb, name, -1, count - 1) for name in ("send", "recv"))
        if own in (send, receive):
            self._refuse(tb, f"{'send' if send == own else 'recv'} is {own}, the rank itself; allowed: another rank, or -1")
        channel = self._whole(tb, "chan", 0, MAX_CHUNKS)
        for index, step in enumerate(tb.children):
            self._require_tag(step, "step")
            if (number := self._whole(step, "s", 0, MAX_CHUNKS)) != index:
                self._refuse(step, f"s is {number}; steps are numbered in their order, and this is number {index}")
            self.lines[own, int(tb.attributes["id"]), index] = step.line
        steps = tuple(self._step(step, rank, lengths) for step in tb.children)
        for element, one in zip(tb.children, steps, strict=True):
            for needed, peer, name in ((one.type.sends, send, "send"), (one.type.receives, receive, "recv")):
                if needed and peer < 0:
                    self._refuse(element, f"type is {one.type}, and {name} of its tb is -1")
        return ThreadBlock(send, receive, channel, steps)

    def _step(self, step: Element, rank: Rank, lengths: list[int]) -> Step:
        kind = StepType(self._choice(step, "type", StepType))
        count = self._whole(step, "cnt", 0, MAX_CHUNKS)
        used = {"src": kind.reads, "dst": kind.writes}
        places = [self._place(step, name, rank, count, used=used[name]) for name in ("src", "dst")]
        block = self._whole(step, "depid", -1, len(lengths) - 1)
        waits_for = (block, self._whole(step, "deps", 0, lengths[block] - 1)) if block >= 0 else None
        if waits_for is None:
            self._whole(step, "deps", -MAX_CHUNKS, MAX_CHUNKS)  # nobody reads it
        awaited = bool(self._whole(step, "hasdep", 0, 1))
        return Step(kind, *places[0], *places[1], count, waits_for, awaited)

    def _place(self, step: Element, name: str, rank: Rank, count: int, *, used: bool) -> tuple[Buffer, int]:
        buffer = Buffer(self._choice(step, f"{name}buf", Buffer))
        size = rank.size(buffer)
        offset = self._whole(step, f"{name}off", -MAX_CHUNKS, MAX_CHUNKS)
        if used and not 0 <= offset <= size - max(count, 1):
            chunks = "1 chunk" if count == 1 else f"{count} chunks"
            self._refuse(step, f"{name}off is {offset}, for {chunks}; buffer {buffer} of this gpu has {size}")
        return buffer, offset

    def _whole(self, element: Element, name: str, low: int, high: int) -> int:
        text = self._text(element, name)
        if _NUMBER.fullmatch(text) is None or not low <= int(text) <= high:
            self._refuse(element, f"{name} is {short(text)}; allowed: {low} to {high}")
        return int(text)

    def _numbers(self, element: Element, name: str) -> tuple[int, ...]:
        text = self._text(element, name)
        if _NUMBERS.fullmatch(text) is None:
            self._refuse(element, f"{name} is {short(text)}; expected numbers such as 0,2,5")
        return tuple(map(int, text.split(",")))

    def _optional(self, element: Element, name: str, high: int, *, default: int) -> int:
        """A number that only the executor requires."""
        if name in element.attributes:
            return self._whole(element, name, 0, high)
        self.lacks.append(f"line {element.line}: {name} is missing; the executor requires it")
        return default

    def _choice(self, element: Element, name: str, known: Iterable[str]) -> str:
        text = self._text(element, name)
        if text not in list(known):
            self._refuse(element, unknown_name(name, text, known))
        return text

    def _text(self, element: Element, name: str, default: str | None = None) -> str:
        text = element.attributes.get(name, default)
        if text is None:
            self._refuse(element, f"{name} is missing")
        return text

    def _require_tag(self, element: Element, tag: str) -> None:
        if element.tag != tag:
            self._refuse(element, f"expected <{tag}>")

    def _refuse(self, element: Element, reason: str) -> Never:
        raise InputError(f"{self.where}: line {element.line}: <{short(element.tag)[1:-1]}>: {reason}")


def written_msccl(program: Program) -> bytes:
    """The XML of a program. The same program gives the same bytes. The attributes `members` of `algo` and `blocks` of `gpu` say who
    takes part and what an alltoallv moves; the executor reads neither. UnsupportedError where they are too long for it."""
    blocks = program.roles.blocks
    head: dict[str, object] = {
        "name": program.name,
        "proto": program.protocol,
        "nchannels": program.channels,
        "nchunksperloop": program.chunks_per_loop,
        "ngpus": len(program.ranks),
        "coll": ALLTOALLV if blocks else next(name for name, kind in COLLECTIVES.items() if kind is program.kind),
        "inplace": int(program.in_place),
        "outofplace": int(program.out_of_place),
        "minBytes": program.min_bytes,
        "maxBytes": program.max_bytes,
    }
    head |= {} if program.roles.members is None else {"members": _listed("members", program.roles.members)}
    lines = [f"<algo{_attributes(head)}>"]
    for number, rank in enumerate(program.ranks):
        sizes: dict[str, object] = {"id": number, "i_chunks": rank.inputs, "o_chunks": rank.outputs, "s_chunks": rank.scratch}
        sizes |= {"blocks": _listed("blocks", blocks[number])} if blocks else {}
        lines.append(f"  <gpu{_attributes(sizes)}>")
        for index, block in enumerate(rank.blocks):
            ends = {"id": index, "send": block.send, "recv": block.receive, "chan": block.channel}
            lines.append(f"    <tb{_attributes(ends)}>")
            lines += [f"      <step{_attributes(_step_attributes(at, step))}/>" for at, step in enumerate(block.steps)]
            lines.append("    </tb>")
        lines.append("  </gpu>")
    return "\n".join([*lines, "</algo>", ""]).encode("ascii")


def _listed(name: str, numbers: tuple[int, ...]) -> str:
    text = ",".join(map(str, numbers))
    if len(text) > MOST_LETTERS:
        raise UnsupportedError(f"as a program for MSCCL: {len(text)} letters of {name}; the executor takes {MOST_LETTERS}")
    return text


def _step_attributes(number: int, step: Step) -> dict[str, object]:
    block, index = step.waits_for or (-1, -1)
    return {
        "s": number,
        "type": step.type,
        "srcbuf": step.src,
        "srcoff": step.src_offset,
        "dstbuf": step.dst,
        "dstoff": step.dst_offset,
        "cnt": step.count,
        "depid": block,
        "deps": index,
        "hasdep": int(step.is_awaited),
    }


def _attributes(values: Mapping[str, object]) -> str:
    return "".join(f' {name}="{value}"' for name, value in values.items())
