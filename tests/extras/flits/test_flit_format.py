"""Flits as bits: the fields of Fig. 8 in their order, there and back, and what does not fit."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.extras.flits.model.flit_format import DATA, TYPE, FlitFormat, FlitType, flit_type
from certree.models.common.errors import InputError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology

MULTITREE = load_machine("multitree")
TORUS = FlitFormat.of(parse_topology("torus:4x4"), MULTITREE, trees=16)  # the network of Fig. 8


def test_the_paper_s_network() -> None:
    """4 VCs, 16 nodes, 4 links and 4 ejection ports, 16 trees, links of 16 bytes."""
    assert vars(TORUS) == {"vc": 2, "node": 4, "ports": 8, "hops": 1, "tree": 4, "data": 128}
    assert TORUS.bits == 133
    names = {kind: [(field.name, field.bits) for field in TORUS.fields(kind)] for kind in FlitType}
    assert names[FlitType.HEAD] == [("vc", 2), ("type", 3), ("dest", 4), ("src", 4), ("data", 120)]
    assert names[FlitType.HEAD_TAIL] == names[FlitType.HEAD]
    assert names[FlitType.MESSAGE_HEAD] == [("vc", 2), ("type", 3), ("next", 8), ("eject", 8), ("tree", 4), ("data", 108)]
    for kind in set(FlitType) - {FlitType.HEAD, FlitType.HEAD_TAIL, FlitType.MESSAGE_HEAD}:
        assert names[kind] == [("vc", 2), ("type", 3), ("data", 128)]


def test_bits_by_hand() -> None:
    head = TORUS.encode(FlitType.MESSAGE_HEAD, {"vc": 0b10, "next": 3, "eject": 6, "tree": 0b1001})
    assert head == int("10000" + "00001000" + "01000000" + "1001" + "0" * 108, 2)
    assert TORUS.turned(head) == int("10000" + "01000000" + "00001000" + "1001" + "0" * 108, 2)
    assert TORUS.encode(FlitType.HEAD_TAIL, {"vc": 1, "dest": 15, "src": 2, "data": 5}) == int(f"01111{15:04b}{2:04b}{5:0120b}", 2)


@given(st.data(), st.builds(FlitFormat, *[st.integers(1, 9)] * 3, st.integers(1, 3), st.integers(1, 9), st.integers(45, 80)))
def test_there_and_back(data: st.DataObject, layout: FlitFormat) -> None:
    kind = data.draw(st.sampled_from(FlitType))
    fields = [field for field in layout.fields(kind) if field.name != TYPE]
    assert sum(field.bits for field in layout.fields(kind)) == layout.bits
    most = {field.name: (1 << field.bits) - 1 for field in fields} | dict.fromkeys(layout.route_names, layout.ports - 1)
    values = {field.name: data.draw(st.integers(0, most[field.name])) for field in fields}
    word = layout.encode(kind, values)
    assert layout.decode(word) == (kind, values)
    if kind is FlitType.MESSAGE_HEAD:
        names, turned = layout.route_names, word
        for turns in range(1, len(names) + 1):
            turned = layout.turned(turned)
            moved = {name: values[names[(at + turns) % len(names)]] for at, name in enumerate(names)}
            assert layout.decode(turned)[1] == values | moved
        assert turned == word


@given(st.data(), st.sampled_from(FlitType))
def test_what_does_not_fit_is_refused(data: st.DataObject, kind: FlitType) -> None:
    fields = [field for field in TORUS.fields(kind) if field.name != TYPE]
    wide = data.draw(st.sampled_from(fields))
    values = dict.fromkeys((field.name for field in fields), 0)
    most = 7 if wide.name in TORUS.route_names else (1 << wide.bits) - 1
    for value in (most + 1, -1):
        with pytest.raises(InputError, match=f"{wide.name} is {value}; allowed: 0 to {most}"):
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


def test_a_field_of_a_route_is_one_hot() -> None:
    head = TORUS.encode(FlitType.MESSAGE_HEAD, {"vc": 0, "next": 3, "eject": 6, "tree": 0})
    low = TORUS.data - 2 * TORUS.ports
    for bits, name in ((1 << low + 8, "next is 0b00001001"), (1 << low, "eject is 0b01000001")):
        with pytest.raises(InputError, match=f"MESSAGE_HEAD flit: {name}; allowed: one bit"):
            TORUS.decode(head | bits)
    with pytest.raises(InputError, match="next is 0b00000000; allowed: one bit"):
        TORUS.decode(head & ~(0xFF << low + 8))


def test_routes_over_switches() -> None:
    """A field for each hop; every router turns them by one, and the destination sees by which ports the message came."""
    layout = FlitFormat(vc=1, node=2, ports=4, hops=2, tree=1, data=16)
    word = layout.encode(FlitType.MESSAGE_HEAD, {"vc": 0, "tree": 1} | layout.route([2, 3, 1]))
    assert layout.decode(layout.turned(word))[1] == {"vc": 0, "next": 3, "next2": 1, "eject": 2, "tree": 1, "data": 0}
    short = layout.encode(FlitType.MESSAGE_HEAD, {"vc": 0, "tree": 1} | layout.route([2, 1]))
    assert layout.decode(layout.turned(short))[1] == {"vc": 0, "next": 1, "next2": 4, "eject": 2, "tree": 1, "data": 0}
    for ports, hops in (([2, 3, 1, 0], 3), ([2], 0)):
        with pytest.raises(InputError, match=f"a route of {hops} hops; allowed: 1 to 2, for which the head has fields"):
            layout.route(ports)


def test_types_of_flits() -> None:
    names = [[flit_type(index, 5, unit).name for index in range(5)] for unit in (0, 2)]
    assert names[0] == ["HEAD", "BODY", "BODY", "BODY", "TAIL"]
    assert names[1] == ["MESSAGE_HEAD", "SUB_TAIL", "MESSAGE_BODY", "SUB_TAIL", "MESSAGE_TAIL"]
    assert flit_type(0, 1, 2) is FlitType.HEAD_TAIL


def test_a_head_has_to_fit_into_a_flit() -> None:
    with pytest.raises(
        InputError, match="a message's head has 20 bits, 2 one-hot fields of 8 ports and 4 of its tree; a flit has 8"
    ):
        FlitFormat.of(parse_topology("torus:4x4"), replace(MULTITREE, flit_bytes=1), trees=16)
    with pytest.raises(InputError, match="a packet's head has 18 bits, two nodes; a flit has 16"):
        FlitFormat(vc=1, node=9, ports=2, hops=1, tree=4, data=16)
    for wrong in ({"vc": 0}, {"node": 32}, {"ports": 0}, {"hops": 0}):
        with pytest.raises(InputError, match=r"allowed: 1 (to 31|or more)"):
            FlitFormat(**(vars(TORUS) | wrong))
    exact = FlitFormat(vc=1, node=4, ports=2, hops=1, tree=4, data=8)
    assert [field.name for field in exact.fields(FlitType.HEAD)] == ["vc", "type", "dest", "src"]
    assert exact.decode(exact.encode(FlitType.HEAD, {"vc": 1, "dest": 3, "src": 4}))[1] == {"vc": 1, "dest": 3, "src": 4}


def test_one_interface_a_node_needs_fewer_ports() -> None:
    shared = replace(MULTITREE, router=replace(MULTITREE.router, interfaces="node"))
    assert FlitFormat.of(parse_topology("ring:8"), shared, trees=8).ports == 3  # two links and an ejection port
    assert FlitFormat.of(parse_topology("switch-fc:4x3"), load_machine("switch-fc"), trees=1).ports == 12
