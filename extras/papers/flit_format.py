"""Bit format of flits (MultiTree, ISCA 2021, section IV-B, Fig. 8 and Table II).

The paper draws the fields and their order for a 4x4 torus and gives no widths; here they follow from the network, the machine and
the number of trees. From the most significant bit on:

    control (next to the data)  VC, Type
    head of a normal packet     Dest, Src, then data                                (Fig. 8a and 8c)
    head of a message           Next, Eject, Tree, then data                        (Fig. 8a and 8d)
    all others                  data                                                (Fig. 8b)

A flit's data are as wide as a link, `flit_bytes`; a head's Packet Info takes the upper part of them. Ports number a router's output
lanes, then its ejection ports.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from certree.hw.formats.bit_layout import Field
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.network.topology import NodeKind, Topology

TYPE_BITS = 3
VC, TYPE, DATA = "vc", "type", "data"


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


@dataclass(frozen=True)
class FlitFormat:
    """Bits of each kind of field; `data` are the bits of the whole flit without VC and Type."""

    vc: int
    node: int
    port: int
    tree: int
    data: int

    def __post_init__(self) -> None:
        for name, low in (("vc", 1), ("node", 1), ("port", 1), ("tree", 1), ("data", self._longest_info)):
            if getattr(self, name) < low:
                raise InputError(f"flit format: {name} has {getattr(self, name)} bits; allowed: {low} or more")

    @classmethod
    def of(cls, topology: Topology, machine: Machine, trees: int) -> "FlitFormat":
        """The narrowest fields that hold every VC, node, port and tree. InputError where a head does not fit into a flit."""
        lanes = np.bincount(topology.src, topology.capacity, len(topology.kind)).astype(np.int64)
        is_endpoint = topology.kind == NodeKind.ENDPOINT
        ports = lanes + is_endpoint * (lanes if machine.router.interfaces == "link" else 1)
        counts = {"vc": machine.vc_count, "node": len(topology.kind), "port": int(ports.max()), "tree": trees}
        return cls(**{name: max(1, (count - 1).bit_length()) for name, count in counts.items()}, data=8 * machine.flit_bytes)

    @property
    def bits(self) -> int:
        """Of a whole flit."""
        return self.vc + TYPE_BITS + self.data

    @property
    def _longest_info(self) -> int:
        return max(2 * self.node, 2 * self.port + self.tree)

    def fields(self, kind: FlitType) -> list[Field]:
        """The fields of a flit, most significant first; they are `bits` wide in all."""
        info: list[tuple[str, int]] = []
        if kind in (FlitType.HEAD, FlitType.HEAD_TAIL):
            info = [("dest", self.node), ("src", self.node)]
        elif kind is FlitType.MESSAGE_HEAD:
            info = [("next", self.port), ("eject", self.port), ("tree", self.tree)]
        left = self.data - sum(bits for _, bits in info)
        named = [(VC, self.vc), (TYPE, TYPE_BITS), *info, *([(DATA, left)] if left else [])]
        return [Field(name, bits, False) for name, bits in named]

    def encode(self, kind: FlitType, values: Mapping[str, int]) -> int:
        """The flit as a number of `bits` bits. `values` has every field but the type; data may be left out and are zero then.

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
            value, most = given.get(field.name), (1 << field.bits) - 1
            if value is None:
                raise InputError(f"{kind.name} flit: {field.name} is missing")
            if type(value) is not int or not 0 <= value <= most:
                raise InputError(f"{kind.name} flit: {field.name} is {value!r}; allowed: 0 to {most}")
            word = word << field.bits | value
        return word

    def decode(self, word: int) -> tuple[FlitType, dict[str, int]]:
        """The type of a flit and all its other fields. InputError for a number that is wider than a flit."""
        if type(word) is not int or not 0 <= word < 1 << self.bits:
            raise InputError(f"a flit is {word!r}; allowed: numbers of {self.bits} bits")
        kind = FlitType(word >> self.data & (1 << TYPE_BITS) - 1)
        values, left = {}, self.bits
        for field in self.fields(kind):
            left -= field.bits
            values[field.name] = word >> left & (1 << field.bits) - 1
        del values[TYPE]
        return kind, values

    def turned(self, word: int) -> int:
        """A message's head as its first router passes it on: Next and Eject are exchanged, so that the next router ejects by the
        port in Next, and the destination can see in Eject where the message came from. InputError for any other flit."""
        kind, values = self.decode(word)
        if kind is not FlitType.MESSAGE_HEAD:
            raise InputError(f"{kind.name} flit: only a message's head has Next and Eject")
        return self.encode(kind, values | {"next": values["eject"], "eject": values["next"]})
