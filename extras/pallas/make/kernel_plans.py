"""Lowering of a schedule to a kernel plan, through its permute program, which says what devices send and in which order they apply
it.

A device keeps its rows of data in scratch, after which there are slots for what comes: a row and the semaphore that says that it
has arrived. It sends rows as they are when a step begins, and applies what has come in the order of the schedule. Before it
overwrites a row, it waits until DMAs have read it. A slot is used again where its last use precedes the next DMA in every run.
"""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from certree.extras.pallas.check.kernel_events import Events, preceded
from certree.extras.pallas.model.kernel_plan import (
    BARRIER,
    INPUT,
    MOST_OPERATIONS,
    OUTPUT,
    SCRATCH,
    KernelPlan,
    Kind,
    Operation,
    Place,
)
from certree.extras.xla.make.permutes import lower_to_permutes
from certree.extras.xla.model.permute_program import ADD, MODES, NOTHING, Permute, PermuteProgram
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out

SENDING = 8  # semaphores for DMAs that a device has started and that may still read
READY = 1  # the regular semaphore of the second barrier


@dataclass(frozen=True)
class _Message:
    """A row that one device sends another, or itself, and the other applies. `slot`: where it arrives."""

    source: int
    target: int
    read: int
    slot: int


def plan_of_schedule(schedule: AnySchedule) -> KernelPlan:
    """The kernel plan of one iteration of a schedule. UnsupportedError as in `lower_to_permutes`."""
    found: Schedule = written_out(schedule)
    return plan_of_program(lower_to_permutes(found))


def plan_of_program(program: PermuteProgram) -> KernelPlan:
    """The kernel plan of a permute program. Cost: as `preceded` for all messages, to find slots that can be used again."""
    plan = _Builder(program).plan()
    return _with_fewer_slots(plan, program.load.shape[1])


class _Builder:
    """Writes the operations of all devices, step by step, with a slot of its own for every message."""

    def __init__(self, program: PermuteProgram) -> None:
        self.program, self.rows = program, program.load.shape[1]
        self.operations: list[list[Operation]] = [[] for _ in range(program.ranks)]
        self.messages: dict[tuple[int, int, int], _Message] = {}
        self._slots = [0] * program.ranks
        #: of each device the DMAs that may still read: (row, semaphore), in the order in which they were started
        self._reading: list[deque[tuple[int, int]]] = [deque() for _ in range(program.ranks)]
        self._free = [deque(range(SENDING)) for _ in range(program.ranks)]
        self._arrived: set[_Message] = set()

    def plan(self) -> KernelPlan:
        """The plan. UnsupportedError for too many operations."""
        program = self.program
        sent, applied = self._found()
        count = 6 * len(self.messages) + int((program.load >= 0).sum()) + int((program.store >= 0).sum())
        if count > MOST_OPERATIONS:
            raise UnsupportedError(f"a kernel of about {count} operations; allowed: up to {MOST_OPERATIONS}")
        self._enter()
        for step in range(program.steps):
            for message in sent[step]:
                self._send(message)
            for message, row, adds in applied[step]:
                self._apply(message, row, adds=adds)
        for rank, rows in enumerate(program.store.tolist()):
            for offset, row in enumerate(rows):
                if row >= 0:
                    self._add(rank, Operation(Kind.COPY, Place(SCRATCH, row), Place(OUTPUT, offset)))
            self._require_read(rank, len(self._reading[rank]))
        slots = max(self._slots)
        return KernelPlan(
            program.layout,
            program.repeats,
            program.about,
            self.rows + slots,
            1,
            SENDING + slots,
            tuple(map(tuple, self.operations)),
        )

    def _add(self, rank: int, one: Operation) -> None:
        self.operations[rank].append(one)

    def _found(self) -> tuple[list[list[_Message]], list[list[tuple[_Message, int, bool]]]]:
        """The messages that are sent in each step, and what is applied: (message, row, whether it is added)."""
        program = self.program
        steps = [(one, at) for one in program.stretches for at in range(one.steps)]
        sent: list[list[_Message]] = [[] for _ in steps]
        applied: list[list[tuple[_Message, int, bool]]] = [[] for _ in steps]
        for step, (one, at) in enumerate(steps):
            for rank, (take, put) in enumerate(zip(one.take[at].tolist(), one.put[at].tolist(), strict=True)):
                for taken, entry in zip(take, put, strict=True):
                    row, mode = divmod(entry, MODES)
                    if mode == NOTHING:
                        continue
                    age, place = divmod(taken, program.width)
                    begin = step - age
                    message = self.messages.get((begin, place, rank))
                    if message is None:
                        stretch, before = steps[begin]
                        source = _source(stretch.permutes, place, rank)
                        message = _Message(source, rank, int(stretch.send[before, source, place]), self._slots[rank])
                        self._slots[rank] += 1
                        self.messages[begin, place, rank] = message
                        sent[begin].append(message)
                    applied[step].append((message, row, mode == ADD))
        return sent, applied

    def _enter(self) -> None:
        """Load the input, between two barriers of every device with those that it sends to or receives from. The second is for the
        next call: nobody is in it before all its neighbours have gone through the first one of this call."""
        near: list[set[int]] = [set() for _ in self.operations]
        for message in self.messages.values():
            if message.source != message.target:
                near[message.source].add(message.target)
                near[message.target].add(message.source)
        for rank, others in enumerate(near):
            for semaphore in (BARRIER, READY):
                for other in sorted(others):
                    self._add(rank, Operation(Kind.SIGNAL, device=other, semaphore=semaphore))
                if semaphore == BARRIER:
                    for row, offset in enumerate(self.program.load[rank].tolist()):
                        if offset >= 0:
                            self._add(rank, Operation(Kind.COPY, Place(INPUT, offset), Place(SCRATCH, row)))
                if others:
                    self._add(rank, Operation(Kind.WAIT, semaphore=semaphore, times=len(others)))

    def _send(self, message: _Message) -> None:
        rank, read, written = message.source, Place(SCRATCH, message.read), Place(SCRATCH, self.rows + message.slot)
        if rank == message.target:
            self._add(rank, Operation(Kind.COPY, read, written))
            return
        if not self._free[rank]:
            self._require_read(rank, 1)
        send = self._free[rank].popleft()
        self._reading[rank].append((message.read, send))
        receive = _first(1) + SENDING + message.slot
        self._add(rank, Operation(Kind.START, read, written, device=message.target, semaphore=receive, send=_first(1) + send))

    def _apply(self, message: _Message, row: int, *, adds: bool) -> None:
        rank = message.target
        if message.source != rank and message not in self._arrived:
            self._arrived.add(message)
            self._add(rank, Operation(Kind.WAIT, semaphore=_first(1) + SENDING + message.slot))
        last = max((at for at, (read, _) in enumerate(self._reading[rank], 1) if read == row), default=0)
        self._require_read(rank, last)
        place = Place(SCRATCH, self.rows + message.slot)
        self._add(rank, Operation(Kind.ADD if adds else Kind.COPY, place, Place(SCRATCH, row)))

    def _require_read(self, rank: int, count: int) -> None:
        """Wait until the DMAs that were started first have read their rows."""
        for _ in range(count):
            _, send = self._reading[rank].popleft()
            self._free[rank].append(send)
            self._add(rank, Operation(Kind.WAIT, semaphore=_first(1) + send))


def _first(regular: int) -> int:
    """The first semaphore of DMAs."""
    return 1 + regular


def _source(permutes: tuple[Permute, ...], place: int, target: int) -> int:
    """The device that fills a row of the inbox of another one; that itself where no permute does."""
    at = 0
    for permute in permutes:
        at += permute.rows
        if place < at:
            return next(source for source, other in permute.pairs if other == target)
    return target


def _with_fewer_slots(plan: KernelPlan, rows: int) -> KernelPlan:
    """The plan with slots that are used again: where the last use of one precedes the start of the next DMA in every run. `rows`:
    of scratch, before the slots."""
    fills: list[list[tuple[int, int, int]]] = [[] for _ in range(plan.ranks)]  # (slot, device, number)
    used: dict[tuple[int, int], tuple[int, int, int]] = {}
    for device, number, one in plan:
        if one.written is not None and one.written.buffer == SCRATCH and one.written.row >= rows:
            fills[one.device if one.kind is Kind.START else device].append((one.written.row - rows, device, number))
        elif one.read is not None and one.read.buffer == SCRATCH and one.read.row >= rows:
            used[device, one.read.row - rows] = (0, device, number)
    events = Events(plan, 1)
    order = events.greedy()
    turn = {event: at for at, event in enumerate(order)}
    pairs: list[tuple[int, int]] = []
    for rank, found in enumerate(fills):
        found.sort(key=lambda one: (turn[events.operation[0, *one[1:]]], one))
        begins = [events.operation[0, device, number] for _, device, number in found]
        ends = [events.operation[used[rank, slot]] for slot, _, _ in found]
        pairs += [
            (ends[one], begins[two]) for two in range(len(found)) for one in range(two) if turn[ends[one]] < turn[begins[two]]
        ]
    holds = preceded(events, order, np.array(pairs, np.int64)).tolist() if pairs else []
    ordered = {pair for pair, is_so in zip(pairs, holds, strict=True) if is_so}
    renamed: list[dict[int, int]] = []
    for rank, found in enumerate(fills):
        ends_of: list[int] = []  # by new slot its last use
        names: dict[int, int] = {}
        for slot, device, number in found:
            begin = events.operation[0, device, number]
            place = next((at for at, end in enumerate(ends_of) if (end, begin) in ordered), len(ends_of))
            ends_of[place : place + 1] = [events.operation[used[rank, slot]]]
            names[slot] = place
        renamed.append(names)
    slots = max(len(set(names.values())) for names in renamed)
    operations = tuple(
        tuple(_renamed(one, device, rows, renamed, plan.regular) for one in found) for device, found in enumerate(plan.operations)
    )
    return replace(plan, scratch=rows + slots, dma=SENDING + slots, operations=operations)


def _renamed(one: Operation, device: int, rows: int, names: list[dict[int, int]], regular: int) -> Operation:
    """An operation with other slots."""
    target, first = one.device if one.kind is Kind.START else device, _first(regular) + SENDING
    if one.read is not None and one.read.buffer == SCRATCH and one.read.row >= rows:
        one = one._replace(read=Place(SCRATCH, rows + names[device][one.read.row - rows]))
    if one.written is not None and one.written.buffer == SCRATCH and one.written.row >= rows:
        one = one._replace(written=Place(SCRATCH, rows + names[target][one.written.row - rows]))
    if one.kind in (Kind.START, Kind.WAIT) and one.semaphore >= first:
        one = one._replace(semaphore=first + names[target][one.semaphore - first])
    return one
