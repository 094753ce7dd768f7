"""Bit layout of table rows: fields, widths and order."""

from dataclasses import asdict, dataclass
from typing import Annotated

import numpy as np

from certree.models.common.fields import Limits
from certree.models.tables.table_columns import NIL
from certree.models.tables.tables import Tables

OP_BITS = 2
MAX_BITS = 62  # a field fits a signed 64-bit integer with room for "all ones"
MAX_CHILDREN = 4096
MAX_LINKS = 1 << 16  # of a route, and the eject behind them
_Bits = Annotated[int, Limits(1, MAX_BITS)]
_ROW = ("node", "op", "flow", "parent", "children", "step", "addr", "size", "route")
_ARRIVAL = ("arrival_node", "arrival_op", "arrival_flow", "arrival_peer")


@dataclass(frozen=True)
class Field:
    """One field of a row: `name` as in the contract, `bits` wide; `nullable` fields encode nil as all ones."""

    name: str
    bits: int
    nullable: bool


@dataclass(frozen=True)
class Widths:
    """Bits of each kind of field, and how many children a row and ports a route has. All tables of one export share them.

    `wait` and `count` are 0 where rows wait for named peers, `buffer` is 0 where a node has one buffer for each chunk: such tables
    do not have these fields.
    """

    flow: _Bits
    node: _Bits
    children: Annotated[int, Limits(1, MAX_CHILDREN)]
    step: _Bits
    addr: _Bits
    size: _Bits
    route: _Bits
    port: _Bits
    hops: Annotated[int, Limits(1, MAX_LINKS)]
    wait: _Bits = 0
    count: _Bits = 0
    buffer: _Bits = 0
    channel: _Bits = 0  # of the virtual channel at the head of a route; 0: routes state none

    @classmethod
    def of(cls, tables: Tables) -> "Widths":
        """The narrowest layout that holds every row: node and route ids keep all ones free for nil."""
        names = ("step", "addr", "size", "route", "wait", "arrival_addr", "arrival_count")
        highest = {name: int(getattr(tables, name).max(initial=0)) for name in names}
        used = np.flatnonzero((tables.children != NIL).any(axis=0))
        return cls(
            flow=max(1, (tables.chunks - 1).bit_length()),
            node=len(tables.topology.kind).bit_length(),
            children=int(used[-1]) + 1 if len(used) else 1,
            step=max(1, highest["step"].bit_length()),
            addr=max(1, highest["addr"].bit_length(), highest["arrival_addr"].bit_length()),
            size=max(1, highest["size"].bit_length()),
            route=(highest["route"] + 1).bit_length() if (tables.route != NIL).any() else 1,
            port=int(np.bincount(tables.topology.src).max()).bit_length() if tables.routes else 1,
            hops=max(map(len, tables.routes), default=0) + 1,
            wait=max(1, highest["wait"].bit_length()) if tables.is_counted else 0,
            count=max(1, highest["arrival_count"].bit_length()) if tables.is_counted else 0,
            buffer=(tables.buffers - 1).bit_length(),
            channel=0 if tables.virtual_channel is None else int(tables.virtual_channel.max()).bit_length(),
        )

    def document(self) -> dict[str, int]:
        """The fields as the manifest has them."""
        return {name: bits for name, bits in asdict(self).items() if bits}

    @property
    def row_columns(self) -> tuple[str, ...]:
        """The columns of `Tables` that rows have, in the order of their fields."""
        if not self.wait:
            return _ROW
        at, buffers = _ROW.index("parent"), ("src_buffer", "dst_buffer") if self.buffer else ()
        return (*_ROW[:at], "wait", *buffers, *_ROW[at + 1 :])

    @property
    def arrival_columns(self) -> tuple[str, ...]:
        """The columns of `Tables` that expected arrivals have."""
        if not self.wait:
            return _ARRIVAL
        return ("arrival_node", "arrival_flow", *(("arrival_buffer",) if self.buffer else ()), "arrival_count", "arrival_addr")

    def row(self) -> list[Field]:
        """The fields of a row, most significant first."""
        fields = []
        for name in self.row_columns[1:]:
            if name == "children":
                fields += [Field(f"children[{index}]", self.node, True) for index in range(self.children)]
            else:
                fields.append(self._field(name))
        return fields

    def arrival(self) -> list[Field]:
        """The fields of an expected arrival, most significant first."""
        return [self._field(name.removeprefix("arrival_")) for name in self.arrival_columns[1:]]

    def _field(self, name: str) -> Field:
        bits = {"op": OP_BITS, "parent": self.node, "peer": self.node, "src_buffer": self.buffer, "dst_buffer": self.buffer}
        return Field(name, bits[name] if name in bits else getattr(self, name), name in ("parent", "route"))

    def ports(self) -> list[Field]:
        """The fields of a source route, most significant first; nil ejects."""
        channel = [Field("virtual_channel", self.channel, False)] if self.channel else []
        return [*channel, *(Field(f"port[{hop}]", self.port, True) for hop in range(self.hops))]

    @property
    def route_fields(self) -> int:
        """The fields of a source route."""
        return self.hops + (self.channel > 0)


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
