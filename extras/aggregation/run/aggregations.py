"""All-reduces in the switches of a network, packet by packet."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from certree.api import parsing
from certree.api.api_errors import DeadlockError
from certree.api.artefacts import holds_schedule
from certree.api.inputs import schedule_of, size_or_default
from certree.api.settings import Tell, machine_for, setting, silent
from certree.extras.aggregation.run.aggregation_run import AggregationResult, simulate_aggregation
from certree.extras.aggregation.run.setup import AggregationRules
from certree.extras.aggregation.run.switch_trees import AggregationTrees
from certree.models.common.errors import InputError
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.verify.deadlock.freedom import deadlock_of_routes

_PLAIN = AggregationRules()


@dataclass(frozen=True, repr=False)
class Aggregated(Shown):
    """An in-network all-reduce: the schedule whose trees it used, the message, the rules, and the result of the run."""

    schedule: Schedule
    message_bytes: int
    machine: Machine
    rules: AggregationRules
    result: AggregationResult

    def title(self) -> str:
        """The network."""
        return f"in-network all-reduce on {self.schedule.topology.name}"

    def facts(self) -> dict[str, object]:
        """Cycles, packets, and whether every rank has the sum."""
        result = self.result
        return {"cycles": result.cycles, "packets": sum(result.packets), "data ok": result.data_ok, "engine": result.engine}


def aggregate(
    source: str | Path | Topology | AnySchedule,
    *,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    rules: AggregationRules = _PLAIN,
    flows: int | None = None,
    ways: int = 1,
    engine: str = "auto",
    without_routers: bool = False,
    allow_stall: bool = False,
    allow_deadlock: bool = False,
    trace: str | Path | None = None,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
    tell: Tell = silent,
) -> Aggregated:
    """All-reduce a message in the reducing switches of a network, or along the trees of a schedule that reduces in switches.

    Hosts send packets in windows, switches add them in aggregators and multicast the results (NetReduce). Times are in cycles.

    Parameters
    ----------
    source
        A network, or a schedule that reduces in switches.
    size, machine
        By default what a schedule was made for, 64 MiB and multitree where that is not known.
    rules
        Window, aggregators, loss and so on.
    flows : int, optional
        Trees for a network, by default one for each central switch that reduces.
    ways : int
        Routes between two nodes that packets take in turn.
    engine : {"auto", "fast", "lanes", "flit"}
        The engine of the simulator.
    without_routers : bool
        Whether the delays of routers are ignored.
    allow_stall : bool
        Whether a run begins with too few aggregators, which can stall it.
    allow_deadlock : bool
        Whether a run begins on routes on which packets may deadlock in routers.
    trace : str or path, optional
        A file with a JSON line for each step.
    force : bool
        Whether a file that exists is overwritten.
    progress : callable
        Receives lines of progress.
    tell : callable
        Receives a line where size and machine are not what the schedule was made for.

    Returns
    -------
    Aggregated

    Raises
    ------
    InputError
        For rules out of range.
    UnsupportedError
        For a network without such switches.
    DeadlockError
        Where packets may deadlock in routers, unless `without_routers` or `allow_deadlock`.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.aggregate("switch:4,reducing=switches", size="64KiB")
    <Aggregated in-network all-reduce on switch:4,reducing=switches: cycles 16735, packets 256, data ok True, engine fast>
    """
    schedule, used = aggregated_schedule(source, size, machine, flows, tell)
    trees = AggregationTrees.of(schedule, ways)
    if not (without_routers or allow_deadlock):
        require_free_trees(trees, used.machine)
    result = simulate_aggregation(
        trees, used.machine, used.message_bytes, rules, engine=engine,
        without_routers=without_routers, allow_stall=allow_stall, trace=None if trace is None else Path(trace), force=force,
        progress=progress,
    )  # fmt: skip
    return Aggregated(schedule, used.message_bytes, used.machine, rules, result)


def aggregated_schedule(
    source: str | Path | Topology | AnySchedule,
    size: int | str | None,
    machine: str | Path | Machine | None,
    flows: int | None,
    tell: Tell = silent,
) -> tuple[Schedule, MadeFor]:
    """The schedule that `aggregate` runs, with size and machine; for a network one that has a tree for each flow.
    `tell` as in `setting`."""
    if not isinstance(source, Topology) and (not isinstance(source, str | Path) or holds_schedule(source)):
        if flows is not None:
            raise InputError("flows are for networks; a schedule has its own trees")
        schedule = written_out(schedule_of(source))
        return schedule, setting(schedule, size, machine, tell)
    from certree.synth.graphs.switch_tree import central_switches
    from certree.synth.method import Request, load_methods

    topology = parsing.topology(source)
    roots = [switch for switch in central_switches(topology) if topology.reducing[switch]] if topology.reducing.any() else []
    most = max(1, len(roots))
    if flows is not None and flows > most:
        raise InputError(f"flows is {flows}; {topology.name} has {most} central switch(es) that reduce, one for each flow")
    used = MadeFor(size_or_default(size), machine_for(topology, machine, tell))
    chunks = (flows or most) * topology.lanes  # a flow has a full link
    request = Request(topology, parse_collective("all-reduce"), used.message_bytes, used.machine, chunks=chunks)
    return written_out(load_methods()["netreduce"](request)), used


def require_free_trees(trees: AggregationTrees, machine: Machine) -> None:
    """Raise DeadlockError where packets on the routes of these trees, however many, may deadlock."""
    answer = deadlock_of_routes(trees.topology, machine, sorted({route for routes in (*trees.up, *trees.down) for route in routes}))
    if not answer.free:
        raise DeadlockError(answer)
