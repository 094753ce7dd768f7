"""`verify_program`: a program in, a verdict out. The program is executed for each layout of the caller's buffers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from certree.extras.runtimes.check.execution import Execution, cell_words, step_words
from certree.extras.runtimes.check.sums import Run, Sums, program_additions
from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.runtimes.model.limits import EXECUTORS, limits
from certree.extras.runtimes.model.program import Buffer, Program, StepType
from certree.extras.runtimes.model.roles import EVERYONE, Roles
from certree.models.common.budget import PYTHON, budgeted, spend
from certree.models.common.errors import InputError
from certree.models.schedule.collective import WITH_ONE_ROOT, CollectiveKind
from certree.verify.order.additions import Additions
from certree.verify.rule import Subject, rule
from certree.verify.verdict import Findings, Verdict

FIFO_SLOTS = 2  # messages that a connection holds with protocol Simple: NCCL_STEPS over the steps of an all-reduce's message
NAMED = 3  # contributions that a message lists

_EXAMPLE = "tests/extras/runtimes/check/test_rules.py"


@dataclass(frozen=True)
class ProgramVerdict:
    """The verdict on a program, and its layout: with the root that the data show, where the collective has one. `limits`: by
    executor a sentence for each limit that the program exceeds. `additions`: of a valid one that adds, in which order."""

    program: Program
    layout: Layout
    verdict: Verdict
    limits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    additions: Additions | None = None

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return self.verdict.valid

    def run(self) -> Execution:
        """One execution, for what it moves."""
        return Execution(self.program, self.layout, self.program.modes[0])


@budgeted()
def verify_program(program: Program, root: int | None = None, executor: str | None = None) -> ProgramVerdict:
    """The verdict on a program: on its data, and where an `executor` is named also on its limits.

    `root`: of a broadcast, reduce, gather or scatter, which a file does not state; by default the rank for which the data are
    right, or else the fewest are wrong. O(ranks) executions where the root has to be found, else
    one for each layout of the buffers.
    """
    findings = Findings()
    exceeded = {name: tuple(limits(program, steps)) for name, steps in EXECUTORS.items()}
    check_limits(exceeded, executor, findings)
    _check_connections(program, findings)
    _check_waits(program, findings)
    layout = layout_of(program, root)
    runs, sums = list[Execution](), Sums()
    for in_place in program.modes:
        if findings.rules - {"limit"}:
            break
        runs.append(Execution(program, layout, in_place, FIFO_SLOTS, sums))
        _check_execution(runs[-1], findings)
    additions = None if findings.rules else program_additions(runs)
    return ProgramVerdict(program, layout, findings.verdict(), exceeded, additions)


def layout_of(program: Program, root: int | None = None) -> Layout:
    """The layout of a program; the root as in `verify_program`. InputError for a root that does not apply or is not a rank."""
    layouts = possible_layouts(program.kind, len(program.ranks), program.chunks_per_loop, root, program.roles)
    if len(layouts) == 1:
        return layouts[0]
    return min(layouts, key=lambda layout: sum(1 for _ in wrong_cells(Execution(program, layout, program.modes[0]))))


def possible_layouts(kind: CollectiveKind, count: int, chunks: int, root: int | None, roles: Roles = EVERYONE) -> list[Layout]:
    """The layouts of a collective of `count` ranks: one for each root that it may have. InputError as in `layout_of`."""
    if kind not in WITH_ONE_ROOT:
        if root is not None:
            raise InputError(f"{kind} has no single root; root {root} does not apply")
        return [Layout(kind, count, chunks, roles=roles)]
    if root is not None and not 0 <= root < count:
        raise InputError(f"root {root} is not a rank; ranks are 0 to {count - 1}")
    candidates = [root] if root is not None else range(count) if roles.members is None else roles.members
    return [Layout(kind, count, chunks, one, roles) for one in candidates]


@rule("limit", "a program exceeds a limit of the executor that was named", _EXAMPLE, Subject.PROGRAMS)
def check_limits(exceeded: Mapping[str, tuple[str, ...]], executor: str | None, findings: Findings) -> None:
    """Add the limits of the executor that was named; InputError for one that does not execute such programs."""
    if executor is None:
        return
    if executor not in exceeded:
        raise InputError(f"executor {executor} does not execute such a program; those that do: {', '.join(exceeded) or 'none'}")
    for sentence in exceeded[executor]:
        findings.add("limit", 0, (), sentence)


@rule(
    "connection",
    "two thread blocks of a rank send to the same rank on one channel, or receive from the same rank on one channel; in a plan: "
    "signal, or wait; or one rank of a group of a switch does not have that group",
    _EXAMPLE,
    Subject.PROGRAMS,
)
@rule(
    "unmatched",
    "on a connection more is sent than received, or received than sent, or a message has another number of chunks than its "
    "receiver takes; in a plan: signals and waits of a channel are not equally many",
    _EXAMPLE,
    Subject.PROGRAMS,
)
def _check_connections(program: Program, findings: Findings) -> None:
    sent: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    received: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    for rank, owner in enumerate(program.ranks):
        for what, ends in (
            ("send", [(b.send, b.channel) for b in owner.blocks]),
            ("receive", [(b.receive, b.channel) for b in owner.blocks]),
        ):
            for (peer, channel), count in Counter(ends).items():
                if peer >= 0 and count > 1:
                    side = f"send to rank {peer}" if what == "send" else f"receive from rank {peer}"
                    findings.add("connection", 0, (), f"rank {rank}: {count} thread blocks {side} on channel {channel}")
        for block in owner.blocks:
            sent[rank, block.send, block.channel] += [step.count for step in block.steps if step.type.sends]
            received[block.receive, rank, block.channel] += [step.count for step in block.steps if step.type.receives]
    for source, target, channel in sorted({*sent, *received}):
        out, into = sent[source, target, channel], received[source, target, channel]
        words = f"from rank {source} to rank {target} on channel {channel}"
        if len(out) != len(into):
            findings.add("unmatched", 0, (), f"{words}: {len(out)} sent, {len(into)} received")
        for number, (given, taken) in enumerate(zip(out, into, strict=False)):
            if given != taken:
                findings.add("unmatched", 0, (), f"{words}: message {number} has {given} chunks, its receiver takes {taken}")


@rule(
    "no-signal",
    "a step waits for a step that does not signal its end (hasdep), or for one that does nothing",
    _EXAMPLE,
    Subject.PROGRAMS,
)
@rule("loose-wait", "a step that does nothing but wait is not followed by one that waits as well", _EXAMPLE, Subject.PROGRAMS)
def _check_waits(program: Program, findings: Findings) -> None:
    for rank, block, index, step in program.steps():
        where, steps = step_words(rank, block, index), program.ranks[rank].blocks[block].steps
        if step.waits_for is not None:
            other, at = step.waits_for
            awaited = program.ranks[rank].blocks[other].steps[at]
            if not awaited.is_awaited or awaited.type is StepType.NOTHING:
                what = "does nothing, and so signals nothing" if awaited.is_awaited else "does not signal its end"
                findings.add("no-signal", index, (), f"{where} waits for step {at} of thread block {other}, which {what}")
        if step.type is StepType.NOTHING and step.waits_for is not None:
            follower = steps[index + 1] if index + 1 < len(steps) else None
            if follower is None or follower.waits_for is None:
                findings.add("loose-wait", index, (), f"{where} waits, but the step after it does not")


@rule("outside", "a step reads or writes a part of the input or output that a call does not have", _EXAMPLE, Subject.PROGRAMS)
@rule(
    "deadlock-in-program",
    "thread blocks wait for each other in a circle, or for a message that never comes",
    _EXAMPLE,
    Subject.PROGRAMS,
)
@rule("race", "two steps use one place, one of them writes it, and nothing says which comes first", _EXAMPLE, Subject.PROGRAMS)
@rule("input-changed", "the input of a call that is not in place is overwritten", _EXAMPLE, Subject.PROGRAMS)
@rule("wrong-data", "a place of the output does not hold what is due there at the end", _EXAMPLE, Subject.PROGRAMS)
def _check_execution(execution: Execution, findings: Findings) -> None:
    mode = "in place" if execution.in_place else "out of place"
    for sentence in _outside(execution):
        findings.add("outside", 0, (), f"{mode}: {sentence}")
    if not execution.finished:
        findings.add("deadlock-in-program", 0, (), f"{mode}: {'; '.join(execution.circle())}")
        return
    for race in execution.accesses.races:
        names = [step_words(*execution.blocks[block], step) for block, step in (race.first, race.second)]
        findings.add("race", race.second[1], (), f"{mode}: {cell_words(race.cell)}: {names[0]} and {names[1]} are not ordered")
    for cell, where in execution.overwritten_inputs.items():
        findings.add("input-changed", 0, (), f"{mode}: {where} writes {cell_words(cell)}")
    add_wrong_data(findings, execution, lambda sentence: f"{mode}: {sentence}")


def _outside(execution: Execution) -> Iterator[str]:
    for rank, block, index, step in execution.program.steps():
        inputs, outputs = execution.layout.sizes(rank)
        for used, buffer, offset in (
            (step.type.reads, step.src, step.src_offset),
            (step.type.writes, step.dst, step.dst_offset),
        ):
            size = {Buffer.INPUT: inputs, Buffer.OUTPUT: outputs}.get(buffer)
            if used and size is not None and offset + step.count > size:
                where = f"{step_words(rank, block, index)}: {buffer}[{offset + step.count - 1}]"
                yield f"{where}; {execution.layout.kind} gives this rank {size} chunks there"


def add_wrong_data(findings: Findings, execution: Run, words: Callable[[str], str] = str) -> None:
    """Report the places of outputs that do not hold what is due. `words` changes a sentence;
    it is called only for sentences that are listed."""
    cells = list(wrong_cells(execution))
    findings.add_each("wrong-data", range(len(cells)), lambda at: (0, (), words(wrong_words(execution, cells[at]))))


def wrong_cells(execution: Run) -> Iterator[Cell]:
    """Each place of an output that does not hold what is due."""
    parts = execution.layout.due_parts()
    spend(10 * PYTHON * parts, f"{parts:,} contributions that {execution.layout.ranks:,} ranks must hold")
    for rank in range(execution.layout.ranks):
        for offset, due in enumerate(execution.layout.due(rank)):
            cell = (rank, Buffer.OUTPUT, offset)
            value = execution.held(cell)
            if value.fault or value.parts != due:
                yield cell


def wrong_words(execution: Run, cell: Cell) -> str:
    """The fault of such a place, as a sentence."""
    value, due = execution.held(cell), execution.layout.due(cell[0])[cell[2]]
    if value.fault:
        return f"{cell_words(cell)}: {value.fault}"
    missing, extra = sorted(due - value.parts), sorted(value.parts - due)
    words = [f"{name} {_parts(parts)}" for name, parts in (("lacks", missing), ("has", extra)) if parts]
    return f"{cell_words(cell)} {' and '.join(words)}"


def _parts(parts: list[Part]) -> str:
    listed = ", ".join(f"chunk {offset} of rank {rank}" for rank, offset in parts[:NAMED])
    return listed + (f" and {len(parts) - NAMED} more" if len(parts) > NAMED else "")
