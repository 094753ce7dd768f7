"""Verdicts on joint schedules as documents and in words."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from certree.api.reports.text import one_line
from certree.extras.joint.check.joint_checks import JointVerdict
from certree.extras.joint.check.shared_routers import joint_effect
from certree.extras.joint.model.joint_schedule import JointSchedule

_SHOWN = 20  # collectives in words


def joint_report(verdict: JointVerdict) -> dict[str, Any]:
    """The document of a verdict, of the kind `joint`."""
    joint = verdict.joint
    document: dict[str, Any] = {
        "valid": verdict.valid,
        "topology": joint.topology.name,
        "machine": joint.machine.name,
        "collectives": [],
    }
    if verdict.least is None:
        document["violations"] = [{"rule": one.rule, "message": one.message, "rows": list(one.rows)} for one in verdict.violations]
        return document | {"violation_counts": dict(verdict.counts)}
    least = verdict.least
    document["collectives"] = _collectives(joint)
    document |= {
        "time_cycles": joint.cycles,
        "seconds": str(Fraction(joint.cycles, joint.machine.clock_hz)),
        "time_bound_cycles": least.cycles,
        **({"time_over_bound": str(Fraction(joint.cycles, least.cycles))} if least.cycles else {}),
        "weighted_ends": joint.weighted_ends,
        "weighted_ends_bound": least.weighted_ends,
        "bounds": [{name: bound[name] for name in ("collectives", "class", "value")} for bound in joint.bounds],
    }
    stated = joint.provenance.get("one_after_the_other_cycles")
    if type(stated) is int:
        document["one_after_the_other_cycles"] = stated
    behind = [(part.name, other) for part in joint.parts for other in part.entry.after]
    if behind and (effect := joint_effect(joint)) is not None:
        document["notes"] = [f"{effect}: {name} may send before {other} has ended" for name, other in behind]
    return document


def _collectives(joint: JointSchedule) -> list[dict[str, Any]]:
    ends = joint.ends
    start = joint.machine.ni_start_cycles
    return [
        {
            "name": part.name,
            "collective": part.entry.collective.words,
            "message_bytes": part.entry.size,
            "transfers": part.schedule.transfers,
            "first_cycle": start + part.first,
            "end_cycle": ends[part.name],
            **({"late": [{"member": node, "cycle": cycle} for node, cycle in part.entry.late]} if part.entry.late else {}),
        }
        for part in joint.parts
    ]


def late_words(late: Sequence[tuple[int, int]]) -> str:
    """The members that take part later, each with its cycle; nothing where there is none."""
    words = ", ".join(f"{node} from cycle {cycle:,}" for node, cycle in late[:_SHOWN])
    more = f" and {len(late) - _SHOWN} more" if len(late) > _SHOWN else ""
    return f"late: {words}{more}" if late else ""


def joint_words(document: dict[str, Any]) -> str:
    """The document as text."""
    head = f"{'valid' if document['valid'] else 'invalid'}: joint schedule on {one_line(document['topology'])}"
    if not document["valid"]:
        counts = ", ".join(f"{rule} {count}" for rule, count in document["violation_counts"].items())
        return "\n".join(
            [head, f"  violations: {counts}", *(f"  {one['rule']}: {one['message']}" for one in document["violations"])]
        )
    over = document.get("time_over_bound")
    ratio = "" if over is None else f", ratio {float(Fraction(over)):.4f}"
    lines = [
        f"{head}, {len(document['collectives'])} collectives",
        f"  cycles               {document['time_cycles']:,} (bound {document['time_bound_cycles']:,}{ratio})",
        f"  sum of weighted ends {document['weighted_ends']:,} (bound {document['weighted_ends_bound']:,})",
    ]
    if "one_after_the_other_cycles" in document:
        lines.append(f"  one after the other  {document['one_after_the_other_cycles']:,} cycles, as stated by the file")
    for one in document["collectives"][:_SHOWN]:
        name, late = one_line(one["name"]), late_words([(member["member"], member["cycle"]) for member in one.get("late", [])])
        lines.append(f"  {name}: cycles {one['first_cycle']:,} to {one['end_cycle']:,}, {one['collective']}{late and '; '}{late}")
    if (more := len(document["collectives"]) - _SHOWN) > 0:
        lines.append(f"  and {more} more")
    notes = document.get("notes", [])
    lines += [f"  note: {one_line(note)}" for note in notes[:_SHOWN]]
    if (more := len(notes) - _SHOWN) > 0:
        lines.append(f"  and {more} more notes")
    return "\n".join(lines)
