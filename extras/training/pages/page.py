"""One self-contained HTML page on a training run: its times, a timeline, layers, and what-if."""

from fractions import Fraction
from importlib import metadata
from typing import Any

from certree.api.reports.text import counted, seconds_words, size_words
from certree.extras.reports.explorer.document import viewer_document
from certree.extras.reports.explorer.page import shown
from certree.extras.reports.explorer.templates import environment
from certree.extras.training.run.reports import links_words, training_document
from certree.extras.training.run.runs import Slowest, TrainingRun, timeline
from certree.verify.checker import verify_schedule

MOST_LAYERS = 2_000  # rows of the table


def training_page(run: TrainingRun, title: str | None = None) -> str:
    """The HTML of a run; the same run gives the same bytes."""
    document = training_document(run)
    each = Fraction(document["iteration_seconds"])
    slowest = run.slowest
    views = [] if slowest is None else [viewer_document(slowest.schedule, slowest.used, verify_schedule(slowest.schedule))]
    return str(
        environment("certree.extras.training.pages")
        .get_template("training.html.j2")
        .render(
            title=title or run.title(),
            version=metadata.version("certree"),
            slowest=None if slowest is None else _slowest_words(slowest),
            view_left_out=views[0]["left_out"] if views else [],
            facts=_facts(document, each),
            timeline=timeline(run),
            layers=[_layer(layer) for layer in document["layers"][:MOST_LAYERS]],
            left_out=max(0, len(document["layers"]) - MOST_LAYERS),
            changes=[_change(entry) for entry in document["what_if"]],
            unchanged=seconds_words(each),
            **shown(views),
        )
    )


def _slowest_words(slowest: Slowest) -> dict[str, str]:
    """The subject of the interactive view, in words."""
    asked, method = slowest.asked, slowest.schedule.provenance.get("method", "")
    name = f"{asked.kind} of {size_words(asked.bytes)} on {slowest.schedule.topology.name}"
    many = f"{counted(slowest.number, 'collectives')} of an iteration that {'is' if slowest.number == 1 else 'are'} like it"
    return {"name": name, "words": f"{name}, made by {method}: with the {many}, it takes the most time of all collectives."}


def _facts(document: dict[str, Any], each: Fraction) -> list[tuple[str, str]]:
    """Labels and values of the first table."""
    facts = [
        ("workload", f"{document['workload']}, {document['loop']} loop, {counted(document['iterations'], 'iterations')}"),
        ("network", document["topology"]),
        ("collectives", ", ".join(f"{kind} by {name}" for kind, name in document["methods"].items()) or "none"),
        (
            "times of collectives",
            document["timing"] + (f", system {document['system']}, {document['program']}" if document["system"] else ""),
        ),
        ("machine", document["machine"]),
        ("order", document["order"] + ("" if document["overlap"] else "; gradients behind all computing") + links_words(document)),
        ("an iteration", seconds_words(each)),
        ("compute", _part(document["compute_seconds"], each)),
        ("exposed communication", _part(document["exposed_seconds"], each)),
    ]
    if document["idle_seconds"] != "0":
        facts.append(("idle in the pipeline", _part(document["idle_seconds"], each)))
    for group in document["groups"]:
        name = "network busy" if group["group"] == "all" else f"network of {group['group']}, {group['topology']}, busy"
        told = f"{counted(group['collectives'], 'collectives')}, {group['bytes'] / 10**6:,.4g} MB an iteration"
        facts.append((name, f"{float(Fraction(group['utilization'])):.1%}; {told}"))
    if document["samples_per_second"]:
        facts.append(("samples a second at a node", f"{float(Fraction(document['samples_per_second'])):,.4g}"))
    return facts


def _part(seconds: str, of: Fraction) -> str:
    return f"{seconds_words(seconds)} ({float(Fraction(seconds) / of) if of else 0:.1%})"


def _layer(layer: dict[str, Any]) -> dict[str, str]:
    words = {
        name: seconds_words(layer[f"{name}_seconds"]) if layer[f"{name}_seconds"] != "0" else ""
        for name in ("compute", "waited", "exposed")
    }
    return {"name": layer["name"], "bytes": size_words(layer["bytes"]) if layer["bytes"] else "", **words}


def _change(entry: dict[str, Any]) -> dict[str, Any]:
    """A what-if run in words; `width` of a bar of the share that is saved."""
    if entry["iteration_seconds"] is None:
        return {"change": entry["change"], "reason": entry["reason"]}
    saved = float(Fraction(entry["saved"]))
    words = f"{abs(saved):.1%} {'less' if saved >= 0 else 'more'}" + (", estimated" if entry["estimate"] else "")
    return {
        "change": entry["change"], "reason": None, "seconds": seconds_words(entry["iteration_seconds"]), "words": words,
        "width": round(200 * max(0.0, saved)),
    }  # fmt: skip
