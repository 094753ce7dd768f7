"""Runs schedule tables on the cycle-accurate core and judges the data that comes out."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from certree.hw import _core
from certree.hw.program import Program, first_wrong, initial_cells
from certree.hw.table_rows import TableRows
from certree.models.errors import InputError, UnsupportedError
from certree.models.files import check_writable, write_atomically
from certree.models.tables import Tables
from certree.models.timing import schedule_cycles, slot_timing

RUN_MODES = ("slotted", "paced")
ENGINE = "fast"
_BUDGET = 1 << 22  # flit moves between two looks at signals and at the progress callback
_REPORTED_NODES = 8


@dataclass(frozen=True)
class SimulationResult:
    """What one run showed; times in cycles from the opening of the first slot.

    `cycles`: until the last chunk was written or reduced. `closed_form_cycles`: the prediction for a slotted run (None: paced).
    `contention_cycles`: cycles that ready messages waited for busy ports, summed over messages. `late`: rows (counted once
    an iteration) that fired after the opening of their slot. `data_ok`: every rank that is due a result has it; `wrong` is the
    first (rank, chunk of all iterations) that has not. `max_link_utilization`: busy cycles of the busiest lane over `cycles`.
    `deadlock`: who waits for what, when nothing could move any more; empty for runs that ended.
    """

    run: str
    engine: str
    cycles: int
    closed_form_cycles: int | None
    contention_cycles: int
    late: int
    data_ok: bool
    wrong: tuple[int, int] | None
    max_link_utilization: Fraction
    flit_hops: int
    messages: int
    deadlock: tuple[str, ...]


def simulate(
    tables: Tables,
    run: str = "slotted",
    *,
    trace: Path | None = None,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Play tables flit by flit (`hw/README.md`, "Playing a table"), one integer of data per rank and chunk.

    `trace`: file for one JSON line per message, in the order in which they became usable; not overwritten unless `force`.
    `progress` is called with the current cycle every few million flit moves; Ctrl-C works at the same moments.
    Raises TableFormatError for malformed tables, UnsupportedError for what the machine cannot run.
    Time O(flits · hops), memory O(rows + nodes · chunks · repeats + lanes · latency), with a trace also O(messages).
    """
    refuse_run(tables, run)
    if trace is not None:
        check_writable(trace, force=force)
    program = Program(tables)
    schedule = tables.schedule
    cells = initial_cells(len(tables.topology.kind), tables.chunks * tables.repeats)
    core = _core.Run(program.scalars, program.columns, run, cells, trace is not None)
    while not core.advance(_BUDGET):
        if progress is not None:
            progress(core.cycle)
    if trace is not None:
        write_atomically(trace, _trace_lines(tables, core), force=force)
    statistics = core.statistics()
    wrong = first_wrong(tables, cells, schedule.chunk_root)
    deadlock = describe_waiting(program, core.waiting()) if core.is_deadlocked else ()
    return SimulationResult(
        run=run,
        engine=ENGINE,
        cycles=statistics["cycles"],
        closed_form_cycles=predicted_cycles(tables) if run == "slotted" else None,
        contention_cycles=statistics["contention_cycles"],
        late=statistics["late"],
        data_ok=wrong is None and not deadlock,
        wrong=wrong,
        max_link_utilization=Fraction(statistics["busiest_lane_cycles"], max(1, statistics["cycles"])),
        flit_hops=statistics["flit_hops"],
        messages=statistics["messages"],
        deadlock=deadlock,
    )


def refuse_run(tables: Tables, run: str) -> None:
    """Raise InputError for an unknown run mode, UnsupportedError for tables that it cannot play."""
    if run not in RUN_MODES:
        raise InputError(f"unknown run mode {run!r}; known: {', '.join(RUN_MODES)}")
    if run == "paced" and tables.repeats > 1:
        raise UnsupportedError(
            f"a table of {tables.repeats} iterations cannot be paced: the timestep counter knows one; run it slotted"
        )


def predicted_cycles(tables: Tables) -> int:
    """The closed form of a slotted run, at the slot length that the tables state."""
    timing = slot_timing(tables.schedule, tables.message_bytes, tables.machine)
    return schedule_cycles(tables.schedule, replace(timing, slot_cycles=tables.slot_cycles), tables.machine)


def describe_waiting(program: TableRows, waiting: Sequence[tuple[int, int, int, int]]) -> tuple[str, ...]:
    """What the nodes of a run that cannot go on wait for, in words."""
    lines = []
    for node, row, iteration, arrival in waiting[:_REPORTED_NODES]:
        awaited = program.describe_arrival(arrival) if arrival >= 0 else "its step"
        place = f"in {program.describe_row(row)}, iteration {iteration}," if row >= 0 else "at its end"
        lines.append(f"node {node} {place} waits for {awaited}")
    if len(waiting) > _REPORTED_NODES:
        lines.append(f"and {len(waiting) - _REPORTED_NODES} more nodes wait")
    return tuple(lines)


def _trace_lines(tables: Tables, core: "_core.Run") -> bytes:
    """One JSON object a line: node, row (of that node's table), iteration, destination, and the times of the message."""
    first_row = {int(node): int(row) for row, node in reversed(list(enumerate(tables.node.tolist())))}
    lines = []
    for row, iteration, destination, fired, first, complete, usable in sorted(core.trace(), key=lambda record: record[::-1]):
        node = int(tables.node[row])
        entry = {
            "node": node,
            "row": row - first_row[node],
            "iteration": iteration,
            "destination": destination,
            "fired": fired,
            "first_flit": first,
            "last_flit_arrived": complete,
            "usable": usable,
        }
        lines.append(json.dumps(entry) + "\n")
    return "".join(lines).encode()
