"""Training runs as JSON documents, in words, and as a timeline for Perfetto."""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.api.reports.text import counted, one_line, seconds_words, size_words
from certree.extras.training.model.workload import Act, Phase
from certree.extras.training.run.runs import TrainingRun
from certree.extras.training.run.settings import AUTO, Timing
from certree.models.common.files import write_atomically

SHOWN_LAYERS = 5
#: what groups do with links, by whether these are joint and shared
_LINKS = {
    (False, False): "",
    (False, True): ", groups take turns",
    (True, False): ", all groups of ranks at once",
    (True, True): ", all groups of ranks of one kind at once",
}
_MICROSECONDS = 10**6
_ACCELERATOR, _NETWORKS = 0, 1  # processes of the timeline


def training_document(run: TrainingRun) -> dict[str, Any]:
    """The document of `certree train --json`; exact numbers as texts, times in seconds."""
    settings, training = run.settings, run.training
    workload = settings.workload
    kinds = sorted({str(found.kind) for found in workload.communications()})
    return {
        "workload": workload.name,
        "topology": settings.topology.name,
        "loop": str(workload.loop),
        "accelerator": workload.computed_by,
        "timing": str(settings.timing),
        "system": settings.system if settings.timing is Timing.ENDPOINTS else None,
        "program": run.program,
        "no_tables": run.no_tables,
        "no_routers": run.no_routers,
        "machine": settings.endpoint.name if settings.timing is Timing.ENDPOINTS and settings.endpoint else settings.machine.name,
        "methods": {kind: _method(run, kind) for kind in kinds},
        "order": str(settings.order),
        "pieces": settings.pieces,
        "shared": settings.shared,
        "joint": settings.joint,
        "estimate": run.estimate,
        "overlap": settings.overlap,
        "iterations": settings.iterations,
        "seconds": str(run.seconds),
        "iteration_ends": [str(end) for end in training.ends],
        "iteration_seconds": str(run.iteration_seconds),
        "compute_seconds": str(run.compute_seconds),
        "exposed_seconds": str(run.exposed_seconds),
        "idle_seconds": str(training.total(Act.IDLE) / settings.iterations),
        "exposed_by_phase": {str(phase): str(training.exposed(phase) / settings.iterations) for phase in Phase},
        "samples_per_second": None if not workload.samples or not run.seconds else str(_samples(run)),
        "groups": [_group(run, group) for group in sorted({found.group for found in workload.communications()})],
        "layers": _layers(run),
        "what_if": [_alternative(run, number) for number in range(len(run.alternatives))],
    }


def _samples(run: TrainingRun) -> Fraction:
    """The samples of all nodes in a second; a node of a group that shares its samples counts by itself."""
    return (run.settings.workload.samples or 0) / run.iteration_seconds


def _method(run: TrainingRun, kind: str) -> str:
    settings = run.settings
    found = next((settings.method(one.kind) for one in settings.workload.communications() if one.kind == kind), None)
    if found is not None:
        return found.text
    return {Timing.ENDPOINTS: "hierarchical", Timing.AGGREGATE: "netreduce"}.get(settings.timing, AUTO)


def _group(run: TrainingRun, group: str) -> dict[str, Any]:
    asked = [entry for entry in run.training.collectives if entry.communication.group == group]
    busy, members = run.training.busy(group), run.settings.members(group)
    return {
        "group": group,
        "topology": run.settings.network(group).name,
        **({} if members is None else {"members": list(members)}),
        **(
            {"groups_of_ranks": len(run.settings.places(group)), "endpoints": len(run.settings.topology.endpoints)}
            if run.settings.joint
            else {}
        ),
        "collectives": len(asked) // run.settings.iterations,
        "bytes": sum(entry.communication.bytes for entry in asked) // run.settings.iterations,
        "busy_seconds": str(busy / run.settings.iterations),
        "utilization": str(busy / run.seconds) if run.seconds else "0",
    }


def _layers(run: TrainingRun) -> list[dict[str, Any]]:
    compute, waited, exposed = (
        run.training.by_layer(Act.COMPUTE),
        run.training.by_layer(Act.WAIT),
        run.training.served_while_waiting(),
    )
    sizes = [0] * len(compute)
    for entry in run.training.collectives:
        sizes[entry.layer] += entry.communication.bytes
    return [
        {
            "name": layer.name,
            "compute_seconds": str(compute[number] / run.settings.iterations),
            "waited_seconds": str(waited[number] / run.settings.iterations),
            "exposed_seconds": str(exposed[number] / run.settings.iterations),
            "bytes": sizes[number] // run.settings.iterations,
        }
        for number, layer in enumerate(run.settings.workload.layers)
    ]


def _alternative(run: TrainingRun, number: int) -> dict[str, Any]:
    found = run.alternatives[number]
    if found.seconds is None:
        return {"change": found.change, "iteration_seconds": None, "saved": None, "reason": found.reason}
    each = found.seconds / run.settings.iterations
    saved = str(1 - found.seconds / run.seconds)
    document = {"change": found.change, "iteration_seconds": str(each), "saved": saved, "estimate": found.estimate}
    if run.program is not None or found.program is None:
        return document
    return document | {"program": found.program, "no_tables": found.no_tables, "no_routers": found.no_routers}


def training_words(report: dict[str, Any]) -> str:
    """The report as text."""
    each = Fraction(report["iteration_seconds"])
    how = {"closed-form": "in closed form", "endpoints": f"on endpoints, system {report['system']}, {report['program']}"}
    methods = ", ".join(f"{kind} by {one_line(name)}" for kind, name in report["methods"].items()) or "no collectives"
    timing = how.get(report["timing"], f"simulated, {report['timing']}")
    lines = [
        f"{one_line(report['workload'])} on {one_line(report['topology'])}: {seconds_words(each)} an iteration "
        f"({counted(report['iterations'], 'iterations')})",
        f"  {report['loop']} loop, {methods}; {timing}, machine {one_line(report['machine'])}, {report['order']}"
        + ("" if report["overlap"] else ", no overlap")
        + links_words(report),
        *([] if report["no_tables"] is None else [f"  messages, without routers, not tables: {report['no_tables']}"]),
        *([] if report["no_routers"] is None else [f"  tables on lanes, without routers: {report['no_routers']}"]),
        f"  computed {one_line(report['accelerator'])}",
        f"  compute {_share(report['compute_seconds'], each)}, exposed communication {_share(report['exposed_seconds'], each)}"
        + (f", idle in the pipeline {_share(report['idle_seconds'], each)}" if report["idle_seconds"] != "0" else ""),
    ]
    for group in report["groups"]:
        lines.append(
            f"  network{_group_words(group)} busy {float(Fraction(group['utilization'])):.1%}: "
            f"{counted(group['collectives'], 'collectives')}, {group['bytes'] / 10**6:,.4g} MB"
        )
    exposed = sorted(report["layers"], key=lambda layer: -Fraction(layer["exposed_seconds"]))[:SHOWN_LAYERS]
    shown = [layer for layer in exposed if layer["exposed_seconds"] != "0"]
    if shown:
        lines.append("  layers whose collectives are exposed most:")
        lines += [
            f"    {one_line(layer['name'])}: {seconds_words(layer['exposed_seconds'])}, {size_words(layer['bytes'])}"
            for layer in shown
        ]
    if report["what_if"]:
        lines += ["  what if:", *map(_alternative_words, report["what_if"])]
    return "\n".join(lines)


def links_words(report: dict[str, Any]) -> str:
    """The words on links of groups, with a comma before them: nothing where each has its own."""
    words = _LINKS[report["joint"], report["shared"]]
    for group in report["groups"] if report["joint"] else ():
        if "members" in group and (has := group["groups_of_ranks"] * len(group["members"])) < group["endpoints"]:
            words += f", of {one_line(group['group'])} only {group['groups_of_ranks']} with {has} of {group['endpoints']} endpoints"
    return words + (", estimated where they do not start together" if report["estimate"] else "")


def _share(seconds: str, of: Fraction) -> str:
    return f"{seconds_words(seconds)} ({float(Fraction(seconds) / of) if of else 0:.1%})"


def _group_words(group: dict[str, Any]) -> str:
    if "members" in group:
        return f" of group {one_line(group['group'])}, {len(group['members'])} endpoints of {one_line(group['topology'])},"
    return "" if group["group"] == "all" else f" of group {one_line(group['group'])}, {one_line(group['topology'])},"


def _alternative_words(found: dict[str, Any]) -> str:
    if found["iteration_seconds"] is None:
        return f"    {one_line(found['change'])}: {one_line(found['reason'])}"
    saved = float(Fraction(found["saved"]))
    words = f"{abs(saved):.1%} {'less' if saved >= 0 else 'more'}"
    estimated = ", estimated" if found["estimate"] else ""
    program = f", {found['program']}" if "program" in found else ""
    why = f", not tables: {one_line(found['no_tables'])}" if found.get("no_tables") else ""
    why += f", on lanes: {one_line(found['no_routers'])}" if found.get("no_routers") else ""
    return f"    {one_line(found['change'])}: {seconds_words(found['iteration_seconds'])}, {words}{estimated}{program}{why}"


def write_timeline(run: TrainingRun, path: Path, *, force: bool = False) -> None:
    """Write the run in the Trace Event Format, which ui.perfetto.dev draws: a track for computing, one for waiting, and one for
    each network, or as many as it serves collectives at once, in microseconds. InputError where the file exists or cannot be
    written."""
    events = [
        _name("process_name", _ACCELERATOR, 0, "accelerator"),
        _name("process_name", _NETWORKS, 0, "networks"),
        _name("thread_name", _ACCELERATOR, 0, "compute"),
        _name("thread_name", _ACCELERATOR, 1, "wait"),
    ]
    drawn = list(_computing(run))
    for number, (name, slices) in enumerate(_networks(run)):
        events.append(_name("thread_name", _NETWORKS, number, name))
        drawn += [_slice(_NETWORKS, number, *one) for one in slices]
    drawn.sort(key=lambda event: (event["ts"], event["pid"], event["tid"], event["name"]))
    document = {"traceEvents": events + drawn, "displayTimeUnit": "ns"}
    write_atomically(path, json.dumps(document, separators=(",", ":")).encode(), force=force)


def _computing(run: TrainingRun) -> Iterator[dict[str, Any]]:
    layers = run.settings.workload.layers
    for span in run.training.spans:
        track = 0 if span.act is Act.COMPUTE else 1
        yield _slice(_ACCELERATOR, track, span.begin, span.end, f"{layers[span.layer].name} {span.phase}")


def _networks(run: TrainingRun) -> Iterator[tuple[str, list[tuple[Fraction, Fraction, str]]]]:
    """Tracks with what is served on them, (begin, end, name): slices of one track must not overlap."""
    served: dict[str, list[tuple[Fraction, Fraction, str]]] = {}
    for entry in run.training.collectives:
        asked = entry.communication
        name = f"{run.settings.workload.layers[entry.layer].name} {asked.kind}, {size_words(asked.bytes)}"
        served.setdefault(asked.group, []).extend((begin, end, name) for begin, end in entry.served)
    for group in sorted(served):
        tracks: list[list[tuple[Fraction, Fraction, str]]] = []
        for one in sorted(served[group]):
            free = next((track for track in tracks if track[-1][1] <= one[0]), None)
            if free is None:
                tracks.append([one])
            else:
                free.append(one)
        yield from ((group if not number else f"{group}, {number + 1}", track) for number, track in enumerate(tracks))


def _name(what: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": track, "args": {"name": name}}


def _slice(process: int, track: int, begin: Fraction, end: Fraction, name: str) -> dict[str, Any]:
    times = {"ts": float(begin * _MICROSECONDS), "dur": float((end - begin) * _MICROSECONDS)}
    return {"ph": "X", "name": name, "pid": process, "tid": track, **times}
