"""`CONTRACT.md`: the meaning of the files of a folder, the numbers of its tables, and the full contract of schedule tables."""

import re
from functools import cache
from importlib.resources import files

from certree.hw.formats.bit_layout import Field
from certree.hw.formats.systemverilog.package import layouts, offsets
from certree.hw.formats.systemverilog.registers import PEERS, REGISTERS, WINDOWS, Register, bits_of
from certree.hw.formats.systemverilog.sizes import Sizes
from certree.hw.formats.systemverilog.testbench import is_executable
from certree.hw.formats.systemverilog.window import MOST_LOCKSTEP_ROWS, MOST_ROWS
from certree.models.common.extras import provided

_OPS = ("NOP", "REDUCE", "GATHER")


def contract_text(sizes: Sizes) -> str:
    """The document; links of the contract, which lead out of the folder, as plain text."""
    parts = [
        _INTRODUCTION,
        _numbers(sizes),
        _slots(sizes),
        *([_lockstep(sizes)] if sizes["IS_LOCKSTEP"] else []),
        _FILES,
        _layouts(sizes),
        _registers(sizes),
        _PINS if is_executable(sizes) else _NO_REFERENCE.format(most=MOST_ROWS, lockstep=MOST_LOCKSTEP_ROWS),
        _contract(),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


@cache
def _contract() -> str:
    text = (files(__package__) / "contract.txt").read_text(encoding="utf-8")
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"^#", "##", text, flags=re.MULTILINE).replace("## Tables", "## The contract of schedule tables", 1)


def _numbers(sizes: Sizes) -> str:
    lines = ["## Numbers of these tables", "", "| constant | value | meaning |", "|---|---|---|"]
    lines += [f"| `{constant.name}` | {constant.value} | {constant.meaning} |" for constant in sizes.constants]
    return "\n".join(lines)


def _slots(sizes: Sizes) -> str:
    ops = ", ".join(f"{sizes['OP_' + name]} {name}" for name in _OPS)
    return f"""
## Op codes, units, slots

- Op codes: {ops}; 3 does not exist.
- Addresses and sizes count granules of {sizes["GRANULE_BYTES"]} bytes; a chunk has {sizes["CHUNK_GRANULES"]}. Times count cycles of
  one clock.
- `step` of a row is the slot in which its iteration 0 fires. A slot lasts {sizes.tables.slot_cycles} cycles, a period
  {sizes["PERIOD"]} slots, and there are {sizes["REPEATS"]} iterations: iteration i fires in slot `step + i * PERIOD`.
- In hardware a row is stored by `slot = step mod PERIOD`, with `stage = step div PERIOD` (0 to {sizes["STAGES"] - 1}). In
  period q it serves iteration `q - stage`, and is disabled unless that is 0 to {sizes["REPEATS"] - 1}.
- A chunk at address a is at `a + i * {sizes["STRIDE"]}` in iteration i if a is below {sizes["WORK_BASE"]}, and at
  `a + (i mod {sizes["IN_FLIGHT"]}) * {sizes["WORK_STRIDE"]}` otherwise. A node needs {sizes["MEMORY_GRANULES"]} granules, and the
  reference interface {1 << sizes["STAGED_CHUNK_BITS"]} chunks more for each incoming lane.
- Memories: {sizes["ROWS"]} rows, {sizes["ARRIVALS"]} expected arrivals, {sizes["ROUTES"]} routes at most at a node.
"""


def _lockstep(sizes: Sizes) -> str:
    apart = provided("steps that counters are apart")(sizes.tables)
    bound = "not stated (messages of several sizes, fine slots, too many rows, or no two such nodes with rows)"
    if apart is not None:
        bound = f"at most {apart}, at any timing, while both have rows to fire"
    return f"""
## Lockstep

These tables are for an interface without slots: a timestep counter tells rows when to fire (E6 to E9), and the golden trace is that
of a paced run. Wherever names or sentences say slot, its steps are meant; only the steps of rows and their order count.

- The counter advances by one when all rows of its step have fired, no lane has more than {sizes["NI_BUFFER_FLITS"]} flits left, and
  neither the reduction unit nor the copy unit has anything to do. A step without rows at a node is a NOP, which takes no row of the
  table: the down-counter, loaded with `SLOT_CYCLES` ({sizes["SLOT_CYCLES"]}, the step time of E8), must have run out as well.
- An interface whose clock is slower by ρ loads `ceil(SLOT_CYCLES * (1 + ρ))`, only without an epoch: the CRC of an image covers
  this word. `SKEW` is when step 0 begins. No row is late.
- Messages queue at a lane, at most `LANE_QUEUE` behind the one that is sent, and chunks wait for the reduction unit, at most
  2^STAGED_CHUNK_BITS of a lane. Rows are read ahead into a window that is large enough for the row after each that fires to be
  there in the next cycle.
- The steps by which the counters of two nodes differ, of which one sends to the other, are {bound}.
- There is no boundary, and no `MISSED`. The next image is loaded and armed as below; the interface takes over by itself when it is
  done with its tables, and rests (B8): `OPEN_EPOCH` is the new epoch, `RUNNING` is 0. When all have, put the new message into the
  memories, wait as long as between `ARM` and `START` below, and write `START` at all nodes. The next cycle is time 0 again.
  `START` to an interface that has not taken over is ignored, without an error.
"""


def _layouts(sizes: Sizes) -> str:
    parts = ["## Fields", "Bit 0 is the least significant bit; nil is all ones."]
    for name, fields in layouts(sizes).items():
        parts.append(f"`{name}_t`, {sum(field.bits for field in fields)} bits:\n\n" + _field_table(fields))
    return "\n\n".join(parts)


def _field_table(fields: list[Field]) -> str:
    lines = ["| field | bits |", "|---|---|"]
    for field, low in zip(fields, offsets(fields), strict=True):
        lines.append(f"| `{field.name}` | {low + field.bits - 1}:{low} |")
    return "\n".join(lines)


def _registers(sizes: Sizes) -> str:
    lines = [
        "## Registers of the reference interface",
        "",
        "At byte offsets of its APB port of 32 bits; bits that a register does not have are 0.",
        "",
    ]
    lines += ["| offset | name | bits | access | meaning |", "|---|---|---|---|---|"]
    for one in REGISTERS:
        bits = max(bit for _, bit, _ in one.bits) + 1 if one.bits else bits_of(one, sizes)
        lines.append(f"| {one.offset:#04x} | `{one.name}` | {bits} | {one.access} | {one.meaning}{_bit_words(one)} |")
    lines.append(f"| {PEERS.offset:#x} | `{PEERS.name}[{sizes[PEERS.constant]}]` | {sizes['NODE_BITS']} | rw | {PEERS.meaning} |")
    lines += [f"| {window.offset:#x} | window `{window.name}` | 32 | w | {window.meaning} |" for window in WINDOWS]
    words = sizes["WINDOW_WORDS"]
    lines += ["", f"An entry of a window takes {words} words, the lowest first, and is stored when the last one is written."]
    return "\n".join(lines)


def _bit_words(register: Register) -> str:
    return "".join(f"; bit {bit} `{name}`: {meaning}" for name, bit, meaning in register.bits)


_INTRODUCTION = """
# Contract of these tables

Generated with the tables next to it by certree; do not edit. This folder is complete: what an implementer of the network interface
has to know is here, first with the numbers of these very tables, then the contract of schedule tables itself, whose sentences have
numbers (E3, M5) to which the RTL and the assertions refer.
"""

_FILES = """
## Files

| file | contents |
|---|---|
| `node_*.hex`, `arrivals_*.hex`, `routes.hex` | rows, expected arrivals and source routes (section "Files" of the contract) |
| `slots_*.hex` | the same rows in the order in which they fire (by `slot`, then by table order), for the memory of the interface |
| `slots_header_*.hex` | with an epoch: numbers and CRC of these rows, the arrivals and the routes (B7) |
| `certree_ni_pkg.sv`, `certree_tables.h` | all constants and layouts, for SystemVerilog and C |
| `certree_ni.rdl` | the registers in SystemRDL: PeakRDL makes C header, IP-XACT and UVM model of it |
| `certree_ni*.sv` | the reference interface for these tables (`certree_ni.sv` is the top) |
| `certree_ni_tb.sv`, `certree_tb_pkg.sv` | testbench and its constants |
| `certree_ni_cocotb.py` | the same in cocotb 2, to extend |
| `certree_nodes.sv`, `certree_network.sv`, `certree_node_memory.sv` | what both put the interfaces into: memories and the network |
| `certree_ni.f` | all SystemVerilog files in order |
| `trace.csv` | the golden trace: what happens in which cycle of a run of these tables, from the cycle-accurate simulator of
certree |
| `table.json`, `layout.md`, `manifest.json` | the tables for readers, and checksums |

In `slots_*.hex` names are replaced by what hardware needs: `row`, the number of the row in `node_*.hex`; `wait_line` and
`wait_lines`, the lines of the node's own `arrivals_*.hex` that must have counted (`need` times, where the field exists) before the
row may fire; for each outgoing lane `lane`, whether a message of the row takes it (all lanes of a bundle have the bit, the message
takes one of them), and `line`, the line of that message in the `arrivals_*.hex` of its destination, which travels in its header, so
that nobody searches. A message within a node takes no lane; its line is at lane 0.

## Golden trace

| event | `number` | the cycle |
|---|---|---|
| `fire` | row of the node (`node_*.hex`) | in which it fires |
| `first`, `last` | outgoing lane (by id of the neighbour) | in which the first, or last, flit enters the lane |
| `count` | line of the node's arrivals | from which on the arrival shows in the counters; of a REDUCE the sum is in memory |
| `done` | | at whose beginning everything has fired and counted |

Cycle 0 is that in which the first slot opens, without skew and `START_CYCLES`.
"""

_NO_REFERENCE = """
## No reference interface

The reference interface executes tables on links of whole units of speed, in messages with a header flit; in fine slots where it
can read each row before its slot, with a window of {most} rows, and in lockstep if a window of {lockstep} is enough. These are
others: the folder has neither `certree_ni.sv` with its modules nor the testbench, and the registers are a proposal.
"""

_PINS = """
## Pins and timing of the reference interface

- Set `LANE_PEER`, `SKEW` and `NODE`. With an epoch write `LOAD`; then the words of the header (`EPOCH` to `BOUNDARY`), the
  entries of `ROWS`, `ARRIVALS` and `ROUTES` in order, and with an epoch `CRC`: `slots_header_*.hex` has these words, and
  `certree_tables.h` the numbers of each node. A word of an image that is checked takes 8 cycles (wait states). Write `ARM`; when
  the first rows are read, at most `(WINDOW_ROWS + 1) * (ARRIVALS + 4) + 2 * ROWS * STAGES` cycles later, write `START` at all nodes
  in the same cycle. The next cycle is time 0.
- While tables run the next image is loaded in the same way, into the bank that is not open. `ARM` makes it open at the boundary
  (B4), without reset. Its first rows are read when all rows of the open bank have fired. An image that is not whole, or of
  another epoch than the next, is not armed (`IMAGE`); one that is armed too late, or while rows are left at the boundary, does
  not open (`MISSED`). Both images must be written with the layouts of this folder, for chunks of the same size.
- A message of another epoch than that of the open bank when its header comes is dropped, and so is one that is not complete when
  the other bank opens (`MIXED`, `MIXED_SOURCE`).
- A row that fires in cycle t has its first flit on `tx` in cycle t + 1; this cycle is part of `lat`. A message whose last flit
  is on `rx` in cycle t is complete at time t + 1. From `tx` pins to `rx` pins a flit takes `lat - 1` cycles, at least 1.
- `tx_header` is there with the first flit, `tx_data` with the flits behind the `HEAD_FLITS` header flits. An interface always takes
  what comes in: a lane has one message at a time.
- Memory reads have valid and ready; data come in the cycle after a request is taken, and show all writes that were taken by then.
  Writes of incoming lanes must be taken at once (otherwise error `OVERRUN`); the reduction unit waits.
- A REDUCE message is first written to the staging area, whose addresses have the top bit: place p of the
  `P = 2^STAGED_CHUNK_BITS` of lane l begins at `2^(ADDR_BITS - 1) + (P l + p) * 2^STAGED_BITS`. The reduction unit then adds it,
  `SUM_GRANULES` in a cycle.
- Incoming lanes are numbered by id of the neighbour, then by lane of the bundle, as M6 orders what is complete in one cycle.
- Where rows move data within a node (`COPY_UNITS`), the copy unit is a lane that starts in the cycle in which its row fires. It has
  the last read port, the first write port, and the first place in `counted` and in the staging area. Its granules are written a
  cycle after they are there, so that a lane that sends the same chunk reads each one before.
- In `blocks` and `buffers` a header names the iteration, and the buffer where there are several. Its line in the list of arrivals
  says where the chunk belongs in iteration 0 (D5). In tables of a demand it also says how many granules follow.
- `fired`, `counted` and what goes with them say in each cycle what happened in the one before; rows that fire together do so in the
  order of their places in the window from `fired_from` on. `is_done` and `has_error` are levels.
- A lane takes one message in a cycle, and rows that would send it a second one wait. Rows of tables that are valid and not
  late never
  meet in a lane. The interface reads a row in 3 cycles and one more for each line that it waits for; the rows of a slot must
  be read
  within a slot. Otherwise rows are late, which the error register says.
"""
