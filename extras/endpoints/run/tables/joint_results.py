"""Runs of tables on the joint machine as results of `endpoints`, or why there are none."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from certree.api.api_errors import InvalidScheduleError
from certree.extras.endpoints.model.endpoint import Endpoint, Runs, System
from certree.extras.endpoints.run.endpoint_program import Payload
from certree.extras.endpoints.run.endpoint_run import EndpointResult
from certree.extras.endpoints.run.tables.iterations import TAKES
from certree.extras.endpoints.run.tables.joint_machine import chunks_of, run_joint
from certree.extras.endpoints.run.tables.together import run_together
from certree.hw.engines.runs import Run
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.paths import far_hops
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import ceil_div
from certree.models.tables.tables import Tables

#: flits times links, up to which tables run through routers where nobody asked for them: seconds for each run, of which `ideal`
#: takes several, and about a minute for all systems of ACE. The default size of `endpoints` is below it on `ace-torus:4x2x2`, 4x4x1
#: and 8x2x1 and `ace-alltoall:4x4` and 2x8, all-reduce and all-to-all; not the all-to-all of 8x2, nor the all-reduce of 1x16
MOST_HOPS = 1 << 25
#: the same without routers, where these are messages alone, OF_MESSAGE for each link of one
MOST_HOPS_OF_LANES = 1 << 24
#: flits more for each message on a link: a message costs a run more than its flits do
OF_MESSAGE = 4


def results_of_tables(
    tables: Tables,
    endpoint: Endpoint,
    systems: Sequence[System],
    progress: Callable[[int], None] | None,
    *,
    start: int = 0,
    without_routers: bool = False,
) -> tuple[EndpointResult, ...]:
    """The results of all systems with `joint_tables`, asked for in cycle `start`. UnsupportedError where one of them has no run of
    tables."""

    def alone(system: System) -> EndpointResult:
        run = run_joint(tables, endpoint, system, start=start, progress=progress, without_routers=without_routers)
        return _result(run, tables, endpoint, system)

    return _of_all(systems, alone)


def results_together(
    schedule: Schedule,
    endpoint: Endpoint,
    systems: Sequence[System],
    payloads: Sequence[Payload],
    progress: Callable[[int], None] | None,
    *,
    lifo: bool = False,
    without_routers: bool = False,
) -> tuple[EndpointResult, ...]:
    """The results of all systems with several collectives in one run (`run_together`). UnsupportedError where one has no run."""

    def together(system: System) -> EndpointResult:
        done = run_together(schedule, endpoint, system, payloads, lifo=lifo, without_routers=without_routers, progress=progress)
        return _result(done.run, done.tables, endpoint, system, done.ends)

    return _of_all(systems, together)


def _of_all(systems: Sequence[System], result: Callable[[System], EndpointResult]) -> tuple[EndpointResult, ...]:
    """The results of all systems; UnsupportedError where tables of one are invalid."""
    try:
        return tuple(result(system) for system in systems)
    except InvalidScheduleError as error:
        raise UnsupportedError(str(error)) from None


def hops_of(tables: Tables, endpoint: Endpoint, systems: Sequence[System], *, without_routers: bool = False) -> int:
    """Flits times links of a run of `joint_tables`, and OF_MESSAGE more for each message, with the chunks that `run_joint` tries;
    these are padded to whole flits, so that the shortest of them have the most. On lanes alone flits take no time to simulate, and
    only messages count. O(rows log rows)."""
    one, size = TAKES.lowered(tables.schedule), tables.message_bytes
    chunk = min(size, *(bytes_ for system in systems for bytes_ in chunks_of(endpoint, system)))
    flits = 0 if without_routers else ceil_div(chunk, one.message_chunks * tables.machine.flit_bytes)
    return len(far_hops(one)[0]) * (flits + OF_MESSAGE) * ceil_div(size, chunk)


def too_long(hops: int, *, without_routers: bool = False) -> str | None:
    """Why runs of `hops_of` many hops would take long, None where they would not."""
    most = MOST_HOPS_OF_LANES if without_routers else MOST_HOPS
    if hops <= most:
        return None
    if without_routers:
        return f"{hops // OF_MESSAGE:,} messages on links take long in tables, which run unasked up to {most // OF_MESSAGE:,}"
    return (
        f"{hops:,} flits on links take long through routers, which run unasked up to {most:,}, a message counted as {OF_MESSAGE} "
        "flits more"
    )


def why_lanes(every: Sequence[Tables], endpoint: Endpoint, systems: Sequence[System]) -> str | None:
    """Why runs of all these `joint_tables` go on lanes alone where nobody asked for them: through routers they take long; None
    where they do not. UnsupportedError where they take long on lanes, too."""
    through, lanes = (
        too_long(sum(hops_of(one, endpoint, systems, without_routers=alone) for one in every), without_routers=alone)
        for alone in (False, True)
    )
    if through is not None and lanes is not None:
        raise UnsupportedError(lanes)
    return through


def _result(run: Run, tables: Tables, endpoint: Endpoint, system: System, ends: tuple[int, ...] | None = None) -> EndpointResult:
    used, clock = run.endpoint, endpoint.interface.clock_hertz
    assert used is not None
    seconds, chunks = run.cycles / clock, used.counts["iterations"]
    is_engine, nodes = system.runs is Runs.ENGINE, len(tables.topology.endpoints)
    links = {} if run.max_link_utilization is None else {"busiest_link": run.max_link_utilization}
    watts = endpoint.watts if is_engine else Fraction(0)
    return EndpointResult(
        system=system.name,
        cycles=run.cycles,
        ends=(run.cycles,) if ends is None else ends,
        seconds=seconds,
        data_ok=run.data_ok,
        wrong=None if run.wrong is None else (run.wrong[0], run.wrong[1], 0),
        conserved=not run.deadlock,
        stall=run.deadlock,
        chunks=chunks,
        chunk_bytes=ceil_div(tables.message_bytes, chunks),
        padded_bytes=None,
        messages=run.messages,
        phases=None,
        partitions=(),
        partition_peaks=(),
        deepest_port=None,
        interrupts=None,
        memory_bytes=used.counts["memory_bytes"],
        link_bytes=None,
        occupancy=dict(used.occupancy) | links,
        delays=dict(used.delays),
        joules=watts * seconds * nodes,
        tables=run,
    )
