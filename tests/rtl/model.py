"""Interfaces as C++ models of Verilator, one for each node: a second testbench, for networks of any size (`driver/`).

It is compiled once for the interface, not for each node, and shares nothing with the testbench in SystemVerilog but the contract.
"""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.systemverilog.package import header_fields, offsets
from certree.hw.formats.systemverilog.sizes import Sizes, sizes_of
from certree.hw.formats.systemverilog.testbench import network_of
from certree.models.tables.tables import Tables
from tests.rtl.tools import Outcome, verilator

_DRIVER = Path(__file__).parent / "driver"
_NUMBERS = "numbers.txt"
_TOP = "certree_ni"
_RUNTIME = ("verilated.o", "verilated.d", "verilated_threads.o", "verilated_threads.d")


def build_model(tables: Tables | Sizes, folder: Path, optimization: str = "-O0") -> None:
    """Compile the interface of an exported folder with the driver; RuntimeError with what the compiler says. Verilator's runtime is
    compiled once."""
    tool = verilator()
    assert tool is not None
    sizes = tables if isinstance(tables, Sizes) else sizes_of(tables, Widths.of(tables))
    (folder / _NUMBERS).write_text(numbers_text(sizes))
    listed = (folder / "certree_ni.f").read_text().split()
    modules = [name for name in listed if name.startswith(_TOP) and not name.endswith("_tb.sv")]
    options = ["-CFLAGS", f"{optimization} -std=c++20 -I{_DRIVER}", "--Mdir", "model", "+define+CERTREE_CHECK"]
    command = [tool[0], "--cc", "--exe", "--assert", "-Wno-fatal", *options, *modules, str(_DRIVER / "main.cpp")]
    _done([*command, "--top-module", _TOP], folder, tool[1])
    kept = Path(_kept(optimization).name)
    for made in kept.iterdir():
        shutil.copy(made, folder / "model")  # newer than the makefile, so that they are not made again
    _done(["make", "-C", "model", "-f", f"V{_TOP}.mk", "-j", "2", "VM_PARALLEL_BUILDS=0"], folder, tool[1])
    for name in _RUNTIME:
        if not (kept / name).exists():
            shutil.copy(folder / "model" / name, kept)


@cache
def _kept(optimization: str) -> TemporaryDirectory[str]:
    """A folder for what Verilator's runtime compiles to, the same for all interfaces, as long as this process runs."""
    return TemporaryDirectory(prefix=f"runtime{optimization}")


def _done(command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])


def run_model(folder: Path, trace: str = "trace.csv", late: int = 0, skew: str | None = None, after: Sequence[str] = ()) -> Outcome:
    """Run it against a golden trace with `late` late rows; `skew`: a file of cycles that each interface starts late; `after`:
    folders with the tables that take over, in this order."""
    command = [f"model/V{_TOP}", _NUMBERS, trace, str(late), *([skew] if skew else []), *after]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return Outcome(done.returncode == 0 and done.stdout.endswith("\nPASS\n"), done.stdout + done.stderr)


def numbers_text(sizes: Sizes) -> str:
    """The constants of an interface and of the network around it, as the driver reads them."""
    tables = sizes.tables
    fields = header_fields(sizes)
    own = sizes_of(tables, sizes.widths)["WORK_BASE"]  # the interface may have been made for larger tables
    named = {constant.name: constant.value for constant in sizes.constants} | network_of(sizes) | {"RESULT_GRANULES": own}
    named["HEADER_BITS"] = sum(field.bits for field in fields)
    lowest = dict(zip((field.name for field in fields), offsets(fields), strict=True))
    named["HEADER_ROUTE_LSB"], named["HEADER_SIZE_LSB"] = lowest["route"], lowest.get("size", 0)
    named["REDUCES"], named["GATHERS"] = int(tables.collective.reduces), int(tables.collective.gathers)
    lists = {name: [value] if isinstance(value, int) else list(value) for name, value in named.items()}
    return "".join(f"{name} {' '.join(map(str, values))}\n" for name, values in lists.items())
