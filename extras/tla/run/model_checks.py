"""Model checking with TLC and z3: the TLA+ models, the tables of a schedule, and traces of runs."""

from collections.abc import Callable, Sequence
from pathlib import Path

from certree.api import parsing
from certree.api.runs.deadlocks import require_free, require_in_time
from certree.api.runs.runnable import made_tables, source_to_run, tables_to_run
from certree.api.settings import Tell, machine_for, silent
from certree.extras.tla.check import models
from certree.extras.tla.check.model_file import ListedTables
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.paced.paced_model import model_check_paced
from certree.extras.tla.check.routers.model import model_check_routers
from certree.extras.tla.check.routers.sent_messages import Sent
from certree.extras.tla.check.table_model import model_check_tables
from certree.extras.tla.check.traces.interfaces import RUNS, check_trace
from certree.extras.tla.check.traces.router_trace_check import check_injected_flits, check_schedule_flits
from certree.extras.tla.run.schedule_kinds import ScheduleKind, added_schedule
from certree.extras.tla.run.trace_kinds import Asked, added_kind
from certree.hw.engines.runs import Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.table_framing import framed
from certree.models.common.errors import InputError, ToolMissingError, short
from certree.models.machine.clocks import parse_clocks
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.schedule.timing import FRAMINGS
from certree.models.tables.tables import Tables
from certree.models.traces.flits import is_flit_trace, load_flit_trace

#: seconds for the tables of a schedule or a trace, without and with `full`
TIME_LIMITS = (300.0, 3600.0)


def model_check(
    names: str | Sequence[str] = (),
    *,
    schedule: str | Path | AnySchedule | Tables | None = None,
    trace: str | Path | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    run: str | None = None,
    skew: str | None = None,
    drift: str | None = None,
    window: int | None = None,
    aggregators: int | None = None,
    endpoint_params: str | None = None,
    flow: str = "message",
    routers: bool = False,
    symbolic: bool = False,
    full: bool = False,
    progress: Callable[[ModelResult, int, int], None] | None = None,
    tell: Tell = silent,
) -> list[ModelResult]:
    """Check the TLA+ models and tables with these names (all small ones by default), or a schedule or trace, with TLC.

    A schedule whose routes may deadlock in the routers of the machine, or whose messages may be late there though it relies on
    slots, raises InvalidScheduleError: the specification of tables has no routers. With `routers` TLC decides instead. A refuted
    model does not raise: see `result` and `as_expected` of each ModelResult.

    Parameters
    ----------
    names : str
        Models and tables that are listed, or, for a trace of `aggregate`, `endpoints` or `inject`, the network or schedule file
        that ran (optional for `endpoints`).
    schedule : schedule, str or path, optional
        Check its tables, for `size` on `machine` as in `simulate`, with chunks framed as `flow`. A joint schedule is checked with
        its own sizes and machine: see `model_check_joint`.
    trace : str or path, optional
        Check whether that run is a behaviour of the specification. A trace of `simulate` needs the `schedule` that ran, and `run`,
        `skew` and `drift` as they were given to `simulate`; a trace of flits (`trace_flits`) the `schedule`, or, of `inject`, the
        network as name, and the `machine`.
    size, machine
        As in `simulate`.
    run : {"slotted", "paced"}
        "paced": the tables must be right whatever the times of messages and counters. Of a trace, the mode of the run.
    skew, drift
        Those of the run that was traced.
    window, aggregators : int, optional
        By default those of the trace.
    endpoint_params : optional
        By default those of ACE.
    flow : {"message", "packet"}
        The framing of chunks.
    routers : bool
        Check whether the messages of the `schedule` can deadlock in the routers of the machine, at any timing.
    symbolic : bool
        Instead, prove with z3 that tables are correct at any size, slotted or, with `run`, paced at any timing.
    full : bool
        Include the large models, and allow an hour for a schedule instead of five minutes.
    progress : callable, optional
        Receives each listed model when it is done, the number done and the number of all.
    tell : callable
        As in `setting`.

    Returns
    -------
    list of ModelResult

    Raises
    ------
    InputError
        For unknown names and unreadable files.
    InvalidScheduleError
        For a schedule that routers may spoil.
    UnsupportedError
        For tables without a model.
    ToolMissingError
        Without Java or TLC.

    Examples
    --------
    >>> import certree.api as ct
    >>> [(str(one.result), one.as_expected) for one in ct.model_check("MCAllReduceUnfair")]
    [('liveness', True)]
    """
    named = [names] if isinstance(names, str) else list(names)
    limit = TIME_LIMITS[full]
    if (skew is not None or drift is not None) and (trace is None or schedule is None):
        raise InputError("skew and drift are those of a traced run; they need its trace and schedule")
    if routers and (schedule is None or trace is not None):
        raise InputError("routers: it is about the messages of a schedule, without a trace")
    if symbolic:
        try:
            from certree.extras.tla.check.symbolic.invariant import check_invariant
        except ModuleNotFoundError as error:
            raise ToolMissingError(f"symbolic proofs need {error.name}: pip install 'certree[smt]'") from None

        return check_invariant(progress, run or RUNS[0])
    if schedule is not None:
        if not routers and (added := added_schedule(schedule)) is not None:
            _refuse_options(added, size=size, machine=machine, run=run, flow=flow, trace=trace)
            return [added.check(schedule, limit, tell)]
        if routers:
            return [model_check_routers(sent_by(source_to_run(schedule, size, machine, tell)), flow, limit)]
        given = tables_to_run(schedule, size, machine, tell)
        if trace is not None and is_flit_trace(Path(trace)):
            return [check_schedule_flits(load_flit_trace(Path(trace)), given, flow, Path(trace), time_limit=limit)]
        require_free(given)
        require_in_time(given, Options(framing=flow, mode=run or RUNS[0]))
        tables = framed(given, flow)
        if trace is None:
            return [(model_check_paced if run == "paced" else model_check_tables)(tables, limit)]
        clocks = parse_clocks(len(tables.topology.kind), skew, drift)
        return [check_trace(tables, Path(trace), run or RUNS[0], limit, clocks=clocks)]
    if trace is None:
        return models.model_check(named or None, full, progress, _listed_tables)
    if is_flit_trace(Path(trace)) and len(named) == 1:
        topology = parsing.topology(named[0])
        on = machine_for(topology, machine)
        return [check_injected_flits(load_flit_trace(Path(trace)), topology, on, Path(trace), time_limit=limit)]
    if (kind := added_kind(Path(trace))) is not None and len(named) in kind.takes.names:
        return kind.check(Asked(Path(trace), named, size, machine, window, aggregators, limit, tell, endpoint_params, run))
    raise InputError(
        f"{trace}: a trace of simulate needs the schedule that ran, one of aggregate or inject the one network or schedule"
    )


def _refuse_options(kind: ScheduleKind, **given: object) -> None:
    """Raise InputError for what a schedule of this kind states itself: all but `run` slotted and `flow` message."""
    allowed = {"run": RUNS[0], "flow": FRAMINGS[0]}
    for name, value in given.items():
        if value in (None, allowed.get(name)):
            continue
        if name in kind.states:
            raise InputError(f"{name}: not for {kind.words}, {kind.states[name]}")
        if name in allowed:
            raise InputError(f"{name} is {short(value)}; allowed for {kind.words}: {allowed[name]}")
        raise InputError(f"{name}: not for {kind.words}")


def _listed_tables(entry: ListedTables) -> Tables:
    return made_tables(entry.topology, entry.collective, entry.method, entry.message_bytes)


def sent_by(source: Tables | SimulatedSchedule) -> Sent:
    """The messages of tables, or of the transfers of a schedule without any."""
    if isinstance(source, Tables):
        return Sent.of_tables(source)
    return Sent.of_schedule(source.schedule, source.machine, source.chunk_bytes)
