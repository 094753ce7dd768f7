"""Effects of routers compared with unshared lanes: where there are none, runs through both agree to the cycle."""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import UNKNOWN_LATENCY, Topology
from certree.models.routers.grid import Grid
from certree.models.routers.virtual_channels import layer_count
from certree.models.schedule.schedule import Schedule

SHARED_INTERFACE = "messages over several links share an interface"


def schedule_effect(schedule: Schedule, machine: Machine, flits: int) -> str | None:
    """The effect that the routers of the machine may have on a slotted run with equal clocks, of messages or packets of at least
    `flits` flits; None where they have none (`docs/explanation/routers.md`).

    Also None where the machine has no router that could be simulated. Sufficient, not necessary. O(rows log rows).
    """
    if machine.router.interfaces == "node" and has_routers(machine) and _shares_interfaces(schedule):
        return SHARED_INTERFACE
    layers = layer_count(schedule.virtual_channel)
    return pipeline_effect(schedule.topology, machine, flits, is_far=has_routes(schedule), layers=layers)


def pipeline_effect(topology: Topology, machine: Machine, flits: int, *, is_far: bool, layers: int = 1) -> str | None:
    """The effect that the pipeline and the buffers of the routers may have on packets of at least `flits` flits that share no lane
    with packets from another lane; None: no effect, or no router that the flit engine could run. `is_far`: whether any packet goes
    over several links; `layers`: into which their virtual channels are divided. O(links)."""
    if not has_routers(machine):
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
    if is_far and layers > 1:
        vcs //= layers
    elif is_far and router.datelines and vcs > 1 and _has_rings(topology):
        vcs //= 2
    if (vcs - 1) * flits <= route + vc:
        return f"{vcs} virtual channels are used up before the pipeline has routed the next packet"
    return None


def has_routes(schedule: Schedule) -> bool:
    """Whether any message goes further than to a neighbour."""
    return bool((schedule.route != DIRECT).any())


def _has_rings(topology: Topology) -> bool:
    """Whether it is a grid with rings, on which packets may take only one half of the virtual channels."""
    grid = Grid.of(topology)
    return grid is not None and bool(grid.is_ring.any())


def has_routers(machine: Machine) -> bool:
    """Whether it has routers that could be simulated: of a cycle at least, with room for the stages."""
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
