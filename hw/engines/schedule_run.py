"""Runs of schedules that tables cannot represent: as transfers with the sizes and the slot of one message, or as parts with tables.

Parts are for paced runs of schedules that use a chunk's place twice: each part has separate tables, and the parts run one after the
other. For example, a ring all-reduce along the rows of a grid and then one along its columns sums up in the same places twice. Rows
of a single table could not distinguish the two, and a neighbour that is ahead would overwrite data that is still needed. No node
begins a part before all nodes have ended the previous part: a barrier, as between two calls of a library.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.fine.forwarding import unkept_waits
from certree.models.fine.rebooking import fitted
from certree.models.fine.timed_schedule import timed
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import SlotTiming, slotted
from certree.models.tables.tables import Tables


@dataclass(frozen=True, eq=False)
class SimulatedSchedule:
    """The counterpart of `Tables` for any schedule: `schedule` has steps of one round. Common fields have the same names.

    `no_tables`: why there are no tables, if known.
    """

    schedule: Schedule
    machine: Machine
    timing: SlotTiming
    no_tables: str | None = None

    @classmethod
    def of(cls, schedule: Schedule, message_bytes: int, machine: Machine, *, no_tables: str | None = None) -> "SimulatedSchedule":
        """The plan for a message of that many bytes; errors as `slotted` and `_fine`. O(rows log rows)."""
        schedule = _fine(schedule, message_bytes, machine)
        run = timed(schedule, message_bytes, machine)
        return cls(run.schedule, machine, run.timing, no_tables)

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.schedule.topology

    @property
    def collective(self) -> Collective:
        """The collective."""
        return self.schedule.collective

    @property
    def chunks(self) -> int:
        """K."""
        return self.schedule.chunks

    @property
    def repeats(self) -> int:
        """The number of iterations."""
        return self.schedule.repeats

    @property
    def message_bytes(self) -> int:
        """The number of bytes that were asked for."""
        return self.timing.message_bytes

    @property
    def chunk_bytes(self) -> int:
        """The number of bytes of each chunk."""
        return self.timing.chunk_bytes

    @property
    def slot_cycles(self) -> int:
        """Length of a slot."""
        return self.timing.slot_cycles


def _fine(schedule: Schedule, message_bytes: int, machine: Machine) -> Schedule:
    """The schedule, with its fine slots fitted to that size and machine; other schedules are unchanged.

    UnsupportedError for several buffers and sizes of chunks, which rows without tables do not distinguish, for planned waits that
    routers would not keep, and as `fitted`."""
    if schedule.has_sizes:
        raise UnsupportedError("chunks of several sizes run from tables only")
    if schedule.buffers > 1:
        raise UnsupportedError("several buffers run from tables only, which switches that add have not")
    if not schedule.has_fine_slots:
        return schedule
    plan = fitted(schedule, message_bytes, machine)
    for words in unkept_waits(plan):
        raise UnsupportedError(words)
    return plan


def parts(schedule: Schedule, message_bytes: int, machine: Machine) -> Iterator[Tables]:
    """The tables of each part of `cuts`, in order.

    Raises UnsupportedError for repeating schedules, delays of two or more, several buffers, and parts without tables (`lower`).
    O(rows log rows).
    """
    spread, _ = slotted(schedule, message_bytes, machine)
    if spread.repeats > 1 or spread.delay > 1 or spread.buffers > 1:
        raise UnsupportedError("only schedules of one iteration and of delay 1, with one buffer, are cut into parts")
    names, before = ("chunk", "op", "src", "dst", "route"), cuts(spread)
    for first, end in zip([0, *before], [*before, spread.steps], strict=True):
        kept = (spread.step >= first) & (spread.step < end)
        columns = {name: getattr(spread, name)[kept] for name in names}
        rounds = spread.rounds[first:end]
        part = replace(spread, step=spread.step[kept] - first, rounds=rounds, certificate=None, **columns)
        yield lower(part, message_bytes, machine)


def cuts(schedule: Schedule) -> list[int]:
    """The fewest steps before which to cut so that in no part a REDUCE leaves or reaches a place (node, chunk) that a COPY has left
    or reached in an earlier step. O(rows log rows)."""
    cell = np.concatenate([node.astype(np.int64) * schedule.chunks + schedule.chunk for node in (schedule.src, schedule.dst)])
    step, copy = np.tile(schedule.step, 2).astype(np.int64), np.tile(schedule.op == Op.COPY, 2)
    order = np.lexsort((copy, step, cell))
    cell, step, copy = cell[order], step[order], copy[order]
    last = np.maximum.accumulate(np.where(copy, np.arange(len(cell)), -1))  # the last COPY up to each place of the order
    meets = ~copy & (last >= 0)
    meets[meets] &= cell[last[meets]] == cell[meets]
    found: list[int] = []
    for copied, reduced in sorted({*zip(step[last[meets]].tolist(), step[meets].tolist(), strict=True)}, key=lambda pair: pair[1]):
        if not found or found[-1] <= copied:
            found.append(reduced)
    return found
