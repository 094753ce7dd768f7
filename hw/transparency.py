"""Whether routers add anything to what lanes that nobody shares would take: where they do not, both engines agree to the cycle."""

import numpy as np
from numpy.typing import NDArray

from certree.hw.flows import packet_lengths
from certree.hw.plan import Plan
from certree.models.errors import UnsupportedError
from certree.models.machine import Machine
from certree.models.schedule import DIRECT, Schedule
from certree.models.tables import Tables
from certree.models.topology import UNKNOWN_LATENCY, Topology

SHARED_INTERFACE = "messages over several links share an interface"


def router_effect(source: Tables | Plan, flow: str) -> str | None:
    """What the routers of the machine may add to a run; None where they add nothing (`hw/README.md`, "Collectives").

    None as well where the machine has no router that the flit engine could play. Sufficient, not necessary. O(rows log rows).
    """
    machine = source.machine
    if machine.router.interfaces == "node" and _can_be_played(machine) and _shares_interfaces(source.schedule):
        return SHARED_INTERFACE
    return pipeline_effect(source.topology, machine, min(packet_lengths(source, flow)))


def pipeline_effect(topology: Topology, machine: Machine, flits: int) -> str | None:
    """What the pipeline and the buffers of the routers may add to packets of at least `flits` flits that share no lane with others
    which come another way; None: nothing, or no router that the flit engine could play. O(links)."""
    if not _can_be_played(machine):
        return None
    router = machine.router
    route, vc, switch, traversal = router.stages(machine.router_cycles)
    wire = int(np.where(topology.latency == UNKNOWN_LATENCY, machine.link_latency_cycles, topology.latency).max(initial=0))
    loop = 2 + traversal + (switch - 1) + 2 * wire + router.credit_cycles
    if machine.vc_buffer_flits < loop:
        return f"buffers of {machine.vc_buffer_flits} flits do not cover the loop of a credit, {loop} cycles"
    if router.vc_choice != "rotate" or router.vc_reuse != "tail":
        return "packets may come to a virtual channel that another is still leaving"
    if (machine.vc_count - 1) * flits <= route + vc:
        return f"{machine.vc_count} virtual channels are used up before the pipeline has routed the next packet"
    return None


def ways_meet(lanes: NDArray[np.int64], before: NDArray[np.int64]) -> bool:
    """Whether some lane is come to from more than one lane, or both from one and from an interface. `before`: the lane that each of
    `lanes` is come to from, -1 for an interface. O(lanes · log)."""
    order = np.lexsort((before, lanes))
    is_same_lane, is_other_way = np.diff(lanes[order]) == 0, np.diff(before[order]) != 0
    return bool((is_same_lane & is_other_way).any())


def _can_be_played(machine: Machine) -> bool:
    try:
        machine.router.stages(machine.router_cycles)
    except UnsupportedError:
        return False
    return True


def _shares_interfaces(schedule: Schedule) -> bool:
    """Whether a node sends over, or hears from, more than one lane."""
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
