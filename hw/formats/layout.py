"""Bit layout of table rows: fields, widths and order."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from certree.models.common.fields import Limits
from certree.models.tables import NIL, Tables

OP_BITS = 2
MAX_BITS = 62  # a field fits a signed 64-bit integer with room for "all ones"
MAX_CHILDREN = 4096
MAX_LINKS = 1 << 16  # of a route, and the eject behind them
_Bits = Annotated[int, Limits(1, MAX_BITS)]


@dataclass(frozen=True)
class Field:
    """One field of a row: `name` as in the contract, `bits` wide; `nullable` fields encode nil as all ones."""

    name: str
    bits: int
    nullable: bool


@dataclass(frozen=True)
class Widths:
    """Bits of each kind of field, and how many children a row and ports a route has. All tables of one export share them."""

    flow: _Bits
    node: _Bits
    children: Annotated[int, Limits(1, MAX_CHILDREN)]
    step: _Bits
    addr: _Bits
    size: _Bits
    route: _Bits
    port: _Bits
    hops: Annotated[int, Limits(1, MAX_LINKS)]

    @classmethod
    def of(cls, tables: Tables) -> "Widths":
        """The narrowest layout that holds every row: node and route ids keep all ones free for nil."""
        highest = {name: int(getattr(tables, name).max(initial=0)) for name in ("step", "addr", "size", "route")}
        used = np.flatnonzero((tables.children != NIL).any(axis=0))
        return cls(
            flow=max(1, (tables.chunks - 1).bit_length()),
            node=len(tables.topology.kind).bit_length(),
            children=int(used[-1]) + 1 if len(used) else 1,
            step=max(1, highest["step"].bit_length()),
            addr=max(1, highest["addr"].bit_length()),
            size=max(1, highest["size"].bit_length()),
            route=(highest["route"] + 1).bit_length() if (tables.route != NIL).any() else 1,
            port=int(np.bincount(tables.topology.src).max()).bit_length() if tables.routes else 1,
            hops=max(map(len, tables.routes), default=0) + 1,
        )

    def row(self) -> list[Field]:
        """The fields of a row, most significant first."""
        return [
            Field("op", OP_BITS, False),
            Field("flow", self.flow, False),
            Field("parent", self.node, True),
            *(Field(f"children[{index}]", self.node, True) for index in range(self.children)),
            Field("step", self.step, False),
            Field("addr", self.addr, False),
            Field("size", self.size, False),
            Field("route", self.route, True),
        ]

    def arrival(self) -> list[Field]:
        """The fields of an expected arrival, most significant first."""
        return [Field("op", OP_BITS, False), Field("flow", self.flow, False), Field("peer", self.node, False)]

    def ports(self) -> list[Field]:
        """The fields of a source route, most significant first; nil ejects."""
        return [Field(f"port[{hop}]", self.port, True) for hop in range(self.hops)]


def hex_digits(fields: list[Field]) -> int:
    """Hex digits of one line: the fields' bits, padded with zeros at the top."""
    return -(-sum(field.bits for field in fields) // 4)


def layout_document(widths: Widths) -> str:
    """`layout.md`: offset and width of every field, for readers."""
    parts = [
        "# Field layout",
        "Generated with the tables next to it; do not edit. Bit 0 is the least significant bit of a line's number;"
        " nil is all ones. The meaning of the fields is the table contract of certree (`docs/reference/tables.md`).",
    ]
    for title, files, fields in (
        ("Rows", "node_*.hex", widths.row()),
        ("Expected arrivals", "arrivals_*.hex", widths.arrival()),
        *([("Source routes", "routes.hex", widths.ports())] if widths.hops > 1 else []),
    ):
        low = sum(field.bits for field in fields)
        lines = [
            f"## {title} (`{files}`)",
            f"{low} bits, {hex_digits(fields)} hex digits a line.",
            "",
            "| field | bits | width | nil |",
            "|---|---|---|---|",
        ]
        for field in fields:
            low -= field.bits
            nil = f"{(1 << field.bits) - 1:#x}" if field.nullable else ""
            lines.append(f"| `{field.name}` | {low + field.bits - 1}:{low} | {field.bits} | {nil} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
