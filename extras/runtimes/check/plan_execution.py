"""Execution of a plan: what every place holds, and which operations are over before which.

The threads of a block run on after an operation; only `nop` and `barrier` make them wait for each other. So an operation is known
to be over once such an operation came after it, and what a `wait` learned counts from the next one on. A signal carries what was
known to be over then. Chunks are cut into slices where several thread blocks share one, and where loops
handle a part at a time: a loop is executed twice, each time for half of its chunks.
"""

from collections import defaultdict, deque
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import ClassVar

import numpy as np

from certree.extras.runtimes.check.execution import Arrival, Block, cell_words
from certree.extras.runtimes.check.ordering import Accesses, Clock
from certree.extras.runtimes.check.plan_operations import ROUNDS, op_words, shared_barriers, slices, spend_on, unrolled
from certree.extras.runtimes.check.plan_packets import Packet, Packets, Uses, flagged, with_uses
from certree.extras.runtimes.check.plan_semaphores import Semaphores, Token
from certree.extras.runtimes.check.sums import Sums, Value
from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.runtimes.model.plan import Operation, OpName, Plan, Span
from certree.extras.runtimes.model.program import Buffer

STARTED = 1  # in a clock: the block has started; more than its operation `index` is over: index + 2


@dataclass
class PlanExecution:
    """One execution of a plan. `layout` counts chunks; the run counts slices of them (`slices` of each).

    `finished`, `stuck`, `arrivals`, `overwritten_inputs`: as in `Execution`. `early`: (block, operation) -> rank, where a block
    used the buffers of a rank of which nothing says that it has started; `late`: where nothing says that it is still there.
    `by_switch`: whether a switch moved anything; `open_sums`: (rank, slice) of operands that it added in an order of its own.
    `is_certain`: with no more of what semaphores and barriers tell than in every run. O(operations · (blocks + slices)).
    """

    plan: Plan
    chunk_layout: Layout
    sums: Sums = field(default_factory=Sums)
    is_certain: bool = False
    sizes: ClassVar[Mapping[Part, int]] = {}  # all chunks are of one size
    accesses: Accesses = field(init=False)
    arrivals: list[Arrival] = field(default_factory=list)
    stuck: dict[Block, tuple[str, Block | None]] = field(default_factory=dict)
    overwritten_inputs: dict[Cell, str] = field(default_factory=dict)
    early: dict[tuple[Block, int], int] = field(default_factory=dict)
    by_switch: bool = False
    open_sums: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.in_place = self.plan.in_place
        self.slices = slices(self.plan)
        base = self.chunk_layout
        self.layout = base.times(self.slices)
        spend_on(self.plan, base, self.slices)
        self.values: dict[Cell, Value] = {}
        for rank in range(base.ranks):
            for offset in range(self.layout.sizes(rank)[0]):
                self.values[self._place((rank, Buffer.INPUT, offset))] = Value(frozenset({(rank, offset)}), rank)
        self.steps = {
            (rank, at): unrolled(block) for rank, owner in enumerate(self.plan.ranks) for at, block in enumerate(owner.blocks)
        }
        self.blocks: list[Block] = list(self.steps)
        self.number = {block: at for at, block in enumerate(self.blocks)}
        self.accesses, self.packets = Accesses(len(self.blocks)), Packets()
        zero = np.zeros(len(self.blocks), np.int32)
        self.over: dict[Block, int] = dict.fromkeys(self.blocks, 0)
        #: of each block what it knows to be over, and what it will know after the next `nop` or `barrier`
        self.known: dict[Block, Clock] = {block: zero.copy() for block in self.blocks}
        self.learned: dict[Block, Clock] = {block: zero.copy() for block in self.blocks}
        for block, number in self.number.items():
            self.known[block][number] = self.learned[block][number] = STARTED
        self.levels: dict[Block, int] = dict.fromkeys(self.blocks, 0)
        self.tokens: defaultdict[tuple[str, int, int, int], deque[Token]] = defaultdict(deque)
        used = ((block, operation) for block, steps in self.steps.items() for operation, _ in steps)
        self.semaphores = Semaphores(self.plan.ranks, used, zero, is_certain=self.is_certain)
        self.shared_barriers = shared_barriers(self.steps)
        self.meetings: defaultdict[tuple[int, int], dict[Block, int]] = defaultdict(dict)
        self.passed: set[tuple[Block, int]] = set()
        self.remote, self._position = dict[tuple[Block, int], int](), 0
        self._run()

    @property
    def finished(self) -> bool:
        """Whether every operation ended."""
        return not self.stuck

    @cached_property
    def late(self) -> list[tuple[Block, int, int]]:
        """(block, operation, rank): the last use of the buffers of another rank that this rank may not wait for."""
        ends: defaultdict[int, Clock] = defaultdict(lambda: np.zeros(len(self.blocks), np.int32))
        for block in self.blocks:
            np.maximum(ends[block[0]], self.learned[block], out=ends[block[0]])
        return [
            (block, index, rank)
            for (block, rank), index in sorted(self.remote.items())
            if ends[rank][self.number[block]] <= index + STARTED
        ]

    def held(self, cell: Cell) -> Value:
        """The contents of a place at the end."""
        return self.values.get(self._place(cell), Value(fault="nothing was ever written there"))

    def circle(self) -> list[str]:
        """The waits of the first 8 blocks that did not end, in words."""
        return [self.stuck[block][0] for block in sorted(self.stuck)[:8]]

    def _place(self, cell: Cell) -> Cell:
        return self.layout.place(cell, in_place=self.in_place)

    def _run(self) -> None:
        waiting, moved = list(self.blocks), True
        while moved and waiting:
            before = sum(self.over.values())
            reasons = {block: self._advance(block) for block in waiting}
            self.stuck = {block: (reason, None) for block, reason in reasons.items() if reason is not None}
            waiting, moved = list(self.stuck), sum(self.over.values()) > before

    def _advance(self, block: Block) -> str | None:
        steps = self.steps[block]
        while self.over[block] < len(steps):
            operation, turn = steps[self.over[block]]
            reason = self._obstacle(block, operation, turn)
            if reason is not None:
                return f"{op_words(block, self.over[block], operation)} {reason}"
            self._execute(block, operation, turn)
            self.over[block] += 1
        return None

    def _obstacle(self, block: Block, operation: Operation, turn: tuple[int, int]) -> str | None:
        rank = block[0]
        for span, is_packet in zip(operation.src, flagged(operation)[0], strict=True):
            if is_packet and (missing := self.packets.missing(self._cells(span, operation, turn))) is not None:
                return f"waits for a packet in {cell_words(missing)}"
        if operation.name.waits:
            for kind, peer, which in operation.channels:
                wanted = sum(one == (kind, peer, which) for one in operation.channels)
                if len(self.tokens[kind, peer, rank, which]) < wanted:
                    return f"waits for a signal from rank {peer} ({kind} channel {which})"
        if operation.name is OpName.ACQUIRE:
            empty = self.semaphores.missing(rank, operation.semaphores)
            if empty is not None:
                return f"waits for semaphore {empty}"
        if operation.name is OpName.BARRIER:
            return self._meet(block, operation)
        return None

    def _meet(self, block: Block, operation: Operation) -> str | None:
        """Wait at a barrier until all of its blocks are there; the last one lets them all pass."""
        mark = (block, self.over[block])
        if mark in self.passed:
            return None
        barrier = block[0], operation.barrier
        there, teaches = self.meetings[barrier], not (self.is_certain and barrier in self.shared_barriers)
        there[block] = self.over[block]
        if len(there) < operation.blocks:
            return f"waits at barrier {operation.barrier}, with {len(there)} of {operation.blocks} thread blocks there"
        clock = np.maximum.reduce([self.learned[one] for one in there])
        for one, index in there.items():
            clock[self.number[one]] = index + 1 + STARTED
        level = max(self.levels[one] for one in there)
        for one, index in there.items():
            self.passed.add((one, index))
            if teaches:
                np.maximum(self.learned[one], clock, out=self.learned[one])
            self.levels[one] = level
        there.clear()
        return None

    def _execute(self, block: Block, operation: Operation, turn: tuple[int, int]) -> None:
        index, rank, name = self.over[block], block[0], operation.name
        if name in (OpName.NOTHING, OpName.BARRIER):
            self.learned[block][self.number[block]] = index + 1 + STARTED
            np.maximum(self.known[block], self.learned[block], out=self.known[block])
        elif name.waits:
            for kind, peer, which in operation.channels:
                self._learn(block, self.tokens[kind, peer, rank, which].popleft())
        elif name is OpName.ACQUIRE:
            for token in self.semaphores.acquire(rank, operation.semaphores):
                self._learn(block, token)
        elif name is OpName.RELEASE:
            self.semaphores.release(rank, operation.semaphores, (self.known[block].copy(), self.levels[block]))
        elif name.puts:
            for src, dst in zip(operation.src, operation.dst, strict=True):
                self._move(block, replace(operation, src=(src,), dst=(dst,)), turn)
        elif name.adds:
            self._move(block, operation, turn)
        elif name.switches:
            self._switch(block, operation, turn)
        if name.signals:
            self._signal(block, operation)

    def _signal(self, block: Block, operation: Operation) -> None:
        clock = self.known[block].copy()
        if operation.name in (OpName.PUT_SIGNAL, OpName.PUT_SIGNAL_FLUSH):
            clock[self.number[block]] = self.over[block] + 1 + STARTED  # its own copy is over before its signal
        for kind, peer, which in operation.channels:
            self.tokens[kind, block[0], peer, which].append((clock, self.levels[block]))

    def _learn(self, block: Block, token: Token) -> None:
        np.maximum(self.learned[block], token[0], out=self.learned[block])
        self.levels[block] = max(self.levels[block], token[1])

    def _cells(self, span: Span, operation: Operation, turn: tuple[int, int]) -> list[Cell]:
        """The slices of a span that the block handles in this iteration."""
        first, count = span.offset * self.slices, span.count * self.slices
        part, parts = operation.part
        first, count = first + part * count // parts, count // parts
        if turn[1]:
            unit = turn[1] * self.slices // ROUNDS
            first, count = first + turn[0] * unit, max(0, min(unit, count - turn[0] * unit))
        return [self._place((span.rank, span.buffer, first + at)) for at in range(count)]

    def _move(self, block: Block, operation: Operation, turn: tuple[int, int]) -> None:
        """Add up the sources, one by one, into the first target; copy that to the others."""
        where, flags = op_words(block, self.over[block]), flagged(operation)
        sources, targets = ([self._cells(span, operation, turn) for span in spans] for spans in (operation.src, operation.dst))
        for at in range(len(targets[0])):
            read, written = [cells[at] for cells in sources], [cells[at] for cells in targets]
            packed = [list(compress(cells, marks)) for cells, marks in zip((read, written), flags, strict=True)]
            self._move_slice(block, where, read, written, packed)
        self.levels[block] += any(cell[0] != block[0] for cells in (*sources, *targets) for cell in cells)

    def _move_slice(self, block: Block, where: str, read: list[Cell], written: list[Cell], packed: list[list[Cell]]) -> None:
        """Move one slice, as `_move` does; `packed`: those that are read, and written, as packets."""
        uses, taken = self.packets.uses(packed[0]), set(packed[0])
        for cell in packed[0]:
            self._learn(block, (self.packets.held[cell].clock, self.packets.held[cell].level))
        self._access(block, read, written, {*packed[0], *packed[1]}, uses)
        dst, first, others = written[0], read[0], read[1:]
        if dst in others:  # what is there already comes first
            others[others.index(dst)], first = first, dst
        value = self._value(first, where, taken)
        if first != dst:
            self._arrive(block, first, dst, adds=False, value=value)
        for cell in others:
            value = self.sums.added(value, self._value(cell, where, taken), where)
            self._arrive(block, cell, dst, adds=True, value=value)
        if dst in read[2:]:  # its place in the order is another one
            value = replace(value, sum=self.sums.in_order([self._value(cell, where, taken) for cell in read], where))
        self.values[dst] = value
        for cell in written[1:]:
            self._arrive(block, dst, cell, adds=False, value=value)
            self.values[cell] = value
        mark = (self.number[block], self.over[block] + STARTED)
        level = self.levels[block] + any(cell[0] != block[0] for cell in written)
        self.packets.store(read, written, packed[1], Packet(self.known[block].copy(), level, uses), mark)

    def _switch(self, block: Block, operation: Operation, turn: tuple[int, int]) -> None:
        """A switch adds up the same place of all ranks of a group, or a rank's own place is the source; all ranks of the group of
        the target get it."""
        self.by_switch, is_packed = True, operation.name.writes_packets[0]
        groups, where = self.plan.ranks[block[0]].groups, op_words(block, self.over[block])
        (src,), (dst,) = operation.src, operation.dst
        reads = groups[src.group][1] if src.group >= 0 else (src.rank,)
        sources, stored = (
            [self._cells(replace(span, rank=rank, group=-1), operation, turn) for rank in ranks]
            for span, ranks in ((src, reads), (dst, groups[dst.group][1]))
        )
        for at in range(len(stored[0])):
            read, written = [cells[at] for cells in sources], [cells[at] for cells in stored]
            self._access(block, read, written, set(written if is_packed else ()))
            value = self._value(read[0], where)
            for cell in read[1:]:
                value = self.sums.added(value, self._value(cell, where), where)
            if len(read) > 2 and value.parts:
                self.open_sums += [(block[0], min(value.parts)[1])] * len(read)
            self.values.update(dict.fromkeys(written, value))
            packet, mark = Packet(self.known[block].copy(), self.levels[block] + 1, frozenset()), self.over[block] + STARTED
            self.packets.store(read, written, written if is_packed else [], packet, (self.number[block], mark))

    def _value(self, cell: Cell, where: str, packed: Set[Cell] = frozenset()) -> Value:
        return self.packets.misread(cell, packed, where) or self.values.get(
            cell, Value(fault=f"{where}: nothing is in {cell_words(cell)} yet")
        )

    def _access(
        self, block: Block, read: list[Cell], written: list[Cell], packed: Set[Cell] = frozenset(), uses: Uses = frozenset()
    ) -> None:
        index, clock, number = self.over[block], self.known[block], self.number[block]
        for cell in written:
            self.accesses.write(cell, number, index + STARTED, with_uses(clock, cell, uses))
            if cell[1] is Buffer.INPUT and not self.in_place and cell[2] < self.layout.sizes(cell[0])[0]:
                self.overwritten_inputs.setdefault(cell, op_words(block, index))
        for cell in read:
            if cell not in written:
                self.accesses.read(cell, number, index + STARTED, with_uses(clock, cell, uses))
        apart = packed if self.plan.alternates else frozenset()  # in a half of scratch that the calls before and after do not use
        for rank in {cell[0] for cell in (*read, *written) if cell not in apart} - {block[0]}:
            self.remote[block, rank] = index
            if not any(clock[self.number[other]] for other in self.blocks if other[0] == rank):
                self.early.setdefault((block, index), rank)

    def _arrive(self, block: Block, src: Cell, dst: Cell, *, adds: bool, value: Value) -> None:
        self._position += 1
        self.arrivals.append(Arrival(src, dst, adds, value, self._position, self._position, self.levels[block]))
