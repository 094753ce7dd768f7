"""Results as rows and words for the page: what `assets/report.html.j2` shows of one schedule."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from certree.api.reports.order_report import order_words
from certree.api.reports.schedule_report import schedule_words, shares_words
from certree.api.reports.text import (
    QUANTITIES,
    UNITS,
    clock_words,
    counted,
    gap_words,
    kind_words,
    one_line,
    run_times,
    size_words,
)
from certree.extras.reports.pages.subjects import Subject
from certree.extras.reports.pages.timing import data_url, time_plot, time_table
from certree.extras.reports.pictures.bound_words import bound_words, claim_words
from certree.extras.reports.pictures.ground import MOST_NAMED
from certree.extras.reports.pictures.witness import witness_picture
from certree.hw.formats.bit_layout import Widths
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import MACHINES, Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind, Topology
from certree.models.tables.tables import Tables
from certree.verify.bounds.classes import ANY_SHARES
from certree.verify.deadlock.freedom import Freedom

Rows = list[tuple[str, str]]
UNNAMED = "SCHEDULE.json"


def context(subject: Subject, number: int) -> dict[str, Any]:
    """Everything that the page says about a schedule, in words; `number` counts the schedules of the report."""
    report = subject.report
    return {
        "number": number,
        "name": subject.name or f"schedule {number + 1}",
        "title": f"{subject.schedule.collective.words} on {one_line(subject.schedule.topology.name)}",
        "valid": subject.verdict.valid,
        "method": one_line(report["method"] or "unknown method"),
        "asked": asked_rows(subject),
        "words": schedule_words(report).split("\n"),
        "quality": quality_rows(report, time_bound(subject)),
        "bounds": bounds(subject),
        "violations": report.get("violations", []),
        "violation_counts": report.get("violation_counts", {}),
        "violation_picture": violation(subject),
        "times": time_table(subject.cells) if subject.cells else None,
        "time_plot": time_plot(subject.cells, f"time over size, machine {one_line(subject.used.machine.name)}"),
        "tables": table_rows(subject.tables) if subject.tables else None,
        "run": run_rows(subject),
        "models": subject.models,
        "deadlock": freedom_rows(subject.freedom),
        "evidence": subject.evidence,
        "left_out": {name: one_line(text) for name, text in subject.left_out.items()},
        "commands": commands(subject),
    }


def asked_rows(subject: Subject) -> Rows:
    """Collective, network, machine, size, and the shape of the schedule."""
    schedule, used, topology = subject.schedule, subject.used, subject.schedule.topology
    return [
        ("collective", schedule.collective.words),
        ("network", f"{one_line(topology.name)}: {network_words(topology)}"),
        ("message", f"{size_words(used.message_bytes)} ({used.message_bytes:,} bytes)"),
        ("machine", f"{one_line(used.machine.name)}, {machine_words(used.machine)}"),
        ("method", one_line(subject.report["method"] or "unknown")),
        ("chunks", f"{schedule.chunks:,}" + (f" per iteration, {schedule.repeats:,} iterations" if schedule.repeats > 1 else "")),
        ("steps", _steps(subject)),
        ("transfers", f"{schedule.transfers:,}" + (" per iteration" if schedule.repeats > 1 else "")),
        ("digest", schedule.digest),
        *[("additions", line.strip()) for line in order_words(subject.report)],
    ]


def machine_words(machine: Machine) -> str:
    """Clock and flits."""
    return f"{machine.clock_hz / 1e9:.6g} GHz, flits of {machine.flit_bytes} bytes"


def _steps(subject: Subject) -> str:
    schedule = subject.schedule
    unit = "slots" if schedule.has_fine_slots else "steps"
    words = (
        f"{schedule.steps:,}"
        if schedule.slot_cycles is None
        else f"{schedule.steps:,} slots of {counted(schedule.slot_cycles, 'cycles')}"
    )
    if schedule.repeats > 1 and schedule.period:
        words += f" per iteration, one iteration every {counted(schedule.period, unit)}, {schedule.total_steps:,} in all"
    return words + (f"; results usable {schedule.delay} steps after send" if schedule.delay > 1 else "")


def network_words(topology: Topology) -> str:
    """Endpoints, switches, channels, damage."""
    switches, gone = (int((topology.kind == kind).sum()) for kind in (NodeKind.SWITCH, NodeKind.ABSENT))
    parts = [counted(len(topology.endpoints), "endpoints")]
    parts += [f"{switches} switch{'es' * (switches > 1)}"] if switches else []
    parts += [counted(gone, "removed nodes")] if gone else []
    return ", ".join([*parts, counted(len(topology.pair_src), "channels")])


def quality_rows(report: Mapping[str, Any], timed: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Value, bound, witness and gap of the two quantities, and of the time."""
    if not report["valid"]:
        return []
    kinds = {witness["quantity"]: kind_words(witness) for witness in report["witnesses"]}
    own, of_time = (shares_words(report, name) for name in ("bandwidth_bound", "time_bound_cycles"))
    rows = []
    for name, value, bound in (
        ("bandwidth", report["bandwidth_time"], report["bandwidth_bound"]),
        ("latency", report["latency_steps"], report["latency_bound"]),
    ):
        if bound is None:  # with fine slots the time alone says how good they are
            continue
        gap = report["gap"][name]
        answer = "optimal: equal to the bound" if name in report["optimal_in"] else f"gap {gap_words(gap)}"
        kind = ", ".join([kinds.get(name, "none"), *(own if name == "bandwidth" else [])])
        rows.append(
            {"quantity": QUANTITIES[name], "value": counted(value, UNITS[name]), "bound": counted(bound, UNITS[name]),
             "witness": kind, "answer": answer}
        )  # fmt: skip
    if own:
        least = Fraction(report["bandwidth_bound_any_shares"])
        gap = Fraction(report["bandwidth_time"]) / least - 1
        rows.append(
            {"quantity": "", "value": "", "bound": counted(str(least), UNITS["bandwidth"]),
             "witness": f"{report['witness_any_shares']['kind']}, {ANY_SHARES}", "answer": f"gap {gap_words(str(gap))}"}
        )  # fmt: skip
    if report["time_cycles"] is not None:
        least = report["time_bound_cycles"]
        over = "" if not least else f"{100 * (report['time_cycles'] / least - 1):.2f} % over the bound"
        rows.append(
            {"quantity": "time", "value": f"{report['time_cycles']:,} cycles ({clock_words(dict(report))})",
             "bound": "-" if least is None else f"{least:,} cycles",
             "witness": ", ".join([timed[0]["kind"] if timed else "-", *of_time]), "answer": over}
        )  # fmt: skip
        if of_time and (least := report["time_bound_cycles_any_shares"]):
            over = f"{100 * (report['time_cycles'] / least - 1):.2f} % over the bound"
            rows.append({"quantity": "", "value": "", "bound": f"{least:,} cycles", "witness": ANY_SHARES, "answer": over})
    return rows


def bounds(subject: Subject) -> list[dict[str, Any]]:
    """The bounds that give the values of the verdict, with a picture of each witness where it can be drawn."""
    topology, found = subject.schedule.topology, []
    for witness in (*subject.report["witnesses"], *time_bound(subject)):
        claim, words = claim_words(topology, witness), bound_words(topology, witness)
        entry: dict[str, Any] = {"kind": witness["kind"], "claim": claim, "words": words, "picture": None}
        if len(topology.kind) > MOST_NAMED:
            entry["no_picture"] = f"a picture of {len(topology.kind):,} nodes is left out; certree draw --view bound makes one"
            found.append(entry)
            continue
        try:
            entry["picture"] = data_url(witness_picture(topology, witness, entry["claim"], ""))
        except UnsupportedError as error:
            entry["no_picture"] = str(error)
        found.append(entry)
    return found


def time_bound(subject: Subject) -> list[Mapping[str, Any]]:
    """The time bound of the certificate, which was checked, where it is the one of the verdict."""
    timed = (subject.schedule.certificate or {}).get("time")
    if not timed or not subject.verdict.valid or timed["bound_cycles"] != subject.report["time_bound_cycles"]:
        return []
    return [max(timed["bounds"], key=lambda one: int(one["value"]))]


def violation(subject: Subject) -> str | None:
    """The picture of the first violation of an invalid schedule."""
    if subject.verdict.valid or not subject.verdict.violations:
        return None
    from certree.extras.reports.make.views import VIEWS, Asked

    try:
        return data_url(VIEWS["violation"](subject.schedule, "first violation", Asked()))
    except UnsupportedError:
        return None


def table_rows(tables: Tables) -> Rows:
    """Rows per node, bits, depth of memories."""
    widths = Widths.of(tables)
    rows = np.bincount(tables.node, minlength=len(tables.topology.kind))[tables.topology.endpoints]
    arrivals = np.bincount(tables.arrival_node, minlength=len(tables.topology.kind))[tables.topology.endpoints]
    wide, awaited = (sum(field.bits for field in fields) for fields in (widths.row(), widths.arrival()))
    most, least = int(rows.max()), int(rows.min())
    bits = most * wide + int(arrivals.max()) * awaited
    return [
        ("rows", f"{len(tables.node):,} in all; per node {least:,} to {most:,}, {float(rows.mean()):.1f} on average"),
        ("a row", f"{wide} bits: " + ", ".join(f"{field.name} {field.bits}" for field in widths.row())),
        ("depth of the row memory", f"{most:,} rows, an address of {max(1, (most - 1).bit_length())} bits"),
        ("expected arrivals", f"{int(arrivals.max()):,} at most per node, {awaited} bits each"),
        ("memory of the fullest node", f"{bits:,} bits ({bits / 8192:.2f} KiB)"),
        ("source routes", f"{len(tables.routes):,}" if tables.routes else "none: all rows are for neighbours"),
        ("chunk", f"{tables.chunk_bytes:,} bytes; slots of {counted(tables.slot_cycles, 'cycles')}"),
    ]


def run_rows(subject: Subject) -> Rows | None:
    """The simulated run."""
    ran = subject.run
    if ran is None:
        return None
    closed = ran.closed_form_cycles
    equal = "" if closed is None else ", equal to the closed form" if closed == ran.cycles else f"; closed form {closed:,}"
    busiest, used, made = ran.max_link_utilization, subject.used, subject.schedule
    times = run_times(ran.cycles, used.message_bytes, used.machine, made.collective, made.topology)
    return [
        ("engine", f"{ran.engine}, {ran.mode} run from {ran.source}" + ", without routers" * subject.without_routers),
        ("time", f"{ran.cycles:,} cycles ({clock_words(times)}){equal}"),
        ("data", "right at every rank" if ran.data_ok else "WRONG"),
        ("waits", f"{ran.contention_cycles:,} cycles for busy channels; {ran.late:,} late rows"),
        ("busiest channel", "-" if busiest is None else f"{100 * float(busiest):.2f} % of the time"),
        ("messages", f"{ran.messages:,}; {ran.flit_hops:,} flits over channels"),
    ]


def freedom_rows(freedom: Freedom | None) -> Rows | None:
    """Whether messages can deadlock in the routers, and why not."""
    if freedom is None:
        return None
    rows = [("answer", freedom.explanation()), ("machine", one_line(freedom.machine.name))]
    if freedom.numbering is not None:
        numbered = f"{len(freedom.numbering):,} channels are numbered; a packet waits only for larger numbers than those it holds"
        proof = numbered if freedom.numbering else "no packet ever waits for a channel while it holds another"
        rows.append(("proof", proof))
    if freedom.absorbing:
        rows.append(("buffers", f"those of {len(freedom.absorbing):,} channels hold all that ever comes"))
    return rows


def commands(subject: Subject) -> dict[str, str]:
    """Section -> the command that re-checks it, where there is one. `UNNAMED` stands for a schedule that is in no file."""
    path, collective, topology = quote(subject.name or UNNAMED), subject.schedule.collective, subject.schedule.topology
    source = Path(subject.name or UNNAMED)
    what = f"--collective {collective.kind}" + (f" --root {collective.root}" if collective.root is not None else "")
    name = subject.used.machine.name
    preset = f" --params {name}" if name in MACHINES.names() and load_machine(name) == subject.used.machine else ""
    sized = f" --size {subject.used.message_bytes}{preset}"
    setting = sized if subject.schedule.made_for != subject.used else ""
    given = f" --topology {quote(one_line(topology.name))} {what}" if source.suffix == ".csv" else ""
    found = {
        "verdict": f"certree verify {path}{given}",
        "view": f"certree draw {path}{given} -o spacetime.svg",
        "load": f"certree draw {path}{given} --view load -o load.svg",
    }
    if collective.members is None and collective.demand is None and _has_this_name(topology):
        network = f"{quote(topology.name)} {what}"
        found["certificate"] = f"certree bound {network}{sized if preset else ''}"
        found["times"] = f"certree compare {network}{sized}"
    if source.suffix != ".csv":
        found["tables"] = f"certree verify {path}" if source.is_dir() else f"certree export {path}{setting} -o tables"
        found["run"] = f"certree simulate {path}{setting}" + " --without-routers" * subject.without_routers
        found["models"] = f"certree model-check schedule {path}{setting}"
    return found


def _has_this_name(topology: Topology) -> bool:
    """Whether the command line makes this network of its name."""
    try:
        return parse_topology(topology.name).digest == topology.digest
    except InputError:
        return False


def comparison(contexts: Iterable[Mapping[str, Any]], subjects: Iterable[Subject]) -> list[tuple[str, list[str]]]:
    """Rows of the side-by-side comparison: a label, and a text for each schedule."""
    both = list(zip(contexts, subjects, strict=True))
    rows: list[tuple[str, list[str]]] = [("verdict", ["valid" if one.verdict.valid else "INVALID" for _, one in both])]
    for label in ("collective", "network", "message", "machine", "method", "chunks", "steps", "transfers"):
        rows.append((label, [dict(shown["asked"])[label] for shown, _ in both]))
    for label in (*QUANTITIES.values(), "time"):
        cells = []
        for shown, _ in both:
            row = next((row for row in shown["quality"] if row["quantity"] == label), None)
            cells.append("-" if row is None else f"{row['value']}; {row['answer']}" if row["answer"] else row["value"])
        rows.append((label, cells))
    results = {"rows": "tables", "memory of the fullest node": "tables", "waits": "run", "busiest channel": "run"}
    for label, section in results.items():
        rows.append((label, [dict(shown[section] or []).get(label, "-") for shown, _ in both]))
    return rows
