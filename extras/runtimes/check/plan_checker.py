"""`verify_plan`: a plan of MSCCL++ in, a verdict out."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from certree.extras.runtimes.check.checker import add_wrong_data, check_limits, possible_layouts, wrong_cells
from certree.extras.runtimes.check.execution import Block, cell_words
from certree.extras.runtimes.check.plan_execution import STARTED, PlanExecution
from certree.extras.runtimes.check.plan_operations import channel_words, op_words, signals_of, unrolled
from certree.extras.runtimes.check.sums import program_additions
from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.model.limits import PLAN_EXECUTOR, plan_limits
from certree.extras.runtimes.model.plan import Plan
from certree.models.common.budget import budgeted
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import WITH_ONE_ROOT
from certree.verify.order.additions import Additions
from certree.verify.rule import Subject, rule
from certree.verify.verdict import Findings, Verdict

_EXAMPLE = "tests/extras/runtimes/check/test_plan_rules.py"
_PLACE = re.compile(r"\b([ios]\[|chunk )([0-9]+)")


@dataclass(frozen=True)
class PlanVerdict:
    """The verdict on a plan, and its layout: with the root that the data show, where it has one. `limits`: by executor.
    `additions`: of a valid one that adds, in which order."""

    plan: Plan
    layout: Layout
    verdict: Verdict
    limits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    additions: Additions | None = None

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return self.verdict.valid

    def run(self) -> PlanExecution:
        """One execution, for what it moves. UnsupportedError where a switch moves data, which no transfer says."""
        run = PlanExecution(self.plan, self.layout)
        if run.by_switch:
            raise UnsupportedError("a switch reads or writes for several ranks at once; no schedule is made of that")
        return run


@budgeted()
def verify_plan(plan: Plan, root: int | None = None, executor: str | None = None) -> PlanVerdict:
    """The verdict on a plan; `root` and `executor` as in `checker.verify_program`.

    Rules of its own: `not-started`, `left-early`; shared with other programs: `limit`, `connection`, `unmatched`,
    `deadlock-in-program`, `race`, `input-changed`, `wrong-data`. O(operations · blocks), for each possible root.
    """
    findings = Findings()
    exceeded = {PLAN_EXECUTOR: tuple(plan_limits(plan))}
    check_limits(exceeded, executor, findings)
    _check_signals(plan, findings)
    _check_groups(plan, findings)
    layouts = possible_layouts(plan.kind, len(plan.ranks), plan.chunks_per_loop, root, plan.roles)
    runs = [PlanExecution(plan, layout) for layout in layouts]
    run = min(runs, key=lambda run: sum(1 for _ in wrong_cells(run))) if plan.kind in WITH_ONE_ROOT else runs[0]
    if not findings.rules - {"limit"}:
        _check_run(run, findings)
    additions = None if findings.rules else program_additions([run], _open_sums(run), run.slices)
    return PlanVerdict(plan, run.chunk_layout, findings.verdict(), exceeded, additions)


def _open_sums(run: PlanExecution) -> Iterator[tuple[int, int]]:
    """(rank, slice) of operands that are added as they come: by a switch, or ordered by nothing but semaphores and barriers that
    are shared."""
    yield from run.open_sums
    if not (run.semaphores.is_shared or run.shared_barriers):
        return
    least = PlanExecution(run.plan, run.chunk_layout, run.sums, is_certain=True)
    for cell in sorted({race.cell for race in least.accesses.races}):
        yield cell[0], min(run.values[cell].parts, default=(0, 0))[1]


def _check_signals(plan: Plan, findings: Findings) -> None:
    """Rules `unmatched` and `connection`: signals and waits of each channel."""
    given: Counter[tuple[str, int, int, int]] = Counter()
    taken: Counter[tuple[str, int, int, int]] = Counter()
    users: dict[tuple[str, tuple[str, int, int, int]], set[Block]] = {}
    for rank, owner in enumerate(plan.ranks):
        for at, block in enumerate(owner.blocks):
            for operation, _ in unrolled(block):
                for signals, used, counts in ((True, operation.name.signals, given), (False, operation.name.waits, taken)):
                    for channel in operation.channels if used else ():
                        ends = signals_of(channel, rank, given=signals)
                        counts[ends] += 1
                        users.setdefault(("signal" if signals else "wait", ends), set()).add((rank, at))
    for ends in sorted({*given, *taken}):
        if given[ends] != taken[ends]:
            findings.add("unmatched", 0, (), f"{channel_words(ends)}: {given[ends]} signals, {taken[ends]} waits")
    for (what, ends), blocks in sorted(users.items()):
        if len(blocks) > 1:
            findings.add("connection", 0, (), f"{len(blocks)} thread blocks of a rank {what} {channel_words(ends)}")


def _check_groups(plan: Plan, findings: Findings) -> None:
    """Rule `connection`: the groups of a switch, which exist once all of their ranks have asked for them."""
    listed = [Counter((buffer, tuple(sorted(ranks))) for buffer, ranks in owner.groups) for owner in plan.ranks]
    for rank, groups in enumerate(listed):
        for (buffer, ranks), count in sorted(groups.items()):
            for other in ranks:
                if listed[other][buffer, ranks] < count:
                    words = f"group {list(ranks)} of a switch for buffer {buffer}: rank {rank} has {count}"
                    findings.add("connection", 0, (), f"{words}, rank {other} has {listed[other][buffer, ranks]}")


@rule(
    "not-started",
    "a rank uses the buffers of another one before a signal says that this one has started",
    _EXAMPLE,
    Subject.PROGRAMS,
)
@rule("left-early", "a rank may end before another one has read or written its buffers", _EXAMPLE, Subject.PROGRAMS)
def _check_run(run: PlanExecution, findings: Findings) -> None:
    if not run.finished:
        findings.add("deadlock-in-program", 0, (), _in_chunks("; ".join(run.circle()), run.slices))
        return
    for race in run.accesses.races:
        first, second = (op_words(run.blocks[block], index - STARTED) for block, index in (race.first, race.second))
        words = f"{cell_words(race.cell)}: {first} and {second} are not ordered"
        findings.add("race", race.second[1] - STARTED, (), _in_chunks(words, run.slices))
    for cell, where in run.overwritten_inputs.items():
        findings.add("input-changed", 0, (), _in_chunks(f"{where} writes {cell_words(cell)}", run.slices))
    for (block, index), rank in _first_of(run.early):
        words = f"{op_words(block, index)} uses buffers of rank {rank}, which may not have started"
        findings.add("not-started", index, (), words)
    for block, index, rank in run.late:
        words = f"{op_words(block, index)} uses buffers of rank {rank}, which may have ended: it waits for nothing that comes later"
        findings.add("left-early", index, (), words)
    add_wrong_data(findings, run, lambda sentence: _in_chunks(sentence, run.slices))


def _in_chunks(sentence: str, slices: int) -> str:
    """A sentence of a run, which counts slices of chunks, with the places that the file has: o[3] of two slices is o[3/2]."""
    return _PLACE.sub(lambda found: f"{found[1]}{Fraction(int(found[2]), slices)}", sentence)


def _first_of(found: dict[tuple[Block, int], int]) -> Iterator[tuple[tuple[Block, int], int]]:
    """The first use of each block and rank."""
    seen: set[tuple[Block, int]] = set()
    for (block, index), rank in sorted(found.items()):
        if (block, rank) not in seen:
            seen.add((block, rank))
            yield (block, index), rank
