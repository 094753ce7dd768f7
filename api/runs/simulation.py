"""Cycle-by-cycle simulation of tables or a schedule."""

from collections.abc import Callable
from pathlib import Path

from certree.api.runnable import source_to_run
from certree.api.runs.deadlocks import require_free, require_own_delay
from certree.hw.engines.clocks import parse_clocks
from certree.hw.engines.runs import Options, Run
from certree.hw.engines.schedule_run import Plan
from certree.hw.routers.packets import Packets, read_packets
from certree.hw.run import run as run_schedule
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric import AnySchedule
from certree.models.tables import Tables


def simulate(
    source: str | Path | AnySchedule | Tables | Plan,
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
    trace: str | Path | None = None,
    force: bool = False,
    allow_deadlock: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Simulate tables or a schedule cycle by cycle with real data: cycles, contention, and whether every rank has its result.

    `source`: tables, their directory, a schedule or its file. A schedule runs as tables, or, where it cannot be exported, from its
    own transfers. `size` and `machine` are by default those of the tables, or what the schedule was made for. `run` ("slotted" or
    "paced"), `engine` ("auto", "fast", "lanes" or "flit"), `without_routers`, `flow` ("message" or "packet"), `longest_wait`,
    `step_time`, `trace`, `force` and `progress`: see `certree.hw.engines.runs.Options`. `background`: background packets, a
    CSV file or columns, which need routers. `skew` and `drift` of counters: "7" for every node, or "3=100,5=20".

    Tables that state a delay other than their own (`certree.verify.tables.delay`) raise InvalidScheduleError.
    Routes that may deadlock in the routers of the machine raise InvalidScheduleError with every engine, unless `without_routers` or
    `allow_deadlock`, which runs them to see. Wrong data, a deadlock or contention does not raise; the Run reports it. Raises
    InputError for unknown names and unreadable
    files, UnsupportedError where the engine or the machine cannot run the input.

    >>> import certree.api as ct
    >>> ct.simulate(ct.synthesize("ring:4", size="1MiB"))
    <Run slotted, fast engine: cycles 49334, closed form 49334, contention 0, late 0, data right>
    """
    prepared = source if isinstance(source, Plan) else source_to_run(source, size, machine)
    others = read_packets(Path(background), prepared.topology) if isinstance(background, str | Path) else background
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
        force=force,
        progress=progress,
    )
    if isinstance(prepared, Tables):
        require_own_delay(prepared)
    if not (without_routers or allow_deadlock):
        require_free(prepared, flow, others)
    return run_schedule(prepared, options)
