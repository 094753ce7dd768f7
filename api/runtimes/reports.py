"""Reports on programs of communication runtimes."""

from typing import Any

from certree.api.reports.text import counted, one_line
from certree.models.programs.limits import MOST_ELEMENTS, MOST_STEPS
from certree.models.schedule.collective import parse_collective
from certree.verify.programs.checker import ProgramVerdict


def program_report(checked: ProgramVerdict) -> dict[str, Any]:
    """A JSON document: size of the program, and violations where there are any."""
    program, verdict = checked.program, checked.verdict
    blocks = [block for rank in program.ranks for block in rank.blocks]
    report: dict[str, Any] = {
        "valid": verdict.valid,
        "name": program.name,
        "collective": str(program.kind),
        "root": checked.layout.root,
        "ranks": len(program.ranks),
        "chunks": program.chunks_per_loop,
        "protocol": program.protocol,
        "in_place": program.in_place,
        "out_of_place": program.out_of_place,
        "min_bytes": program.min_bytes,
        "max_bytes": program.max_bytes,
        "channels": program.channels,
        "most_blocks": max(len(rank.blocks) for rank in program.ranks),
        "most_steps": max((len(block.steps) for block in blocks), default=0),
        "most_elements": max(1 + len(program.ranks) + sum(1 + len(block.steps) for block in rank.blocks) for rank in program.ranks),
        "messages": sum(step.type.sends for block in blocks for step in block.steps),
    }
    if not verdict.valid:
        report["violations"] = [{"rule": one.rule, "message": one.message, "rows": list(one.rows)} for one in verdict.violations]
        report["violation_counts"] = dict(verdict.counts)
    return report


def program_words(report: dict[str, Any]) -> str:
    """A report for people."""
    words = parse_collective(report["collective"], report["root"]).words.replace("node", "rank")
    head = f"{words} of {report['ranks']} ranks"
    if not report["valid"]:
        counts = ", ".join(f"{count} × {rule}" for rule, count in report["violation_counts"].items())
        lines = [f"  {one['rule']}: {one_line(one['message'])}" for one in report["violations"]]
        return "\n".join([f"invalid: {head}: {counts}", *lines])
    calls = " and ".join(name for flag, name in (("in_place", "in place"), ("out_of_place", "out of place")) if report[flag])
    size = f"{counted(report['chunks'], 'chunks')} · {counted(report['channels'], 'channels')}"
    blocks = f"up to {counted(report['most_blocks'], 'thread blocks')} per rank"
    steps = f"of up to {counted(report['most_steps'], 'steps')} ({MOST_STEPS} allowed)"
    elements = f"up to {report['most_elements']:,} XML elements per rank ({MOST_ELEMENTS:,} allowed)"
    return f"valid: {head}, {calls}\n  {size} · {counted(report['messages'], 'messages')}\n  {blocks}, {steps}, {elements}"
