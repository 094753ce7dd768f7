"""Collective algorithms as graphs: for each rank nodes that send, receive and add, and wait for each other. Their files are Chakra
traces (`chakra`), as ASTRA-sim takes them for a collective of the user's own.

A trace says who sends how many bytes to whom, and what waits for what, but not which data. The traces that certree writes say that
as well: of every node in the attribute `data`, such as `o[2]` of a message and `i[2]+s[4]>o[2]` of an addition, with offsets in
chunks of the input (i), the output (o) and scratch (s); of every file in the attributes `collective`, `chunks` and `root`, and
where some take part or blocks differ in `members` and `blocks` (rows of chunks from rank to rank).
"""

import re
from dataclasses import dataclass
from pathlib import Path

from certree.extras.runtimes.model.chakra import SUFFIX, Node, NodeType, Trace, read_chakra, trace_files, written_chakra
from certree.extras.runtimes.model.layout import Cell, Layout
from certree.extras.runtimes.model.program import Buffer
from certree.extras.runtimes.model.roles import Roles
from certree.models.common.errors import InputError, short, unknown_name
from certree.models.common.files import read_bytes
from certree.models.schedule.collective import ALLTOALLV, CollectiveKind

MAX_CHUNKS = 1 << 20
_ROWS = re.compile(r"[0-9]{1,7}(?:[,;][0-9]{1,7})*", re.ASCII)
MAX_TAG = (1 << 31) - 1
NAME = "algorithm"  # of the files that certree writes: algorithm.RANK.et
FOREIGN = {str(kind).replace("-", ""): kind for kind in CollectiveKind if "-" in str(kind)}  # the collective, as ASTRA-sim has it
_CELL = r"[ios]\[[0-9]{1,7}\]"
_DATA = re.compile(rf"({_CELL}(?:\+{_CELL})*>)?({_CELL})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Act:
    """One node: it sends `bytes` to `peer`, receives them from it, or (`peer` -1) computes. `reads`: places that it sends, or adds
    up; `writes`: the place that it fills. Neither is known in the traces of others."""

    id: int
    type: NodeType
    waits: tuple[int, ...]
    peer: int = -1
    tag: int = 0
    bytes: int = 0
    reads: tuple[Cell, ...] = ()
    writes: Cell | None = None


@dataclass(frozen=True)
class Algorithm:
    """The nodes of all ranks. `layout`: of the data, None where the files do not state them. `named`: the collective of which
    other tools state the name only."""

    ranks: tuple[tuple[Act, ...], ...]
    layout: Layout | None = None
    named: CollectiveKind | None = None

    @property
    def kind(self) -> CollectiveKind | None:
        """The collective, where the files state it."""
        return self.named if self.layout is None else self.layout.kind

    @property
    def messages(self) -> int:
        """How many messages are sent."""
        return sum(act.type is NodeType.SEND for acts in self.ranks for act in acts)


def read_algorithm(prefix: Path) -> Algorithm:
    """The algorithm in the files `PREFIX.RANK.et`. InputError, one line with file and node, for files that hold none."""
    return algorithm_of({path.name: read_bytes(path) for path in trace_files(prefix)}, str(prefix))


def algorithm_of(files: dict[str, bytes], where: str) -> Algorithm:
    """The algorithm of the traces of all ranks, in the order of ranks."""
    names = [f"{where}/{name}" for name in files]
    traces = [read_chakra(data, name) for data, name in zip(files.values(), names, strict=True)]
    if len(traces) < 2:
        raise InputError(f"{where}: 1 rank; a collective has at least 2")
    layouts = [_layout(trace, len(traces), name) for trace, name in zip(traces, names, strict=True)]
    if len(set(layouts)) > 1:
        raise InputError(f"{where}: ranks state different collectives, chunks or roots")
    ranks = tuple(
        tuple(_act(node, rank, len(traces), name, stated=layouts[0] is not None) for node in _known(trace, name))
        for rank, (trace, name) in enumerate(zip(traces, names, strict=True))
    )
    return Algorithm(ranks, layouts[0], None if layouts[0] is not None else _named(traces, names))


def _layout(trace: Trace, ranks: int, where: str) -> Layout | None:
    stated = trace.attributes
    if "collective" not in stated or _is_foreign(trace):
        return None
    kinds = {str(kind): kind for kind in CollectiveKind} | {ALLTOALLV: CollectiveKind.ALL_TO_ALL}
    name, chunks, root = stated["collective"], stated.get("chunks"), stated.get("root", -1)
    if name not in kinds:
        raise InputError(f"{where}: {unknown_name('collective', str(name), kinds)}")
    for what, value, low, high in (("chunks", chunks, 1, MAX_CHUNKS), ("root", root, -1, ranks - 1)):
        if type(value) is not int or not low <= value <= high:
            raise InputError(f"{where}: {what} is {short(value)}; allowed: {low} to {high}")
    assert isinstance(chunks, int)
    assert isinstance(root, int)
    try:
        rows = _rows(stated.get("blocks"), where) if name == ALLTOALLV else ()
        members = _rows(stated["members"], where)[0] if "members" in stated else None
        return Layout(kinds[str(name)], ranks, chunks, None if root < 0 else root, Roles(members, rows))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _rows(text: object, where: str) -> tuple[tuple[int, ...], ...]:
    """Rows of whole numbers, such as `0,2;1,0`."""
    if not isinstance(text, str) or _ROWS.fullmatch(text) is None:
        raise InputError(f"{where}: members or blocks are {short(text)}; expected rows of numbers such as 0,2;1,0")
    return tuple(tuple(map(int, row.split(","))) for row in text.split(";"))


def _is_foreign(trace: Trace) -> bool:
    """Whether a trace has the collective as other tools name it, such as `allreduce`, and says nothing of its data."""
    return trace.attributes["collective"] in FOREIGN and "chunks" not in trace.attributes


def _named(traces: list[Trace], names: list[str]) -> CollectiveKind | None:
    """The collective that all traces name."""
    found = {str(trace.attributes.get("collective")): name for trace, name in zip(traces, names, strict=True)}
    if len(found) > 1:
        raise InputError(f"{names[0]}: ranks state different collectives: {', '.join(sorted(found))}")
    return FOREIGN.get(next(iter(found)))


def _known(trace: Trace, where: str) -> list[Node]:
    """The nodes that do something. Nodes wait only for nodes of the same file."""
    ids = {node.id for node in trace.nodes}
    for node in trace.nodes:
        missing = next((other for other in node.waits if other not in ids), None)
        if missing is not None:
            raise InputError(f"{where}: node {node.id} ({short(node.name)}): waits for node {missing}, which is not in the file")
        if node.type not in (NodeType.SEND, NodeType.RECEIVE, NodeType.COMPUTE):
            raise InputError(
                f"{where}: node {node.id} ({short(node.name)}): type {node.type.name}; expected SEND, RECEIVE or COMPUTE"
            )
    return trace.nodes


def _act(node: Node, rank: int, ranks: int, where: str, *, stated: bool) -> Act:
    named = f"{where}: node {node.id} ({short(node.name)})"
    reads: tuple[Cell, ...] = ()
    writes = None
    if stated:
        text = node.attributes.get("data")
        found = _DATA.fullmatch(text) if isinstance(text, str) else None
        if found is None or (found[1] is not None) is not (node.type is NodeType.COMPUTE):
            form = "i[0]+s[1]>o[0]" if node.type is NodeType.COMPUTE else "o[0]"
            raise InputError(f"{named}: data is {short(text)}; expected a text such as {form}")
        place = _cell(found[2], rank)
        if node.type is NodeType.SEND:
            reads = (place,)
        else:
            reads = tuple(_cell(part, rank) for part in re.findall(_CELL, found[1] or ""))
            writes = place
    if node.type is NodeType.COMPUTE:
        return Act(node.id, node.type, node.waits, reads=reads, writes=writes)
    side = "comm_dst" if node.type is NodeType.SEND else "comm_src"
    peer = node.number(side, where, 0, ranks - 1)
    if peer == rank:
        raise InputError(f"{named}: {side} is {peer}, the rank itself")
    size, tag = node.number("comm_size", where, 1), node.number("comm_tag", where, 0, MAX_TAG)
    return Act(node.id, node.type, node.waits, peer, tag, size, reads, writes)


def _cell(text: str, rank: int) -> Cell:
    return rank, Buffer(text[0]), int(text[2:-1])


def written_algorithm(algorithm: Algorithm) -> dict[str, bytes]:
    """The files of all ranks, by name. The same algorithm gives the same bytes."""
    head: dict[str, int | str] = {}
    if (layout := algorithm.layout) is not None:
        roles = layout.roles
        name = ALLTOALLV if roles.blocks else str(layout.kind)
        head = {"collective": name, "chunks": layout.chunks, "root": -1 if layout.root is None else layout.root}
        head |= {} if roles.members is None else {"members": ",".join(map(str, roles.members))}
        head |= {"blocks": ";".join(",".join(map(str, row)) for row in roles.blocks)} if roles.blocks else {}
    return {
        f"{NAME}.{rank}{SUFFIX}": written_chakra(Trace([_node(act) for act in acts], attributes={**head}))
        for rank, acts in enumerate(algorithm.ranks)
    }


def _node(act: Act) -> Node:
    attributes: dict[str, int | str | bool] = {"is_cpu_op": False}
    if act.type is not NodeType.COMPUTE:
        side = "comm_dst" if act.type is NodeType.SEND else "comm_src"
        attributes |= {side: act.peer, "comm_size": act.bytes, "comm_tag": act.tag}
    if act.reads or act.writes is not None:
        places = "+".join(map(_words, act.reads))
        attributes["data"] = places if act.writes is None else f"{places}>{_words(act.writes)}".removeprefix(">")
    return Node(act.id, f"{act.type.name.lower()} {act.id}", act.type, act.waits, attributes={**attributes})


def _words(cell: Cell) -> str:
    return f"{cell[1]}[{cell[2]}]"
