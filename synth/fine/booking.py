"""List scheduling in cycles: each transfer leaves as soon as what it carries is there and every link of its way is free for it.

Events are handled in the order of their times, so that reduction units serve what arrives as `models.fine.slots` says. A transfer
that can be sent books its links at once, from the first cycle in which all of them are free: gaps between earlier bookings are
used. The scheduler is in `synth/native/fine/fine_booking.cpp`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.paths import link_cycles
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import reduction_cycles, serialization_cycles
from certree.synth._native import FineJobs
from certree.synth.fine.order import Order
from certree.synth.fine.program import Program, Way, parallel_links

Int32 = NDArray[np.int32]

_REFUSED = {
    1: "transfers wait for each other in a circle: no order without more buffers",
    2: "transfers that have to leave in one cycle meet on a link; more buffers would part them",
}


@dataclass(frozen=True)
class Costs:
    """Cycles on a machine: `ser` of a message on a lane, `red` of a reduction unit for a chunk, `hop` by link, from the entry
    into it to the entry into the next one, `ends`: of interfaces and the last router, `start`: of a reduction. `slot`: cycles of
    a slot."""

    ser: int
    red: int
    hop: list[int]
    ends: int
    start: int
    slot: int = 1

    @classmethod
    def of(cls, program: Program, chunk_bytes: int, machine: Machine, slot: int = 1) -> "Costs":
        """Those of a program whose chunks have that many bytes."""
        topology = program.topology
        hop = link_cycles(topology, machine)[topology.pair_of_link] + machine.router_cycles
        ser = serialization_cycles(chunk_bytes, machine, topology.scale)
        red = reduction_cycles(chunk_bytes, machine)
        return cls(ser, red, hop.tolist(), machine.interface_cycles + machine.router_cycles, machine.reduce_start_cycles, slot)


@dataclass(frozen=True, eq=False)
class Booked:
    """`fire`, `landed`: cycles, by row; `link`: of rows with one link the parallel one that was free; `reads_original`: by row,
    whether it reads the original in place of a local copy of it. `end`: when everything has landed."""

    program: Program
    fire: NDArray[np.int64]
    landed: NDArray[np.int64]
    link: Int32
    reads_original: NDArray[np.bool_]

    @property
    def ways(self) -> list[Way]:
        """As in the program, of parallel links the one that was free."""
        return [way if len(way) != 1 else (one,) for way, one in zip(self.program.ways, self.link.tolist(), strict=True)]

    @property
    def end(self) -> int:
        """The cycle in which everything has landed."""
        return int(self.landed.max(initial=0))


class Booking:
    """The list scheduler for a program. O(rows + hops)."""

    def __init__(self, program: Program, order: Order) -> None:
        self._program = program
        self._jobs = FineJobs(
            program.src,
            program.dst,
            (program.op == Op.REDUCE).astype(np.uint8),
            _column(order.needs),
            _column(order.original_of),
            _column(order.group),
            program.topology.capacity.astype(np.int32),
            len(program.topology.kind),
            [
                _ragged(rows)
                for rows in (
                    program.ways,
                    order.when_sent,
                    order.when_landed,
                    order.opens,
                    order.groups,
                    parallel_links(program.topology),
                )
            ],
        )

    def run(self, costs: Costs, priority: NDArray[np.int64] | None = None, *, patient: bool = False) -> Booked:
        """The booking; of rows that can leave in the same cycle that of the lowest `priority` first, by default in their order. A
        row whose links are taken books them for later at once, or, `patient`, only when they are free.
        UnsupportedError where transfers that have to leave together meet on a link. O(rows · hops · log rows)."""
        program = self._program
        priority = np.arange(program.rows, dtype=np.int64) if priority is None else priority
        times = (costs.ser, costs.red, costs.ends, costs.start, costs.slot)
        outcome, fire, landed, link, reads = self._jobs.book(*times, np.array(costs.hop, np.int64), priority, patient)
        if outcome:
            raise UnsupportedError(_REFUSED[outcome])
        return Booked(program, fire, landed, link, reads.astype(np.bool_))


def _column(values: Sequence[int]) -> Int32:
    return np.array(values, np.int32)


def _ragged(rows: Sequence[Sequence[int]]) -> tuple[Int32, Int32]:
    """Offsets and values of rows of any lengths."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    offset = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return offset, np.fromiter((value for row in rows for value in row), np.int32, int(offset[-1]))
