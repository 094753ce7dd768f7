"""Synthesis of the reference interface by Yosys: gates of two inputs, flip-flops, bits of memory, the longest path."""

import re
import subprocess
from collections import Counter
from pathlib import Path

_GATES = ("$_AND_", "$_OR_", "$_XOR_", "$_MUX_", "$_NOT_")
_ADDER = "certree_ni_adder"  # the data path, which stays a module of its own


def synthesize(folder: Path) -> str:
    """The figures of an exported folder's interface, in words; memories stay memories."""
    listed = (folder / "certree_ni.f").read_text().split()
    files = [name for name in listed if name.startswith("certree_ni") and "_tb" not in name]
    script = (
        f"read_verilog -sv {' '.join(files)}; hierarchy -check -top certree_ni; proc; flatten; opt; memory -nomap; "
        "opt; techmap; opt; abc -g AND,OR,XOR,MUX; opt_clean; tee -o cells.txt stat; tee -o path.txt ltp -noff certree_ni"
    )
    subprocess.run(["yosys", "-q", "-p", script], cwd=folder, check=True, capture_output=True)
    cells = _cells((folder / "cells.txt").read_text())
    control, adders = cells["certree_ni"], next((count for name, count in cells.items() if _ADDER in name), Counter())
    flipflops = sum(count for name, count in control.items() if "DFF" in name)
    longest = re.search(r"length=(\d+)", (folder / "path.txt").read_text())
    constants = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+);", (folder / "certree_ni_pkg.sv").read_text())}
    memory = {
        "rows": constants["ROWS"] * (constants["SLOT_ROW_BITS"] + 1),
        "arrivals": constants["ARRIVALS"] * constants["ARRIVAL_BITS"],
        "routes": constants["ROUTES"] * constants["ROUTE_BITS"],
        "counters": constants["ARRIVALS"] * constants["COUNT_BITS"],
    }
    bits = ", ".join(f"{name} {count:,}" for name, count in memory.items())
    return (
        f"{_gates(control):,} gates of control and {_gates(adders):,} of adders, {flipflops:,} flip-flops, longest path "
        f"{longest[1] if longest else '?'} gates; bits of memory: {bits}; {constants['TX_LANES']} lanes"
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
