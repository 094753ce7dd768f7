"""Chakra execution traces, the files `NAME.RANK.et`: nodes that compute and communicate, with what each of them waits for.

`read_chakra` reads one file of any tool, and `written_chakra` writes one; the files of a folder that belong together are those of
`trace_files`. Attributes are plain values: `node.attributes["comm_size"]`. A trace of training has nodes of type COMPUTE with a
`duration` in microseconds and of type COLLECTIVE with `comm_type` (`CollectiveType`), `comm_size` in bytes and, where not all ranks
take part, `pg_name`; the trace of a collective itself has SEND nodes (`comm_dst`, `comm_size`, `comm_tag`) and RECEIVE nodes
(`comm_src`, `comm_size`, `comm_tag`), and COMPUTE nodes for additions. `node.waits` are the numbers of the nodes that must be over.

Source: mlcommons/chakra 1.0, `schema/protobuf/et_def.proto`. A file is a GlobalMetadata message and then one Node message after the
other, each after its length.

>>> trace = Trace([Node(0, "add", NodeType.COMPUTE, duration=3), Node(1, "all", NodeType.COLLECTIVE, waits=(0,),
...     attributes={"comm_type": int(CollectiveType.ALL_REDUCE), "comm_size": 1 << 20})])
>>> read_chakra(written_chakra(trace), "x.0.et").nodes[1].attributes["comm_size"]
1048576
"""

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from certree.extras.runtimes.model.protobuf import Wire, read_fields, read_number, signed, written_field, written_number
from certree.models.common.errors import InputError, short

SUFFIX = ".et"
VERSION = "0.0.4"  # of the schema
MAX_BYTES = 1 << 28  # of a trace, unpacked
MAX_NODES = 1 << 20

Value = int | float | bool | str | bytes | list[int] | list[float] | list[bool] | list[str] | list[bytes]


class NodeType(IntEnum):
    """The kind of a node."""

    INVALID = 0
    METADATA = 1
    LOAD = 2
    STORE = 3
    COMPUTE = 4
    SEND = 5
    RECEIVE = 6
    COLLECTIVE = 7


class CollectiveType(IntEnum):
    """`comm_type` of a COLLECTIVE node."""

    ALL_REDUCE = 0
    REDUCE = 1
    ALL_GATHER = 2
    GATHER = 3
    SCATTER = 4
    BROADCAST = 5
    ALL_TO_ALL = 6
    REDUCE_SCATTER = 7
    REDUCE_SCATTER_BLOCK = 8
    BARRIER = 9


@dataclass
class Node:
    """One node. `waits`: the nodes that it waits for, for control or for data. `start`, `duration`: microseconds."""

    id: int
    name: str
    type: NodeType
    waits: tuple[int, ...] = ()
    start: int = 0
    duration: int = 0
    attributes: dict[str, Value] = field(default_factory=dict)

    def number(self, name: str, where: str, low: int = 0, high: int = (1 << 62)) -> int:
        """An attribute that is a whole number; InputError where it is missing, of another type, or out of range."""
        value = self.attributes.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            given = "missing" if value is None else short(value)
            raise InputError(f"{where}: node {self.id} ({short(self.name)}): {name} is {given}; allowed: {low} to {high}")
        return value


@dataclass
class Trace:
    """The nodes of one rank, and the version and the attributes of the file."""

    nodes: list[Node]
    version: str = VERSION
    attributes: dict[str, Value] = field(default_factory=dict)


#: of the fields 3, 4, 5, ... of an attribute, a value and a list of such values in turn
_KINDS = (
    *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
    *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
)
_FIRST = 3
_BLOCKS = {"double": "<d", "float": "<f", "fixed32": "<I", "fixed64": "<Q", "sfixed32": "<i", "sfixed64": "<q"}
_NARROW = ("comm_src", "comm_dst", "comm_tag", "comm_priority")  # attributes of 32 bits; other whole numbers have 64


def trace_files(prefix: Path) -> list[Path]:
    """The files `PREFIX.0.et`, `PREFIX.1.et`, ... of all ranks. `prefix` may also be one of them, or a folder with one such set.

    InputError where there are none, several sets, or a rank is missing.
    """
    folder, stem = (prefix, "") if prefix.is_dir() else (prefix.parent, re.sub(r"(\.\d+)?\.et$", "", prefix.name))
    found: dict[str, dict[int, Path]] = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        named = re.fullmatch(r"(.+)\.(0|[1-9]\d{0,5})\.et", path.name)
        if named is not None and stem in ("", named[1]):
            found.setdefault(named[1], {})[int(named[2])] = path
    if len(found) != 1:
        words = f"several traces: {', '.join(sorted(found))}" if found else "no files NAME.RANK.et"
        raise InputError(f"{prefix}: {words}")
    (ranks,) = found.values()
    missing = next((rank for rank in range(len(ranks)) if rank not in ranks), None)
    if missing is not None:
        raise InputError(f"{prefix}: rank {missing} is missing; there are {len(ranks)} files, up to rank {max(ranks)}")
    return [ranks[rank] for rank in range(len(ranks))]


def read_chakra(data: bytes, where: str) -> Trace:
    """One trace, also a packed one (gzip). InputError, one line, for a file that is not a trace. O(bytes)."""
    data = _unpacked(data, where)
    messages = _messages(data, where)
    head = next(messages, None)
    if head is None:
        raise InputError(f"{where}: an empty file; a Chakra trace begins with its version")
    version, attributes = "", {}
    for number, wire, value in read_fields(head, f"{where}: metadata"):
        if (number, wire) == (1, Wire.TEXT):
            version = _text(value, where)
        elif (number, wire) == (2, Wire.TEXT):
            name, read = _attribute(value, f"{where}: metadata")
            attributes[name] = read
    nodes: list[Node] = []
    for message in messages:
        if len(nodes) >= MAX_NODES:
            raise InputError(f"{where}: more than {MAX_NODES} nodes")
        nodes.append(_node(message, f"{where}: node number {len(nodes)}"))
    seen = {node.id for node in nodes}
    if len(seen) != len(nodes):
        raise InputError(f"{where}: {len(nodes)} nodes with {len(seen)} different ids")
    return Trace(nodes, version, attributes)


def _unpacked(data: bytes, where: str) -> bytes:
    if data.startswith(b"\x1f\x8b"):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            data = unpacker.decompress(data, MAX_BYTES + 1)
        except zlib.error as error:
            raise InputError(f"{where}: a packed file that is damaged: {error}") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"{where}: more than {MAX_BYTES} bytes")
    return data


def _messages(data: bytes, where: str) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        start = at
        size, at = read_number(data, at, where)
        if size > len(data) - at:
            raise InputError(f"{where}: byte {start}: a message of {size} bytes; {len(data) - at} are left")
        yield data[at : at + size]
        at += size


def _node(message: bytes, where: str) -> Node:
    node = Node(0, "", NodeType.INVALID)
    waits: list[int] = []
    for number, wire, value in read_fields(message, where):
        match number, wire, value:
            case 1, Wire.NUMBER, int():
                node.id = value
            case 2, Wire.TEXT, _:
                node.name = _text(value, where)
            case 3, Wire.NUMBER, int():
                if value not in NodeType.__members__.values():
                    raise InputError(f"{where}: type is {value}; allowed: 0 to {len(NodeType) - 1}")
                node.type = NodeType(value)
            case ((4 | 5), Wire.NUMBER, int()):
                waits.append(value)
            case ((4 | 5), Wire.TEXT, bytes()):
                waits += _packed(value, where)
            case 6, Wire.NUMBER, int():
                node.start = value
            case 7, Wire.NUMBER, int():
                node.duration = value
            case 10, Wire.TEXT, _:
                name, read = _attribute(value, where)
                node.attributes[name] = read
    node.waits = tuple(dict.fromkeys(waits))
    return node


def _packed(data: bytes, where: str) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = read_number(data, at, where)
        found.append(value)
    return found


def _text(value: int | bytes, where: str) -> str:
    assert isinstance(value, bytes)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InputError(f"{where}: a text that is not UTF-8: {short(value)}") from None


def _attribute(data: int | bytes, where: str) -> tuple[str, Value]:
    assert isinstance(data, bytes)
    name, found = "", None
    for number, wire, value in read_fields(data, where):
        at = number - _FIRST
        if number == 1 and wire is Wire.TEXT:
            name = _text(value, where)
        elif 0 <= at < 2 * len(_KINDS):
            kind = _KINDS[at // 2]
            found = _list(kind, value, where) if at % 2 else _single(kind, wire, value, where)
    if found is None:
        raise InputError(f"{where}: attribute {short(name)} has no value")
    return name, found


def _single(kind: str, wire: Wire, value: int | bytes, where: str) -> int | float | bool | str | bytes:
    if kind in _BLOCKS and isinstance(value, bytes) and len(value) == struct.calcsize(_BLOCKS[kind]):
        read: int | float = struct.unpack(_BLOCKS[kind], value)[0]
        return read
    if kind in ("string", "bytes") and isinstance(value, bytes):
        return _text(value, where) if kind == "string" else value
    if kind in _BLOCKS or kind in ("string", "bytes") or not isinstance(value, int):
        raise InputError(f"{where}: a value of type {kind} is written as kind {int(wire)}")
    match kind:
        case "bool":
            return bool(value)
        case "sint32" | "sint64":
            return value >> 1 ^ -(value & 1)
        case "int32":
            return signed(value, 32)
        case "int64":
            return signed(value)
    return value


def _list(kind: str, data: int | bytes, where: str) -> Value:
    if not isinstance(data, bytes):
        raise InputError(f"{where}: a list of type {kind} is written as a number")
    values: list[int | float | bool | str | bytes] = []
    for number, wire, value in read_fields(data, where):
        if number != 1:
            continue
        if wire is not Wire.TEXT or kind in ("string", "bytes"):
            values.append(_single(kind, wire, value, where))
        elif kind in _BLOCKS and isinstance(value, bytes):
            if len(value) % struct.calcsize(_BLOCKS[kind]):
                raise InputError(f"{where}: a list of type {kind} has {len(value)} bytes")
            values += [one for (one,) in struct.iter_unpack(_BLOCKS[kind], value)]
        elif isinstance(value, bytes):
            values += [_single(kind, Wire.NUMBER, one, where) for one in _packed(value, where)]
    return values  # type: ignore[return-value]  # of one type: that of the field


def written_chakra(trace: Trace) -> bytes:
    """The bytes of a trace: whole numbers as `int64`, ranks and tags as `int32`, as readers of Chakra expect them. Attributes are
    written where they are whole numbers, texts or truth values; TypeError for others. O(nodes)."""
    head = _field(1, trace.version) + b"".join(_written_attribute(2, *entry) for entry in trace.attributes.items())
    return b"".join(written_number(len(message)) + message for message in [head, *map(_written_node, trace.nodes)])


def _written_node(node: Node) -> bytes:
    parts = [_field(1, node.id), _field(2, node.name), _field(3, int(node.type))]
    if node.waits:
        parts.append(written_field(5, Wire.TEXT, b"".join(map(written_number, node.waits))))
    parts += [_field(number, value) for number, value in ((6, node.start), (7, node.duration)) if value]
    return b"".join([*parts, *(_written_attribute(10, *entry) for entry in node.attributes.items())])


def _field(number: int, value: int | str) -> bytes:
    if isinstance(value, int):
        return written_field(number, Wire.NUMBER, value)
    return written_field(number, Wire.TEXT, value.encode())


def _written_attribute(number: int, name: str, value: Value) -> bytes:
    if not isinstance(value, bool | int | str):
        raise TypeError(f"attribute {name} is a {type(value).__name__}; only whole numbers, texts and truth values are written")
    kind = "bool" if isinstance(value, bool) else "string" if isinstance(value, str) else "int32" if name in _NARROW else "int64"
    own = _FIRST + 2 * _KINDS.index(kind)
    return written_field(number, Wire.TEXT, _field(1, name) + _field(own, value if isinstance(value, str) else int(value)))
