"""Lowering of a schedule to a program: who sends which chunk, in which thread block, after which other steps."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from certree.extras.runtimes.make.cells import Cells
from certree.extras.runtimes.make.fusing import fusions
from certree.extras.runtimes.make.moves import LAND, LEAVE, LOCAL, Move, after, joined, moves_of, runs
from certree.extras.runtimes.model.layout import Cell
from certree.extras.runtimes.model.limits import MOST_CHANNELS, MOST_STEPS, limits
from certree.extras.runtimes.model.program import Buffer, Program, Rank, Step, StepType, ThreadBlock
from certree.models.common.errors import UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

_LOCAL_BLOCK = (-1, -1, 0)

#: a thread block of a rank: the rank that it sends to, the one that it receives from (-1: none), and the channel
_Block = tuple[int, int, int]


def lower_to_program(schedule: Schedule, *, protocol: str = "Simple", most_steps: int = MOST_STEPS) -> Program:
    """The program of one iteration of a schedule: every transfer a message from source to destination, whatever its route.

    A thread block has one peer, or where it sends on what comes two, and then fused steps, of which partial sums that nobody else
    needs are not stored. Steps have the order of the schedule; where one needs what another one of the same rank received,
    or overwrites what another one still reads, it waits. Contributions are copied to the output (or scratch) before something is
    added to them, so that inputs stay as they are; what is only sent on is read from the input. The pieces of a large message pass
    through the program one after the other, as the runtime does it: iterations of a repeating schedule need no steps of their own.
    Pairs of ranks that have more messages than fit into a thread block of `most_steps` steps use several channels.

    Endpoints that take no part are ranks with scratch alone. UnsupportedError names what a program cannot say (switches that
    reduce), and the limit and the number where it is too large. O(transfers · log transfers).
    """
    schedule = expressible(schedule, "as a program for MSCCL")
    cells = Cells(schedule)
    moves = joined(moves_of(schedule, cells))
    for channels in range(1, MOST_CHANNELS + 1):
        _spread(moves, channels)
        program = _Builder(schedule, cells, moves).program(protocol)
        if all(len(block.steps) <= most_steps for rank in program.ranks for block in rank.blocks):
            break
    for broken in limits(program, most_steps):
        raise UnsupportedError(f"as a program for MSCCL: {broken}")
    return program


def expressible(schedule: Schedule, what: str, *, switches: bool = False) -> Schedule:
    """The schedule in the order of its transfers. UnsupportedError, beginning with `what`, where no program says it; `switches`:
    those that reduce can be said."""
    ordered = takes(what, "buffers", "virtual_channel", "members", "demand", order_only=True).lowered(schedule)
    holders = schedule.topology.rank
    for end in () if switches else (schedule.src, schedule.dst):
        if len(end) and (holders[end] < 0).any():
            node = int(end[(holders[end] < 0).argmax()])
            raise UnsupportedError(f"{what}: node {node} is a switch that reduces; only ranks add")
    return ordered


def _spread(moves: list[Move], channels: int) -> None:
    """Give the moves of each pair of ranks to `channels` channels, the same places always to the same one."""
    places: defaultdict[tuple[int, int], set[Cell]] = defaultdict(set)
    for move in moves:
        places[move.ends].add(move.dst)
    number = {ends: {cell: at * channels // len(found) for at, cell in enumerate(sorted(found))} for ends, found in places.items()}
    for move in moves:
        move.channel = 0 if move.ends[0] == move.ends[1] else number[move.ends][move.dst]


class _Builder:
    """Builds the thread blocks, step by step in the order of the schedule."""

    def __init__(self, schedule: Schedule, cells: Cells, moves: list[Move]) -> None:
        self.schedule, self.cells, self.moves = schedule, cells, moves
        self.in_place = cells.layout.kind is not CollectiveKind.ALL_TO_ALL
        self.ranks = range(cells.layout.ranks)
        self.steps: list[dict[_Block, list[Step]]] = [{} for _ in self.ranks]
        self.events = sorted(self._events(), key=lambda event: event[:3])
        self.fused = fusions(moves, self.events, self._place, schedule.delay)
        self.sends = {(rank, source, channel): to for (rank, to, channel), source in self.fused.receives.items()}
        self.sent_with = set(self.fused.leaving.values())
        for move in sorted(moves, key=lambda move: (move.channel, move.ends)):
            src, dst = move.ends
            if src == dst:
                self.steps[src].setdefault(_LOCAL_BLOCK, [])
            else:
                self.steps[src].setdefault(self._sending(move), [])
                self.steps[dst].setdefault(self._receiving(move), [])
        self.order = [{block: at for at, block in enumerate(found)} for found in self.steps]
        self.writer: dict[Cell, tuple[_Block, int]] = {}
        self.readers: defaultdict[Cell, dict[_Block, int]] = defaultdict(dict)
        #: of each step the last step of every other thread block of its rank that is over before it
        self.known: list[dict[_Block, list[dict[_Block, int]]]] = [defaultdict(list) for _ in self.ranks]

    def program(self, protocol: str) -> Program:
        """The program."""
        self._add_kept()
        for _, phase, number, move in self.events:
            self._add(move, phase, number)
        ranks = []
        for rank in self.ranks:
            inputs, outputs = self.cells.layout.sizes(rank)
            blocks = tuple(ThreadBlock(*block, tuple(steps)) for block, steps in self.steps[rank].items())
            ranks.append(Rank(inputs, outputs, self.cells.scratch[rank], blocks))
        return Program(
            name=_name(self.schedule),
            kind=self.cells.layout.kind,
            protocol=protocol,
            channels=1 + max((move.channel for move in self.moves), default=0),
            chunks_per_loop=self.cells.layout.chunks,
            in_place=self.in_place,
            out_of_place=True,
            min_bytes=0,
            max_bytes=0,
            ranks=tuple(ranks),
            roles=self.cells.layout.roles,
        )

    def _events(self) -> Iterator[tuple[int, int, int, Move]]:
        for number, move in enumerate(self.moves):
            if move.src[0] == move.dst[0]:
                yield move.step, LOCAL, number, move
            else:
                yield move.step, LEAVE, number, move
                yield move.step + self.schedule.delay, LAND, number, move

    def _add_kept(self) -> None:
        """Copies of what an endpoint has and needs itself, at the start of its first thread block."""
        by_rank: defaultdict[int, list[tuple[Cell, Cell]]] = defaultdict(list)
        for src, dst in sorted([*self.cells.kept, *self.cells.untouched()]):
            by_rank[src[0]].append((src, dst))
        for rank, pairs in by_rank.items():
            block = next(iter(self.order[rank]), _LOCAL_BLOCK)
            self.steps[rank].setdefault(block, [])
            for src, dst, count in runs(pairs):
                self._append(rank, block, StepType.COPY, src, dst, count)

    def _sending(self, move: Move) -> _Block:
        """The thread block that sends it."""
        src, dst = move.ends
        return dst, self.fused.receives.get((src, dst, move.channel), -1), move.channel

    def _receiving(self, move: Move) -> _Block:
        """The thread block that receives it."""
        src, dst = move.ends
        return self.sends.get((dst, src, move.channel), -1), src, move.channel

    def _add(self, move: Move, phase: int, number: int) -> None:
        src, dst = move.ends
        if phase == LEAVE:
            if number not in self.sent_with:
                self._append(src, self._sending(move), StepType.SEND, move.src, move.dst, move.count)
            return
        block = _LOCAL_BLOCK if phase == LOCAL else self._receiving(move)
        copies = list(runs(move.fresh))
        if number in self.fused.passing and [entry[1:] for entry in copies] == [(move.dst, move.count)]:
            self._append(dst, block, StepType.RECEIVE_REDUCE_SEND, copies[0][0], move.dst, move.count)
            return
        for own, held, count in copies:
            self._append(dst, block, StepType.COPY, own, held, count)
        kind = self._kind(move, phase, number)
        self._append(dst, block, kind, move.dst if kind.receives and kind.adds else move.src, move.dst, move.count)

    def _kind(self, move: Move, phase: int, number: int) -> StepType:
        """The kind of a step: what it does with the data that it receives."""
        is_copy = move.op == Op.COPY
        if phase == LOCAL:
            return StepType.COPY if is_copy else StepType.REDUCE
        if number in self.fused.passing:
            return StepType.RECEIVE_REDUCE_SEND
        if number in self.fused.leaving:
            return StepType.RECEIVE_COPY_SEND if is_copy else StepType.RECEIVE_REDUCE_COPY_SEND
        return StepType.RECEIVE if is_copy else StepType.RECEIVE_REDUCE_COPY

    def _append(self, rank: int, block: _Block, kind: StepType, src: Cell, dst: Cell, count: int) -> None:
        """A step, after those that it must wait for."""
        reads, writes = [], []
        for at in range(count):
            both = after(src, at), after(dst, at)
            own_copy = kind is StepType.COPY and self._place(both[0]) == self._place(both[1])
            if kind.reads:
                reads += self._names(both[0], only_one=own_copy)
            if kind.writes:
                writes += self._names(both[1], only_one=own_copy)
        earlier = self._earlier(rank, block, reads, writes)
        steps, known = self.steps[rank][block], self.known[rank][block]
        merged = dict(known[-1]) if known else {}
        waits = []
        for other, index in sorted(earlier.items(), key=lambda entry: -entry[1]):
            if merged.get(other, -1) < index:
                waits.append((other, index))
                for name, last in [*self.known[rank][other][index].items(), (other, index)]:
                    merged[name] = max(merged.get(name, -1), last)
        for other, index in waits:
            self.steps[rank][other][index] = replace(self.steps[rank][other][index], is_awaited=True)
        named = [(self.order[rank][other], index) for other, index in waits]
        for wait in named[:-1]:
            steps.append(Step(StepType.NOTHING, waits_for=wait))
            known.append(merged)
        src_place = src[1:] if kind.reads or kind.receives else (Buffer.INPUT, -1)
        steps.append(Step(kind, *src_place, *dst[1:], count, named[-1] if named else None))
        known.append(merged)
        for cell in writes:
            self.writer[cell] = (block, len(steps) - 1)
            self.readers.pop(cell, None)
        for cell in reads:
            self.readers[cell][block] = len(steps) - 1

    def _earlier(self, rank: int, block: _Block, reads: list[Cell], writes: list[Cell]) -> dict[_Block, int]:
        """The last step of each other thread block that must be over."""
        found: dict[_Block, int] = {}
        needed = [self.writer[cell] for cell in (*reads, *writes) if cell in self.writer]
        needed += [entry for cell in writes for entry in self.readers.get(cell, {}).items()]
        for other, index in needed:
            if other != block:
                found[other] = max(found.get(other, -1), index)
        return found

    def _place(self, cell: Cell) -> Cell:
        return self.cells.layout.place(cell, in_place=self.in_place)

    def _names(self, cell: Cell, *, only_one: bool) -> list[Cell]:
        """The cell and, unless `only_one`, the one that it is in place."""
        place = self._place(cell)
        return [cell] if only_one or place == cell else [cell, place]


def _name(schedule: Schedule) -> str:
    """A name for the file: letters, digits and a few marks."""
    text = f"{schedule.collective.name}_{schedule.topology.name}_{schedule.provenance.get('method', 'schedule')}"
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_.") else "_" for letter in text)[:100]
