"""`certree compare` (study): Compare methods at several sizes."""

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

import certree.api as ct
from certree.api.reports.schedule_report import members_of
from certree.api.reports.text import gap_words, rate_words, rounded_of, rounded_words, seconds_words, size_words
from certree.cli.words.parameters import (
    COUNT,
    METHOD_LIST,
    PICTURES,
    TOPOLOGY,
    WHOLE,
    check_output,
    comma_list,
    option_collective,
    option_json,
    option_output,
    option_params,
    option_without_routers,
    options_workers,
)
from certree.cli.words.progress_bar import working
from certree.cli.words.table import say_table
from certree.cli.words.terminal import emit, note, say
from certree.extras.sweeps.command.compare_collectives import compare_workload, count_words
from certree.extras.sweeps.run.comparing.comparison import SIZES, compare
from certree.extras.sweeps.run.comparing.several_networks import require_all_comparable
from certree.extras.sweeps.run.results.compared import ComparedMethods, ComparedNetworks
from certree.hw.engines.runs import MODES
from certree.models.common.errors import InputError
from certree.models.common.quantities import parse_size
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective

NO_RUN, INTERRUPTED = "none", 130
_LEFT_OUT_FIRST = ("contention", "steps", "algbw GB/s", "busbw GB/s", "bandwidth time")  # in a narrow terminal


def _on_networks(function: Callable[..., Any]) -> Callable[..., Any]:
    """--collective and the options that go with it, on each of the `topologies`; the command gets both as `asked`."""
    place = option_collective(members=True, relay=True)(lambda **given: (given["topology"], given["collective"]))

    @functools.wraps(function)
    def on_each(topologies: Sequence[Topology], **arguments: Any) -> Any:
        named = ("kind", "root", "named", "demand", "through")
        given = {name: arguments.pop(name) for name in named}
        asked = [place(**given, topology=topology, machine=arguments["machine"]) for topology in topologies]
        return function(asked=asked, **arguments)

    on_each.__dict__["__click_params__"] = [*function.__dict__.get("__click_params__", []), *place.__dict__["__click_params__"]]
    return on_each


@click.command("compare")
@click.argument("topologies", metavar="TOPOLOGY...", nargs=-1, required=True, type=TOPOLOGY)
@_on_networks
@click.option(
    "--size", "--sizes", "sizes", type=comma_list(parse_size), help=f"Sizes; by default {','.join(SIZES)}, or that of a demand."
)
@click.option("--workload", type=click.Path(path_type=Path),
              help="TOML file of several collectives: a joint schedule, against others.")  # fmt: skip
@click.option("--methods", type=METHOD_LIST, help="Methods, each NAME or NAME:OPTION=VALUE:...; all by default.")
@click.option("--baseline", multiple=True,
              help="For the first rows of each size: a schedule, tables, a program, graphs or a log of NCCL, or nccl-ring,"
                   " nccl-tree, nccl-nvls.")  # fmt: skip
@option_params()
@click.option("--simulate", "run", type=click.Choice([*MODES, NO_RUN]), default="slotted", show_default=True,
              help="Execution model of the simulation of each cell, if any.")  # fmt: skip
@option_without_routers()
@click.option("--effort", type=COUNT, default=1, show_default=True, help="Deterministic search budget of each method.")
@click.option("--seed", type=WHOLE, default=0, show_default=True)
@options_workers("methods", 1)
@option_output("a plot, F.svg or F.png")
@option_json()
def compare_command(
    asked: Sequence[tuple[Topology, Collective]],
    run: str,
    output: Path | None,
    force: bool,
    as_json: bool,
    workload: Path | None,
    **options: Any,
) -> int:
    """Compare closed-form and simulated time, contention, steps and gap of methods at several sizes, on one network or several.

    Published algorithms run with as many channels as fill wide links, where that is faster, unless --methods states their channels.
    `time / bound` is the closed form divided by the time bound, the cycles that every run takes. In an all-gather or reduce-scatter
    `time / bound` and `gap` are for bounds of the shares that the method chose, and a column more has the bound for any shares.
    Ctrl-C prints what there is. --workload compares several collectives at once: by a joint schedule, one after the other, and by
    independent schedules that start together and meet in routers; the exit code is 1 where a schedule does not run as it says.
    """
    if workload is not None:
        return compare_workload(click.get_current_context(), [topology for topology, _ in asked], workload)
    check_output(output, force=force, suffixes=PICTURES, what="a picture")
    if len(asked) > 1:
        require_all_comparable(asked, **options)  # before the first one takes its time
    done: list[ComparedMethods] = []

    def finish(*, interrupted: bool = False) -> None:
        has_times = any(cell.get("seconds") for found in done for cell in found.cells)
        if output is not None and has_times:
            shown = done[0] if len(done) == 1 else ComparedNetworks(tuple(done))
            ct.draw(shown, output, force=force)
            note(f"wrote {output}")
        elif output is not None and not interrupted:
            raise InputError(f"{output} is not written: no cell has a time")
        if as_json:
            emit(_document(done) | ({"interrupted": True} if interrupted else {}))

    def show(found: ComparedMethods) -> None:
        done.append(found)
        if not as_json:
            lines = [f"{found.title()}, machine {found.machine.name}", *rounded_words(rounded_of(found.topology))]
            lines += _filled_words(found.cells)
            _say("\n".join(lines), found.cells, simulated=run != NO_RUN)

    try:
        for topology, collective in asked:
            with working(f"comparing on {topology.name}") as tell:
                found = compare(
                    topology, collective, run=run if run != NO_RUN else None, progress=tell,
                    interrupted=lambda one: show(one) if one.cells else None, **options,
                )  # fmt: skip
            show(found)
    except KeyboardInterrupt:
        if done:
            finish(interrupted=True)
        if done and as_json:  # that was the one document
            note("interrupted")
            return INTERRUPTED
        raise
    finish()
    return 0


def _document(done: Sequence[ComparedMethods]) -> dict[str, Any]:
    """The document that --json prints: of several networks the names of all, and the network and machine of each cell."""
    first, several = done[0], len(done) > 1
    named = {"topology": ", ".join(found.topology.name for found in done), "collective": first.collective.name}
    return {
        **named,
        "root": first.collective.root,
        **members_of(first.collective),
        "machine": ", ".join(dict.fromkeys(found.machine.name for found in done)),
        **({} if several else rounded_of(first.topology)),
        "cells": [({"topology": found.topology.name} if several else {}) | cell for found in done for cell in found.cells],
    }


def _label(cell: dict[str, Any]) -> str:
    """The method of a cell with all of its options, as `--methods` takes it."""
    return ":".join([cell["method"], *(f"{name}={value}" for name, value in cell.get("options", {}).items())])


def _filled_words(cells: Sequence[dict[str, Any]]) -> list[str]:
    """The line that says which options published algorithms got; none where they have their defaults."""
    added = sorted({f"{name}={value}" for cell in cells for name, value in cell.get("options", {}).items()})
    what = "published algorithms fill wide links where that is faster; NAME:channels=1 does not"
    return [f"  {', '.join(added)}: {what}"] if added else []


def _ratio(over: str | None) -> str:
    return "-" if over is None else f"{float(Fraction(over)):.4f}"


def _say(title: str, cells: Sequence[dict[str, Any]], *, simulated: bool) -> None:
    header = ["size", "method", ">cycles", ">time", ">algbw GB/s", ">busbw GB/s"]
    header += [">simulated", ">contention"] if simulated else []
    shared = any("time_over_bound_any_shares" in cell for cell in cells)
    header += ["shares"] * shared + [">time / bound"] + [">with any shares"] * shared + [">bandwidth time", ">gap", ">steps"]
    rows = []
    for cell in cells:
        if "not_applicable" in cell:
            continue
        row = [size_words(cell["message_bytes"]), _label(cell)]
        if not cell["valid"]:
            rows.append([*row, "invalid"] + ["-"] * (len(header) - 3))
            continue
        row += [count_words(cell["time_cycles"]), "-" if cell["seconds"] is None else seconds_words(cell["seconds"])]
        row += [rate_words(cell[name]).removesuffix(" GB/s") for name in ("algbw", "busbw")]
        row += [count_words(cell["simulated_cycles"]), count_words(cell.get("contention_cycles"))] if simulated else []
        row += [cell["shares"].removesuffix(" shares")] if shared else []
        row += [_ratio(cell["time_over_bound"])]
        row += [_ratio(cell["time_over_bound_any_shares"])] if shared else []
        row += [
            cell["bandwidth_time"],
            gap_words(cell["gap"]["bandwidth"]),
            count_words(None if cell["latency_bound"] is None else cell["total_steps"]),
        ]
        rows.append(row)
    say(title)
    say_table(header, rows, optional=_LEFT_OUT_FIRST)
    for kind, what in (
        ("not_applicable", ""),
        ("refuted", "invalid: "),
        ("not_simulated", "not simulated: "),
        ("time_unknown", ""),
    ):
        for name, reason in {cell["method"]: cell[kind] for cell in cells if cell.get(kind)}.items():
            note(f"{name}: {what}{reason}")
    for cell in cells:
        if "nccl_seconds" in cell:
            time = f"{seconds_words(cell['nccl_seconds'])} by NCCL's own model, protocol {cell['nccl_protocol']}"
            note(f"{cell['method']} of {size_words(cell['message_bytes'])}: {time}")
