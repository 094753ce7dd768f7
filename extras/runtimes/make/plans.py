"""Lowering of a schedule to a plan of MSCCL++: every transfer a copy into the buffers of another rank, and a signal."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from certree.extras.runtimes.make.cells import Cells
from certree.extras.runtimes.make.lowering import expressible
from certree.extras.runtimes.make.moves import LAND, LEAVE, LOCAL, Move, joined, moves_of, runs
from certree.extras.runtimes.make.plan_steps import Steps, cells_of
from certree.extras.runtimes.make.switched import ranks_by_switch
from certree.extras.runtimes.model.layout import Cell
from certree.extras.runtimes.model.limits import MOST_OPERATION_CHANNELS, MOST_OPERATIONS, plan_limits
from certree.extras.runtimes.model.plan import MEMORY, Channel, Operation, OpName, Plan, PlanRank, Span
from certree.extras.runtimes.model.program import Buffer
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

WHAT = "as a plan for MSCCL++"
ALIGNMENT = 16  # bytes
MOST_BLOCKS = 128  # of a rank: all of them run at once
DEFAULT_BYTES = 64 << 20  # of a message, where a schedule does not say what it was made for
_NOTHING = Operation(OpName.NOTHING)


def lower_to_plan(schedule: Schedule, *, most_operations: int = MOST_OPERATIONS) -> Plan:
    """The plan of a schedule, out of place: every transfer a copy into a buffer of its destination, whatever its route.

    Chunks are shared out among thread blocks; block b of a rank handles the same chunks as block b of every other rank, and has
    channels of its own to them, so blocks of a rank need not wait for each other. It handles the steps of the schedule in their
    order: waits for what lands, adds it up, copies to others and signals. Each rank signals first that it has started. What is to
    be added lands in scratch, as does what would land where something is still in use. As few thread blocks as their limit of
    operations allows. A schedule that repeats becomes a loop over parts of its chunks, of the size that it was made for.
    An all-reduce in a switch becomes operations of that switch (`ranks_by_switch`).

    UnsupportedError names what a plan cannot say (as `lower_to_program`), and the limit and the number where it is too large.
    O(transfers · log transfers) for each number of blocks that is tried.
    """
    schedule = expressible(schedule, WHAT, switches=True)
    if schedule.uses_switches:
        plan = _plan_of(schedule, ranks_by_switch(schedule, WHAT))
        _require_limits(plan, most_operations)
        return plan
    blocks = 1
    while True:
        plan = _Builder(schedule, blocks).plan()
        most = _most(plan)
        if most <= most_operations or blocks >= min(schedule.chunks, MOST_BLOCKS):
            break
        blocks = min(schedule.chunks, MOST_BLOCKS, max(blocks + 1, blocks * most // most_operations))
    _require_limits(plan, most_operations)
    return plan


def _most(plan: Plan) -> int:
    """The most operations of a thread block."""
    return max(sum(1 + len(one.body) for one in block) for rank in plan.ranks for block in rank.blocks)


def _require_limits(plan: Plan, most_operations: int) -> None:
    for broken in plan_limits(plan):
        raise UnsupportedError(f"{WHAT}: {broken}")
    if _most(plan) > most_operations:
        raise UnsupportedError(f"{WHAT}: {_most(plan)} operations in a thread block; the executor takes {most_operations}")


def _plan_of(schedule: Schedule, ranks: tuple[PlanRank, ...]) -> Plan:
    """A plan out of place, for messages of any size, of these ranks."""
    return Plan(
        name=f"{schedule.collective.name}_{len(ranks)}",
        kind=schedule.collective.kind,
        protocol="Simple",
        in_place=False,
        min_bytes=0,
        max_bytes=(1 << 64) - 1,
        alignment=ALIGNMENT,
        threads=1024,
        reuses_resources=False,
        ranks=ranks,
    )


@dataclass
class _Block:
    """The operations of one thread block; all its threads wait for each other where one operation needs what another one did."""

    operations: list[Operation] = field(default_factory=list)
    #: places that were read or written, and whether there were waits, since all threads last waited for each other
    read: set[Cell] = field(default_factory=set)
    written: set[Cell] = field(default_factory=set)
    waited: bool = False

    def add(self, operation: Operation, reads: Iterable[Cell] = (), writes: Iterable[Cell] = ()) -> None:
        """Append an operation on data, after the others where it needs what they did, or overwrites what they use."""
        reads, writes = set(reads), set(writes)
        if self.waited or self.written & (reads | writes) or self.read & writes:
            self.meet()
        self.operations.append(operation)
        self.read |= reads
        self.written |= writes

    def meet(self) -> None:
        """All threads wait for each other, where there is anything to wait for."""
        if self.waited or self.read or self.written:
            self.operations.append(_NOTHING)
        self.read, self.written, self.waited = set(), set(), False

    def notify(self, name: OpName, channels: list[Channel]) -> None:
        """Signal, or wait, on some channels, a few at a time."""
        if name is OpName.SIGNAL and channels:
            self.meet()
        for first in range(0, len(channels), MOST_OPERATION_CHANNELS):
            some = tuple(channels[first : first + MOST_OPERATION_CHANNELS])
            self.operations.append(Operation(name, channels=some, channel_type=MEMORY))
        if name in (OpName.WAIT, OpName.RELAXED_WAIT):
            self.waited |= bool(channels)


class _Builder:
    """Builds the plan with this many thread blocks for each rank."""

    def __init__(self, schedule: Schedule, blocks: int) -> None:
        self.schedule, self.count = schedule, blocks
        self.loops = schedule.repeats > 1
        self.cells = Cells(schedule)
        self.moves = moves_of(schedule, self.cells)
        self.ranks = range(self.cells.layout.ranks)
        self.scratch = list(self.cells.scratch)
        self.blocks = [[_Block() for _ in range(blocks)] for _ in self.ranks]
        self.starts: list[list[list[Operation]]] = [[[] for _ in range(blocks)] for _ in self.ranks]

    def plan(self) -> Plan:
        """The plan."""
        chunks = max(self.schedule.chunks, 1)
        groups: list[list[Move]] = [[] for _ in range(self.count)]
        for row, move in enumerate(self.moves):
            groups[int(self.schedule.chunk[row]) * self.count // chunks].append(move)
        kept = sorted([*self.cells.kept, *self.cells.untouched()])
        for rank in self.ranks:
            for at, (src, dst, count) in enumerate(self._runs([pair for pair in kept if pair[0][0] == rank])):
                self._copy(self.blocks[rank][at % self.count], src, dst, count)
        for number, group in enumerate(groups):
            self._fill(number, group if self.loops else joined(group))
        ranks = [self._rank(rank) for rank in self.ranks]
        sizes = [max(one.inputs for one in ranks), max(one.outputs for one in ranks)]
        made = _plan_of(self.schedule, tuple(replace(one, inputs=sizes[0], outputs=sizes[1]) for one in ranks))
        return replace(made, roles=self.cells.layout.roles)

    def _runs(self, pairs: list[tuple[Cell, Cell]]) -> list[tuple[Cell, Cell, int]]:
        """Copies as (from, to, count): one by one in a loop, whose iterations handle a part of one chunk, else joined."""
        return [(*pair, 1) for pair in pairs] if self.loops else list(runs(pairs))

    def _rank(self, rank: int) -> PlanRank:
        blocks = []
        for start, block in zip(self.starts[rank], self.blocks[rank], strict=True):
            operations = tuple(block.operations)
            if self.loops and operations:
                operations = (Operation(OpName.LOOP, body=operations, unit_bytes=_unit(self.schedule)),)
            blocks.append((*start, *operations))
        return PlanRank(*self.cells.layout.sizes(rank), self.scratch[rank], tuple(blocks))

    def _fill(self, number: int, moves: list[Move]) -> None:
        """The operations of the blocks of this number."""
        peers: defaultdict[int, set[int]] = defaultdict(set)  # of each rank those that it copies to
        for src, dst in {move.ends for move in moves if move.ends[0] != move.ends[1]}:
            peers[src].add(dst)
        for rank in self.ranks:
            start, senders = _Block(), [other for other in self.ranks if rank in peers[other]]
            start.notify(OpName.RELAXED_SIGNAL, [(MEMORY, other, number) for other in senders])
            start.notify(OpName.RELAXED_WAIT, [(MEMORY, other, number) for other in sorted(peers[rank])])
            self.starts[rank][number] = [*start.operations, _NOTHING] if start.operations else []
        steps = Steps(self.schedule, moves)
        landing = steps.landing_places(self.scratch)
        for step in steps.all:
            for rank in self.ranks:
                self._step(self.blocks[rank][number], rank, number, step, steps, landing)

    def _step(self, block: "_Block", rank: int, number: int, step: int, steps: Steps, landing: dict[int, Cell]) -> None:
        """Write the operations of a thread block in one step: for what lands, then for what leaves, then local moves."""
        lands, leaves, local = (steps.of(rank, step, phase) for phase in (LAND, LEAVE, LOCAL))
        senders = sorted({steps.moves[at].ends[0] for at in lands})
        block.notify(OpName.WAIT, [(MEMORY, other, number) for other in senders])
        adding: defaultdict[tuple[Cell, int], list[int]] = defaultdict(list)
        for at in lands:
            move = steps.moves[at]
            if move.op == Op.REDUCE:
                adding[move.dst, move.count].append(at)
            elif landing[at] != move.dst:
                self._copy(block, landing[at], move.dst, move.count)
        for (dst, count), found in sorted(adding.items()):
            self._add(block, dst, count, [pair for at in found for pair in steps.moves[at].fresh], [landing[at] for at in found])
        by_buffer: defaultdict[Buffer, list[int]] = defaultdict(list)
        for at in leaves:
            by_buffer[steps.moves[at].src[1]].append(at)
        for buffer, found in sorted(by_buffer.items()):
            for first in range(0, len(found), MOST_OPERATION_CHANNELS):
                some = [(steps.moves[at], landing[at]) for at in found[first : first + MOST_OPERATION_CHANNELS]]
                sources = tuple(Span(rank, buffer, move.src[2], move.count) for move, _ in some)
                targets = tuple(Span(*place, move.count) for move, place in some)
                reads = [cell for move, _ in some for cell in cells_of(move.src, move.count)]
                block.add(Operation(OpName.PUT, sources, targets, channel_type=MEMORY), reads)
        receivers = sorted({steps.moves[at].ends[1] for at in leaves})
        block.notify(OpName.SIGNAL, [(MEMORY, other, number) for other in receivers])
        for at in local:
            move = steps.moves[at]
            if move.op == Op.REDUCE:
                self._add(block, move.dst, move.count, move.fresh, [move.src])
            else:
                self._copy(block, move.src, move.dst, move.count)

    def _copy(self, block: "_Block", src: Cell, dst: Cell, count: int) -> None:
        operation = Operation(OpName.COPY, (Span(*src, count),), (Span(*dst, count),))
        block.add(operation, cells_of(src, count), cells_of(dst, count))

    def _add(self, block: "_Block", dst: Cell, count: int, fresh: list[tuple[Cell, Cell]], sources: list[Cell]) -> None:
        """Add places to another one, or to the own contribution where nothing is there yet."""
        own = self._runs(sorted(fresh, key=lambda pair: pair[1]))
        base = dst
        if len(own) == 1 and own[0][1:] == (dst, count):
            base = own[0][0]
        else:
            for src, held, many in own:
                self._copy(block, src, held, many)
        for first in range(0, len(sources), MOST_OPERATION_CHANNELS):
            read = [base, *sources[first : first + MOST_OPERATION_CHANNELS]]
            operation = Operation(OpName.REDUCE, tuple(Span(*cell, count) for cell in read), (Span(*dst, count),))
            block.add(operation, [cell for place in read for cell in cells_of(place, count)], cells_of(dst, count))
            base = dst


def _unit(schedule: Schedule) -> int:
    """The number of bytes of a chunk that one iteration handles: those for the message size that the schedule was made for."""
    size = schedule.made_for.message_bytes if schedule.made_for is not None else DEFAULT_BYTES
    exact = -(-size // (schedule.message_chunks * schedule.repeats))
    return -(-exact // ALIGNMENT) * ALIGNMENT
