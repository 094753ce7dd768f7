"""The register map of the reference interface, once: for the C header, CONTRACT.md and `certree_ni.rdl`."""

from dataclasses import dataclass

from certree.hw.formats.systemverilog.sizes import IDENTIFIER, Sizes


@dataclass(frozen=True)
class Register:
    """A register at a byte offset. `access`: r, w, or w1c (ones clear); `bits`: (name, bit, meaning) where it is not one number;
    `width`: the constant that says how many bits it has, otherwise 32."""

    offset: int
    name: str
    access: str
    meaning: str
    bits: tuple[tuple[str, int, str], ...] = ()
    width: str = ""


_ERRORS = (
    ("LATE", 0, "a row fired after the first cycle of its slot (E3)"),
    ("PARITY", 1, "an entry of the table memory has wrong parity; no row is read any more"),
    ("OP", 2, "a row has an op code other than REDUCE and GATHER; no row is read any more"),
    ("UNEXPECTED", 3, "a message that the list of arrivals does not have; it was dropped"),
    ("EXCEEDED", 4, "an arrival counted more often than there are iterations"),
    ("OVERRUN", 5, "memory did not take a flit"),
    ("STAGING", 6, "a third chunk of a lane came while two waited for the reduction unit"),
    ("IMAGE", 7, "an image with a wrong CRC or number was written, or one armed that is not whole or not of the next epoch (B3)"),
    ("MIXED", 8, "a message of another epoch than that of the open bank came; it was dropped (B6)"),
    ("MISSED", 9, "an armed image did not open: the boundary was past, or rows were left then"),
)
_CONTROL = (
    ("START", 0, "written 1: the next cycle is time 0"),
    ("CLEAR", 1, "written 1: all but SKEW, NODE and LANE_PEER as after reset; then load tables again"),
    ("ARM", 2, "written 1: the image that was written may open: the first with START, any other at the boundary (B4, B8)"),
    ("LOAD", 3, "written 1: an image follows, header, rows, arrivals, routes and CRC (B7)"),
)
_STATUS = (
    ("RUNNING", 0, "started"),
    ("OPEN", 1, "slot 0 has opened"),
    ("DONE", 2, "all of the open bank has fired and counted (A10)"),
    ("ARMED", 3, "the image in the other bank opens at the boundary; nothing can be written there"),
    ("LOADED", 4, "an image was written whose CRC and numbers are right"),
    ("BANK", 5, "which bank is open"),
)
REGISTERS = (
    Register(0x00, "ID", "r", f"{IDENTIFIER:#010x}"),
    Register(0x04, "CONTROL", "w", "what to do next", _CONTROL),
    Register(0x08, "STATUS", "r", "state of the run", _STATUS),
    Register(0x0C, "ERROR", "w1c", "what went wrong", _ERRORS),
    Register(0x10, "SKEW", "w", "cycles from time 0 to the opening of slot 0 (E1)", width="CYCLE_BITS"),
    Register(0x14, "NODE", "w", "topology id of this node", width="NODE_BITS"),
    Register(0x18, "LATE_ROWS", "r", "rows that fired late, modulo 2^16", width="LATE_ROWS_BITS"),
    Register(0x1C, "SLOT", "r", "the current slot, counted from the opening of the bank", width="ABSOLUTE_SLOT_BITS"),
    Register(0x20, "OPEN_EPOCH", "r", "the epoch of the open bank", width="EPOCH_BITS"),
    Register(0x24, "MIXED_SOURCE", "r", "the sender of the message that set ERROR.MIXED (B6)", width="NODE_BITS"),
    Register(0x40, "EPOCH", "w", "header of an image: its epoch, 0 for tables without one", width="EPOCH_BITS"),
    Register(0x44, "ROWS", "w", "header: rows of this node", width="ROW_NUMBER_BITS"),
    Register(0x48, "ARRIVALS", "w", "header: lines of its list of expected arrivals", width="LINE_NUMBER_BITS"),
    Register(0x4C, "FIRINGS", "w", "header: rows times iterations", width="FIRED_BITS"),
    Register(0x50, "COUNTS", "w", "header: arrivals of all iterations", width="TOTAL_BITS"),
    Register(0x54, "SLOT_CYCLES", "w", "header: cycles of a slot", width="CYCLE_BITS"),
    Register(0x58, "PERIOD", "w", "header: slots of a period", width="ABSOLUTE_SLOT_BITS"),
    Register(0x5C, "REPEATS", "w", "header: iterations", width="COUNT_BITS"),
    Register(0x60, "ROUTES", "w", "header: source routes", width="ROUTE_NUMBER_BITS"),
    Register(0x64, "BOUNDARY", "w", "header: slots until other tables may open (B4)", width="ABSOLUTE_SLOT_BITS"),
    Register(0x68, "CRC", "w", "end of an image: the CRC-32 of its header and lines (B7)"),
)


@dataclass(frozen=True)
class Window:
    """A table behind a byte offset: `constant` names its depth."""

    offset: int
    name: str
    constant: str
    meaning: str


PEERS = Window(0x100, "LANE_PEER", "TX_LANES", "the neighbour at the end of each outgoing lane; nil: not connected")
WINDOWS = (
    Window(0x100000, "ROWS", "ROWS", "slots_*.hex, write only"),
    Window(0x200000, "ARRIVALS", "ARRIVALS", "arrivals_*.hex, write only; sets the counter of the line to zero"),
    Window(0x300000, "ROUTES", "ROUTES", "routes.hex, write only"),
)


def bits_of(register: Register, sizes: Sizes) -> int:
    """The number of bits of a register that holds one number; those above are reserved."""
    return sizes[register.width] if register.width else 32


def rdl_text(sizes: Sizes) -> str:
    """The register map in SystemRDL 2.0."""
    lines = [
        "// Generated with the tables next to it by certree; do not edit.",
        "addrmap certree_ni {",
        '  name = "Network interface that executes tables of certree";',
        "  default regwidth = 32;",
        "  default accesswidth = 32;",
    ]
    software = {"r": "r", "w": "w", "w1c": "rw"}
    for register in REGISTERS:
        lines += ["  reg {", f'    desc = "{register.meaning}";']
        for name, bit, meaning in register.bits or (("VALUE", -1, register.meaning),):
            place = f"[{bit}:{bit}]" if bit >= 0 else f"[{bits_of(register, sizes) - 1}:0]"
            clears = " onwrite = woclr;" if register.access == "w1c" else ""
            hardware = "w" if register.access in ("r", "w1c") else "r"
            lines.append(
                f'    field {{ desc = "{meaning}"; sw = {software[register.access]}; hw = {hardware};{clears} }} '
                f"{name}{place} = {IDENTIFIER if register.name == 'ID' else 0};"
            )
        lines.append(f"  }} {register.name} @ 0x{register.offset:x};")
    lines += [
        "  reg {",
        f'    desc = "{PEERS.meaning}";',
        f"    field {{ sw = w; hw = r; }} VALUE[{sizes['NODE_BITS'] - 1}:0] = {(1 << sizes['NODE_BITS']) - 1};",
        f"  }} {PEERS.name}[{sizes[PEERS.constant]}] @ 0x{PEERS.offset:x} += 4;",
    ]
    for window in WINDOWS:
        lines += [
            "  external mem {",
            f'    desc = "{window.meaning}";',
            f"    mementries = {sizes[window.constant] * sizes['WINDOW_WORDS']};",
            "    memwidth = 32;",
            "    sw = w;",
            f"  }} {window.name}_WINDOW @ 0x{window.offset:x};",
        ]
    return "\n".join([*lines, "};", ""])
