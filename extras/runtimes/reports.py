"""Reports on programs of communication runtimes."""

import re
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from certree.api.reports.order_report import order_words
from certree.api.reports.text import counted, one_line
from certree.extras.runtimes.check.algorithm_checker import AlgorithmVerdict
from certree.extras.runtimes.check.checker import ProgramVerdict
from certree.extras.runtimes.check.plan_checker import PlanVerdict
from certree.extras.runtimes.check.sums import SUMS
from certree.extras.runtimes.make.registers import Run
from certree.extras.runtimes.model.algorithm import Algorithm
from certree.extras.runtimes.model.chakra import NodeType
from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.limits import MOST_ELEMENTS, MOST_OPERATIONS, MOST_STEPS
from certree.extras.runtimes.model.plan import Plan
from certree.extras.runtimes.model.program import Program
from certree.models.schedule.collective import ALLTOALLV, parse_collective
from certree.verify.order.additions import Additions
from certree.verify.verdict import Verdict


@runtime_checkable
class OtherVerdict(Protocol):
    """The verdict on a program of a format of another extra."""

    @property
    def layout(self) -> Layout:
        """The layout of its data."""
        ...

    @property
    def verdict(self) -> Verdict:
        """The rules that it breaks."""
        ...

    @property
    def additions(self) -> Additions | None:
        """The order in which a valid program adds; None for one that does not add."""
        ...

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        ...

    def run(self) -> Run:
        """One execution, for what it moves."""
        ...

    def sizes(self) -> dict[str, Any]:
        """The sizes of the program, for its report."""
        ...


#: the verdict on a program of any format
AnyVerdict = ProgramVerdict | PlanVerdict | AlgorithmVerdict | OtherVerdict
_STEP = re.compile(r"rank ([0-9]+), thread block ([0-9]+), step ([0-9]+)")  # as `execution.step_words` writes it


def program_report(checked: AnyVerdict, kind: str) -> dict[str, Any]:
    """A JSON document: the format `kind` and the size of the program, and violations where there are any."""
    verdict, layout = checked.verdict, checked.layout
    name = ALLTOALLV if layout.roles.blocks else str(layout.kind)
    report: dict[str, Any] = {"valid": verdict.valid, "collective": name, "root": layout.root, "kind": kind}
    report |= {} if layout.roles.members is None else {"members": list(layout.roles.members)}
    if isinstance(checked, OtherVerdict):
        report |= checked.sizes()
    elif isinstance(checked, PlanVerdict):
        report |= _plan_sizes(checked.plan)
    elif isinstance(checked, AlgorithmVerdict):
        report |= _algorithm_sizes(checked.algorithm)
    else:
        report |= _program_sizes(checked.program)
    if isinstance(checked, ProgramVerdict | PlanVerdict):
        report["limits"] = {name: len(found) for name, found in checked.limits.items()}
        report["first_limits"] = {name: found[0] for name, found in checked.limits.items() if found}
    if checked.additions is not None:
        report["order"] = checked.additions.document()
    elif isinstance(checked, AlgorithmVerdict) and checked.algorithm.layout is None and layout.kind in SUMS:
        report |= {"order": None, "order_unknown": "the traces do not say which data their messages have"}
    if not verdict.valid:
        lines = checked.program.lines if isinstance(checked, ProgramVerdict) else {}
        report["violations"] = [
            {"rule": one.rule, "message": one.message, "rows": list(one.rows), **_line(one.message, lines)}
            for one in verdict.violations
        ]
        report["violation_counts"] = dict(verdict.counts)
    return report


def _line(message: str, lines: Mapping[tuple[int, int, int], int]) -> dict[str, int]:
    """The line in the file of the first step that a message names, where it names one."""
    named = _STEP.search(message)
    line = lines.get((int(named[1]), int(named[2]), int(named[3]))) if named else None
    return {} if line is None else {"line": line}


def _program_sizes(program: Program) -> dict[str, Any]:
    blocks = [block for rank in program.ranks for block in rank.blocks]
    return {
        "name": program.name,
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


def _plan_sizes(plan: Plan) -> dict[str, Any]:
    blocks = [block for rank in plan.ranks for block in rank.blocks]
    signals = [(rank, channel) for rank, _, _, one in plan.operations() if one.name.signals for channel in one.channels]
    return {
        "name": plan.name,
        "ranks": len(plan.ranks),
        "chunks": plan.chunks_per_loop,
        "protocol": plan.protocol,
        "in_place": plan.in_place,
        "out_of_place": not plan.in_place,
        "min_bytes": plan.min_bytes,
        "max_bytes": plan.max_bytes,
        "channels": len({(rank, *channel) for rank, channel in signals}),
        "most_blocks": max(len(rank.blocks) for rank in plan.ranks),
        "most_steps": max((sum(1 + len(one.body) for one in block) for block in blocks), default=0),
        "scratch_chunks": max(rank.scratch for rank in plan.ranks),
        "messages": len(signals),
        "chunk_multiple_bytes": plan.alignment,
    }


def _algorithm_sizes(algorithm: Algorithm) -> dict[str, Any]:
    sizes = [act.bytes for acts in algorithm.ranks for act in acts if act.type is NodeType.SEND]
    return {
        "ranks": len(algorithm.ranks),
        "chunks": None if algorithm.layout is None else algorithm.layout.chunks,
        "in_place": False,
        "out_of_place": True,
        "messages": algorithm.messages,
        "bytes": sum(sizes),
        "most_nodes": max(map(len, algorithm.ranks)),
        "states_data": algorithm.layout is not None,
    }


def program_words(report: dict[str, Any]) -> str:
    """The report as text."""
    more = "\n".join(["", *order_words(report)]) + _limit_words(report) if report["valid"] else ""
    return _words(report) + more


def _words(report: dict[str, Any]) -> str:
    """The verdict and the sizes."""
    name, members = report["collective"], report.get("members")
    words = name if name == ALLTOALLV else parse_collective(name, report["root"], members).words.replace("node", "rank")
    head = f"{words} of {report['ranks']} ranks"
    if not report["valid"]:
        counts = ", ".join(f"{count} × {rule}" for rule, count in report["violation_counts"].items())
        places = [f" (line {one['line']})" if "line" in one else "" for one in report["violations"]]
        lines = [f"  {one['rule']}: {one_line(one['message'])}{at}" for one, at in zip(report["violations"], places, strict=True)]
        return "\n".join([f"invalid: {head}: {counts}", *lines])
    if "block_elements" in report:
        blocks = f"{report['block_elements']:,} × {report['element']}"
        sent = f"{counted(report['messages'], 'messages')} of them used, up to {report['blocks_sent']:,} sent by a device"
        operation = f", operation {report['operation']}" if report["operation"] else ""
        through = (
            f"\n  data were converted among {', '.join(report['converted'])}, which may round them" if report["converted"] else ""
        )
        return f"valid: {head}{operation}\n  {counted(report['permutes'], 'permutes')} · blocks of {blocks}: {sent}{through}"
    if "permutes" in report:
        permutes = f"{counted(report['permutes'], 'permutes')} in {counted(report['steps'], 'steps')}"
        rows = f"{counted(report['device_rows'], 'rows')} of data per device"
        sent = f"up to {counted(report['rows_sent'], 'rows')} sent by a device, used are {report['rows_used']:,}"
        loops = f"{counted(report['stretches'], 'loops')}, {counted(report['iterations'], 'iterations')}"
        return f"valid: {head}\n  {permutes} · {loops} · {rows}\n  {sent}"
    if "kernel_operations" in report:
        operations = counted(sum(report["kernel_operations"].values()), "operations")
        most = f"up to {report['most_operations']:,} per device"
        rows = f"{counted(report['device_rows'], 'rows')} of data and {counted(report['semaphores'], 'semaphores')} per device"
        calls = f"{counted(report['iterations'], 'calls')} for a message"
        many = "any number of calls in a row" if report["any_calls"] else "two calls in a row"
        dmas = f"{counted(report['messages'], 'DMAs')} between devices"
        return f"valid: {head}\n  {dmas}, {operations}, {most} · {calls}\n  {rows}\n  in every interleaving of {many}"
    calls = " and ".join(name for flag, name in (("in_place", "in place"), ("out_of_place", "out of place")) if report[flag])
    if report["kind"] == "chakra":
        data = f"{counted(report['chunks'], 'chunks')} · " if report["states_data"] else ""
        note = "" if report["states_data"] else "\n  data are not stated: checked are messages, dependencies and chains of messages"
        nodes = f"up to {counted(report['most_nodes'], 'nodes')} per rank"
        return f"valid: {head}\n  {data}{counted(report['messages'], 'messages')} · {report['bytes']:,} bytes sent · {nodes}{note}"
    size = f"{counted(report['chunks'], 'chunks')} · {counted(report['channels'], 'channels')}"
    blocks = f"up to {counted(report['most_blocks'], 'thread blocks')} per rank"
    steps = f"of up to {counted(report['most_steps'], 'steps')} ({MOST_STEPS} allowed)"
    if report["kind"] == "mscclpp":
        scratch = f"scratch of up to {counted(report['scratch_chunks'], 'chunks')}"
        steps = f"of up to {counted(report['most_steps'], 'operations')} ({MOST_OPERATIONS} allowed)"
        signals = f"{counted(report['messages'], 'signals')} on {counted(report['channels'], 'channels')}"
        multiple = f"chunks are multiples of {report['chunk_multiple_bytes']} bytes"
        size = counted(report["chunks"], "chunks")
        return f"valid: {head}, {calls}\n  {size} · {signals} · {scratch}\n  {blocks}, {steps}; {multiple}"
    elements = f"up to {report['most_elements']:,} XML elements per rank ({MOST_ELEMENTS:,} allowed)"
    size = f"{size} · {counted(report['messages'], 'messages')}"
    return f"valid: {head}, {calls}\n  {size}\n  {blocks}, {steps}, {elements}"


def _limit_words(report: dict[str, Any]) -> str:
    """A line for each executor whose limits a valid program exceeds."""
    words = ""
    for name, text in report.get("first_limits", {}).items():
        count = report["limits"][name]
        words += f"\n  beyond {counted(count, 'limits')} of {name}{', first' * (count > 1)}: {one_line(text)}"
    return words
