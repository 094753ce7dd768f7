"""All interleavings of a small kernel plan, one state after the other: a checker that shares nothing with the checker but the plan.

A state has how far each device is, which DMAs have read and written, all semaphores, and what every row holds. What may happen next
is tried in every order. The rows of a DMA come one by one, and any of them may be the last one.
"""

from collections import Counter

from certree.extras.pallas.model.kernel_plan import BARRIER, KernelPlan, Kind

RACES = {"unawaited-arrival", "early-reuse", "kernel-race"}


class TooManyStatesError(Exception):
    """The plan is not small."""


def faults(plan: KernelPlan, most: int = 20_000, calls: int = 2) -> set[str]:
    """What is wrong with a plan in some run of N calls (one where semaphores are not left at 0): "count", "deadlock", "race",
    "entry", "left", "data"."""
    left = _left_over(plan)
    found = {"count"} if left else set()
    return found | _Walk(plan, 1 if left else calls, most).found


def _left_over(plan: KernelPlan) -> bool:
    sums = Counter()
    for device, _, one in plan:
        if one.kind is Kind.WAIT:
            sums[device, one.semaphore] -= one.times
        elif one.kind is Kind.SIGNAL:
            sums[one.device, one.semaphore] += one.times
        elif one.kind is Kind.START:
            sums[one.device, one.semaphore] += one.rows
            if one.send >= 0:
                sums[device, one.send] += one.rows
    return any(sums.values())


class _Walk:
    def __init__(self, plan, calls, most):
        self.plan, self.calls, self.found = plan, calls, set()
        # a program: enter, operations, leave, for each call
        self.program = [
            [(call, what) for call in range(calls) for what in ("enter", *range(len(plan.operations[device])), "leave")]
            for device in range(plan.ranks)
        ]
        first = (tuple([0] * plan.ranks), frozenset(), frozenset(), (), ())
        seen, todo = {first}, [first]
        while todo:
            state = todo.pop()
            if len(seen) > most:
                raise TooManyStatesError
            steps = self.steps(state)
            self.look(state, steps)
            if not steps:
                self.end(state)
            for step in steps:
                after = self.after(state, step)
                if after not in seen:
                    seen.add(after)
                    todo.append(after)

    def steps(self, state):
        """What may happen next: ("run", device), ("sent", row), ("arrived", row).

        A row of a DMA is (call, device, number, how many came before it)."""
        at, sent, arrived, semaphores, _ = state
        counts, found = dict(semaphores), []
        for device, place in enumerate(at):
            for call, what in self.program[device][:place]:
                if not isinstance(what, str) and self.plan.operations[device][what].kind is Kind.START:
                    rows = self.rows((call, device, what))
                    for name, over in (("sent", sent), ("arrived", arrived)):
                        found += [(name, row) for row in sorted(rows - over)[:1]]
            if place == len(self.program[device]):
                continue
            what = self.program[device][place][1]
            if not isinstance(what, str):
                one = self.plan.operations[device][what]
                if one.kind is Kind.WAIT and counts.get((device, one.semaphore), 0) < one.times:
                    continue
            found.append(("run", device))
        return found

    def after(self, state, step):
        at, sent, arrived, semaphores, rows = state
        counts, held = Counter(dict(semaphores)), dict(rows)
        if step[0] == "run":
            device = step[1]
            what = self.program[device][at[device]][1]
            at = (*at[:device], at[device] + 1, *at[device + 1 :])
            if what == "enter":
                held = {key: value for key, value in held.items() if key[0] != device}
                held |= {(device, 0, row): ((device, row),) for row in range(self.plan.layout.sizes(device)[0])}
            elif not isinstance(what, str):
                one = self.plan.operations[device][what]
                if one.kind is Kind.WAIT:
                    counts[device, one.semaphore] -= one.times
                elif one.kind is Kind.SIGNAL:
                    counts[one.device, one.semaphore] += one.times
                elif one.kind is not Kind.START:
                    self.move(held, device, device, one)
        else:
            _, device, what, row = step[1]
            one = self.plan.operations[device][what]
            if step[0] == "sent":
                sent |= {step[1]}
                if one.send >= 0:
                    counts[device, one.send] += 1
            else:
                arrived |= {step[1]}
                counts[one.device, one.semaphore] += 1
                if row == one.rows - 1:
                    self.move(held, device, one.device, one)
        kept = tuple(sorted((key, value) for key, value in counts.items() if value))
        return at, sent, arrived, kept, tuple(sorted(held.items()))

    def move(self, held, device, target, one):
        values = [held.get((device, one.read.buffer, one.read.row + row), ("?",)) for row in range(one.rows)]
        for row, value in enumerate(values):
            key = (target, one.written.buffer, one.written.row + row)
            held[key] = tuple(sorted((*held.get(key, ("?",)), *value), key=str)) if one.kind is Kind.ADD else value

    def look(self, state, steps):
        """Conflicts of what is under way or may begin in one call, and of what is not over when a device leaves it."""
        at, sent, arrived, _, _ = state
        live = []  # (device, buffer, row, writes, who)
        for device, place in enumerate(at):
            for call, what in self.program[device][:place]:
                if isinstance(what, str):
                    continue
                one, dma = self.plan.operations[device][what], (call, device, what)
                if one.kind is Kind.START:
                    over = arrived if one.send < 0 else sent  # a local DMA has one semaphore
                    rows = self.rows(dma)
                    if not rows <= over:  # any of its rows may be the last one
                        live += self.accesses(device, one, dma, writes=False)
                    if not rows <= arrived:
                        live += self.accesses(one.device, one, dma, writes=True)
        for kind, device in steps:
            if kind != "run":
                continue
            call, what = self.program[device][at[device]]
            if what == "leave":
                self.leave(state, device, call)
            elif what != "enter":
                one, key = self.plan.operations[device][what], (call, device, what)
                self.enter(at, device, call, one)
                if one.kind.moves:
                    live += self.accesses(device, one, key, writes=False)
                    live += self.accesses(one.device if one.kind is Kind.START else device, one, key, writes=True)
        by_row = {}
        for *row, writes, who in live:
            by_row.setdefault(tuple(row), []).append((writes, who))
        for found in by_row.values():
            for writes, who in found:
                if writes and any(other != who and other[0] == who[0] for _, other in found):
                    self.found.add("race")

    def accesses(self, device, one, who, *, writes):
        place = one.written if writes else one.read
        return [(device, place.buffer, place.row + row, writes, who) for row in range(one.rows)]

    def rows(self, dma):
        """The rows of a DMA, which come one by one; they are counted, which one comes is open."""
        _, device, number = dma
        return {(*dma, row) for row in range(self.plan.operations[device][number].rows)}

    def inside(self, at, device, call):
        """Whether a device has entered a call."""
        return (call, "enter") in self.program[device][: at[device]]

    def enter(self, at, device, call, one):
        remote = one.kind is Kind.START or (one.kind is Kind.SIGNAL and one.semaphore != BARRIER)
        if remote and one.device != device and not self.inside(at, one.device, call):
            self.found.add("entry")

    def leave(self, state, device, call):
        at, sent, arrived, _, _ = state
        for other, program in enumerate(self.program):
            for place, (turn, what) in enumerate(program):
                if turn != call or isinstance(what, str):
                    continue
                one, dma = self.plan.operations[other][what], (call, other, what)
                if one.kind is Kind.START:
                    rows = self.rows(dma)
                    late = one.device == device and not rows <= arrived
                    late = late or (other == device and one.send >= 0 and not rows <= sent)
                else:
                    remote = one.kind is Kind.SIGNAL and one.semaphore != BARRIER and other != device
                    late = remote and one.device == device and place >= at[other]
                if late:
                    self.found.add("left")

    def end(self, state):
        at, _, _, _, rows = state
        if any(place < len(program) for place, program in zip(at, self.program, strict=True)):
            self.found.add("deadlock")
            return
        held, layout = dict(rows), self.plan.layout
        for rank in range(self.plan.ranks):
            for offset, due in enumerate(layout.due(rank)):
                if held.get((rank, 1, offset)) != tuple(sorted(due, key=str)):
                    self.found.add("data")
