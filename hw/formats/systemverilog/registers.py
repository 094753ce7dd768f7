"""The register map of the reference interface, once: for the C header, CONTRACT.md and `certree_ni.rdl`."""

from dataclasses import dataclass

from certree.hw.formats.systemverilog.sizes import IDENTIFIER, Sizes


@dataclass(frozen=True)
class Register:
    """A register at a byte offset. `access`: r, rw, or w1c (ones clear); `bits`: (name, bit, meaning) where it is not one number;
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
    ("STAGING", 6, "more chunks waited for the reduction unit than the staging area holds"),
)
_CONTROL = (
    ("START", 0, "written 1: the next cycle is time 0"),
    ("CLEAR", 1, "written 1: all but settings as after reset; then load the tables again"),
    ("ARM", 2, "written 1: the first rows are read; then START opens slot 0 without delay"),
)
_STATUS = (("RUNNING", 0, "started"), ("OPEN", 1, "slot 0 has opened"), ("DONE", 2, "all has fired and counted (A10)"))
REGISTERS = (
    Register(0x00, "ID", "r", f"{IDENTIFIER:#010x}"),
    Register(0x04, "CONTROL", "rw", "start and clear", _CONTROL),
    Register(0x08, "STATUS", "r", "state of the run", _STATUS),
    Register(0x0C, "ERROR", "w1c", "what went wrong", _ERRORS),
    Register(0x10, "SKEW", "rw", "cycles from time 0 to the opening of slot 0 (E1)", width="CYCLE_BITS"),
    Register(0x14, "NODE", "rw", "topology id of this node", width="NODE_BITS"),
    Register(0x18, "ROWS", "rw", "rows of this node", width="ROW_NUMBER_BITS"),
    Register(0x1C, "ARRIVALS", "rw", "lines of its list of expected arrivals", width="LINE_NUMBER_BITS"),
    Register(0x20, "FIRINGS", "rw", "rows times iterations", width="FIRED_BITS"),
    Register(0x24, "COUNTS", "rw", "arrivals of all iterations", width="TOTAL_BITS"),
    Register(0x28, "SLOT_CYCLES", "rw", "cycles of a slot; after reset as the package says", width="CYCLE_BITS"),
    Register(0x2C, "PERIOD", "rw", "slots of a period; after reset as the package says", width="ABSOLUTE_SLOT_BITS"),
    Register(0x30, "REPEATS", "rw", "iterations; after reset as the package says", width="COUNT_BITS"),
    Register(0x34, "STAGING_BASE", "rw", "first granule of the staging area: two chunks for each incoming lane", width="ADDR_BITS"),
    Register(0x38, "LATE_ROWS", "r", "rows that fired late, modulo 2^16", width="LATE_ROWS_BITS"),
    Register(0x3C, "SLOT", "r", "the current slot, counted from the start", width="ABSOLUTE_SLOT_BITS"),
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
    """How many bits a register of one number has; those above are reserved."""
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
    resets = {"ID": IDENTIFIER, **{name: sizes[name] for name in ("SLOT_CYCLES", "PERIOD", "REPEATS")}}
    software = {"r": "r", "rw": "rw", "w1c": "rw"}
    for register in REGISTERS:
        lines += ["  reg {", f'    desc = "{register.meaning}";']
        for name, bit, meaning in register.bits or (("VALUE", -1, register.meaning),):
            place = f"[{bit}:{bit}]" if bit >= 0 else f"[{bits_of(register, sizes) - 1}:0]"
            clears = " onwrite = woclr;" if register.access == "w1c" else ""
            hardware = "w" if register.access in ("r", "w1c") else "r"
            lines.append(
                f'    field {{ desc = "{meaning}"; sw = {software[register.access]}; hw = {hardware};{clears} }} '
                f"{name}{place} = {resets.get(register.name, 0)};"
            )
        lines.append(f"  }} {register.name} @ 0x{register.offset:x};")
    lines += [
        "  reg {",
        f'    desc = "{PEERS.meaning}";',
        f"    field {{ sw = rw; hw = r; }} VALUE[{sizes['NODE_BITS'] - 1}:0] = {(1 << sizes['NODE_BITS']) - 1};",
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
