"""The machine that parameters of endpoints describe, for runs of tables, and collectives that run there."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from certree.extras.endpoints.model.endpoint import Endpoint, System
from certree.extras.endpoints.model.named_system import Cut
from certree.extras.endpoints.run.endpoint_program import PhysicalLinks
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import run_with_endpoints
from certree.hw.engines.runs import Options, Run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables

ROUTERS = "multitree"  # the preset with routers and interfaces, of which parameters of endpoints say nothing
#: by how much bytes per cycle in tables, which are whole ones on each lane, may differ from those of the parameters
MOST_ROUNDED = Fraction(3, 100)  # 3 %, in messages


def joint_machine(endpoint: Endpoint) -> Machine:
    """Links between packages of these parameters, a flit each cycle, with the routers and interfaces of preset ROUTERS.

    A flit has the bytes of a cycle, rounded to whole ones; what heads of packets cost is in the efficiency of links.
    UnsupportedError for links of less than a byte in a cycle, for those whose bytes per cycle rounding changes by more than
    MOST_ROUNDED, and for clocks of no whole number of cycles a second.
    """
    clock, link = endpoint.interface.clock_hertz, endpoint.inter_package
    rate = link.bytes_per_second * link.efficiency / clock
    if clock.denominator != 1 or rate < 1:
        raise UnsupportedError(
            f"endpoints {endpoint.name} have {clock} cycles a second and links of {rate} bytes a cycle; tables need whole cycles a "
            "second and a byte a cycle or more"
        )
    if abs(round(rate) - rate) > MOST_ROUNDED * rate:
        raise UnsupportedError(
            f"endpoints {endpoint.name} have links of {float(rate):.3f} bytes a cycle; tables take whole bytes a cycle, and "
            f"{round(rate)} is more than 3 % off"
        )
    return replace(
        load_machine(ROUTERS), name=f"{endpoint.name}-joint", clock_hz=int(clock), flit_bytes=round(rate), head_flits=0,
        link_latency_cycles=link.latency_cycles, packet_payload_bytes=endpoint.interface.packet_bytes,
    )  # fmt: skip


def require_links(topology: Topology, endpoint: Endpoint, machine: Machine) -> None:
    """Raise UnsupportedError where links of the network are faster in tables than by the parameters of links in packages.

    In tables each pair of neighbours has as many lanes of `machine` as its capacity says; `endpoints` gives links in packages as
    few lanes as their rate allows. Fewer and faster ones are taken: tables are then the slower ones. O(pairs).
    """
    links, flit = PhysicalLinks(topology, endpoint), machine.flit_bytes
    for capacity, rate, lanes in zip(topology.pair_capacity.tolist(), links.rate, links.lanes, strict=True):
        speed = Fraction(capacity) / topology.scale * flit
        if abs(speed - rate * lanes) > MOST_ROUNDED * rate * lanes or min(Fraction(flit), speed) > (1 + MOST_ROUNDED) * rate:
            raise UnsupportedError(
                f"endpoints {endpoint.name} have links of {lanes} times {float(rate):.3f} bytes a cycle where tables have {speed}, "
                f"{flit} on each lane"
            )


def joint_tables(schedule: Schedule, endpoint: Endpoint, size: int) -> Tables:
    """The tables of a schedule for a message of that many bytes on `joint_machine`, for `run_joint` with any of the systems.

    Errors as `joint_machine`, `require_links` and `lower`. O(rows log rows)."""
    machine = joint_machine(endpoint)
    require_links(schedule.topology, endpoint, machine)
    return lower(schedule, size, machine)


def run_joint(
    tables: Tables,
    endpoint: Endpoint,
    system: System,
    *,
    without_routers: bool = False,
    chunk: int | None = None,
    start: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """`joint_tables` run by the endpoints of a system, paced, in chunks of the system's bytes, or of `chunk`, which are padded to
    whole flits, so that there are as many as `endpoints` has; a system that bounds another one takes the chunks of any other
    system where these are faster, or next to `chunk` those of the one that it bounds. `start`: the cycle in which all nodes ask for
    the collective; nothing happens before.

    Errors as `simulate`.
    """
    runs = []
    for one in sorted(chunks_of(endpoint, system, chunk)):
        model = TableEndpoints(endpoint, system, Fraction(0), cut=Cut(min(tables.message_bytes, one), pads=True))
        options = Options("paced", without_routers=without_routers, endpoint=model, progress=progress)
        runs.append(run_with_endpoints(tables, options))
    return _later(min(runs, key=lambda run: run.cycles), start)


def _later(run: Run, start: int) -> Run:
    """A run that is as many cycles later as a whole; its shares are of all cycles."""
    used, links, share = run.endpoint, run.max_link_utilization, Fraction(run.cycles, max(1, run.cycles + start))
    if not start or used is None:
        return run
    counts = dict(used.counts) | {"bound_cycles": used.counts["bound_cycles"] + start}
    occupancy = {name: busy * share for name, busy in used.occupancy.items()}
    moved = replace(used, usable_cycles=used.usable_cycles + start, counts=counts, occupancy=occupancy)
    return replace(run, cycles=run.cycles + start, endpoint=moved, max_link_utilization=None if links is None else links * share)


def chunks_of(endpoint: Endpoint, system: System, chunk: int | None = None) -> set[int]:
    """Bytes of the chunks that `run_joint` tries for a system."""
    if system.bounds is None:
        return {chunk or system.chunk_bytes}
    if chunk is not None:
        return {chunk, endpoint.system(system.bounds).chunk_bytes}
    return {system.chunk_bytes, *(other.chunk_bytes for other in endpoint.systems)}
