"""Paced runs of schedules that use a chunk's place twice: cut into parts, each with tables of its own, one after the other.

A ring all-reduce along the rows of a grid and then one along its columns sums up in the same places twice. Rows of one table could
not tell the two apart, and a neighbour that is ahead would spoil what is still on its way. Here nobody begins a part before all
have ended the part before: a barrier, as between two calls of a library.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.hw import _core
from certree.hw.core_progress import run_to_end
from certree.hw.engines.framing import with_flow
from certree.hw.engines.program import Program, first_cells, first_wrong
from certree.hw.engines.schedule_run import Plan
from certree.hw.engines.simulator import SimulationResult, refuse_routers, simulate
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.schedule import Op, Schedule
from certree.models.schedule.timing import slotted
from certree.models.tables import Tables

Int64 = NDArray[np.int64]
_BUDGET = 1 << 22  # events between two looks at signals


def simulate_paced(
    source: Tables | Plan, flow: str = "message", *, progress: Callable[[int], None] | None = None
) -> SimulationResult:
    """A paced run on the fast engine, in parts where the whole uses a chunk's place twice.

    Raises UnsupportedError, for the whole, for what cannot be paced in parts either, and for routers that may add something. Time
    and memory as `simulate`.
    """
    try:
        return simulate(source, "paced", flow=flow, progress=progress)
    except UnsupportedError as error:
        if isinstance(source, Tables):
            raise
        try:
            return simulate_in_parts(source.schedule, source.message_bytes, source.machine, flow, progress=progress)
        except UnsupportedError:
            raise error from None


def simulate_in_parts(
    schedule: Schedule,
    message_bytes: int,
    machine: Machine,
    flow: str = "message",
    *,
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Play each part of `cuts` paced, on the data that the one before left.

    `cycles` are from the start of the first part to the last arrival of the last, the barriers between them taking no time.
    Raises UnsupportedError for repeating schedules, delays of two or more, parts without tables (`lower`), and routers that may add
    something.
    O(hops of all messages · log) time, O(rows + nodes · chunks) memory.
    """
    spread, _ = slotted(schedule, message_bytes, machine)
    if spread.repeats > 1 or spread.delay > 1:
        raise UnsupportedError("only schedules of one iteration and of delay 1 are cut into parts")
    cells = first_cells(spread.topology, spread.chunks)
    parts, totals = 0, dict.fromkeys(("cycles", "contention_cycles", "late", "flit_hops", "messages", "busiest_lane_cycles"), 0)
    for part in _parts(spread, cuts(spread)):
        tables = lower(part, message_bytes, machine)
        refuse_routers(tables, flow)
        program = Program(with_flow(tables, flow))
        core = _core.Run(program.scalars, program.columns, "fast", "paced", cells, False)
        run_to_end(core, _BUDGET, progress)
        statistics, parts = core.statistics(), parts + 1
        totals = {name: total + statistics[name] for name, total in totals.items()}
    wrong = first_wrong(spread, cells)
    return SimulationResult(
        run="paced",
        engine="fast",
        source="tables",
        cycles=totals["cycles"],
        closed_form_cycles=None,
        contention_cycles=totals["contention_cycles"],
        late=totals["late"],
        data_ok=wrong is None,
        wrong=wrong,
        max_link_utilization=Fraction(totals["busiest_lane_cycles"], max(1, totals["cycles"])) if parts == 1 else None,
        flit_hops=totals["flit_hops"],
        messages=totals["messages"],
        deadlock=(),
        parts=parts,
    )


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


def _parts(schedule: Schedule, before: list[int]) -> Iterator[Schedule]:
    names = ("chunk", "op", "src", "dst", "route")
    for first, end in zip([0, *before], [*before, schedule.steps], strict=True):
        kept = (schedule.step >= first) & (schedule.step < end)
        columns = {name: getattr(schedule, name)[kept] for name in names}
        yield replace(schedule, step=schedule.step[kept] - first, rounds=schedule.rounds[first:end], certificate=None, **columns)
