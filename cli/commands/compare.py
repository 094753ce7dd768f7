"""`certree compare`: methods beside each other, size by size."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

from certree.cli.evidence import certified_or_fail
from certree.cli.parameters import COUNT, argument_topology, comma_list, option_collective, option_json, option_params
from certree.cli.playing import through_files
from certree.cli.report import gap_words, schedule_report, size_words
from certree.cli.terminal import emit, note, say, say_table, working
from certree.hw.simulator import RUN_MODES, simulate
from certree.models.collective import Collective
from certree.models.errors import UndecidedError, UnsupportedError
from certree.models.files import parse_size
from certree.models.machine import Machine
from certree.models.schedule import Schedule
from certree.models.timing import bandwidth_bound_cycles
from certree.models.topology import Topology
from certree.synth.method import Request, load_methods


@dataclass(frozen=True)
class Comparison:
    """What all cells of one comparison have in common."""

    topology: Topology
    collective: Collective
    machine: Machine
    effort: int
    seed: int
    run: str | None


@click.command("compare")
@argument_topology()
@option_collective()
@click.option("--size", "sizes", type=comma_list(parse_size), default="32KiB,1MiB,64MiB", show_default=True, help="Sizes.")
@click.option("--methods", type=comma_list(str), help="Methods; all by default.")
@option_params()
@click.option("--simulate", "run", type=click.Choice(RUN_MODES), help="Also simulate each cell, slotted or paced.")
@click.option("--effort", type=COUNT, default=1, show_default=True, help="Deterministic search budget of each method.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@option_json()
def compare_command(
    topology: Topology,
    collective: Collective,
    sizes: list[int],
    methods: list[str] | None,
    machine: Machine,
    run: str | None,
    effort: int,
    seed: int,
    as_json: bool,
) -> None:
    """Closed-form time, simulated time when asked for, steps and gap of methods at several sizes.

    `time / bound` compares the closed form with what the best bandwidth bound alone would take.
    """
    known = load_methods()
    names = methods or list(known)
    for name in names:
        _ = known[name]  # an unknown one is an error before any work
    comparison = Comparison(topology, collective, machine, effort, seed, run)
    cells = []
    with working("comparing") as report:
        for size in sizes:
            for name in names:
                cells.append(_cell(comparison, name, size))
                report(f"{name} at {size_words(size)}: {_outcome(cells[-1])}")
    if as_json:
        emit(
            {
                "topology": topology.name,
                "collective": str(collective.kind),
                "root": collective.root,
                "machine": machine.name,
                "cells": cells,
            }
        )
    else:
        _say(comparison, cells)


def _cell(comparison: Comparison, name: str, size: int) -> dict[str, Any]:
    """One method at one size: the report of its schedule, or the reason why there is none."""
    cell: dict[str, Any] = {"method": name, "message_bytes": size}
    request = Request(
        comparison.topology, comparison.collective, size, comparison.machine, effort=comparison.effort, seed=comparison.seed
    )
    try:
        schedule, verdict = certified_or_fail(load_methods()[name](request))
    except (UnsupportedError, UndecidedError) as error:
        return cell | {"not_applicable": str(error)}
    report = schedule_report(schedule, verdict, size, comparison.machine)
    cell |= {key: report[key] for key in ("steps", "total_steps", "delay", "period", "repeats", "chunks", "transfers")}
    cell |= {key: report[key] for key in ("bandwidth_time", "bandwidth_bound", "optimal_in", "gap", "time_cycles")}
    bound = bandwidth_bound_cycles(Fraction(report["bandwidth_bound"]), size, comparison.machine)
    cell["time_over_bound"] = None if report["time_cycles"] is None else str(report["time_cycles"] / bound)
    return cell | _simulated(comparison, schedule, size)


def _simulated(comparison: Comparison, schedule: Schedule, size: int) -> dict[str, Any]:
    if comparison.run is None:
        return {}
    try:
        result = simulate(through_files(schedule, size, comparison.machine), comparison.run)
    except UnsupportedError as error:
        return {"simulated_cycles": None, "not_simulated": str(error)}
    return {
        "simulated_cycles": result.cycles,
        "contention_cycles": result.contention_cycles,
        "late": result.late,
        "data_ok": result.data_ok,
    }


def _outcome(cell: dict[str, Any]) -> str:
    return cell["not_applicable"] if "not_applicable" in cell else f"{_count(cell['time_cycles'])} cycles"


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _say(comparison: Comparison, cells: list[dict[str, Any]]) -> None:
    header = ["size", "method", ">cycles", ">time / bound", ">bandwidth M/B", ">gap", ">steps"]
    header += [">simulated", ">contention"] if comparison.run else []
    rows = []
    for cell in cells:
        if "not_applicable" in cell:
            continue
        over = cell["time_over_bound"]
        row = [size_words(cell["message_bytes"]), cell["method"], _count(cell["time_cycles"])]
        row += ["-" if over is None else f"{float(Fraction(over)):.4f}"]
        row += [cell["bandwidth_time"], gap_words(cell["gap"]["bandwidth"]), _count(cell["total_steps"])]
        if comparison.run:
            row += [_count(cell["simulated_cycles"]), _count(cell.get("contention_cycles"))]
        rows.append(row)
    say(f"{comparison.collective.words} on {comparison.topology.name}, machine {comparison.machine.name}")
    say_table(header, rows)
    skipped = {cell["method"]: cell["not_applicable"] for cell in cells if "not_applicable" in cell}
    for name, reason in skipped.items():
        note(f"{name}: {reason}")
