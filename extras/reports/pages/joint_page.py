"""The page on a joint schedule: its verdict, its collectives, their bounds, the links that they share, a picture and a run."""

from collections.abc import Sequence
from fractions import Fraction
from importlib import metadata
from shlex import quote
from typing import Any

import numpy as np

from certree.api.reports.text import counted, one_line, seconds_words, size_words
from certree.extras.joint.check.joint_checks import JointVerdict, verify_joint
from certree.extras.joint.check.joint_report import joint_report, late_words
from certree.extras.joint.model.joint_file import as_joint
from certree.extras.joint.model.joint_schedule import JointSchedule, Part
from certree.extras.joint.model.joint_uses import link_uses_of
from certree.extras.joint.run.joint_run import run_joint
from certree.extras.reports.explorer.templates import asset, environment
from certree.extras.reports.pages.facts import Rows, machine_words, network_words
from certree.extras.reports.pages.subjects import MOST_MESSAGES
from certree.extras.reports.pages.timing import data_url
from certree.extras.reports.pictures.schedules.joint_spacetime import joint_picture
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.topology import Topology

UNNAMED, PACKAGE = "JOINT.json", "certree.extras.reports.pages"
_CHANNELS, _PARTS = 16, 256  # rows of tables


def joint_page(
    sources: Sequence[object], title: str | None = None, topology: Topology | None = None, *, simulate: bool = True
) -> str:
    """The HTML of a joint schedule, which is the only one of `sources`. The same input gives the same bytes."""
    if len(sources) > 1:
        raise InputError("a joint schedule has a report of its own; the schedules of its collectives are FILE:NAME")
    joint = as_joint(sources[0])
    verdict = verify_joint(joint, topology)
    report = joint_report(verdict)
    run, left_out = _run(joint) if simulate and verdict.valid else (None, "a simulation was not asked for")
    name = UNNAMED if isinstance(sources[0], JointSchedule) else one_line(str(sources[0]))
    return str(
        environment(PACKAGE)
        .get_template("joint.html.j2")
        .render(
            title=title or f"{len(joint.parts)} collectives at once on {one_line(joint.topology.name)}",
            version=metadata.version("certree"),
            style=asset("report.css"),
            name=name,
            path=quote(name),
            valid=verdict.valid,
            violations=report.get("violations", []),
            violation_counts=report.get("violation_counts", {}),
            facts=_facts(joint, report),
            collectives=[_collective(joint, part) for part in joint.parts[:_PARTS]] if verdict.parts else [],
            collectives_left_out=max(0, len(joint.parts) - _PARTS),
            bounds=[_bound(joint, bound) for bound in joint.bounds[:_PARTS]] if verdict.valid else [],
            shared=_shared(joint) if verdict.valid else None,
            picture=data_url(joint_picture(joint)) if verdict.parts else None,
            run=run,
            run_left_out=left_out,
            launches=_launches(verdict),
        )
    )


def _facts(joint: JointSchedule, report: dict[str, Any]) -> Rows:
    """The facts of a joint schedule: what was asked, and its bounds."""
    rows = [
        ("network", f"{one_line(joint.topology.name)}: {network_words(joint.topology)}"),
        ("machine", f"{one_line(joint.machine.name)}, {machine_words(joint.machine)}"),
        ("collectives", f"{len(joint.parts):,}"),
        ("made by", one_line(str(joint.provenance.get("method", "unknown")))),
    ]
    if not report["valid"]:
        return rows
    least, over = report["time_bound_cycles"], report.get("time_over_bound")
    ratio = "" if over is None else f", {100 * (float(Fraction(over)) - 1):.2f} % over the bound"
    rows.append(("time", f"{report['time_cycles']:,} cycles ({seconds_words(report['seconds'])})"))
    rows.append(("lower bound", f"{least:,} cycles{ratio}"))
    rows.append(("sum of weighted ends", f"{report['weighted_ends']:,} cycles; lower bound {report['weighted_ends_bound']:,}"))
    if (stated := report.get("one_after_the_other_cycles")) is not None:
        rows.append(("one after the other", f"{stated:,} cycles, as the file states; that is not checked"))
    return rows


def _collective(joint: JointSchedule, part: Part) -> dict[str, str]:
    """A collective in words, with its first cycle and its end in the run."""
    entry, start = part.entry, joint.machine.ni_start_cycles
    waits = [f"after {', '.join(one_line(name) for name in entry.after)}"] if entry.after else []
    waits += [f"not before cycle {entry.start:,}"] if entry.start else []
    waits += [late_words(entry.late)] if entry.late else []
    return {
        "name": one_line(part.name),
        "what": entry.collective.words,
        "size": size_words(entry.size),
        "waits": "; ".join(waits) or "–",
        "weight": f"{entry.weight:,}",
        "transfers": f"{part.schedule.transfers:,}",
        "first": f"{start + part.first:,}",
        "end": f"{start + part.landed:,}",
    }


def _bound(joint: JointSchedule, bound: Any) -> dict[str, str]:
    """A bound in words: what it is on, what it says, and by which witness."""
    names = [one_line(name) for name in bound["collectives"]]
    if "time" in bound:
        witness = f"bound {bound['time']['kind']} on its time alone"
    else:
        length = np.array(bound["length"])
        some = "all" if length.all() else f"{np.count_nonzero(length):,} of {len(length):,}"
        witness = f"{'equal' if len(set(bound['length'])) == 1 else 'unequal'} lengths of {some} links"
    who = "all" if len(names) == len(joint.parts) > 1 else ", ".join(names[:6]) + (" and more" if len(names) > 6 else "")
    return {"who": who, "cycles": f"{int(bound['value']):,}", "witness": witness, "class": ", ".join(bound["class"])}


def _shared(joint: JointSchedule) -> dict[str, Any]:
    """The channels on which several collectives meet, the busiest first: the share of the run that each takes of its lanes."""
    topology = joint.topology
    busy = link_uses_of(joint).busy(joint)
    shared = np.flatnonzero((busy > 0).sum(axis=1) > 1)
    share = busy / (topology.pair_capacity[:, None] * max(1, joint.cycles))
    order = shared[np.argsort(-share[shared].sum(axis=1), kind="stable")]
    rows = []
    for pair in order[:_CHANNELS].tolist():
        parts = np.flatnonzero(busy[pair])
        words = ", ".join(f"{one_line(joint.parts[tag].name)} {100 * share[pair, tag]:.1f} %" for tag in parts.tolist())
        rows.append((f"{topology.pair_src[pair]} > {topology.pair_dst[pair]}", f"{100 * share[pair].sum():.1f} %", words))
    used = int((busy.sum(axis=1) > 0).sum())
    words = f"{counted(len(shared), 'channels')} of {used:,} in use carry several collectives."
    return {"words": words, "rows": rows, "left_out": max(0, len(shared) - _CHANNELS)}


def _run(joint: JointSchedule) -> tuple[Rows | None, str]:
    """The simulated run of all collectives; or why there is none."""
    messages = sum(part.schedule.transfers for part in joint.parts)
    if messages > MOST_MESSAGES:
        return None, f"{messages:,} messages are too many for a page; certree simulate runs them"
    try:
        ran = run_joint(joint)
    except UnsupportedError as error:
        return None, one_line(str(error))
    equal = ", equal to the closed form" if ran.cycles == ran.closed_form_cycles else f"; closed form {ran.closed_form_cycles:,}"
    rows = [
        ("engine", f"{ran.engine}, one table for each node, without routers"),
        ("time", f"{ran.cycles:,} cycles{equal}"),
        ("data", "right in every collective" if ran.data_ok else f"WRONG: {ran.wrong}"),
        ("waits", f"{ran.contention_cycles:,} cycles for busy channels; {ran.late:,} late rows"),
        ("messages", f"{ran.messages:,}"),
    ]
    return rows + ([] if ran.router_effect is None else [("routers left out", ran.router_effect)]), ""


def _launches(verdict: JointVerdict) -> Rows | None:
    """How ranks launch, and the order that proves that all end."""
    launching = verdict.joint.launching
    if launching is None or not verdict.valid:
        return None
    return [
        ("open at once at a rank", f"{launching.contexts:,}"),
        ("all end in the order", ", ".join(one_line(name) for name in launching.order)),
    ]
