"""Runs that are exact with the machine's routers, on the engine that takes least time for them."""

from collections.abc import Callable

from certree.hw.engines.flit import simulate_flits
from certree.hw.engines.schedule_run import Plan
from certree.hw.engines.simulator import SimulationResult, simulate
from certree.hw.engines.split_runs import simulate_paced
from certree.hw.engines.transparency import router_effect
from certree.models.tables import Tables


def run_exactly(
    source: Tables | Plan, run: str = "slotted", *, flow: str = "message", progress: Callable[[int], None] | None = None
) -> SimulationResult:
    """A run on the fast engine where routers add nothing, through them, flit by flit, where they may.

    Raises UnsupportedError for what neither plays, such as a paced run in parts (`certree.hw.engines.split_runs`) through routers.
    Time and memory as `simulate` or as `simulate_flits`.
    """
    if router_effect(source, flow) is not None:
        return simulate_flits(source, run, flow=flow, progress=progress)[0]
    if run == "paced":
        return simulate_paced(source, flow, progress=progress)
    return simulate(source, run, flow=flow, progress=progress)
