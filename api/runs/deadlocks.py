"""Requirements before a run: freedom of deadlock in routers, messages in time, and the delay that tables state."""

from pathlib import Path

from certree.api import parsing
from certree.api.api_errors import InvalidScheduleError
from certree.api.inputs import given, schedule_of
from certree.api.runs.any_timing import race_of_run, with_proof
from certree.api.settings import machine_for, setting
from certree.hw.engines.router_transparency import router_effect
from certree.hw.engines.runs import Options, Run
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.routers.packets import Packets, check_packets, read_packets
from certree.hw.run import run
from certree.models.fine.fine_tolerance import tolerates_clocks
from certree.models.machine.clocks import Clocks
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.verify.deadlock.deadlock_verdicts import report_deadlock
from certree.verify.deadlock.freedom import (
    Freedom,
    deadlock_of_packets,
    deadlock_of_run,
    deadlock_of_schedule,
    deadlock_of_tables,
)
from certree.verify.order.agreement import report_late
from certree.verify.tables.delay import delay_verdict
from certree.verify.verdict import Findings


def deadlock(
    source: str | Path | AnySchedule | Tables | Topology,
    *,
    packets: str | Path | Packets | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    flow: str | None = None,
) -> Freedom:
    """Whether messages or packets can deadlock in the routers of a machine, at any timing, with evidence.

    Parameters
    ----------
    source : schedule, Tables, Topology, str or path
        Tables, their directory, a schedule or its file, or a network for `packets`.
    packets : str, path or columns, optional
        Packets whose routes the routers choose, in a CSV file or columns, as in `inject`.
    size, machine : optional
        As in `verify`; tables have their own.
    flow : {"message", "packet"}, optional
        The framing of chunks; None: either.

    Returns
    -------
    Freedom
        `free`, and `numbering`, a certificate that `fault` checks again, or `cycle`, packets that may wait for each other;
        `document()` is its JSON form.

    Raises
    ------
    InputError
        For unreadable input.
    UnsupportedError
        For routes with more virtual channels than the machine has.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.deadlock(ct.synthesize("fattree:2x2", method="direct", size="1MiB")).free
    True
    """
    if packets is not None:
        topology = parsing.topology(source)  # type: ignore[arg-type]
        rows = read_packets(Path(packets), topology) if isinstance(packets, str | Path) else packets
        return deadlock_of(topology, machine_for(topology, machine), rows)
    taken = given(source)  # type: ignore[arg-type]
    if isinstance(taken, Tables) and size is None and machine is None:
        return deadlock_of_tables(taken, flow)
    schedule = schedule_of(taken)
    used = setting(schedule, size, machine)
    return deadlock_of_schedule(schedule, used.machine, used.message_bytes, flow)


def deadlock_of(topology: Topology, machine: Machine, packets: Packets) -> Freedom:
    """The result of `deadlock` for packets."""
    check_packets(packets, topology)
    return deadlock_of_packets(topology, machine, packets.src, packets.dst, packets.flits)


def require_free(source: Tables | SimulatedSchedule, others: Packets | None = None) -> None:
    """Raise InvalidScheduleError where the messages of a run, with the packets next to them, may deadlock, in either framing."""
    if others is None:
        answer = (
            deadlock_of_tables(source)
            if isinstance(source, Tables)
            else deadlock_of_schedule(source.schedule, source.machine, source.message_bytes)
        )
    else:
        check_packets(others, source.topology)
        answer = deadlock_of_run(source.schedule, source.machine, source.chunk_bytes, None, (others.src, others.dst, others.flits))
    findings = Findings()
    report_deadlock(answer, findings)
    if findings.rules:
        raise InvalidScheduleError(source.schedule, findings.verdict())


def run_free(source: Tables | SimulatedSchedule, options: Options) -> Run:
    """The run of a source that cannot deadlock in the routers of the machine (`require_free`, not checked without routers)."""
    if not options.without_routers:
        require_free(source)
    return run(source, with_proof(source, options))


def require_in_time(source: Tables | SimulatedSchedule, options: Options) -> None:
    """Raise InvalidScheduleError where messages of a slotted run may be late, and only slots keep them in order."""
    if options.mode != "slotted":
        return
    why, clocks = None, options.clocks
    differ = clocks is not None and not clocks.are_equal
    if clocks is not None and differ and not _has_guards(source, clocks):
        why = "clocks differ"
    elif options.endpoint is not None:
        why = "endpoints take time"
    elif options.others is not None:
        why = "other packets share the routers"
    elif not options.without_routers:
        why = router_effect(source, options.framing, in_time=not differ)
    if why is None:
        return
    findings = Findings()
    race = race_of_run(source, options)
    report_late(race, source.schedule, why, findings)
    if findings.rules:
        raise InvalidScheduleError(source.schedule, findings.verdict())


def _has_guards(source: Tables | SimulatedSchedule, clocks: Clocks) -> bool:
    """Whether fine slots leave as much time as these clocks differ."""
    if not source.schedule.has_fine_slots:
        return False
    skew, drift = max(clocks.skew) - min(clocks.skew), max(map(abs, clocks.drift))
    return tolerates_clocks(source.schedule, skew, drift)


def require_own_delay(tables: Tables) -> None:
    """Raise InvalidScheduleError for tables that state a delay other than their own: a run would not show it."""
    verdict = delay_verdict(tables)
    if verdict is not None:
        raise InvalidScheduleError(tables.schedule, verdict)
