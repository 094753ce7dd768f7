"""Cycle-by-cycle simulation of tables or a schedule."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from certree.api.inputs import given
from certree.api.runs.any_timing import with_proof
from certree.api.runs.deadlocks import require_free, require_in_time, require_own_delay
from certree.api.runs.runnable import source_to_run
from certree.api.runs.stated_orders import stated_order
from certree.hw.engines.runs import Options, Run
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.routers.packets import Packets, read_packets
from certree.hw.run import run as run_schedule
from certree.hw.switching import Switched, run_switched
from certree.models.common.errors import InputError
from certree.models.common.extras import provided
from certree.models.machine.clocks import parse_clocks
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables

#: the name of the system that has no endpoints
NO_ENDPOINT = "none"


def simulate(
    source: str | Path | AnySchedule | Tables | SimulatedSchedule,
    *,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    run: str = "slotted",
    engine: str = "auto",
    without_routers: bool = False,
    flow: str = "message",
    background: str | Path | Packets | None = None,
    longest_wait: int | None = None,
    skew: str | None = None,
    drift: str | None = None,
    step_time: str = "paper",
    endpoint: str | None = None,
    endpoint_params: str | Path = "ace",
    computing: str | Fraction = "0",
    trace: str | Path | None = None,
    trace_flits: str | Path | None = None,
    force: bool = False,
    allow_deadlock: bool = False,
    allow_late: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Simulate tables or a schedule cycle by cycle with real data: cycles, contention, and whether every rank has its result.

    A schedule runs as tables, or, where it cannot be exported, from its own transfers. Wrong data, a deadlock or contention does
    not raise; the Run reports it.

    Parameters
    ----------
    source : Tables, schedule, str or path
        Tables, their directory, a schedule or its file.
    size, machine : optional
        By default those of the tables, or what the schedule was made for.
    run : {"slotted", "paced"}
        When rows fire: in their slots, or when the timestep counters of interfaces allow it.
    engine : {"auto", "fast", "lanes", "flit"}
        Event by event, flit by flit without routers, or through routers.
    without_routers, flow, longest_wait, step_time, trace, trace_flits, force, progress
        As in `certree.hw.engines.runs.Options`.
    background : str, path or columns, optional
        Background packets, which need routers.
    skew, drift : str, optional
        The skew and drift of counters: "7" for every node, or "3=100,5=20".
    endpoint : {"none", "ideal", "ace", "baseline", "baseline++"}, optional
        A system whose memory bus, DMAs and engine feed and drain the network interfaces. None: payloads are there when their rows
        fire.
    endpoint_params : str or path
        Its endpoints, a preset or a TOML file, as in `endpoints`.
    computing : str or Fraction
        The share of the memory bandwidth that computing asks for next to the collective, such as "3/5".
    allow_deadlock : bool
        Run routes that may deadlock in the routers of the machine.
    allow_late : bool
        Run schedules that rely on slots (`certree.verify.order`) where messages of a slotted run may be late: by routers that add
        something to lanes, by clocks that differ, by background packets, or by endpoints where iterations share memory.

    Returns
    -------
    Run

    Raises
    ------
    InvalidScheduleError
        For tables that state a delay other than their own (`certree.verify.tables.delay`) or another order of additions, and for
        what is not allowed. Routes that may deadlock are refused with every engine, unless `without_routers`.
    InputError
        For unknown names and unreadable files.
    UnsupportedError
        Where the engine, the machine or the endpoints cannot run the input.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.simulate(ct.synthesize("ring:4", size="1MiB"))
    <Run slotted, fast engine: cycles 49334, closed form 49334, contention 0, late 0, data right>
    """
    taken = source if isinstance(source, SimulatedSchedule) else given(source)
    prepared = taken if isinstance(taken, SimulatedSchedule) else source_to_run(taken, size, machine)
    others = read_packets(Path(background), prepared.topology) if isinstance(background, str | Path) else background
    model = None if endpoint in (None, NO_ENDPOINT) else provided("endpoints of runs")(endpoint, endpoint_params, computing)
    options = Options(
        mode=run,
        engine=engine,
        without_routers=without_routers,
        framing=flow,
        clocks=None if skew is drift is None else parse_clocks(len(prepared.topology.kind), skew, drift),
        step_time=step_time,
        others=others,
        longest_wait=longest_wait,
        trace=None if trace is None else Path(trace),
        trace_flits=None if trace_flits is None else Path(trace_flits),
        force=force,
        progress=progress,
        endpoint=model,
    )
    if isinstance(prepared, Tables):
        require_own_delay(prepared)
    if not (without_routers or allow_deadlock):
        require_free(prepared, others)
    if not allow_late:
        require_in_time(prepared, options)
    order = stated_order(prepared, options, is_given=prepared is taken)
    stated = replace(with_proof(prepared, options), stated_order=order)
    is_plain = model is None and not stated.has_one_trace
    return run_schedule(prepared, stated) if is_plain else provided("runs with endpoints")(prepared, stated)


def simulate_switch(
    before: str | Path | Tables,
    after: str | Path | Tables,
    *,
    engine: str = "auto",
    without_routers: bool = False,
    skew: str | None = None,
    drift: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Switched:
    """Simulate tables, all their iterations, and then others that take over at the end of the last one, without a reset in between.

    Parameters
    ----------
    before, after : Tables, str or path
        Tables with epochs that follow each other (`export`), for one network and machine, or their directories.
    engine, without_routers, skew, drift, progress
        As in `simulate`.

    Returns
    -------
    Switched
        Messages that reach an interface while it executes the other tables do not raise; `mixed` names them.

    Raises
    ------
    InputError
        For other tables.
    InvalidScheduleError
        As `simulate`.

    Examples
    --------
    >>> import certree.api as ct
    >>> ring = ct.synthesize("ring:4", size="1MiB")
    >>> old, new = (ct.export(ring, "readmemh", f"epoch{epoch}", epoch=epoch) for epoch in (1, 2))
    >>> ct.simulate_switch(old, new)
    <Switched switch of tables, fast and fast engine: new tables 51908, cycles 101242, mixed epochs 0, data right>
    """
    first, second = (_ready_tables(source, without_routers=without_routers) for source in (before, after))
    options = Options(
        engine=engine,
        without_routers=without_routers,
        clocks=None if skew is drift is None else parse_clocks(len(first.topology.kind), skew, drift),
        progress=progress,
    )
    for tables in (first, second):
        require_in_time(tables, options)
        stated_order(tables, options, is_given=True)
    return run_switched(first, second, options)


def _ready_tables(source: str | Path | Tables, *, without_routers: bool) -> Tables:
    """Tables that `simulate` would run."""
    tables = source_to_run(source)
    if not isinstance(tables, Tables):
        raise InputError("only tables can take over from tables; export the schedule first")
    require_own_delay(tables)
    if not without_routers:
        require_free(tables)
    return tables
