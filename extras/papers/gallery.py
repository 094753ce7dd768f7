"""Worked examples of each paper, written to a folder: pictures, tables, the verdict, the simulated time."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from certree.api.evidence import certified_or_fail
from certree.api.reports.schedule_report import schedule_report, schedule_words
from certree.api.runs.deadlocks import run_free
from certree.extras.papers.examples import EXAMPLES, SIZE, Example
from certree.extras.reports.pictures.network import network_picture
from certree.extras.reports.pictures.timetable import timetable_picture
from certree.hw.engines.runs import Options
from certree.hw.run import tables_or_plan
from certree.models.common.files import new_folder, write_atomically
from certree.models.common.progress import Counted
from certree.models.common.quantities import parse_size
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.paths import nodes_along
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.schedule_file import load_schedule, save_schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.synth.method import Request, load_methods

MACHINE = "multitree"
SHOWN_ROWS = 24  # of the table on a page; the CSV next to it has all
STYLE = (
    "body{font:15px/1.5 Helvetica,Arial,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1d2b36}"
    "img{max-width:100%;border:1px solid #dfe5ea;margin:.5em 0}pre{background:#f4f7f9;padding:.8em;overflow-x:auto}"
    "h2{margin-top:2.5em;border-top:2px solid #dfe5ea;padding-top:1em}"
)


@dataclass(frozen=True)
class Worked:
    """An example, carried out."""

    example: Example
    schedule: Schedule
    verdict: str
    simulation: str


def work(example: Example) -> Worked:
    """Make, check and simulate one example; DisagreementError for an invalid schedule that should be valid."""
    machine, size = load_machine(MACHINE), parse_size(SIZE)
    collective = parse_collective(example.collective)
    request = Request(parse_topology(example.topology), collective, size, machine, chunks=example.chunks, options=example.options)
    schedule, verdict = certified_or_fail(written_out(load_methods()[example.method](request)))
    words = schedule_words(schedule_report(schedule, verdict, size, machine))
    simulation = simulation_words(schedule, size, machine) if verdict.valid else "Not simulated: the schedule is invalid."
    return Worked(example, written_out(schedule), words, simulation)


def simulation_words(schedule: AnySchedule, size: int, machine: Machine) -> str:
    """The result of a slotted run of a schedule."""
    result = run_free(tables_or_plan(schedule, size, machine), Options())
    predicted, effect = result.closed_form_cycles, result.router_effect
    agrees = "as the closed form says"
    if result.cycles != predicted:
        agrees = f"closed form {predicted:,}" + ("" if effect is None else f", which routers add to: {effect}")
    data = "right at every rank" if result.data_ok else "WRONG"
    itself = "" if result.no_tables is None else f" Run from the schedule itself: {result.no_tables}."
    return (
        f"Simulated: {result.cycles:,} cycles, {agrees}; {result.contention_cycles:,} cycles of contention,"
        f" {result.late} late rows; data {data}.{itself}"
    )


def gallery(output: str | Path, progress: Callable[[str], None] | None = None) -> list[Worked]:
    """Work an example of each paper and write pictures, tables, `README.md` and `index.html` into a new folder.

    Parameters
    ----------
    output : str or path
        The folder, which appears when all examples are done.
    progress : callable, optional
        Receives a line for each example.

    Returns
    -------
    list of Worked
        The examples, with their verdicts.

    Raises
    ------
    InputError
        For a folder that exists.

    Examples
    --------
    >>> import certree.api as ct
    >>> {example.verdict.partition(":")[0] for example in ct.gallery("gallery")}  # doctest: +SKIP
    {'refuted', 'valid'}
    """
    done = []
    with new_folder(Path(output)) as folder:
        for number, example in enumerate(EXAMPLES):
            if progress is not None:
                progress(Counted(f"{example.slug}: {example.method} on {example.topology}", number, len(EXAMPLES)))
            done.append(work(example))
            _write_example(folder / example.slug, done[-1])
        write_atomically(folder / "README.md", _readme(done).encode(), force=False)
        write_atomically(folder / "index.html", _html(done).encode(), force=False)
    return done


def _write_example(folder: Path, worked: Worked) -> None:
    folder.mkdir()
    example, schedule = worked.example, worked.schedule
    title = f"{example.method}, {schedule.collective.words} on {example.topology}"
    save_schedule(schedule, folder / "schedule.json")
    for name, text in (
        ("network.svg", network_picture(schedule.topology)),
        ("timetable.svg", timetable_picture(load_schedule(folder / "schedule.json"), title)),
        ("transfers.csv", transfers_csv(schedule)),
        ("README.md", _page(worked)),
    ):
        write_atomically(folder / name, text.encode(), force=False)


def transfers_csv(schedule: Schedule) -> str:
    """All transfers as `chunk,op,src,dst,step,path`; `path` names the nodes that a route passes."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["chunk", "op", "src", "dst", "step", "path"])
    writer.writerows(_rows(schedule))
    return buffer.getvalue()


def _rows(schedule: Schedule) -> list[list[str]]:
    names = ("chunk", "op", "src", "dst", "step", "route")
    rows = []
    for chunk, op, src, dst, step, route in zip(*(getattr(schedule, name).tolist() for name in names), strict=True):
        nodes = [src, dst] if route == DIRECT else nodes_along(schedule.topology, schedule.routes[route])
        rows.append([str(chunk), Op(op).name.lower(), str(src), str(dst), str(step), ">".join(map(str, nodes))])
    return rows


def _page(worked: Worked) -> str:
    example = worked.example
    rows = _rows(worked.schedule)
    lines = [
        f"# {example.title}", "", f"Source: {example.source}.", "", example.text, "", "```console", f"$ {example.command}",
        worked.verdict, "```", "", worked.simulation, "", "![network](network.svg)", "", "![schedule](timetable.svg)", "",
        "| chunk | op | src | dst | step | path |", "|---|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows[:SHOWN_ROWS]),
    ]  # fmt: skip
    if len(rows) > SHOWN_ROWS:
        lines += ["", f"and {len(rows) - SHOWN_ROWS} more in `transfers.csv`."]
    return "\n".join([*lines, ""])


def _readme(done: list[Worked]) -> str:
    lines = [
        "# Gallery", "", f"One worked example of each paper: all-reduces and others of {SIZE}, machine `{MACHINE}`.",
        "Made by `certree gallery`; `index.html` shows everything on one page.", "",
        "| example | network | method | source | verdict |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for worked in done:
        example = worked.example
        verdict = worked.verdict.partition(":")[0]
        link = f"[{example.title}]({example.slug}/README.md)"
        lines.append(f"| {link} | `{example.topology}` | {example.method} | {example.source} | {verdict} |")
    return "\n".join([*lines, ""])


def _html(done: list[Worked]) -> str:
    parts = [
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>certree gallery</title><style>{STYLE}</style></head>',
        f"<body><h1>certree gallery</h1><p>Messages of {SIZE}, machine {MACHINE}.</p><ul>",
        *(f'<li><a href="#{w.example.slug}">{escape(w.example.title)}</a> ({escape(w.example.source)})</li>' for w in done),
        "</ul>",
    ]
    for worked in done:
        example = worked.example
        parts += [
            f'<h2 id="{example.slug}">{escape(example.title)}</h2>',
            f"<p><em>{escape(example.source)}</em></p><p>{escape(example.text)}</p>",
            f"<pre>$ {escape(example.command)}\n{escape(worked.verdict)}</pre><p>{escape(worked.simulation)}</p>",
            f'<img src="{example.slug}/network.svg" alt="{escape(example.topology)}">',
            f'<img src="{example.slug}/timetable.svg" alt="time-space picture">',
            f'<p><a href="{example.slug}/transfers.csv">transfers</a>, <a href="{example.slug}/schedule.json">schedule</a></p>',
        ]
    return "\n".join([*parts, "</body></html>", ""])
