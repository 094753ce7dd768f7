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

    `before` and `after`: tables directories or tables with epochs that follow each other (`export`), for one network and machine.
    The other parameters are those of `simulate`. Raises InputError for other tables, InvalidScheduleError as `simulate`.
    Messages that reach an interface while it executes the other tables do not raise; the result names them (`mixed`).

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
