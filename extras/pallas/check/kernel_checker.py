"""`verify_kernel`: a kernel plan in, a verdict out, on all runs at once: any speed of devices, any time at which DMAs end.

Two calls are checked, one right after the other, since calls share the barrier semaphore: a device may be a call ahead of another.
Where no signal of the second call can come to a barrier semaphore before the waits of the first one are over, calls do not meet
there, nor elsewhere: a signal of a later call of the same device comes later still. What holds for two calls then holds for any
number. Where calls meet, nothing is known of a third one, and a message that takes more than two is refused.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from certree.extras.pallas.check.kernel_events import Events, preceded
from certree.extras.pallas.check.kernel_pairs import between_calls, in_calls, of_rows
from certree.extras.pallas.check.kernel_run import KernelRun
from certree.extras.pallas.model.kernel_plan import KernelPlan, Kind
from certree.extras.runtimes.check.checker import add_wrong_data
from certree.extras.runtimes.check.sums import program_additions
from certree.extras.runtimes.model.layout import Layout
from certree.models.common.budget import PYTHON, budgeted, spend
from certree.verify.order.additions import Additions
from certree.verify.rule import Subject, rule
from certree.verify.verdict import Findings, Verdict
from certree.verify.wording import list_text

CALLS = 2
_OF_ROW = 20  # operations of Python for a row, in all analyses together
_TESTS = "tests/extras/pallas/test_kernel_rules.py"


@dataclass(frozen=True)
class KernelVerdict:
    """The verdict on a kernel plan. `additions`: of a valid one that adds, in which order. `any_calls`: whether it holds for any
    number of calls in a row; else for two."""

    plan: KernelPlan
    layout: Layout
    verdict: Verdict
    additions: Additions | None = None
    any_calls: bool = False

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return self.verdict.valid

    def run(self) -> KernelRun:
        """One execution, for what it moves."""
        return KernelRun(self.plan, self.layout)

    def sizes(self) -> dict[str, Any]:
        """The sizes of the plan, for its report."""
        plan = self.plan
        kinds = Counter(one.kind for _, _, one in plan)
        inputs, outputs, scratch = plan.rows
        return {
            "in_place": False,
            "out_of_place": True,
            "ranks": plan.ranks,
            "chunks": plan.layout.chunks,
            "messages": sum(one.kind is Kind.START and one.device != device for device, _, one in plan),
            "most_operations": max(map(len, plan.operations)),
            "kernel_operations": {kind.name.lower(): kinds[kind] for kind in Kind},
            "semaphores": plan.semaphores,
            "device_rows": inputs + outputs + scratch,
            "iterations": plan.repeats,
            "any_calls": self.any_calls,
        }


@budgeted()
def verify_kernel(plan: KernelPlan) -> KernelVerdict:
    """The verdict on a kernel plan.

    Semaphores must be at 0 when a call ends; no run may deadlock; every two accesses of a row of which one writes must have the
    same order in all runs; nothing may come to a device that is not in the call, or still be under way when it leaves. Then all
    runs have the same result, which one run shows. O(events · DMAs / 8) bytes, a few times (`preceded`), and the contributions of
    all outputs.

    >>> from certree.extras.pallas.make.kernel_plans import plan_of_schedule
    >>> import certree.api as ct
    >>> verify_kernel(plan_of_schedule(ct.synthesize("ring:3"))).valid
    True
    """
    rows = sum(sum(plan.layout.sizes(rank)) for rank in range(plan.ranks))
    moved = CALLS * sum(one.rows for _, _, one in plan if one.kind.moves)
    spend(_OF_ROW * PYTHON * (rows + moved), f"a kernel with {rows:,} rows of input and output that moves {moved:,}")
    findings = Findings()
    _check_counts(plan, findings)
    events = Events(plan, 1 if findings.rules else CALLS)
    order, meets = events.greedy(), ""
    if len(order) < len(events):
        _check_deadlock(events, order, findings)
    else:
        meets = _check_order(events, order, findings)
        _check_calls(plan, meets, findings)
    run = None if findings.rules else KernelRun(plan, plan.layout)
    additions = None
    if run is not None:
        add_wrong_data(findings, run)
        additions = None if findings.rules else program_additions([run])
    return KernelVerdict(plan, plan.layout, findings.verdict(), additions, not (meets or findings.rules))


@rule(
    "semaphore-count",
    "in a call of a kernel a semaphore is counted up by another sum than is waited for",
    _TESTS,
    Subject.PROGRAMS,
)
def _check_counts(plan: KernelPlan, findings: Findings) -> None:
    """Report semaphores that a call does not leave at 0. O(operations)."""
    up: defaultdict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    down: defaultdict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for device, number, one in plan:
        if one.kind is Kind.WAIT:
            down[device, one.semaphore].append((one.times, device, number))
        elif one.kind is Kind.SIGNAL:
            up[one.device, one.semaphore].append((one.times, device, number))
        elif one.kind is Kind.START:
            up[one.device, one.semaphore].append((one.rows, device, number))
            if one.send >= 0:
                up[device, one.send].append((one.rows, device, number))
    for device, semaphore in sorted({*up, *down}):
        given, taken = (found.get((device, semaphore), []) for found in (up, down))
        sums = [sum(count for count, _, _ in found) for found in (given, taken)]
        if sums[0] != sums[1]:
            words = [list_text([plan.where(*one[1:]) for one in found], " and ") or "nobody" for found in (given, taken)]
            left = f"{sums[0] - sums[1]} is left at the end" if sums[0] > sums[1] else f"{sums[1] - sums[0]} never comes"
            name = f"{plan.semaphore(semaphore)} of device {device}"
            message = f"{name} counts up {sums[0]} (by {words[0]}) and is waited for {sums[1]} times (by {words[1]}): {left}"
            findings.add("semaphore-count", 0, (), message)


@rule(
    "kernel-deadlock",
    "a device of a kernel waits, in every run, for a count that its semaphore never reaches",
    _TESTS,
    Subject.PROGRAMS,
)
def _check_deadlock(events: Events, order: list[int], findings: Findings) -> None:
    """Report where every device stands at the end of every run. O(events)."""
    plan, reached = events.plan, set(order)
    counted, waited = Counter[int](), Counter[int]()
    for event in order:
        if (counts := events.counts[event]) is not None:
            counted[counts[0]] += counts[1]
        if (needs := events.needs[event]) is not None:
            waited[needs[0]] = needs[1]
    for event, before in enumerate(events.follows):
        needs = events.needs[event]
        if event in reached or needs is None or (before >= 0 and before not in reached):
            continue
        moment, semaphore = events.moments[event], needs[0]
        has, asked = counted[semaphore] - waited[semaphore], needs[1] - waited[semaphore]
        missing = [
            plan.where(moment.device, moment.number)
            for other, counts in enumerate(events.counts)
            if counts is not None and counts[0] == semaphore and other not in reached
            for moment in (events.moments[other],)
        ]
        names = list_text([*dict.fromkeys(missing)], " and ")
        name = plan.semaphore(semaphore % plan.semaphores)
        again = ", in a second call" if moment.call else ""
        more = f"what would count it up is not reached: {names}" if missing else "nothing else counts it up"
        message = f"{plan.where(moment.device, moment.number)} waits for ever{again}: {name} has {has} of {asked}; {more}"
        findings.add("kernel-deadlock", 0, (), message)


@rule(
    "unawaited-arrival",
    "a device of a kernel uses a row while the DMA that writes it may not have arrived",
    _TESTS,
    Subject.PROGRAMS,
)
@rule(
    "early-reuse",
    "a row is overwritten while something of a kernel may still have to read what it held",
    _TESTS,
    Subject.PROGRAMS,
)
@rule("kernel-race", "two writes to a row have no fixed order in a kernel", _TESTS, Subject.PROGRAMS)
@rule(
    "not-entered",
    "a DMA or a signal may come to a device that has not entered the kernel",
    _TESTS,
    Subject.PROGRAMS,
)
@rule(
    "left-running",
    "a device may leave the kernel while a DMA still reads or writes its rows, or before a signal has come to it",
    _TESTS,
    Subject.PROGRAMS,
)
def _check_order(events: Events, order: list[int], findings: Findings) -> str:
    """Report pairs of events that have no fixed order; where calls meet at a barrier, or nothing. As `preceded`."""
    position = np.empty(len(events), np.int64)
    position[order] = np.arange(len(order))
    apart = between_calls(events)
    pairs = [*in_calls(events), *of_rows(events, position.tolist())]
    if not pairs and not apart:
        return ""
    found = preceded(events, order, np.array([*apart, *(pair[:2] for pair in pairs)], np.int64))
    meeting, holds = np.flatnonzero(~found[: len(apart)]).tolist(), found[len(apart) :]
    told = set()
    for number in np.flatnonzero(~holds).tolist():
        pair = pairs[number]
        if (pair.rule, pair.message) not in told:
            told.add((pair.rule, pair.message))
            findings.add(pair.rule, int(position[pair.second]), (), pair.message)
    if not meeting:
        return ""
    waits, signals = (events.moments[event] for event in apart[meeting[0]])
    signal = events.plan.where(signals.device, signals.number)
    return f"{signal} of a call may signal the barrier of device {waits.device} before its wait of the call before is over"


@rule(
    "calls-meet",
    "a message takes more calls of a kernel than were checked, and what holds for these need not hold for more",
    _TESTS,
    Subject.PROGRAMS,
)
def _check_calls(plan: KernelPlan, meets: str, findings: Findings) -> None:
    """Report calls that meet at a barrier where a message takes more of them than are checked."""
    if meets and plan.repeats > CALLS:
        message = f"calls meet at a barrier: two calls in a row were checked, the message takes {plan.repeats:,}; {meets}"
        findings.add("calls-meet", 0, (), message)
