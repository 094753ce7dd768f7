"""Flits as bits: the fields of Fig. 8 in their order, there and back, and what does not fit."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.extras.papers.flit_format import DATA, TYPE, FlitFormat, FlitType
from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology

MULTITREE = load_machine("multitree")
TORUS = FlitFormat.of(parse_topology("torus:4x4"), MULTITREE, trees=16)  # the network of Fig. 8


def test_the_paper_s_network() -> None:
    """4 VCs, 16 nodes, 4 links and 4 ejection ports, 16 trees, links of 16 bytes."""
    assert vars(TORUS) == {"vc": 2, "node": 4, "port": 3, "tree": 4, "data": 128}
    assert TORUS.bits == 133
    names = {kind: [(field.name, field.bits) for field in TORUS.fields(kind)] for kind in FlitType}
    assert names[FlitType.HEAD] == [("vc", 2), ("type", 3), ("dest", 4), ("src", 4), ("data", 120)]
    assert names[FlitType.HEAD_TAIL] == names[FlitType.HEAD]
    assert names[FlitType.MESSAGE_HEAD] == [("vc", 2), ("type", 3), ("next", 3), ("eject", 3), ("tree", 4), ("data", 118)]
    for kind in set(FlitType) - {FlitType.HEAD, FlitType.HEAD_TAIL, FlitType.MESSAGE_HEAD}:
        assert names[kind] == [("vc", 2), ("type", 3), ("data", 128)]


def test_bits_by_hand() -> None:
    head = TORUS.encode(FlitType.MESSAGE_HEAD, {"vc": 0b10, "next": 0b011, "eject": 0b110, "tree": 0b1001})
    assert head == int("100000111101001" + "0" * 118, 2)
    assert TORUS.turned(head) == int("100001100111001" + "0" * 118, 2)
    assert TORUS.encode(FlitType.HEAD_TAIL, {"vc": 1, "dest": 15, "src": 2, "data": 5}) == int(f"01111{15:04b}{2:04b}{5:0120b}", 2)


@given(st.data(), st.builds(FlitFormat, *[st.integers(1, 9)] * 4, st.integers(27, 80)))
def test_there_and_back(data: st.DataObject, layout: FlitFormat) -> None:
    kind = data.draw(st.sampled_from(FlitType))
    fields = [field for field in layout.fields(kind) if field.name != TYPE]
    assert sum(field.bits for field in layout.fields(kind)) == layout.bits
    values = {field.name: data.draw(st.integers(0, (1 << field.bits) - 1)) for field in fields}
    word = layout.encode(kind, values)
    assert layout.decode(word) == (kind, values)
    if kind is FlitType.MESSAGE_HEAD:
        assert layout.decode(layout.turned(word))[1] == values | {"next": values["eject"], "eject": values["next"]}
        assert layout.turned(layout.turned(word)) == word


@given(st.data(), st.sampled_from(FlitType))
def test_what_does_not_fit_is_refused(data: st.DataObject, kind: FlitType) -> None:
    fields = [field for field in TORUS.fields(kind) if field.name != TYPE]
    wide = data.draw(st.sampled_from(fields))
    values = dict.fromkeys((field.name for field in fields), 0)
    for value in (1 << wide.bits, -1):
        with pytest.raises(InputError, match=f"{wide.name} is {value}; allowed: 0 to {(1 << wide.bits) - 1}"):
            TORUS.encode(kind, values | {wide.name: value})
    if wide.name != DATA:
        with pytest.raises(InputError, match=f"{wide.name} is missing"):
            TORUS.encode(kind, {name: value for name, value in values.items() if name != wide.name})


def test_bad_flits() -> None:
    with pytest.raises(InputError, match="BODY flit: unknown field 'dest'; known: vc, data"):
        TORUS.encode(FlitType.BODY, {"vc": 0, "dest": 1})
    with pytest.raises(InputError, match="unknown field 'type'"):
        TORUS.encode(FlitType.BODY, {"vc": 0, "type": 1})
    for word in (1 << 133, -1):
        with pytest.raises(InputError, match="allowed: numbers of 133 bits"):
            TORUS.decode(word)
    with pytest.raises(InputError, match="TAIL flit: only a message's head has Next and Eject"):
        TORUS.turned(TORUS.encode(FlitType.TAIL, {"vc": 0}))


def test_a_head_has_to_fit_into_a_flit() -> None:
    with pytest.raises(InputError, match="data has 8 bits; allowed: 10 or more"):
        FlitFormat.of(parse_topology("torus:4x4"), replace(MULTITREE, flit_bytes=1), trees=16)
    exact = FlitFormat(vc=1, node=4, port=2, tree=4, data=8)
    assert [field.name for field in exact.fields(FlitType.HEAD)] == ["vc", "type", "dest", "src"]
    assert exact.decode(exact.encode(FlitType.HEAD, {"vc": 1, "dest": 3, "src": 4}))[1] == {"vc": 1, "dest": 3, "src": 4}


def test_one_interface_a_node_needs_fewer_ports() -> None:
    shared = replace(MULTITREE, router=replace(MULTITREE.router, interfaces="node"))
    assert FlitFormat.of(parse_topology("ring:8"), shared, trees=8).port == 2  # two links and an ejection port
    assert FlitFormat.of(parse_topology("switch-fc:4x3"), load_machine("switch-fc"), trees=1) == FlitFormat(1, 3, 4, 1, 256)
