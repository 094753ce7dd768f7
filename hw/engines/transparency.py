"""Effects of routers compared with unshared lanes: where there are none, both engines agree to the cycle.

`router_effect` states before a run what the routers themselves may add, `meeting_effect` after it whether messages met on links.
"""

import numpy as np
from numpy.typing import NDArray

from certree.hw.engines.clocks import Clocks
from certree.hw.engines.framing import packet_lengths
from certree.hw.engines.schedule_run import Plan
from certree.hw.routers.grid_routing import Grid
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import UNKNOWN_LATENCY, Topology
from certree.models.schedule.schedule import Schedule
from certree.models.tables import Tables

SHARED_INTERFACE = "messages over several links share an interface"
MET_ON_THE_WAY = "messages over several links wait for each other in the network, where routers let their flits take turns"


def router_effect(source: Tables | Plan, framing: str) -> str | None:
    """The effect that the routers of the machine may have on a run; None where they have none (`docs/explanation/routers.md`).

    Also None where the machine has no router that the flit engine could run. Sufficient, not necessary. O(rows log rows).
    """
    machine = source.machine
    if machine.router.interfaces == "node" and _has_routers(machine) and _shares_interfaces(source.schedule):
        return SHARED_INTERFACE
    return pipeline_effect(source.topology, machine, min(packet_lengths(source, framing)), is_far=has_routes(source.schedule))


def pipeline_effect(topology: Topology, machine: Machine, flits: int, *, is_far: bool) -> str | None:
    """The effect that the pipeline and the buffers of the routers may have on packets of at least `flits` flits that share no lane
    with packets from another lane; None: no effect, or no router that the flit engine could run. `is_far`: whether any packet goes
    over several links. O(links)."""
    if not _has_routers(machine):
        return None
    router = machine.router
    route, vc, switch, traversal = router.stages(machine.router_cycles)
    link = int(np.where(topology.latency == UNKNOWN_LATENCY, machine.link_latency_cycles, topology.latency).max(initial=0))
    wire = max(link, machine.ni_cycles + machine.ni_issue_cycles)
    # A head stays in the buffer behind for as long as it is routed: its credit is the last to come back.
    loop = 2 + traversal + (switch - 1) + 2 * wire + router.credit_cycles + route + vc
    if machine.vc_buffer_flits < loop:
        return f"buffers of {machine.vc_buffer_flits} flits do not cover the loop of a credit, {loop} cycles"
    if router.vc_choice != "rotate" or router.vc_reuse != "tail":
        return "packets may come to a virtual channel that another is still leaving"
    vcs = machine.vc_count
    if is_far and router.datelines and vcs > 1 and _has_rings(topology):
        vcs //= 2
    if (vcs - 1) * flits <= route + vc:
        return f"{vcs} virtual channels are used up before the pipeline has routed the next packet"
    return None


def meeting_effect(source: Tables | Plan, run: str, contention_cycles: int, late: int, clocks: Clocks | None = None) -> str | None:
    """The effect of routers on a run of the fast engine with the given contention cycles and late rows; None: no effect.

    In both engines messages between neighbours wait only at their interface. Messages over several links wait in routers, which do
    not serve one whole message after the other; and routers choose among parallel lanes in advance.
    Sufficient, not necessary. O(rows + hops of the routes, log).
    """
    schedule = source.schedule
    if not has_routes(schedule) or not _has_routers(source.machine):
        return None
    ways = _pairs_of_ways(schedule)
    is_wide = bool((schedule.topology.pair_capacity[np.concatenate(ways)] > 1).any())
    as_planned = run == "slotted" and (clocks is None or clocks.are_equal) and not late
    if contention_cycles == 0 and (as_planned or not is_wide):
        return None
    before = np.concatenate([np.concatenate(([-1], way[:-1])) for way in ways])
    return MET_ON_THE_WAY if is_wide or ways_meet(np.concatenate(ways), before) else None


def has_routes(schedule: Schedule) -> bool:
    """Whether any message goes further than to a neighbour."""
    return bool((schedule.route != DIRECT).any())


def _pairs_of_ways(schedule: Schedule) -> list[NDArray[np.int64]]:
    """The pairs of neighbours that messages pass, route by route."""
    topology, direct = schedule.topology, schedule.route == DIRECT
    neighbours = np.unique(topology.pair_index(schedule.src, schedule.dst)[direct]).astype(np.int64)
    routed = [topology.pair_of_link[list(schedule.routes[way])].astype(np.int64) for way in np.unique(schedule.route[~direct])]
    return [*neighbours.reshape(-1, 1), *routed]


def ways_meet(lanes: NDArray[np.int64], before: NDArray[np.int64]) -> bool:
    """Whether packets enter some lane from more than one lane, or from a lane and an interface. `before`: the lane from which each
    of `lanes` is entered, -1 for an interface. O(lanes · log)."""
    order = np.lexsort((before, lanes))
    is_same_lane, is_other_way = np.diff(lanes[order]) == 0, np.diff(before[order]) != 0
    return bool((is_same_lane & is_other_way).any())


def _has_rings(topology: Topology) -> bool:
    """Whether it is a grid with rings, on which packets may take only one half of the virtual channels."""
    grid = Grid.of(topology)
    return grid is not None and bool(grid.is_ring.any())


def _has_routers(machine: Machine) -> bool:
    try:
        machine.router.stages(machine.router_cycles)
    except UnsupportedError:
        return False
    return True


def _shares_interfaces(schedule: Schedule) -> bool:
    """Whether a node sends over, or receives from, more than one lane."""
    topology, ways = schedule.topology, schedule.routes
    routed = schedule.route[schedule.route != DIRECT]
    direct = topology.pair_index(schedule.src, schedule.dst)[schedule.route == DIRECT]
    for ends, hop in ((topology.src, 0), (topology.dst, -1)):
        link = np.array([ways[way][hop] for way in np.unique(routed)], np.int64)
        pairs = np.unique(np.concatenate((direct, topology.pair_of_link[link])))
        node_of_pair = np.zeros(len(topology.pair_capacity), np.int64)
        node_of_pair[topology.pair_of_link] = ends
        lanes = np.bincount(node_of_pair[pairs], weights=topology.pair_capacity[pairs])
        if (lanes > 1).any():
            return True
    return False
