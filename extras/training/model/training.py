"""Iterations of training: computing in the order of a loop, while collectives are served."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from certree.extras.training.model.passes import Instruction, iteration, last_waits
from certree.extras.training.model.queue import Asked, Server
from certree.extras.training.model.workload import Act, Phase, Workload


@dataclass(frozen=True)
class Span:
    """Seconds `begin` to `end` in which the accelerator computes, waits for a collective or idles in a pipeline."""

    act: Act
    layer: int
    phase: Phase
    begin: Fraction
    end: Fraction

    @property
    def seconds(self) -> Fraction:
        """The length in seconds."""
        return self.end - self.begin


@dataclass(frozen=True)
class Training:
    """The times of one accelerator, and its collectives. `ends`: of the passes, the last with all collectives; times in seconds."""

    workload: Workload
    ends: tuple[Fraction, ...]
    spans: tuple[Span, ...]
    collectives: tuple[Asked, ...]

    @property
    def seconds(self) -> Fraction:
        """The seconds of all iterations."""
        return self.ends[-1]

    def total(self, act: Act) -> Fraction:
        """Seconds of an act in all iterations; WAIT: exposed communication."""
        return sum((span.seconds for span in self.spans if span.act is act), Fraction(0))

    def by_layer(self, act: Act) -> list[Fraction]:
        """The seconds of an act in each layer."""
        found = [Fraction(0)] * len(self.workload.layers)
        for span in self.spans:
            if span.act is act:
                found[span.layer] += span.seconds
        return found

    def exposed(self, phase: Phase) -> Fraction:
        """Seconds of waiting for collectives of a phase."""
        return sum((span.seconds for span in self.spans if span.act is Act.WAIT and span.phase is phase), Fraction(0))

    def served_while_waiting(self) -> list[Fraction]:
        """For each layer, seconds in which the network serves its collectives while the accelerator waits for any of them.

        O(waits · collectives)."""
        found = [Fraction(0)] * len(self.workload.layers)
        waits = [span for span in self.spans if span.act is Act.WAIT]
        for entry in self.collectives:
            for begin, end in entry.served:
                shared = (min(end, wait.end) - max(begin, wait.begin) for wait in waits if wait.begin < end and begin < wait.end)
                found[entry.layer] += sum(shared, Fraction(0))
        return found

    def busy(self, group: str) -> Fraction:
        """Seconds in which the network of a group works."""
        return covered([served for entry in self.collectives if entry.communication.group == group for served in entry.served])


def covered(intervals: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """The length of the union of intervals."""
    total, reached = Fraction(0), None
    for begin, end in sorted(intervals):
        start = begin if reached is None else max(begin, reached)
        total += max(Fraction(0), end - start)
        reached = end if reached is None else max(reached, end)
    return total


def train(workload: Workload, servers: Mapping[str, Server], iterations: int) -> Training:
    """Run iterations on one accelerator; all others do the same at the same time. `servers`: the network of each group.

    O(instructions · collectives under way)."""
    run, ends = _Run(workload, servers), list[Fraction]()
    for number in range(iterations):
        run.iteration, run.first_span = number, len(run.spans)
        for instruction in iteration(workload):
            run.do(instruction)
        if number == iterations - 1:
            for instruction in last_waits(workload):
                run.do(instruction)
        ends.append(run.now)
    return Training(workload, tuple(ends), tuple(run.spans), tuple(run.asked))


@dataclass
class _Run:
    workload: Workload
    servers: Mapping[str, Server]
    now: Fraction = Fraction(0)
    iteration: int = 0
    first_span: int = 0  # of this iteration
    spans: list[Span] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    awaited: list[int] = field(default_factory=list)  # what the accelerator has waited for, the last of each chain
    pending: dict[tuple[int, Phase], Asked] = field(default_factory=dict)

    def do(self, instruction: Instruction) -> None:
        layer = self.workload.layers[instruction.layer]
        key = instruction.layer, instruction.phase
        if instruction.act is Act.COMPUTE:
            self._until(instruction, self.now + layer.part(instruction.phase).cycles / self.workload.clock_hertz)
        elif instruction.act is Act.IDLE:
            self._until(instruction, self.now + instruction.times * self._micro_batch())
        elif instruction.act is Act.ASK:
            self._ask(instruction)
        elif key in self.pending:
            entry = self.pending.pop(key)
            ended = self.servers[entry.communication.group].end(entry)
            self.awaited = [*(number for number in self.awaited if number not in entry.after), entry.number]
            self._until(instruction, max(self.now, ended + layer.update_cycles / self.workload.clock_hertz))

    def _ask(self, instruction: Instruction) -> None:
        communication = self.workload.layers[instruction.layer].part(instruction.phase).communication
        assert communication is not None
        entry = Asked(
            communication,
            self.now,
            instruction.priority,
            len(self.asked),
            instruction.layer,
            instruction.phase,
            self.iteration,
            tuple(self.awaited),
        )
        self.asked.append(entry)
        self.pending[instruction.layer, instruction.phase] = entry
        self.servers[communication.group].ask(entry)

    def _micro_batch(self) -> Fraction:
        """Seconds of this iteration so far, without waiting for gradients of the one before."""
        spans = (span for span in self.spans[self.first_span :] if (span.act, span.phase) != (Act.WAIT, Phase.WEIGHT_GRADIENT))
        return sum((span.seconds for span in spans), Fraction(0))

    def _until(self, instruction: Instruction, end: Fraction) -> None:
        if end > self.now:
            self.spans.append(Span(instruction.act, instruction.layer, instruction.phase, self.now, end))
            self.now = end
