"""Runs of schedules: selection of the engine, and whether the result is exact."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certree.hw.engines.core_program import first_cells, first_wrong, initial_cells
from certree.hw.engines.engine import RowEngine
from certree.hw.engines.flit import FlitEngine
from certree.hw.engines.lane_engines import LaneEngine
from certree.hw.engines.router_transparency import meeting_effect, router_effect
from certree.hw.engines.runs import Engine, Options, Run
from certree.hw.engines.schedule_run import SimulatedSchedule, parts
from certree.hw.engines.table_framing import framed
from certree.hw.engines.table_rows import NotPacedError
from certree.hw.routers.flit_trace import write_flit_trace
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import check_writable
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.tables.tables import Tables

#: transfers of one iteration up to which tables are written and read back before they run; beyond, that takes longer than the run
MOST_THROUGH_FILES = 100_000
_PLAIN = Options()
_COUNTERS = ("cycles", "contention_cycles", "late", "flit_hops", "messages", "out_of_order", "busiest_lane_cycles")


def run(
    source: Tables | SimulatedSchedule | AnySchedule,
    options: Options = _PLAIN,
    *,
    message_bytes: int | None = None,
    machine: Machine | None = None,
) -> Run:
    """Run tables, or a schedule, cycle by cycle (`docs/reference/tables.md`), one integer of data per rank and chunk.

    A schedule runs as `tables_or_plan` gives it, for `message_bytes` on `machine`, by default for what it was made for. With engine
    "auto" the cycles are those of the machine with its routers: the run is on lanes where routers add nothing to it, known from the
    network and the machine before the run and from the waits after it, and through routers elsewhere.

    Raises InputError for unknown names, TableFormatError for malformed tables, UnsupportedError for what the machine cannot run,
    and for engine "fast" where routers may add something. Time and memory as LaneEngine or FlitEngine.
    """
    prepared = source if isinstance(source, Tables | SimulatedSchedule) else _prepared(source, message_bytes, machine)
    if options.mode == "paced":
        prepared = _without_waits(prepared)
    for path in (options.trace, options.trace_flits):
        if path is not None:
            check_writable(path, force=options.force)
    try:
        return _run_whole(prepared, options)
    except NotPacedError as error:
        if not _may_be_cut(options):
            raise
        try:
            return _run_parts(prepared, options)
        except UnsupportedError:
            raise error from None


def _without_waits(source: Tables | SimulatedSchedule) -> Tables | SimulatedSchedule:
    """The source without planned waits, which are for slots only: in paced runs messages wait for links as needed."""
    if not source.schedule.plans_waits:
        return source
    if isinstance(source, Tables):
        return replace(source, waits=None)
    return replace(source, schedule=replace(source.schedule, waits=None))


def tables_or_plan(
    schedule: AnySchedule, message_bytes: int, machine: Machine, *, files: bool = True
) -> Tables | SimulatedSchedule:
    """The program to run for a schedule: its tables, exported to a temporary directory and read back, so that the exported files
    are what runs; or, where tables cannot represent it, a plan of its own transfers, with the reason. Without files where `files`
    is false, or where one iteration has more than MOST_THROUGH_FILES transfers. UnsupportedError for a symmetric schedule that is
    too large to be written out, and for a schedule of version 2."""
    whole = written_out(schedule)
    try:
        if files and whole.transfers <= MOST_THROUGH_FILES:
            return through_files(whole, message_bytes, machine)
        return lower(whole, message_bytes, machine)
    except UnsupportedError as error:
        if whole.has_sizes or (whole.has_fine_slots and not whole.uses_switches):
            raise  # such schedules run from tables only
        return SimulatedSchedule.of(whole, message_bytes, machine, no_tables=str(error))


def through_files(schedule: AnySchedule, message_bytes: int, machine: Machine) -> Tables:
    """The schedule's tables, exported to a temporary directory and read back; UnsupportedError where it has none."""
    tables = lower(written_out(schedule), message_bytes, machine)
    with tempfile.TemporaryDirectory(prefix="certree-") as folder:
        export_tables(tables, Path(folder) / "tables")
        return read_tables(Path(folder) / "tables")


def _prepared(schedule: AnySchedule, message_bytes: int | None, machine: Machine | None) -> Tables | SimulatedSchedule:
    known = schedule.made_for
    if known is not None:
        message_bytes, machine = known.message_bytes if message_bytes is None else message_bytes, machine or known.machine
    if message_bytes is None or machine is None:
        raise InputError("the schedule does not record what it was made for: message_bytes and machine are needed")
    return tables_or_plan(schedule, message_bytes, machine)


@dataclass(frozen=True)
class _Ended:
    """A finished run on one engine, and the effect that routers may have on it."""

    engine: RowEngine
    counters: Mapping[str, int]
    deadlock: tuple[str, ...]
    router_effect: str | None


def _ended(source: Tables | SimulatedSchedule, options: Options, cells: Callable[[], NDArray[np.uint64]]) -> _Ended:
    """Run on the named engine, or on one that is exact; `cells` makes the initial data, once per attempt."""

    def on(engine: RowEngine, effect: str | None) -> _Ended:
        counters = engine.run(options.progress)
        return _Ended(engine, counters, engine.deadlock(), effect)

    in_time = _is_in_time(options)
    effect = router_effect(source, options.framing, in_time=in_time)
    if not options.needs_routers:
        if effect is None or options.leaves_routers_out:
            ended = on(LaneEngine(source, options, cells()), effect)
            waited = ended.counters["contention_cycles"], ended.counters["late"] + (options.endpoint is not None)
            effect = effect or meeting_effect(source, options.mode, *waited, options.clocks)
            if effect is None or options.leaves_routers_out:
                return replace(ended, router_effect=effect)
        if options.engine == Engine.FAST:
            raise UnsupportedError(f"the fast engine is not exact with these routers: {effect}; the flit engine has them")
    return on(FlitEngine(source, options, cells()), effect)


def _is_in_time(options: Options) -> bool:
    """Whether rows fire, and messages start, when their slots open."""
    return options.mode == "slotted" and (options.clocks is None or options.clocks.are_equal) and options.endpoint is None


def _run_whole(source: Tables | SimulatedSchedule, options: Options) -> Run:
    ended = _ended(source, options, lambda: first_cells(framed(source, options.framing)))
    engine = ended.engine
    if options.trace is not None:
        engine.write_trace(options.trace, force=options.force)
    if options.trace_flits is not None and isinstance(engine, FlitEngine):
        write_flit_trace(options.trace_flits, engine.network, engine.core, chunks=engine.rows.sent["chunk"], force=options.force)
    if options.observer is not None:
        options.observer(engine)
    shown = _shown(engine.source, options, [ended])
    return replace(
        shown,
        closed_form_cycles=engine.closed_form() if _is_in_time(options) else None,
        starved=engine.starved(),
        others=None if options.others is None else engine.other_traffic(),
    )


def _may_be_cut(options: Options) -> bool:
    needs_one_run = (
        options.clocks,
        options.trace,
        options.trace_flits,
        options.others,
        options.longest_wait,
        options.observer,
        options.endpoint,
    )
    return options.in_parts and all(option is None for option in needs_one_run)


def _run_parts(plan: Tables | SimulatedSchedule, options: Options) -> Run:
    """Run each part of a schedule on the data that the previous part left. `cycles` are from the start of the first to the last
    arrival of the last, the barriers between them taking no time."""
    cells, ended = initial_cells(len(plan.topology.kind), plan.chunks), []
    for tables in parts(plan.schedule, plan.message_bytes, plan.machine):
        ended.append(_ended(tables, options, cells.copy))
        cells = ended[-1].engine.cells
        if ended[-1].deadlock:
            break
    shown = _shown(plan, options, ended)
    return replace(shown, source="tables", no_tables=None, parts=len(ended))


def _shown(source: Tables | SimulatedSchedule, options: Options, ended: Sequence[_Ended]) -> Run:
    """The counters of all parts, the data after the last one, and the engine with routers if any part needs it."""
    total = {name: sum(one.counters[name] for one in ended) for name in _COUNTERS}
    wrong, deadlock = first_wrong(source, ended[-1].engine.cells), ended[-1].deadlock
    names = [one.engine.name for one in ended]
    busiest = Fraction(total["busiest_lane_cycles"], max(1, total["cycles"]))
    return Run(
        mode=options.mode,
        engine=Engine.FLIT if Engine.FLIT in names else names[0],
        source="tables" if isinstance(source, Tables) else "schedule",
        cycles=total["cycles"],
        closed_form_cycles=None,
        contention_cycles=total["contention_cycles"],
        late=total["late"],
        data_ok=wrong is None and not deadlock,
        wrong=wrong,
        max_link_utilization=busiest if len(ended) == 1 else None,
        flit_hops=total["flit_hops"],
        messages=total["messages"],
        deadlock=deadlock,
        router_effect=next((one.router_effect for one in ended if one.router_effect is not None), None),
        no_tables=source.no_tables if isinstance(source, SimulatedSchedule) else None,
        stated_order=options.stated_order,
        order_faults=tuple(words for one in ended for words in one.engine.order_faults()),
        out_of_order=total["out_of_order"],
        endpoint=ended[-1].engine.endpoint_use(ended[-1].counters),
    )
