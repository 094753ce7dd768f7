"""`make demo`: the main job from end to end on an 8x8 mesh, each step a command that is printed before it runs.

All files are in out/demo afterwards. The last tables compare the schedule with MultiTree's, simulated from its own exported tables
in the same model, and list the results of the four checks.
"""

import contextlib
import io
import json
import shlex
import shutil
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api.reports.run_report import simulation_words
from certree.api.reports.schedule_report import schedule_words
from certree.cli.commands.schedules.bound import bounds_words
from certree.cli.commands.schedules.export import export_words
from certree.cli.main import run
from certree.cli.words.table import say_table
from certree.cli.words.terminal import note, say
from certree.extras.bundles.check.documents import bundle_words
from certree.extras.tla.command.outcomes import model_check_words
from certree.models.machine.machine import load_machine
from certree.models.schedule.timing import bandwidth_bound_cycles

NETWORK, SIZE, SMALL = "mesh:8x8", "64MiB", "mesh:2x2"
FOLDER = Path("out") / "demo"

Words = Callable[[dict[str, Any]], str]


class StepFailedError(Exception):
    """A command of the demonstration did not end with exit code 0."""


def command(words: Words, *arguments: str) -> dict[str, Any]:
    """Print a command and its output; returns its JSON document."""
    say(f"\n$ certree {shlex.join(arguments)}")
    captured = io.StringIO()
    with contextlib.redirect_stdout(captured):
        code = run([*arguments, "--json"])
    if captured.getvalue():
        document: dict[str, Any] = json.loads(captured.getvalue())
        say(words(document))
    if code != 0:
        raise StepFailedError(f"exit code {code}: certree {shlex.join(arguments)}")
    return document


def demonstrate() -> None:
    """Run all steps, then print the summary."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    names = ("mesh8x8.json", "tables", "multitree.json", "mesh2x2.json", "mesh8x8.certree")
    mesh, tables, rival, small, evidence = (str(FOLDER / name) for name in names)
    bound = command(bounds_words, "bound", NETWORK)
    made = command(schedule_words, "synthesize", NETWORK, "--size", SIZE, "-o", mesh)
    checked = command(schedule_words, "verify", mesh)
    command(export_words, "export", mesh, "-o", tables)
    read_back = command(schedule_words, "verify", tables)
    ran = command(simulation_words, "simulate", tables, "--engine", "lanes")
    command(schedule_words, "synthesize", NETWORK, "--method", "multitree", "--size", SIZE, "-o", rival)
    rivals = {how: command(simulation_words, "simulate", rival, "--run", how) for how in ("slotted", "paced")}
    repeating = ("--method", "packing", "--option", "rate=optimal")  # a repeating table, as the one for the large mesh
    command(schedule_words, "synthesize", SMALL, *repeating, "--size", SIZE, "-o", small)
    models = command(model_check_words, "model-check", "schedule", small)
    command(bundle_words, "bundle", mesh, "-o", evidence)
    _summary(bound, made, [checked, read_back], ran, rivals, models)
    _report(mesh, FOLDER / "report.html")


def _summary(
    bound: dict[str, Any],
    made: dict[str, Any],
    verdicts: list[dict[str, Any]],
    ran: dict[str, Any],
    rivals: dict[str, dict[str, Any]],
    models: dict[str, Any],
) -> None:
    fastest = min(rivals, key=lambda how: rivals[how]["cycles"])
    least = bandwidth_bound_cycles(Fraction(bound["bandwidth_bound"]), made["message_bytes"], load_machine(made["machine"]))
    cycles = ran["cycles"]
    partition = next(found for found in bound["bounds"] if found["kind"] == "partition")
    parts = len(set(partition["witness"]["part"]) - {-1})
    (model,) = models["models"]
    say(f"\nall-reduce of {SIZE} on {NETWORK}, machine {made['machine']}; all files are in {FOLDER}\n")
    say_table(
        ["quantity", ">value", "what it is"],
        [
            ["bound", f"{float(least):,.0f}", f"cycles: {bound['bandwidth_bound']} M/B, witness: a partition into {parts} parts"],
            ["schedule", f"{cycles:,}", "cycles, simulated from the exported tables, flit by flit"],
            [
                "  over the bound",
                f"{float(cycles / least) * 100 - 100:.2f} %",
                "latency and pipeline fill; bandwidth alone is optimal",
            ],
            *([f"MultiTree {how}", f"{rivals[how]['cycles']:,}", _rival_words(rivals[how])] for how in rivals),
            ["speed-up", f"{rivals[fastest]['cycles'] / cycles:.3f}", f"over MultiTree {fastest}, its better run"],
        ],
    )
    say("")
    checks = [
        ["checker", all(found["valid"] for found in verdicts), "schedule, certificate and tables read back are valid"],
        ["simulator", ran["data_ok"] and not ran["contention_cycles"], "every rank has the sum; no contention, no late rows"],
        [
            "closed form",
            ran["closed_form_cycles"] == cycles == made["time_cycles"],
            f"{made['time_cycles']:,} cycles, to the cycle",
        ],
        ["TLA+", model["result"] == "success", f"tables of {SMALL}, made the same way: {model['message']}"],
    ]
    say_table(["check", "passed", "result"], [[name, "yes" if passed else "NO", what] for name, passed, what in checks])
    if not all(passed for _, passed, _ in checks):
        raise StepFailedError("the checks do not agree")
    say(f"\nall of this evidence, with TLC's results: {FOLDER}/mesh8x8.certree; certree verify re-checks it")


def _report(schedule: str, output: Path) -> None:
    """Write the report; say where it is."""
    arguments = ("report", schedule, "-o", str(output))
    say(f"\n$ certree {shlex.join(arguments)}")
    if (code := run(arguments)) != 0:
        raise StepFailedError(f"exit code {code}: certree {shlex.join(arguments)}")
    say(f"open {output} in a browser: verdict, bounds, times, and the transfers step by step")


def _rival_words(report: dict[str, Any]) -> str:
    waited = report["contention_cycles"]
    return f"cycles, simulated; messages wait {waited:,} cycles for busy ports" if waited else "cycles, simulated; no contention"


def main() -> None:
    """Entry point of `python -m tools.demo`."""
    try:
        demonstrate()
    except StepFailedError as error:
        note(f"error: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
