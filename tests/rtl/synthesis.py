"""Synthesis of the reference interface by Yosys: cells of two inputs, flip-flops, bits of memory, the longest path."""

import re
import subprocess
from pathlib import Path

_GATES = ("$_AND_", "$_OR_", "$_XOR_", "$_MUX_", "$_NOT_")


def synthesize(folder: Path) -> str:
    """The figures of an exported folder's interface, in words; memories stay memories."""
    listed = (folder / "certree_ni.f").read_text().split()
    files = [name for name in listed if name.startswith("certree_ni") and "_tb" not in name]
    script = (
        f"read_verilog -sv {' '.join(files)}; hierarchy -check -top certree_ni; proc; flatten; opt; memory -nomap; "
        "opt; techmap; opt; abc -g AND,OR,XOR,MUX; opt_clean; tee -o cells.txt stat; tee -o path.txt ltp -noff"
    )
    subprocess.run(["yosys", "-q", "-p", script], cwd=folder, check=True, capture_output=True)
    cells = {name: int(count) for name, count in re.findall(r"^ +(\S+) +(\d+)$", (folder / "cells.txt").read_text(), re.MULTILINE)}
    gates = sum(cells.get(name, 0) for name in _GATES)
    flipflops = sum(count for name, count in cells.items() if "DFF" in name)
    longest = re.search(r"length=(\d+)", (folder / "path.txt").read_text())
    constants = dict(re.findall(r"(\w+) = (\d+);", (folder / "certree_ni_pkg.sv").read_text()))
    size = {name: int(constants[name]) for name in ("ROWS", "SLOT_ROW_BITS", "ARRIVALS", "ARRIVAL_BITS", "ROUTES", "ROUTE_BITS")}
    memory = (
        size["ROWS"] * (size["SLOT_ROW_BITS"] + 1) + size["ARRIVALS"] * size["ARRIVAL_BITS"] + size["ROUTES"] * size["ROUTE_BITS"]
    )
    path = longest[1] if longest else "?"
    return f"{gates:,} gates, {flipflops:,} flip-flops, {memory:,} bits of memory, longest path {path} gates"
