"""Proofs of the properties in `hw/rtl/properties` by induction: Yosys, yosys-smtbmc and z3."""

import os
import subprocess
import sys
from pathlib import Path

from tests.rtl.cases import CASES, QUICK, export

#: module -> depth of the induction
PROOFS = {"slots": 3, "scoreboard": 3, "window": 3, "reducer": 3, "lane": 3}


def prove(module: str, folder: Path, sources: Path | None = None) -> str:
    """Why the properties of a module are not proved; nothing where they are. `sources`: an exported folder, by default that of the
    smallest case, which is written to `folder`."""
    if sources is None:
        sources = folder / QUICK[0]
        if not sources.exists():
            export(CASES[QUICK[0]](), sources)
    name = f"certree_ni_{module}"
    model = folder / f"{name}.smt2"
    script = (
        f"read_verilog -formal -sv -DCERTREE_CHECK -I. certree_ni_pkg.sv {name}.sv; prep -top {name}; memory_map; async2sync; "
        f"dffunmap; write_smt2 -wires {model}"
    )
    made = subprocess.run(["yosys", "-q", "-p", script], cwd=sources, capture_output=True, text=True, check=False)
    if made.returncode:
        return made.stderr.strip()[-500:]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # z3 of the environment
    for mode, depth in ([], PROOFS[module] + 1), (["-i"], PROOFS[module]):
        command = ["yosys-smtbmc", "-s", "z3", *mode, "-t", str(depth), str(model)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})
        if done.returncode:
            wrong = [line for line in done.stdout.splitlines() if "Assert failed" in line or "Status" in line]
            return f"{'induction' if mode else 'from reset'}: {'; '.join(wrong)}"
    return ""
