"""The machine that parameters of endpoints describe, for runs of tables, and collectives that run there."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from certree.api.runs.any_timing import with_proof
from certree.api.runs.deadlocks import require_free
from certree.extras.endpoints.model.endpoint import Endpoint, System
from certree.extras.endpoints.model.named_system import Cut
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import run_with_endpoints
from certree.hw.engines.runs import Options, Run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine, load_machine
from certree.models.schedule.schedule import Schedule

ROUTERS = "multitree"  # the preset with routers and interfaces, of which parameters of endpoints say nothing


def joint_machine(endpoint: Endpoint) -> Machine:
    """Links between packages of these parameters, a flit each cycle, with the routers and interfaces of preset ROUTERS.

    A flit has the bytes of a cycle, rounded to whole ones; what heads of packets cost is in the efficiency of links.
    UnsupportedError for links of less than a byte in a cycle, and for clocks of no whole number of cycles a second.
    """
    clock, link = endpoint.interface.clock_hertz, endpoint.inter_package
    rate = link.bytes_per_second * link.efficiency / clock
    if clock.denominator != 1 or rate < 1:
        raise UnsupportedError(
            f"endpoints {endpoint.name} have {clock} cycles a second and links of {rate} bytes a cycle; tables need whole cycles a "
            "second and a byte a cycle or more"
        )
    return replace(
        load_machine(ROUTERS), name=f"{endpoint.name}-joint", clock_hz=int(clock), flit_bytes=round(rate), head_flits=0,
        link_latency_cycles=link.latency_cycles, packet_payload_bytes=endpoint.interface.packet_bytes,
    )  # fmt: skip


def run_joint(
    schedule: Schedule,
    endpoint: Endpoint,
    system: System,
    size: int,
    *,
    without_routers: bool = False,
    chunk: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """A collective of that size by the endpoints of a system, paced, in chunks of the system's bytes, or of `chunk`, which are
    padded to whole flits, so that there are as many as `endpoints` has; a system that bounds another one takes that one's chunks
    where these are faster.

    Errors as `simulate`.
    """
    tables = lower(schedule, size, joint_machine(endpoint))
    if not without_routers:
        require_free(tables)
    sizes = {chunk or system.chunk_bytes}
    if system.bounds is not None:
        sizes.add(endpoint.system(system.bounds).chunk_bytes)
    runs = []
    for one in sorted(sizes):
        model = TableEndpoints(endpoint, system, Fraction(0), cut=Cut(min(size, one), pads=True))
        options = Options("paced", without_routers=without_routers, endpoint=model, progress=progress)
        runs.append(run_with_endpoints(tables, with_proof(tables, options)))
    return min(runs, key=lambda run: run.cycles)
