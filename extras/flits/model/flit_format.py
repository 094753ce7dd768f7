"""Bit format of flits (MultiTree, ISCA 2021, section IV-B, Fig. 8 and Table II).

The paper draws the fields and their order for a 4x4 torus and states no widths; here they follow from the network, the machine,
the number of trees and the hops of a message. From the most significant bit on:

    control (next to the data)  VC, Type
    head of a normal packet     Dest, Src, then data                                (Fig. 8a and 8c)
    head of a message           Next, Eject, Tree, then data                        (Fig. 8a and 8d)
    all others                  data                                                (Fig. 8b)

A flit's data are as wide as a link, `flit_bytes`; a head's Packet Info takes the upper part of them. Next and Eject are one-hot, a
bit for each output port. Ports number a router's output lanes, then its ejection ports. Both fields have room for either kind of
port, since they are exchanged. The paper's messages go to a neighbour. Messages that pass switches have a Next field for each hop;
a router then turns all the fields by one, which is the exchange where there are two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from certree.hw.formats.bit_layout import Field
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.network.topology import NodeKind, Topology

TYPE_BITS = 3
VC, TYPE, DATA = "vc", "type", "data"
MAX_NUMBER_BITS = 31  # of VC, Dest, Src and Tree, which are numbers


class FlitType(IntEnum):
    """Packet and flit type (Table II), as the simulator's flits carry it (`core/routers/packet.hpp`)."""

    MESSAGE_HEAD = 0b000
    MESSAGE_BODY = 0b001
    SUB_TAIL = 0b010
    MESSAGE_TAIL = 0b011
    HEAD = 0b100
    BODY = 0b101
    TAIL = 0b110
    HEAD_TAIL = 0b111


def flit_type(index: int, flits: int, sub_message_flits: int) -> FlitType:
    """The type of flit `index` of `flits`; `sub_message_flits` 0: of a normal packet, as a message of one flit is, too."""
    is_first, is_last = index == 0, index + 1 == flits
    if not sub_message_flits or flits == 1:
        if is_first:
            return FlitType.HEAD_TAIL if is_last else FlitType.HEAD
        return FlitType.TAIL if is_last else FlitType.BODY
    if is_first:
        return FlitType.MESSAGE_HEAD
    if is_last:
        return FlitType.MESSAGE_TAIL
    return FlitType.MESSAGE_BODY if (index + 1) % sub_message_flits else FlitType.SUB_TAIL


@dataclass(frozen=True)
class FlitFormat:
    """Bits of `vc`, `node`, `tree` and `data` (of the whole flit without VC and Type); `ports` of a router, and the `hops` that a
    message has a Next field for."""

    vc: int
    node: int
    ports: int
    hops: int
    tree: int
    data: int

    def __post_init__(self) -> None:
        for name in ("vc", "node", "tree"):
            if not 1 <= getattr(self, name) <= MAX_NUMBER_BITS:
                raise InputError(f"flit format: {name} has {getattr(self, name)} bits; allowed: 1 to {MAX_NUMBER_BITS}")
        for name in ("ports", "hops"):
            if getattr(self, name) < 1:
                raise InputError(f"flit format: {name} is {getattr(self, name)}; allowed: 1 or more")
        if self.data < self.route_bits + self.tree:
            raise InputError(
                f"flit format: a message's head has {self.route_bits + self.tree} bits, {self.hops + 1} one-hot fields of "
                f"{self.ports} ports and {self.tree} of its tree; a flit has {self.data}"
            )
        if self.data < 2 * self.node:
            raise InputError(f"flit format: a packet's head has {2 * self.node} bits, two nodes; a flit has {self.data}")

    @classmethod
    def of(cls, topology: Topology, machine: Machine, trees: int, hops: int = 1) -> "FlitFormat":
        """The narrowest fields that hold every VC, node, port and tree. InputError where a head does not fit into a flit."""
        lanes = np.bincount(topology.src, topology.capacity, len(topology.kind)).astype(np.int64)
        is_endpoint = topology.kind == NodeKind.ENDPOINT
        ports = lanes + is_endpoint * (lanes if machine.router.interfaces == "link" else 1)
        counts = {"vc": machine.vc_count, "node": len(topology.kind), "tree": trees}
        bits = {name: max(1, (count - 1).bit_length()) for name, count in counts.items()}
        return cls(**bits, ports=int(ports.max()), hops=hops, data=8 * machine.flit_bytes)

    @property
    def bits(self) -> int:
        """The bits of a whole flit."""
        return self.vc + TYPE_BITS + self.data

    @property
    def route_names(self) -> tuple[str, ...]:
        """The fields of a route: Next, one for each further hop, Eject."""
        return ("next", *(f"next{hop}" for hop in range(2, self.hops + 1)), "eject")

    @property
    def route_bits(self) -> int:
        """The bits of all fields of a route."""
        return (self.hops + 1) * self.ports

    @property
    def no_port(self) -> int:
        """The value that stands for an unused field of a route, whose bits are all zero; Next is always used."""
        return self.ports

    def fields(self, kind: FlitType) -> list[Field]:
        """The fields of a flit, most significant first; they are `bits` wide in all."""
        info: list[tuple[str, int]] = []
        if kind in (FlitType.HEAD, FlitType.HEAD_TAIL):
            info = [("dest", self.node), ("src", self.node)]
        elif kind is FlitType.MESSAGE_HEAD:
            info = [*((name, self.ports) for name in self.route_names), ("tree", self.tree)]
        left = self.data - sum(bits for _, bits in info)
        named = [(VC, self.vc), (TYPE, TYPE_BITS), *info, *([(DATA, left)] if left else [])]
        return [Field(name, bits, False) for name, bits in named]

    def route(self, ports: Sequence[int]) -> dict[str, int]:
        """The fields of the route over these output ports, the last of which ejects. InputError for a longer one."""
        if not 2 <= len(ports) <= self.hops + 1:
            raise InputError(f"a route of {len(ports) - 1} hops; allowed: 1 to {self.hops}, for which the head has fields")
        unused = [self.no_port] * (self.hops + 1 - len(ports))
        return dict(zip(self.route_names, [*ports, *unused], strict=True))

    def encode(self, kind: FlitType, values: Mapping[str, int]) -> int:
        """The flit as a number of `bits` bits. `values` has every field but the type, ports by their numbers; data may be left out
        and are zero then.

        InputError for a field that is missing, unknown, or does not fit.
        """
        given = {DATA: 0, **values, TYPE: int(kind)}
        fields = self.fields(kind)
        names = [field.name for field in fields]
        unknown = [name for name in values if name not in names or name == TYPE]
        if unknown:
            raise InputError(f"{kind.name} flit: unknown field {unknown[0]!r}; known: {', '.join(n for n in names if n != TYPE)}")
        word = 0
        for field in fields:
            value, most = given.get(field.name), self._most(field)
            if value is None:
                raise InputError(f"{kind.name} flit: {field.name} is missing")
            if type(value) is not int or not 0 <= value <= most:
                raise InputError(f"{kind.name} flit: {field.name} is {value!r}; allowed: 0 to {most}")
            word = word << field.bits | (self._hot(value) if field.name in self.route_names else value)
        return word

    def decode(self, word: int) -> tuple[FlitType, dict[str, int]]:
        """The type of a flit and all its other fields, ports by their numbers. InputError for a number that is wider than a flit,
        and for a field of a route that is not one-hot."""
        if type(word) is not int or not 0 <= word < 1 << self.bits:
            raise InputError(f"a flit is {word!r}; allowed: numbers of {self.bits} bits")
        kind = FlitType(word >> self.data & (1 << TYPE_BITS) - 1)
        values, left = {}, self.bits
        for field in self.fields(kind):
            left -= field.bits
            values[field.name] = word >> left & (1 << field.bits) - 1
        del values[TYPE]
        for name in self.route_names if kind is FlitType.MESSAGE_HEAD else ():
            hot = values[name]
            if hot & (hot - 1) or (not hot and name == "next"):
                raise InputError(f"{kind.name} flit: {name} is {hot:#0{self.ports + 2}b}; allowed: one bit")
            values[name] = hot.bit_length() - 1 if hot else self.no_port
        return kind, values

    def turned(self, word: int) -> int:
        """A message's head as a router passes it to the next one: Next and Eject are exchanged, so that the next router ejects by
        the port in Next, and the destination can see in Eject where the message came from. With more hops the fields of the route
        turn by one. InputError for any other flit, and where no router follows."""
        kind, values = self.decode(word)
        if kind is not FlitType.MESSAGE_HEAD:
            raise InputError(f"{kind.name} flit: only a message's head has Next and Eject")
        names = self.route_names
        return self.encode(kind, values | {name: values[names[(at + 1) % len(names)]] for at, name in enumerate(names)})

    def _most(self, field: Field) -> int:
        """The largest value of a field."""
        if field.name in self.route_names:
            return self.ports - (field.name == "next" or self.hops == 1)
        return (1 << field.bits) - 1

    def _hot(self, port: int) -> int:
        """The bits of a field with this port."""
        return 0 if port == self.no_port else 1 << port
