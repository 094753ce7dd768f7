"""Whether routers add anything to what lanes that nobody shares would take: where they do not, both engines agree to the cycle."""

import numpy as np

from certree.hw.flit_engine import packet_lengths
from certree.hw.plan import Plan
from certree.models.errors import UnsupportedError
from certree.models.schedule import DIRECT, Schedule
from certree.models.tables import Tables
from certree.models.topology import UNKNOWN_LATENCY


def router_effect(source: Tables | Plan, flow: str) -> str | None:
    """What the routers of the machine may add to a run; None where they add nothing (`hw/README.md`, "Collectives").

    None as well where the machine has no router that the flit engine could play. Sufficient, not necessary. O(rows log rows).
    """
    machine, router = source.machine, source.machine.router
    try:
        route, vc, switch, traversal = router.stages(machine.router_cycles)
    except UnsupportedError:
        return None
    if router.interfaces == "node" and _shares_interfaces(source.schedule):
        return "messages over several links share an interface"
    stated = source.topology.latency
    wire = int(np.where(stated == UNKNOWN_LATENCY, machine.link_latency_cycles, stated).max(initial=0))
    loop = 2 + traversal + (switch - 1) + 2 * wire + router.credit_cycles
    if machine.vc_buffer_flits < loop:
        return f"buffers of {machine.vc_buffer_flits} flits do not cover the loop of a credit, {loop} cycles"
    if router.vc_choice != "rotate" or router.vc_reuse != "tail":
        return "packets may come to a virtual channel that another is still leaving"
    if (machine.vc_count - 1) * min(packet_lengths(source, flow)) <= route + vc:
        return f"{machine.vc_count} virtual channels are used up before the pipeline has routed the next packet"
    return None


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
