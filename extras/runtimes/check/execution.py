"""Execution of a program: what every place holds, and which steps are over before which.

A thread block starts a step when the step that it waits for is over, a message has come where it receives, and there is room where
it sends: a connection (source, destination, channel) holds at most `slots` messages, in their order. Which blocks run first makes
no difference to what is sent, or to whether all end, unless accesses race; `certree.extras.runtimes.check.ordering` finds those.
"""

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from certree.extras.runtimes.check.ordering import Accesses, Clock
from certree.extras.runtimes.check.sums import Sums, Value
from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.runtimes.model.program import Buffer, Program, Step, StepType
from certree.models.common.budget import PYTHON, hold, spend

_WIDE = 1 << 16  # more than the chunks of a step
_PARTS, _LANDS, _LEAVES = 3, 1, 2  # positions of a step: what it copies, then what it receives, then what it sends

#: (rank, thread block)
Block = tuple[int, int]
Connection = tuple[int, int, int]


@dataclass(frozen=True)
class Arrival:
    """One chunk that came to `dst`: from `src` (of the sender of the message, or of the same rank), read and written at these
    positions in the order of execution. `adds`: to what `dst` held. `value`: what `dst` holds then. `level`: when it left,
    counted in messages that had to come or leave one after the other before.

    A sum of two other places is a copy of the first and an arrival that adds; one that is sent on and not stored is in a place of
    scratch that the program does not have.
    """

    src: Cell
    dst: Cell
    adds: bool
    value: Value
    read: int
    written: int
    level: int


@dataclass(frozen=True)
class _Message:
    values: tuple[Value, ...]
    clock: Clock
    sources: tuple[Cell, ...]
    read: int
    level: int


def _spend_on(program: Program, layout: Layout) -> None:
    """Take what one execution needs from the budget: values by chunk, and a clock with a number for each thread block by step."""
    blocks = sum(len(owner.blocks) for owner in program.ranks)
    steps, chunks = 0, sum(layout.sizes(rank)[0] for rank in range(layout.ranks))
    for _, _, _, step in program.steps():
        steps, chunks = steps + 1, chunks + step.count
    what = f"an execution of {steps:,} steps of {blocks:,} thread blocks, with {chunks:,} chunks in all"
    spend(10 * PYTHON * (steps + chunks) + 4 * steps * blocks, what)
    hold(500 * (steps + chunks) + 4 * steps * blocks, what)


@dataclass
class Execution:
    """One execution of a program, with buffers that lie in place or not.

    `finished`: whether all steps ended. `stuck`: for each thread block that did not end, what it waits for (words, and the thread
    block that would have to act, None where nobody can). `left`: messages that nobody received, by connection. `arrivals`: all that
    was written, in order. O(steps · (blocks + chunks of a step)).
    """

    program: Program
    layout: Layout
    in_place: bool
    slots: int | None = None
    sums: Sums = field(default_factory=Sums)
    sizes: ClassVar[Mapping[Part, int]] = {}  # all chunks are of one size
    accesses: Accesses = field(init=False)
    arrivals: list[Arrival] = field(default_factory=list)
    stuck: dict[Block, tuple[str, Block | None]] = field(default_factory=dict)
    overwritten_inputs: dict[Cell, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _spend_on(self.program, self.layout)
        self.values: dict[Cell, Value] = {}
        for rank in range(len(self.program.ranks)):
            for offset in range(self.layout.sizes(rank)[0]):
                self.values[self._place((rank, Buffer.INPUT, offset))] = Value(frozenset({(rank, offset)}), rank)
        self.blocks: list[Block] = [(rank, at) for rank, owner in enumerate(self.program.ranks) for at in range(len(owner.blocks))]
        self.number = {block: at for at, block in enumerate(self.blocks)}
        self.accesses = Accesses(len(self.blocks))
        self.over: dict[Block, list[Clock]] = {block: [] for block in self.blocks}
        self.levels: dict[Block, list[int]] = {block: [] for block in self.blocks}
        self.queues: defaultdict[Connection, deque[_Message]] = defaultdict(deque)
        self._ends: dict[Connection, list[Block | None]] = defaultdict(lambda: [None, None])
        for rank, at in self.blocks:
            block = self.program.ranks[rank].blocks[at]
            for side, ends in ((0, (rank, block.send, block.channel)), (1, (block.receive, rank, block.channel))):
                self._ends[ends][side] = (rank, at)
        self._position = 0
        self._run()

    @property
    def finished(self) -> bool:
        """Whether every step ended."""
        return not self.stuck

    @cached_property
    def left(self) -> dict[Connection, int]:
        """How many messages nobody received, by connection."""
        return {ends: len(queue) for ends, queue in self.queues.items() if queue}

    def held(self, cell: Cell) -> Value:
        """The contents of a place at the end."""
        return self.values.get(self._place(cell), Value(fault="nothing was ever written there"))

    def circle(self) -> list[str]:
        """The waits of thread blocks that wait for each other in a circle, or lead to one that nobody can end."""
        at: Block | None = min(self.stuck)
        seen: list[Block] = []
        while at is not None and at in self.stuck and at not in seen:
            seen.append(at)
            at = self.stuck[at][1]
        members = seen[seen.index(at) :] if at in seen else seen
        return [self.stuck[one][0] for one in members]

    def _place(self, cell: Cell) -> Cell:
        return self.layout.place(cell, in_place=self.in_place)

    def _run(self) -> None:
        ready = deque(self.blocks)
        queued = set(self.blocks)
        waiters: defaultdict[Block, set[Block]] = defaultdict(set)
        while ready:
            block = ready.popleft()
            queued.discard(block)
            before = len(self.over[block])
            reason = self._advance(block)
            if reason is not None and reason[1] is not None:
                waiters[reason[1]].add(block)
            if reason is None:
                self.stuck.pop(block, None)
            else:
                self.stuck[block] = reason
            if len(self.over[block]) > before:
                for other in waiters.pop(block, set()):
                    if other not in queued:
                        queued.add(other)
                        ready.append(other)

    def _advance(self, block: Block) -> tuple[str, Block | None] | None:
        """Execute steps as long as they can start; what the next one waits for, or None at the end."""
        rank, at = block
        steps = self.program.ranks[rank].blocks[at].steps
        while len(self.over[block]) < len(steps):
            index = len(self.over[block])
            reason = self._obstacle(block, index, steps[index])
            if reason is not None:
                return reason
            self._execute(block, index, steps[index])
        return None

    def _obstacle(self, block: Block, index: int, step: Step) -> tuple[str, Block | None] | None:
        rank, at = block
        owner = self.program.ranks[rank].blocks[at]
        where = step_words(rank, at, index)
        if step.waits_for is not None:
            other = (rank, step.waits_for[0])
            if len(self.over[other]) <= step.waits_for[1]:
                return f"{where} waits for step {step.waits_for[1]} of thread block {other[1]}", other
        if step.type.receives:
            ends = (owner.receive, rank, owner.channel)
            if not self.queues[ends]:
                return f"{where} waits for a message from rank {ends[0]} on channel {ends[2]}", self._ends[ends][0]
        if step.type.sends and self.slots is not None:
            ends = (rank, owner.send, owner.channel)
            if len(self.queues[ends]) >= self.slots:
                full = f"{where} waits for room: {self.slots} messages to rank {ends[1]} on channel {ends[2]} are not received"
                return full, self._ends[ends][1]
        return None

    def _execute(self, block: Block, index: int, step: Step) -> None:
        rank, at = block
        owner = self.program.ranks[rank].blocks[at]
        self._position += _PARTS
        clock = self.over[block][-1].copy() if self.over[block] else np.zeros(len(self.blocks), np.int32)
        clock[self.number[block]] = index + 1
        if step.waits_for is not None:
            np.maximum(clock, self.over[rank, step.waits_for[0]][step.waits_for[1]], out=clock)
        message = self.queues[owner.receive, rank, owner.channel].popleft() if step.type.receives else None
        if message is not None:
            np.maximum(clock, message.clock, out=clock)
        self.over[block].append(clock)
        self.levels[block].append(self._level(block, step, message))
        values = [self._chunk(block, index, step, at, message) for at in range(step.count)]
        if step.type.sends:
            sources = tuple(self._sources(rank, step, at) for at in range(step.count))
            sent = _Message(tuple(values), clock, sources, self._position + _LEAVES, self.levels[block][-1])
            self.queues[rank, owner.send, owner.channel].append(sent)

    def _level(self, block: Block, step: Step, message: _Message | None) -> int:
        """One more than the last message that the thread block handled, and that it received."""
        levels = self.levels[block]
        before = [0]
        if levels:
            last = self.program.ranks[block[0]].blocks[block[1]].steps[len(levels) - 1]
            before.append(levels[-1] + (last.type.sends or last.type.receives))
        if step.waits_for is not None:
            before.append(self.levels[block[0], step.waits_for[0]][step.waits_for[1]])
        return max([*before, *([message.level + 1] if message is not None else [])])

    def _sources(self, rank: int, step: Step, at: int) -> Cell:
        """The place of a chunk that a step sends, as others see it: where it was read, or stored in between."""
        if step.type.writes:
            return self._place((rank, step.dst, step.dst_offset + at))
        if step.type.receives:
            return rank, Buffer.SCRATCH, self.program.ranks[rank].scratch + self._position * _WIDE + at
        return self._place((rank, step.src, step.src_offset + at))

    def _chunk(self, block: Block, index: int, step: Step, at: int, message: _Message | None) -> Value:
        """Execute a step for one of its chunks; returns what it sends on."""
        rank = block[0]
        src = self._place((rank, step.src, step.src_offset + at))
        dst = self._place((rank, step.dst, step.dst_offset + at))
        if step.type is StepType.NOTHING or (step.type is StepType.COPY and src == dst):
            return Value()
        where = step_words(*block, index)
        clock, level = self.over[block][-1], self.levels[block][-1]
        incoming = message.values[at] if message is not None and at < len(message.values) else Value(fault=f"{where}: no message")
        own = value = incoming
        if step.type.reads:
            self.accesses.read(src, self.number[block], index, clock)
            own = self.values.get(src, Value(fault=f"{where}: nothing is in {cell_words(src)} yet"))
            value = own if message is None else self.sums.added(own, incoming, where)
        if step.type is StepType.REDUCE:
            self.accesses.read(dst, self.number[block], index, clock)
            there = self.values.get(dst, Value(fault=f"{where}: nothing is in {cell_words(dst)} yet"))
            value = self.sums.added(there, value, where)
        if step.type.writes:
            self.accesses.write(dst, self.number[block], index, clock)
            if step.dst is Buffer.INPUT and not self.in_place:
                self.overwritten_inputs.setdefault(dst, where)
            self.values[dst] = value
        if message is not None and at < len(message.sources):
            target = self._sources(rank, step, at) if step.type.sends else dst
            if step.type.adds and target != src:
                self.arrivals.append(Arrival(src, target, False, own, self._position, self._position, level))
            self.arrivals.append(
                Arrival(message.sources[at], target, step.type.adds, value, message.read, self._position, message.level)
            )
        elif step.type.writes:
            self.arrivals.append(Arrival(src, dst, step.type.adds, value, self._position, self._position, level))
        return value


def step_words(rank: int, block: int, step: int) -> str:
    """`rank 0, thread block 1, step 2`."""
    return f"rank {rank}, thread block {block}, step {step}"


def cell_words(cell: Cell) -> str:
    """`o[3] of rank 1`."""
    return f"{cell[1]}[{cell[2]}] of rank {cell[0]}"
