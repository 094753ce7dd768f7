"""Chakra traces: what is written reads back, also by Chakra's own reader, and what is not a trace is refused in one line."""

import gzip
import importlib.util
import struct
from pathlib import Path

import pytest

from certree.extras.runtimes.model.chakra import CollectiveType, Node, NodeType, Trace, read_chakra, trace_files, written_chakra
from certree.extras.runtimes.model.protobuf import Wire, written_field, written_number
from certree.models.common.errors import InputError

TRACE = Trace(
    [
        Node(0, "add", NodeType.COMPUTE, start=5, duration=3, attributes={"is_cpu_op": False}),
        Node(7, "send", NodeType.SEND, waits=(0,), attributes={"comm_dst": 1, "comm_size": 1 << 40, "comm_tag": 9}),
        Node(
            1 << 60, "all", NodeType.COLLECTIVE, waits=(0, 7), attributes={"comm_type": int(CollectiveType.BARRIER), "pg_name": "é"}
        ),
    ],
    attributes={"less": -3},
)
DATA = written_chakra(TRACE)


def message(*fields):
    data = b"".join(written_field(*one) for one in fields)
    return written_number(len(data)) + data


def with_attribute(*fields):
    """A trace whose node has one attribute with these fields."""
    own = b"".join(written_field(*one) for one in [(1, Wire.TEXT, b"x"), *fields])
    return message() + message((10, Wire.TEXT, own))


def test_round_trip() -> None:
    assert read_chakra(DATA, "x.0.et") == TRACE
    assert read_chakra(gzip.compress(DATA), "x.0.et") == TRACE


@pytest.mark.parametrize(
    ("field", "wire", "value", "expected"),
    [
        (3, Wire.EIGHT_BYTES, struct.pack("<d", 0.5), 0.5),
        (5, Wire.FOUR_BYTES, struct.pack("<f", 0.5), 0.5),
        (7, Wire.NUMBER, -3, -3),
        (9, Wire.NUMBER, -(1 << 40), -(1 << 40)),
        (11, Wire.NUMBER, 3, 3),
        (15, Wire.NUMBER, 5, -3),
        (19, Wire.FOUR_BYTES, struct.pack("<I", 7), 7),
        (25, Wire.EIGHT_BYTES, struct.pack("<q", -7), -7),
        (27, Wire.NUMBER, 1, True),
        (29, Wire.TEXT, b"text", "text"),
        (31, Wire.TEXT, b"\xff", b"\xff"),
        (10, Wire.TEXT, written_field(1, Wire.TEXT, b"\x01\x02"), [1, 2]),
        (10, Wire.TEXT, written_field(1, Wire.NUMBER, 1) + written_field(1, Wire.NUMBER, 2), [1, 2]),
        (4, Wire.TEXT, written_field(1, Wire.TEXT, struct.pack("<dd", 0.5, 2)), [0.5, 2.0]),
        (30, Wire.TEXT, written_field(1, Wire.TEXT, b"a") + written_field(1, Wire.TEXT, b"b"), ["a", "b"]),
    ],
)
def test_types_of_attributes(field, wire, value, expected) -> None:
    read = read_chakra(with_attribute((field, wire, value)), "x").nodes[0].attributes["x"]
    assert (read, type(read)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "an empty file"),
        (b"\x1f\x8bxx", "a packed file that is damaged"),
        (DATA[:-1], "are left"),
        (b"\xff" * 11, "byte 0: a number of more than 64 bits"),
        (b"\x02\x00\x01", "metadata: byte 0: field 0 of kind 0"),
        (b"\x02\x0b\x01", "field 1 of kind 3"),
        (message() + message((3, Wire.NUMBER, 9)), "node number 0: type is 9; allowed: 0 to 7"),
        (message() + message() + message(), "2 nodes with 1 different ids"),
        (message() + message((2, Wire.TEXT, b"\xff")), "node number 0: a text that is not UTF-8"),
        (with_attribute(), "attribute 'x' has no value"),
        (with_attribute((3, Wire.NUMBER, 1)), "a value of type double is written as kind 0"),
        (with_attribute((9, Wire.TEXT, b"12")), "a value of type int64 is written as kind 2"),
        (with_attribute((4, Wire.TEXT, written_field(1, Wire.TEXT, b"123"))), "a list of type double has 3 bytes"),
        (with_attribute((4, Wire.NUMBER, 1)), "a list of type double is written as a number"),
    ],
)
def test_what_is_no_trace(data, words) -> None:
    with pytest.raises(InputError) as caught:
        read_chakra(data, "x.0.et")
    assert words in str(caught.value)
    assert str(caught.value).startswith("x.0.et: ")


def test_numbers_of_a_node() -> None:
    assert TRACE.nodes[1].number("comm_size", "x") == 1 << 40
    with pytest.raises(InputError, match=r"x: node 7 \('send'\): comm_src is missing; allowed: 0 to 3"):
        TRACE.nodes[1].number("comm_src", "x", high=3)
    with pytest.raises(InputError, match="comm_dst is 1; allowed: 2 to 3"):
        TRACE.nodes[1].number("comm_dst", "x", 2, 3)


def test_files_of_all_ranks(tmp_path: Path) -> None:
    for rank in (0, 1, 10, *range(2, 10)):
        (tmp_path / f"all.{rank}.et").write_bytes(DATA)
    for given in (tmp_path, tmp_path / "all", tmp_path / "all.3.et"):
        assert [path.name for path in trace_files(given)] == [f"all.{rank}.et" for rank in range(11)]
    (tmp_path / "all.4.et").unlink()
    with pytest.raises(InputError, match="rank 4 is missing; there are 10 files, up to rank 10"):
        trace_files(tmp_path)
    (tmp_path / "other.0.et").write_bytes(DATA)
    with pytest.raises(InputError, match="several traces: all, other"):
        trace_files(tmp_path)
    with pytest.raises(InputError, match=r"no files NAME\.RANK\.et"):
        trace_files(tmp_path / "none" / "x")


@pytest.mark.skipif(importlib.util.find_spec("chakra") is None, reason="mlc-chakra is not installed: its reader is not compared")
def test_the_reader_of_chakra(tmp_path: Path) -> None:
    from chakra.schema.protobuf.et_def_pb2 import GlobalMetadata
    from chakra.schema.protobuf.et_def_pb2 import Node as ChakraNode
    from chakra.src.third_party.utils.protolib import decodeMessage, openFileRd

    (tmp_path / "x.0.et").write_bytes(DATA)
    with openFileRd(str(tmp_path / "x.0.et")) as file:
        head, node = GlobalMetadata(), ChakraNode()
        assert decodeMessage(file, head)
        assert (head.version, head.attr[0].int64_val) == (TRACE.version, -3)
        for expected in TRACE.nodes:
            assert decodeMessage(file, node)
            deps = tuple(node.data_deps)
            read = Node(node.id, node.name, NodeType(node.type), deps, node.start_time_micros, node.duration_micros)
            read.attributes = {one.name: getattr(one, one.WhichOneof("value")) for one in node.attr}
            assert read == expected
        assert not decodeMessage(file, node)
