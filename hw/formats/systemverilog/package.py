"""`certree_ni_pkg.sv` and `certree_tables.h`: the constants and the layouts of tables, for SystemVerilog and for C."""

from certree.hw.formats.bit_layout import OP_BITS, Field
from certree.hw.formats.systemverilog.images import lanes_of
from certree.hw.formats.systemverilog.registers import REGISTERS, WINDOWS
from certree.hw.formats.systemverilog.sizes import IDENTIFIER, Sizes
from certree.models.tables.table_columns import NIL

NOTE = "Generated with the tables next to it by certree; do not edit."
_SMALL = 1 << 32
_KEYWORDS = frozenset({"wait"})  # keywords of SystemVerilog among the names of fields
#: fields that some tables do not have, and the reference interface does not use then: record -> names
_OPTIONAL = {
    "slot_row": ("need", "dst_buffer"),
    "arrival": ("flow", "buffer", "count", "addr"),
    "header": ("size", "iteration", "buffer"),
}


def offsets(fields: list[Field]) -> list[int]:
    """The lowest bit of each field."""
    low, found = sum(field.bits for field in fields), []
    for field in fields:
        low -= field.bits
        found.append(low)
    return found


def header_fields(sizes: Sizes) -> list[Field]:
    """The fields of a message's header, most significant first: the last three are the message's line in a list of arrivals of
    `trees`. Elsewhere it names iteration and buffer (M9), and where chunks differ in size its granules."""
    tables = sizes.tables
    named = [("route", "ROUTE_BITS"), ("line", "LINE_BITS"), ("addr", "ADDR_BITS")]
    named += [("size", "SIZE_BITS")] if tables.has_sizes else []
    named += [("iteration", "ITERATION_BITS")] if tables.is_counted else []
    named += [("buffer", "BUFFER_BITS")] if tables.buffers > 1 else []
    bits = [(name, sizes[constant]) for name, constant in named]
    bits += [("epoch", 1), ("op", OP_BITS), ("flow", sizes["FLOW_BITS"]), ("src", sizes["NODE_BITS"])]
    return [Field(name, width, False) for name, width in bits]


def layouts(sizes: Sizes) -> dict[str, list[Field]]:
    """The records: name -> fields."""
    widths = sizes.widths
    return {
        "row": widths.row(),
        "slot_row": sizes.fields,
        "arrival": widths.arrival(),
        "route": widths.ports(),
        "header": header_fields(sizes),
    }


def package_text(sizes: Sizes) -> str:
    """The SystemVerilog package."""
    lines = [
        f"// {NOTE}",
        "// CONTRACT.md says what these mean.",
        "// verilator lint_off UNUSEDPARAM",
        "// verilator lint_off ASCRANGE",
        "package certree_ni_pkg;",
    ]
    lines.append(f"  localparam logic [31:0] CERTREE_ID = 32'h{IDENTIFIER:08x};  // of the register map")
    for constant in sizes.constants:
        kind = "logic [1:0]" if constant.name.startswith("OP_") else "int unsigned"
        if constant.value >= _SMALL:
            kind = "longint unsigned"
        number = f"2'd{constant.value}" if constant.name.startswith("OP_") else str(constant.value)
        if constant.value >= _SMALL:
            number = f"64'd{constant.value}"
        lines.append(f"  localparam {kind} {constant.name} = {number};  // {constant.meaning}")
    for name, fields in layouts(sizes).items():
        bits = sum(field.bits for field in fields)
        lines += ["", f"  localparam int unsigned {name.upper()}_BITS = {bits};" if name != "route" else ""]
        for field, low in zip(fields, offsets(fields), strict=True):
            array, _, place = field.name.partition("[")
            if place in ("", "0]"):
                lines.append(f"  localparam int unsigned {name.upper()}_{array.upper()}_LSB = {low};")
        missing = set(_OPTIONAL.get(name, ())) - {field.name for field in fields}
        lines += [f"  localparam int unsigned {name.upper()}_{one.upper()}_LSB = 0;  // no such field" for one in sorted(missing)]
        lines += ["  typedef struct packed {", *_members(fields), f"  }} {name}_t;"]
    key = sizes["NODE_BITS"] + sizes["FLOW_BITS"] + 2
    lines += ["", f"  localparam int unsigned HEADER_KEY_LSB = 0;  // op, flow and src: {key} bits, a line of `trees`"]
    return "\n".join([*(line for line in lines if line is not None), "endpackage", ""])


def _members(fields: list[Field]) -> list[str]:
    """Members of a struct; places of an array, which stand together, as one packed array."""
    lines, done = [], set()
    for field in fields:
        name, _, place = field.name.partition("[")
        if not place:
            lines.append(f"    logic [{field.bits - 1}:0] {name}{'_' * (name in _KEYWORDS)};")
        elif name not in done:
            done.add(name)
            count = sum(other.name.startswith(f"{name}[") for other in fields)
            # children[0] is the most significant place in the image; lane[0] and line[0] are the least
            bounds = f"0:{count - 1}" if place == "0]" and count > 1 else f"{count - 1}:0"
            lines.append(f"    logic [{bounds}][{field.bits - 1}:0] {name};")
    return lines


def header_text(sizes: Sizes) -> str:
    """The C header."""
    lines = [
        f"/* {NOTE}", "   CONTRACT.md says what these mean. */", "#ifndef CERTREE_TABLES_H", "#define CERTREE_TABLES_H", "",
        "#include <stdint.h>", "", f"#define CERTREE_ID 0x{IDENTIFIER:08x}u",
    ]  # fmt: skip
    for constant in sizes.constants:
        suffix = "ull" if constant.value >= _SMALL else "u"
        lines.append(f"#define CERTREE_{constant.name} {constant.value}{suffix} /* {constant.meaning} */")
    lines += ["", "/* Registers: byte offsets. */"]
    lines += [f"#define CERTREE_REG_{register.name} 0x{register.offset:x}u" for register in REGISTERS]
    lines += ["", "/* Table windows: byte offsets; entry i begins CERTREE_ENTRY_BYTES * i behind them. */"]
    lines += [f"#define CERTREE_AT_{window.name} 0x{window.offset:x}u" for window in WINDOWS]
    lines.append(f"#define CERTREE_ENTRY_BYTES {4 * sizes['WINDOW_WORDS']}u")
    for name, fields in layouts(sizes).items():
        if name != "route":
            lines.append(f"#define CERTREE_{name.upper()}_BITS {sum(field.bits for field in fields)}u")
        lines += ["", f"/* A {name.replace('_', ' ')} with its fields apart; the macros say how images and windows pack them. */"]
        lines += ["typedef struct {", *_c_members(fields), f"}} certree_{name}_t;"]
        for field, low in zip(fields, offsets(fields), strict=True):
            macro = f"CERTREE_{name.upper()}_{field.name.upper().replace('[', '_').replace(']', '')}"
            lines.append(f"#define {macro}_LSB {low}u")
            lines.append(f"#define {macro}_BITS {field.bits}u")
    lines += ["", "/* For each network interface: its node id, and what its registers get. */"]
    lines += ["typedef struct {", "  uint32_t node, rows, arrivals, firings, counts;"]
    lines += ["  uint32_t lane_peer[CERTREE_TX_LANES];", "} certree_ni_t;"]
    lines.append("static const certree_ni_t certree_nis[CERTREE_NIS] = {")
    for node, rows, arrivals, firings, counts, peers in interfaces(sizes):
        listed = ", ".join(f"{peer}u" for peer in peers)
        lines.append(f"  {{{node}u, {rows}u, {arrivals}u, {firings}u, {counts}u, {{{listed}}}}},")
    return "\n".join([*lines, "};", "", "#endif", ""])


def _c_members(fields: list[Field]) -> list[str]:
    lines = []
    for field in fields:
        name, _, place = field.name.partition("[")
        if place in ("", "0]"):
            count = sum(other.name.startswith(f"{name}[") for other in fields)
            kind = next(f"uint{bits}_t" for bits in (8, 16, 32, 64) if field.bits <= bits)
            lines.append(f"  {kind} {name}{f'[{count}]' if place else ''};")
    return lines


def interfaces(sizes: Sizes) -> list[tuple[int, int, int, int, int, list[int]]]:
    """(node, rows, arrivals, firings, counts, neighbour at the end of each outgoing lane) of each network interface."""
    tables, nil = sizes.tables, (1 << sizes["NODE_BITS"]) + NIL
    lanes = lanes_of(tables, "src")
    found = []
    for node in tables.topology.endpoints.tolist():
        own = tables.arrival_node == node
        rows, arrivals = int((tables.node == node).sum()), int(own.sum())
        peers = [int(tables.topology.pair_dst[pair]) for pair, _ in lanes[node]]
        counts = int(tables.arrival_count[own].sum()) * tables.repeats
        found.append((node, rows, arrivals, rows * tables.repeats, counts, peers + [nil] * (sizes["TX_LANES"] - len(peers))))
    return found
