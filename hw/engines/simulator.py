"""Runs schedule tables, and schedules that have none, on the cycle-accurate core and judges the data that comes out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certree.hw import _core
from certree.hw.core_progress import run_to_end
from certree.hw.engines.clocks import Clocks
from certree.hw.engines.framing import with_flow
from certree.hw.engines.program import Program, first_cells, first_wrong
from certree.hw.engines.schedule_run import Plan
from certree.hw.engines.table_rows import PlayedRows
from certree.hw.engines.traces import lane_uses, write_trace
from certree.hw.engines.transparency import router_effect
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import check_writable
from certree.models.schedule.timing import schedule_cycles, slot_timing
from certree.models.tables import Tables

RUN_MODES = ("slotted", "paced")
ENGINES = ("auto", "fast", "lanes")
STEP_TIMES = ("paper", "exact")
_BUDGET = 1 << 22  # events or flit moves between two looks at signals and at the progress callback
_REPORTED_NODES = 8


@dataclass(frozen=True)
class SimulationResult:
    """What one run showed; times in cycles from the opening of the first slot.

    `source`: "tables", or "schedule" where there are none. `cycles`: until the last chunk was written or reduced.
    `closed_form_cycles`: the prediction for a slotted run with equal clocks (None: any other). `contention_cycles`: cycles that
    ready messages waited for busy lanes, summed over messages and hops. `late`: rows (counted once an iteration) that fired after
    the opening of their slot. `data_ok`: every rank that is due a result has it; `wrong` is the first (rank, chunk of all
    iterations) that has not. `max_link_utilization`: busy cycles of the busiest lane over `cycles`, None for several parts.
    `flit_hops`: flits that passed lanes. `deadlock`: who waits for what, when nothing could move any more; empty for runs that
    ended. `starved`: who waited longer than it was to while others passed, in a run on routers that looks for it. `parts`: how
    many were played one after the other (`certree.hw.engines.split_runs`).
    """

    run: str
    engine: str
    source: str
    cycles: int
    closed_form_cycles: int | None
    contention_cycles: int
    late: int
    data_ok: bool
    wrong: tuple[int, int] | None
    max_link_utilization: Fraction | None
    flit_hops: int
    messages: int
    deadlock: tuple[str, ...]
    starved: tuple[str, ...] = ()
    parts: int = 1


def simulate(
    source: Tables | Plan,
    run: str = "slotted",
    *,
    flow: str = "message",
    engine: str = "auto",
    without_routers: bool = False,
    clocks: Clocks | None = None,
    step_time: str = "paper",
    trace: Path | None = None,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Play tables, or a schedule that has none, cycle by cycle (`hw/README.md`), one integer of data per rank and chunk.

    `engine`: "fast" handles a message once for each lane that it takes, "lanes" moves every flit through every stage; both give the
    same cycles. "auto" is fast. Where the machine's routers may add something to what lanes take (`router_effect`), fast is refused
    unless `without_routers`; "lanes" leaves them out in any case, `flit_engine` plays them. `flow`: each chunk is one message, or
    packets. `clocks`: skew and drift of each node. `step_time`, for paced runs: how long a step without rows
    lasts, the "paper"'s estimate, or "exact": serialization, latency and reduction. `trace`: file for one JSON line per message, in
    the order in which they became usable, or, where its name ends in .json, for Perfetto and chrome://tracing; not overwritten
    unless `force`. `progress` is called with the current cycle every few million events or flit moves; Ctrl-C works as often.
    Raises TableFormatError for malformed tables, UnsupportedError for what the machine cannot run.
    Time: fast O(hops of all messages · log), lanes O(flits · hops). Memory O(rows + nodes · chunks · repeats), lanes also
    O(lanes · latency), with a trace also O(hops of all messages).
    """
    refuse_run(source, run)
    for what, value, known in (("engine", engine, ENGINES), ("step time", step_time, STEP_TIMES)):
        if value not in known:
            raise InputError(f"unknown {what} {value!r}; known: {', '.join(known)}")
    if trace is not None:
        check_writable(trace, force=force)
    chosen = "fast" if engine == "auto" else engine
    played = with_flow(source, flow)
    program = Program(played, clocks, exact_step_cycles(played) if step_time == "exact" else None)
    if chosen == "fast" and not without_routers:
        refuse_routers(source, flow)
    if run == "paced":
        program.played.check_paced()
    if chosen == "lanes":
        program.check_stages()
    cells = first_cells(source.topology, source.chunks * source.repeats)
    core = _core.Run(program.scalars, program.columns, chosen, run, cells, trace is not None)
    run_to_end(core, _BUDGET, progress)
    if trace is not None:
        write_trace(trace, program.played, core.trace(), lambda: lane_uses(program, core.hops()), force=force)
    deadlock = describe_waiting(program.played, core.waiting()) if core.is_deadlocked else ()
    return judged_run(played, run, chosen, core.statistics(), cells, deadlock, clocks)


def judged_run(
    source: Tables | Plan,
    run: str,
    engine: str,
    statistics: Mapping[str, int],
    cells: NDArray[np.uint64],
    deadlock: tuple[str, ...],
    clocks: Clocks | None,
) -> SimulationResult:
    """What a run of `source` that has ended showed: the counters of its core, and the data that it left in `cells`."""
    wrong = first_wrong(source.schedule, cells)
    predictable = run == "slotted" and (clocks is None or clocks.are_equal)
    return SimulationResult(
        run=run,
        engine=engine,
        source="tables" if isinstance(source, Tables) else "schedule",
        cycles=statistics["cycles"],
        closed_form_cycles=predicted_cycles(source) if predictable else None,
        contention_cycles=statistics["contention_cycles"],
        late=statistics["late"],
        data_ok=wrong is None and not deadlock,
        wrong=wrong,
        max_link_utilization=Fraction(statistics["busiest_lane_cycles"], max(1, statistics["cycles"])),
        flit_hops=statistics["flit_hops"],
        messages=statistics["messages"],
        deadlock=deadlock,
    )


def refuse_run(source: Tables | Plan, run: str) -> None:
    """Raise InputError for an unknown run mode, UnsupportedError for what it cannot play."""
    if run not in RUN_MODES:
        raise InputError(f"unknown run mode {run!r}; known: {', '.join(RUN_MODES)}")
    if run == "paced" and source.repeats > 1:
        raise UnsupportedError(
            f"a table of {source.repeats} iterations cannot be paced: the timestep counter knows one; run it slotted"
        )


def refuse_routers(source: Tables | Plan, flow: str) -> None:
    """Raise UnsupportedError where the machine's routers may add something to a run without them."""
    effect = router_effect(source, flow)
    if effect is not None:
        raise UnsupportedError(f"the fast engine is not exact with these routers: {effect}; the flit engine plays them")


def exact_step_cycles(source: Tables | Plan) -> int:
    """How long a step lasts in truth: serialization, the longest path, and the reductions of one step."""
    timing = slot_timing(source.schedule, source.message_bytes, source.machine)
    return timing.ser + timing.lat + timing.red


def predicted_cycles(source: Tables | Plan) -> int:
    """The closed form of a slotted run, at the slot length that the tables state."""
    timing = slot_timing(source.schedule, source.message_bytes, source.machine)
    return schedule_cycles(source.schedule, replace(timing, slot_cycles=source.slot_cycles), source.machine)


def describe_waiting(rows: PlayedRows, waiting: Sequence[tuple[int, int, int, int]]) -> tuple[str, ...]:
    """What the nodes of a run that cannot go on wait for, in words."""
    lines = []
    for node, row, iteration, arrival in waiting[:_REPORTED_NODES]:
        awaited = rows.describe_arrival(arrival) if arrival >= 0 else "its step"
        place = f"in {rows.describe_row(row)}, iteration {iteration}," if row >= 0 else "at its end"
        lines.append(f"node {node} {place} waits for {awaited}")
    if len(waiting) > _REPORTED_NODES:
        lines.append(f"and {len(waiting) - _REPORTED_NODES} more nodes wait")
    return tuple(lines)
