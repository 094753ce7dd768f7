"""Duties of each rank, in the order of a schedule: messages that come and go, and what it moves between its own buffers.

With fine slots messages are received in the order in which they land, so that operands are added as in a run in slots.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times, landing_steps
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op

_EXECUTED = takes("execution by processes", "buffers", "virtual_channel", "members", "demand", "slot_cycles", "waits")

MAX_MESSAGES = 1 << 21  # of one execution

#: a buffer of a chunk: (chunk, buffer); chunks of iteration i have numbers from i·K on
Place = tuple[int, int]
#: what orders the duties of a rank: the step, the act, and the cycle in which a message comes
_When = tuple[int, int, int]


class Act(IntEnum):
    """The kind of a duty; duties of one step are in this order."""

    RECEIVE = 0
    SEND = 1
    MOVE = 2


@dataclass(frozen=True, slots=True)
class Duty:
    """One act of a rank: `peer` is the other rank, `number` that of the message (the same on both sides). A rank that sends to
    itself keeps what it read until it receives it."""

    act: Act
    peer: int
    number: int
    adds: bool
    src: Place
    dst: Place


@dataclass(frozen=True)
class Duties:
    """The duties of all ranks, and who has and needs which chunk. Ranks are the endpoints and, behind them, switches that reduce.

    `counts`: elements of each chunk. `owners`: of each chunk the ranks that start with a contribution; `due`: those that need it.
    """

    ranks: int
    of: tuple[tuple[Duty, ...], ...]
    counts: tuple[int, ...]
    owners: tuple[tuple[int, ...], ...]
    due: tuple[tuple[int, ...], ...]
    reduces: bool

    @cached_property
    def messages(self) -> dict[tuple[int, int], list[Duty]]:
        """The messages between each sender and receiver, where these are two, in the order in which they are sent."""
        found: dict[tuple[int, int], list[Duty]] = {}
        for rank, duties in enumerate(self.of):
            for duty in duties:
                if duty.act is Act.SEND and duty.peer != rank:
                    found.setdefault((rank, duty.peer), []).append(duty)
        return found


def duties_of(schedule: Schedule, message_bytes: int, item_bytes: int) -> Duties:
    """The duties of all iterations of a schedule, for a message that is padded to whole elements in every chunk.

    UnsupportedError for more than MAX_MESSAGES messages. O(messages · log messages).
    """
    what = "execution by processes"
    schedule = _EXECUTED.lowered(schedule)
    if schedule.transfers * schedule.repeats > MAX_MESSAGES:
        raise UnsupportedError(f"{what}: {schedule.transfers * schedule.repeats} messages; allowed: up to {MAX_MESSAGES}")
    ranks = len(schedule.topology.endpoints) + len(reducing_switches(schedule))
    found: list[list[tuple[_When, Duty]]] = [[] for _ in range(ranks)]
    for owner, when, duty in _duties(schedule):
        found[owner].append((when, duty))
    unit = -(-message_bytes // (schedule.message_chunks * schedule.repeats * item_bytes))
    owners, due = holders(schedule)
    return Duties(
        ranks=ranks,
        of=tuple(tuple(duty for _, duty in sorted(rows, key=lambda row: (*row[0], row[1].number))) for rows in found),
        counts=tuple((schedule.granules * unit).tolist()) * schedule.repeats,
        owners=owners * schedule.repeats,
        due=due * schedule.repeats,
        reduces=schedule.collective.reduces,
    )


def reducing_switches(schedule: Schedule) -> NDArray[np.int32]:
    """The switches where transfers start or end, ascending: each has a rank of its own."""
    ends = np.unique(np.concatenate((schedule.src, schedule.dst)))
    return ends[schedule.topology.rank[ends] < 0]


def _duties(schedule: Schedule) -> Iterator[tuple[int, _When, Duty]]:
    """(rank, when, duty) of every transfer of every iteration."""
    rank, switches = schedule.topology.rank.copy(), reducing_switches(schedule)
    rank[switches] = len(schedule.topology.endpoints) + np.arange(len(switches))
    names = [
        schedule.step,
        landing_steps(schedule),
        coming_cycles(schedule),
        schedule.op,
        schedule.chunk,
        rank[schedule.src],
        rank[schedule.dst],
    ]
    none = np.zeros(schedule.transfers, np.int64)
    names += [none if column is None else column for column in (schedule.src_buffer, schedule.dst_buffer)]
    rows = np.stack([np.asarray(column, np.int64) for column in names], axis=1).tolist()
    for iteration in range(schedule.repeats):
        start, first = iteration * (schedule.period or 0), iteration * schedule.chunks
        for row, (step, lands, comes, op, chunk, src, dst, read, written) in enumerate(rows):
            number = iteration * len(rows) + row
            places = (first + chunk, read), (first + chunk, written)
            adds = op == Op.REDUCE
            if src == dst and not schedule.has_fine_slots:
                yield src, (start + step, Act.MOVE, 0), Duty(Act.MOVE, src, number, adds, *places)
            else:
                yield src, (start + step, Act.SEND, 0), Duty(Act.SEND, dst, number, adds, *places)
                yield dst, (start + lands, Act.RECEIVE, comes), Duty(Act.RECEIVE, src, number, adds, *places)


def coming_cycles(schedule: Schedule) -> NDArray[np.int64]:
    """The cycle in which the message of each row comes, which orders what can be used in one step; all 0 in slots of one length,
    where operands of one step are added in the order of rows."""
    return fine_times(schedule).arrival if schedule.has_fine_slots else np.zeros(schedule.transfers, np.int64)


def holders(schedule: Schedule) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """For each chunk the ranks that have a contribution, and those that need the result."""
    collective, rank = schedule.collective, schedule.topology.rank
    everyone = tuple(rank[collective.members_of(schedule.topology)].tolist())
    roots = [everyone if root == NO_ROOT else (int(rank[root]),) for root in schedule.chunk_root.tolist()]
    if schedule.chunk_target is not None:
        return tuple(roots), tuple((int(rank[node]),) for node in schedule.chunk_target.tolist())
    if collective.kind in (CollectiveKind.REDUCE_SCATTER, CollectiveKind.REDUCE):
        return (everyone,) * len(roots), tuple(roots)
    return tuple(roots), (everyone,) * len(roots)
