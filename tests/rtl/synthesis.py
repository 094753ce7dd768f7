"""Synthesis of the reference interface by Yosys: generic gates, flip-flops, bits of memory, the longest path."""

import re
import subprocess
from collections import Counter
from pathlib import Path

#: cases of which `make rtl` states the figures: two lanes and four, in slots and in lockstep
_SLOTTED = ("mesh-2x2", "torus-4x4-less-a-link-all-reduce")
MEASURED = (*_SLOTTED, *(f"{name}-lockstep" for name in _SLOTTED))
#: Yosys' generic gates of two inputs, multiplexers and inverters, to which the logic is mapped
_MAPPED = ("AND", "NAND", "OR", "NOR", "XOR", "XNOR", "ANDNOT", "ORNOT", "MUX")
_GATES = tuple(f"$_{name}_" for name in (*_MAPPED, "NOT"))
_ADDER = "certree_ni_adder"  # the data path, which stays a module of its own


def synthesize(folder: Path) -> str:
    """The figures of an exported folder's interface, in words; memories stay memories, and what is undefined is free as in Yosys'
    `synth`."""
    listed = (folder / "certree_ni.f").read_text().split()
    files = [name for name in listed if name.startswith("certree_ni") and "_tb" not in name]
    script = (
        f"read_verilog -sv {' '.join(files)}; hierarchy -check -top certree_ni; proc; flatten; opt; memory -nomap; "
        f"opt -mux_undef -undriven; techmap; opt; abc -g {','.join(_MAPPED)}; opt_clean; "
        "tee -o cells.txt stat; tee -o path.txt ltp -noff certree_ni"
    )
    subprocess.run(["yosys", "-q", "-p", script], cwd=folder, check=True, capture_output=True)
    cells = _cells((folder / "cells.txt").read_text())
    control, adders = cells["certree_ni"], next((count for name, count in cells.items() if _ADDER in name), Counter())
    flipflops = sum(count for name, count in control.items() if "DFF" in name)
    longest = re.search(r"length=(\d+)", (folder / "path.txt").read_text())
    constants = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+);", (folder / "certree_ni_pkg.sv").read_text())}
    bank = {
        "rows": (constants["SLOT_ROW_BITS"] + 1) << constants["ROW_INDEX_BITS"],
        "arrivals": constants["ARRIVAL_BITS"] << constants["LINE_BITS"],
        "routes": constants["ROUTE_BITS"] << constants["ROUTE_DEPTH_BITS"],
        "counters": 2 * constants["ARRIVALS"] * constants["COUNT_BITS"],
    }
    places = (constants["WINDOW_ROWS"] + constants["LANE_QUEUE"]).bit_length()
    shared = {
        "messages": constants["TX_LANES"] * (constants["HEADER_BITS"] - constants["NODE_BITS"]) << places,
        "chunks": (constants["RX_LANES"] << constants["STAGED_CHUNK_BITS"])
        * (constants["LINE_BITS"] + constants["ADDR_BITS"] + (1 << constants["RX_LANE_BITS"])),
    }
    bits, outside = (", ".join(f"{name} {count:,}" for name, count in one.items()) for one in (bank, shared))
    path = longest[1] if longest else "?"
    return (
        f"{_gates(control):,} gates of control and {_gates(adders):,} of adders, {flipflops:,} flip-flops, longest path {path} "
        f"gates; bits of memory in each bank: {bits}, outside of them: {outside}; {constants['TX_LANES']} lanes"
    )


def _cells(report: str) -> dict[str, Counter[str]]:
    """module -> cells of each kind, from Yosys' `stat`; without the sum of the hierarchy."""
    modules: dict[str, Counter[str]] = {}
    for part in report.split("=== ")[1:]:
        name, _, text = part.partition(" ===")
        modules[name] = Counter({kind: int(count) for kind, count in re.findall(r"^ +(\S+) +(\d+)$", text, re.MULTILINE)})
    return modules


def _gates(cells: Counter[str]) -> int:
    return sum(cells[kind] for kind in _GATES)
