"""Fewer steps for programs that say every slot of a schedule: messages leave with others as soon as what they carry is there.

Slots of a few cycles say when links are free, which a program of permutes does not know: there a step takes all messages of which
none needs another one. What each row holds, and the order in which it is written, stay as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from certree.extras.xla.model.permute_program import Int64

MOST_STEPS = 1024


@dataclass(frozen=True, eq=False)
class Moves:
    """The transfers of an iteration, cut into rows of one size, in the order in which they are applied. By transfer: the step in
    which it is sent and the one after which it is applied (steps without a transfer are left out), the devices, the rows, and
    whether it is added."""

    sent: Int64
    applied: Int64
    src: Int64
    dst: Int64
    read: Int64
    written: Int64
    adds: Int64

    @property
    def steps(self) -> int:
        """How many steps they take."""
        return 1 + int(self.applied.max(initial=-1))

    def rows_sent(self) -> int:
        """The number of rows that a device sends in all permutes together, at least: of every step the most that one sends or
        receives."""
        apart = self.src != self.dst
        if not apart.any():
            return 0
        most = np.zeros(self.steps, np.int64)
        for device in (self.src, self.dst):
            devices = 1 + int(device.max())
            keys, counts = np.unique(self.sent[apart] * devices + device[apart], return_counts=True)
            np.maximum.at(most, keys // devices, counts)
        return int(most.sum())


def levelled(moves: Moves) -> Moves:
    """The moves in steps that send the fewest rows: those of the schedule, or what 2, 4, 8, ... of them send together, or all that
    can go together; at most MOST_STEPS where there is a choice. O(moves · log steps)."""
    widths = [1 << bits for bits in range(moves.steps.bit_length() + 1)]
    found = [moves, *(_together(moves, width) for width in widths[1:])]
    few = [one for one in found if one.steps <= MOST_STEPS] or found[-1:]
    return min(few, key=lambda one: (one.rows_sent(), one.steps))


def _together(moves: Moves, width: int) -> Moves:
    """The moves, each as early as it may be: not before `width` steps that come before it are over, nor before what it carries is
    there, nor before what is read or written before it in its place.

    A step reads all rows before it writes any. A move is sent as late as its row allows, so that it is applied in the same step
    wherever that is possible.
    """
    writes: dict[tuple[int, int], list[int]] = {}  # by device and row the new steps after which it is written
    last_read: dict[tuple[int, int], int] = {}
    sources = list(zip(moves.src.tolist(), moves.read.tolist(), strict=True))
    targets = list(zip(moves.dst.tolist(), moves.written.tolist(), strict=True))
    begin = (moves.sent // width).tolist()
    sent, applied, before = [0] * len(begin), [0] * len(begin), [0] * len(begin)
    for number, is_read in _in_time(moves):
        source, target = sources[number], targets[number]
        written = writes.setdefault(source, [])
        if is_read:
            before[number] = len(written)
            sent[number] = max(begin[number], written[-1] + 1 if written else 0)
            last_read[source] = max(last_read.get(source, 0), sent[number])
            continue
        at = max(sent[number], last_read.get(target, 0), *writes.setdefault(target, [])[-1:])
        sent[number] = min([at, *written[before[number] : before[number] + 1]])
        last_read[source] = max(last_read[source], sent[number])
        applied[number] = at
        writes[target].append(at)
    steps = np.unique([*sent, *applied])
    return replace(moves, sent=np.searchsorted(steps, sent), applied=np.searchsorted(steps, applied))


def _in_time(moves: Moves) -> Iterator[tuple[int, bool]]:
    """(move, whether it is read there, or else written) in the order of the program: a step reads, then it writes."""
    count = len(moves.sent)
    time = np.concatenate((2 * moves.sent, 2 * moves.applied + 1))
    for event in np.argsort(time, kind="stable").tolist():
        yield event % count, event < count
