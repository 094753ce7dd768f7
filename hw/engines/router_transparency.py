"""Effects of routers compared with unshared lanes; where there are none, both engines give the same cycles.

`router_effect` states before a run what the routers themselves may add, `meeting_effect` after it whether messages met on links.
"""

import numpy as np
from numpy.typing import NDArray

from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.table_framing import packet_lengths
from certree.models.machine.clocks import Clocks
from certree.models.machine.machine import PacketMachine
from certree.models.network.routing import DIRECT
from certree.models.routers.transparency import has_routers, has_routes, schedule_effect
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import ceil_div
from certree.models.tables.tables import Tables

PASSES_INTERFACE = (
    "paced interfaces wait for flits that do not fit their buffers; without routers these include flits of messages that pass"
)
MET_IN_NETWORK = "messages over several links wait for each other in the network, where routers let their flits take turns"


def router_effect(source: Tables | SimulatedSchedule, framing: str, *, in_time: bool = False) -> str | None:
    """The effect that the routers of the machine may have on a run (`schedule_effect`); None where they have none. `in_time`:
    whether this is a slotted run with equal clocks, in which messages start when their slots open."""
    return schedule_effect(
        source.schedule, source.machine, packet_lengths(source, framing), source.slot_cycles if in_time else None
    )


def meeting_effect(
    source: Tables | SimulatedSchedule, run: str, contention_cycles: int, late: int, clocks: Clocks | None = None
) -> str | None:
    """The effect of routers on a run of the fast engine with the given contention cycles and late rows; None: no effect.

    In both engines messages between neighbours wait only at their interface. Messages over several links wait in routers, which do
    not serve one whole message after the other; and routers choose among parallel lanes in advance. On lanes, a paced interface
    counts flits of messages that pass its node as its own.
    Sufficient, not necessary. O(rows + hops of the routes, log).
    """
    schedule = source.schedule
    if not has_routes(schedule) or not has_routers(source.machine):
        return None
    passed = _pairs_of_routes(schedule)
    is_wide = bool((schedule.topology.pair_capacity[np.concatenate(passed)] > 1).any())
    as_planned = run == "slotted" and (clocks is None or clocks.are_equal) and not late
    before = np.concatenate([np.concatenate(([-1], pairs[:-1])) for pairs in passed])
    meet = is_wide or routes_meet(np.concatenate(passed), before)
    if contention_cycles == 0 and (as_planned or not is_wide):
        return PASSES_INTERFACE if run == "paced" and meet and _exceeds_buffers(source) else None
    return MET_IN_NETWORK if meet else None


def _exceeds_buffers(source: Tables | SimulatedSchedule) -> bool:
    """Whether a message may have more flits than the injection buffer of a port, as packets too; rates round up to a cycle."""
    granules = ceil_div(source.chunk_bytes, source.machine.flit_bytes)
    if source.schedule.has_sizes:
        granules *= int(source.schedule.granules.max(initial=1))
    return granules + PacketMachine.of(source.machine).heads(granules) >= source.machine.ni_buffer_flits


def _pairs_of_routes(schedule: Schedule) -> list[NDArray[np.int64]]:
    """The pairs of neighbours that messages pass, route by route."""
    topology, direct = schedule.topology, schedule.route == DIRECT
    neighbours = np.unique(topology.pair_index(schedule.src, schedule.dst)[direct]).astype(np.int64)
    routed = [
        topology.pair_of_link[list(schedule.routes[number])].astype(np.int64) for number in np.unique(schedule.route[~direct])
    ]
    return [*neighbours.reshape(-1, 1), *routed]


def routes_meet(lanes: NDArray[np.int64], before: NDArray[np.int64]) -> bool:
    """Whether packets enter some lane from more than one lane, or from a lane and an interface. `before`: the lane from which each
    of `lanes` is entered, -1 for an interface. O(lanes · log)."""
    order = np.lexsort((before, lanes))
    is_same_lane, comes_from_elsewhere = np.diff(lanes[order]) == 0, np.diff(before[order]) != 0
    return bool((is_same_lane & comes_from_elsewhere).any())
