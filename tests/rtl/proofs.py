"""Proofs of the properties in `hw/rtl/properties` by induction: Yosys, yosys-smtbmc and z3."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.rtl.cases import CASES, QUICK, export, two_rows

#: module -> depth of the induction
PROOFS = {
    "slots": 2, "scoreboard": 4, "fetch": 2, "window": 2, "allocator": 1, "lane": 2, "receiver": 2, "reducer": 2, "registers": 2,
    "loader": 2, "banks": 2, "cells": 2, "lockstep": 2,
}  # fmt: skip
#: modules that are proved at the widths of a torus 8×8 as well; the others take minutes there
WIDE = ("slots", "window", "allocator", "lane", "receiver", "registers", "loader", "banks")
WIDEST = "torus-8x8"
#: module -> parameters that differ from those of the case, tried in turn: more rows, bundles of one lane and of two
_PARAMETERS = {
    "allocator": tuple({"ROWS": 4, "LANES": 4, "BUNDLE": bundle} for bundle in (1, 2)),
    "lane": ({}, {"IS_COPY_UNIT": 1}),
}
#: module -> more cases, with the constants of which it is proved as well
_CASES = {
    "receiver": ("mesh-1x3-in-flight", "ring-4-copies", "mesh-2x2-demand"), "lane": ("mesh-2x2-demand",),
    "scoreboard": ("mesh-1x2-bundle-lockstep", "mesh-2x2-lockstep"),
}  # fmt: skip
#: module -> the case with the constants of which it is proved, where it is not that which is given
_OTHER_CASE = {"cells": "mesh-1x3-in-flight", "lockstep": "mesh-2x2-lockstep"}
TOP, _TOP_DEPTH = "top", 2  # the whole interface in lockstep, and the depth of its induction
STEPS, TAKEOVER = TOP_PARTS = ("TOP", "TAKEOVER")  # what is proved of it: rows and steps, the change to other tables
#: modules inside others
_PARTS = {"reducer": ("certree_ni_adder.sv",), "receiver": ("certree_ni_place.sv",)}


def prove(module: str, folder: Path, sources: Path | None = None, case: str = QUICK) -> str:
    """Why the properties of a module are not proved; nothing where they are. `sources`: an exported folder, by default that of a
    case, which is written to `folder`."""
    cases = [_OTHER_CASE.get(module, case), *(_CASES.get(module, ()) if case == QUICK else ())]
    tried = [sources] if sources is not None else [_exported(one, folder) for one in cases]
    parameters = _PARAMETERS.get(module, ({},))
    return next(filter(None, (_prove(module, folder, one, more) for one in tried for more in parameters)), "")


def _exported(case: str, folder: Path) -> Path:
    """The folder of a case, exported where it is not there yet."""
    if not (folder / case).exists():
        export(CASES[case](), folder / case)
    return folder / case


def prove_top(folder: Path, sources: Path | None = None, parts: Sequence[str] = TOP_PARTS) -> str:
    """Why the properties of the whole interface in lockstep are not proved, for two rows and two lanes (`two_rows`); nothing where
    they are. `sources`: an exported folder, by default one that is written to `folder`.

    First those of rows and steps, with one image; then, with any number of images, that tables take over when all of the open ones
    has been done, provided that no more messages come than these expect."""
    if sources is None:
        sources = folder / TOP
        export(two_rows(), sources)
    listed = (sources / "certree_ni.f").read_text().split()
    modules = " ".join(name for name in listed if name.startswith("certree_ni") and "_tb" not in name)
    for part in parts:
        script = f"read_verilog -formal -sv -DCERTREE_{part} -I. {modules}; hierarchy -top certree_ni; prep; flatten; opt; "
        if reason := _solved(script, sources, folder / f"{TOP}.smt2", _TOP_DEPTH):
            return reason
    return ""


def _prove(module: str, folder: Path, sources: Path, parameters: dict[str, int]) -> str:
    name = f"certree_ni_{module}"
    parts = " ".join(["certree_ni_pkg.sv", *_PARTS.get(module, ()), f"{name}.sv"])
    given = "".join(f" -chparam {key} {value}" for key, value in parameters.items())
    script = f"read_verilog -formal -sv -DCERTREE_CHECK -I. {parts}; hierarchy -top {name}{given}; prep; "
    return _solved(script, sources, folder / f"{name}.smt2", PROOFS[module])


def _solved(script: str, sources: Path, model: Path, depth: int) -> str:
    """What is wrong with a design that Yosys reads: from reset, for one cycle more than the depth, and by induction."""
    script += f"memory_map; async2sync; dffunmap; write_smt2 -wires {model}"
    made = subprocess.run(["yosys", "-q", "-p", script], cwd=sources, capture_output=True, text=True, check=False)
    if made.returncode:
        return made.stderr.strip()[-500:]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # z3 of the environment
    for mode, cycles in ([], depth + 1), (["-i"], depth):
        command = ["yosys-smtbmc", "-s", "z3", *mode, "-t", str(cycles), str(model)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})
        if done.returncode:
            wrong = [line for line in done.stdout.splitlines() if "Assert failed" in line or "Status" in line]
            return f"{'induction' if mode else 'from reset'}: {'; '.join(wrong)}"
    return ""
