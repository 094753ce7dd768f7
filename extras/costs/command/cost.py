"""`certree cost` (study): Cost of schedules by a cost model, term by term."""

from fractions import Fraction
from typing import Any

import click

from certree.api.reports.text import collective_words, one_line, size_words
from certree.cli.words.parameters import METHOD_LIST, option_collective, option_json, option_size
from certree.cli.words.progress_bar import working
from certree.cli.words.table import say_table
from certree.cli.words.terminal import emit, note, say
from certree.extras.costs.model.cost_model import model_name
from certree.extras.costs.run.costing import METHODS, Costs, cost
from certree.models.common.errors import InputError
from certree.models.schedule.collective import Collective

DEFAULT_PARAMETERS = "gentree"
DEFAULT_NOTE = (
    "priced for a cluster of 10 Gb/s Ethernet servers (gentree: GenTree, Table 5; 6.4 ns per float over a link, 6.58 ms per"
    " start-up), since --params is not given; `certree list` names other parameters"
)


@click.command("cost")
@click.argument("subjects", nargs=-1, required=True, metavar="SCHEDULE_OR_TOPOLOGY...")
@option_collective()
@option_size(recorded=True)
@click.option(
    "--params",
    "source",
    help="Cost parameters: a preset or a TOML file, which names its model; by default gentree, a cluster of 10 Gb/s servers.",
)
@click.option(
    "--methods",
    type=METHOD_LIST,
    default=",".join(METHODS),
    show_default=True,
    help="For networks: methods, each NAME or NAME:OPTION=VALUE:...",
)
@option_json()
def cost_command(
    subjects: tuple[str, ...], collective: Collective, size: int | None, source: str | None, methods: list[str], as_json: bool
) -> int:
    """Cost of schedules, or of methods on a network, by (alpha, beta, gamma), GenModel, LogGP, NetReduce's, ACE's or NCCL's model.

    A single schedule is shown in detail: its terms, its coefficients, its traffic, and by GenModel whether it is optimal in memory
    access and in incast, with witnesses. Several are compared in a table. Exit code 1 when a schedule is invalid.
    """  # fmt: skip
    with working("counting"):
        costs = cost(*subjects, collective=collective, size=size, parameters=source or DEFAULT_PARAMETERS, methods=methods)
    for text in [*([DEFAULT_NOTE] if source is None else []), *costs.notes]:
        note(text)
    cells = costs.cells
    if as_json:
        named = {"model": model_name(costs.model), "params": costs.model.name}
        emit({**named, "message_bytes": costs.message_bytes, "cells": list(cells)})
    else:
        _say(costs)
    if not any("seconds" in cell or "refuted" in cell for cell in cells):
        raise InputError("none of the methods covers this network and collective; choose others with --methods (`certree list`)")
    return 1 if any("refuted" in cell for cell in cells) else 0


def _say(costs: Costs) -> None:
    cells = costs.cells
    title = f"{size_words(costs.message_bytes)}, {model_name(costs.model)}, parameters {one_line(costs.model.name)}"
    priced = [cell for cell in cells if "seconds" in cell]
    if len(cells) == 1 and priced:
        say(_one(cells[0], title))
        return
    subjects = list(dict.fromkeys(cell["subject"] for cell in cells))
    several = len(subjects) > 1
    if priced:
        say(title if several else f"{collective_words(priced[0])} on {one_line(priced[0]['topology'])}, {title}")
        header = [*(["subject"] if several else []), "method", ">seconds"]
        header += [f">{term['what']}" for term in priced[0]["terms"]] + [">steps"]
        rows = []
        for cell in priced:
            times = [_seconds(cell["seconds"]), *(_seconds(term["seconds"]) for term in cell["terms"])]
            rows.append([*([one_line(cell["subject"])] if several else []), _method(cell), *times, f"{cell['steps']:,}"])
        say_table(header, rows)
    for cell in cells:
        if "plans" in cell:
            note(f"{_method(cell)}: {_plans(cell['plans'])}")
        if "refuted" in cell:
            say(f"invalid: {one_line(cell['subject'])}, {_method(cell)}: {cell['refuted']}")


def _method(cell: dict[str, Any]) -> str:
    return one_line(cell["method"] or "-")


def _plans(plans: dict[str, Any]) -> str:
    """Plan types with the switches that use them, as in `8x3 at 16 switches, cps at switch 400`."""
    switches: dict[str, list[str]] = {}
    for switch, chosen in plans.items():
        switches.setdefault(str(chosen["plan"]), []).append(switch)
    return ", ".join(
        f"{plan} at " + (f"switch {names[0]}" if len(names) == 1 else f"{len(names)} switches") for plan, names in switches.items()
    )


def _seconds(text: str) -> str:
    return f"{float(Fraction(text)):.6g}"


def _one(cell: dict[str, Any], title: str) -> str:
    """One schedule in detail."""
    total = Fraction(cell["seconds"])
    made = f" by {_method(cell)}" if cell["method"] else ""
    lines = [f"{collective_words(cell)}{made} on {one_line(cell['topology'])}, {title}: {_seconds(cell['seconds'])} s"]
    for term in cell["terms"]:
        part = Fraction(term["seconds"]) / total if total else Fraction(0)
        lines.append(f"  {term['symbol']:<8} {term['what']:<30} {_seconds(term['seconds']):>12} s {float(part) * 100:6.2f} %")
    lines.append(
        f"  steps {cell['steps']:,}; of the message: links {cell['links']}, additions {cell['additions']},"
        f" memory access {cell['accesses']}"
    )
    traffic = cell["traffic"]
    lines.append(f"  the busiest endpoint sends {traffic['sent']} of the message and receives {traffic['received']}")
    if "plans" in cell:
        lines.append(f"  plans: {_plans(cell['plans'])}")
    return "\n".join(lines + _optimality_lines(cell.get("optimality")))


def _optimality_lines(found: dict[str, Any] | None) -> list[str]:
    """Theorems 1 and 2 of GenTree in words."""
    if found is None:
        return []
    memory, incast, both = found["memory"], found["incast"], found["both"]
    lines = [f"  memory access: {memory['accesses']}, bound {memory['bound']}: " + _memory_words(memory)]
    where = f"{incast['communicators']} communicators on link {incast['link'][0]}>{incast['link'][1]} in step {incast['step']}"
    verdict = "optimal" if incast["optimal"] else "not optimal"
    lines.append(f"  incast: {where}, threshold {incast['threshold']}: {verdict}")
    if not both["possible"]:
        links = "one link" if both["links"] == 1 else f"{both['links']} links"
        lines.append(
            f"  both optimal is impossible: {both['endpoints']} servers with {links} each and threshold {incast['threshold']}"
            f" need {both['least_operations']} additions per share to avoid incast: memory access at least {both['least_accesses']}"
        )
    return lines


def _memory_words(memory: dict[str, Any]) -> str:
    if memory["optimal"]:
        return "optimal, every share in one addition"
    operations = memory["operations"]
    if len(operations) > 1:
        shown = ", ".join(f"{terms} terms at {server} in step {step}" for step, server, terms in operations[:3])
        more = ", ..." if len(operations) > 3 else ""
        return f"not optimal, chunk {memory['chunk']} takes {len(operations)} additions ({shown}{more})"
    return f"not optimal, server {memory['busiest'][0]} has {memory['busiest'][1]} of it"
