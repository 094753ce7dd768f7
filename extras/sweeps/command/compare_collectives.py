"""Several collectives at once in `certree compare --workload`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from certree.api.reports.text import one_line
from certree.cli.words.progress_bar import working
from certree.cli.words.table import say_table
from certree.cli.words.terminal import emit, note, say
from certree.extras.sweeps.run.comparing.collectives_at_once import ComparedCollectives, compare_collectives
from certree.models.common.errors import InputError
from certree.models.network.topology import Topology

_TAKEN = ("topologies", "workload", "machine", "effort", "seed", "as_json")
_SHOWN = 20  # collectives in words


def compare_workload(context: click.Context, topologies: Sequence[Topology], workload: Path) -> int:
    """Compare a joint schedule of the collectives in a file with others, and show it. InputError for options that do not go with
    it. Returns 1 where the joint schedule, or one after the other, does not run as it says: wrong data, too early, later than its
    closed form, or without an end."""
    asked: dict[str, Any] = context.params
    for option in context.command.params:
        name = str(option.name)
        if name not in _TAKEN and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(f"{option.opts[0]}: not with --workload; allowed: --params, --effort, --seed, --json")
    if len(topologies) > 1:
        raise InputError(f"{len(topologies)} networks with --workload; allowed: 1")
    with working("comparing") as tell:
        found = compare_collectives(
            topologies[0], workload, machine=asked["machine"], effort=asked["effort"], seed=asked["seed"], progress=tell
        )
    if asked["as_json"]:
        emit(_document(found), "compare-collectives")
    else:
        _say(found)
    return 0 if found.holds else 1


def _document(found: ComparedCollectives) -> dict[str, Any]:
    names = {"topology": found.topology.name, "machine": found.machine.name}
    return {**names, "time_bound_cycles": found.least, "cells": list(found.cells)}


def _say(found: ComparedCollectives) -> None:
    say(f"{found.title()}, machine {found.machine.name}: every schedule takes {found.least:,} cycles or more")
    header, rows = ["", ">closed form", ">simulated", ">over bound", ">contention", ">late rows", "data"], []
    for cell in found.cells:
        cycles = cell.get("simulated_cycles")
        over = f"{cycles / found.least:.4f}" if cycles and found.least else "-"
        counts = [count_words(cell.get(name)) for name in ("contention_cycles", "late")]
        rows.append([cell["how"], count_words(cell.get("closed_form_cycles")), count_words(cycles), over, *counts, _data(cell)])
    say_table(header, rows)
    ends = [(cell["how"], cell["ends"]) for cell in found.cells if "ends" in cell]
    names = list(ends[0][1]) if ends else []
    if names:
        body = [[one_line(name), *(count_words(by_name[name]) for _, by_name in ends)] for name in names[:_SHOWN]]
        say_table(["ends in cycle", *(f">{how}" for how, _ in ends)], body)
    if len(names) > _SHOWN:
        say(f"and {len(names) - _SHOWN} more")
    told: dict[str, list[str]] = {}
    for cell in found.cells:
        for text in (cell.get("not_simulated"), cell.get("wrong"), *cell.get("early", ()), *cell.get("stall", ())):
            if text is not None:
                told.setdefault(text, []).append(cell["how"])
    for text, all_of in told.items():
        note(f"{'; '.join(all_of)}: {text}")


def _data(cell: dict[str, Any]) -> str:
    if "data_ok" not in cell:
        return "not simulated"
    if not cell["data_ok"]:
        return "does not end" if cell["stall"] else "wrong"
    return "too early" if cell["early"] else "right"


def count_words(value: int | None) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else f"{value:,}"
