"""Effects of routers compared with unshared lanes: where there are none, runs through both agree to the cycle.

Credits come last: how long one takes to come back, and which messages never wait for one though buffers are shorter than that.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import within_words
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.routers.grid_routing import Grid
from certree.models.routers.virtual_channels import layer_count
from certree.models.schedule.paths import link_cycles, path_latency
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import ceil_div, lane_cycles

Int64 = NDArray[np.int64]

SHARED_INTERFACE = "messages over several links share an interface"
PLANNED_WAITS = "routers let the flits of messages that wait take turns, and planned waits leave them one after the other"


def schedule_effect(schedule: Schedule, machine: Machine, packets: Sequence[int], slot_cycles: int | None = None) -> str | None:
    """The effect that the routers of the machine may have on a slotted run with equal clocks, of messages whose packets have these
    numbers of flits (`packets`); None where they have none (`docs/explanation/routers.md`).

    `slot_cycles`: length of the slots of a schedule in steps of one round, in which each message starts at the opening of its slot;
    None: whenever messages start. Also None where the machine has no router that could be simulated. Sufficient, not necessary.
    O(rows log rows).
    """
    if machine.router.interfaces == "node" and has_routers(machine) and _shares_interfaces(schedule):
        return SHARED_INTERFACE
    if schedule.plans_waits and has_routers(machine):
        return PLANNED_WAITS
    layers = layer_count(schedule.virtual_channel)
    is_far, flits = has_routes(schedule), min(packets)
    longest = None if schedule.has_sizes else max(packets)
    effect = pipeline_effect(schedule.topology, machine, flits, longest, is_far=is_far, layers=layers)
    if effect is not None and slot_cycles is not None and _fit_buffers(schedule, machine, packets):
        effect = pipeline_effect(schedule.topology, machine, flits, is_far=is_far, layers=layers, has_room=True)
    if effect is not None and slot_cycles is not None and _are_alone(schedule, machine, packets, slot_cycles):
        return None
    return effect


def _are_alone(schedule: Schedule, machine: Machine, packets: Sequence[int], slot_cycles: int) -> bool:
    """Whether no message notices those before it in a router: it is one packet, and the slots are so long that the tail of the one
    before it on its lane has left, however much longer its route was. All messages of the time that a credit is in flight find room
    in one buffer, or a buffer holds as many flits as that time has cycles. Where virtual channels are taken only when they are
    empty, slots are longer than that time."""
    if len(packets) > 1 or schedule.has_sizes or schedule.has_fine_slots:
        return False
    scale, flits = schedule.topology.scale, max(packets)
    loop, cycles = credit_loop(schedule.topology, machine), lane_cycles(flits, scale)
    latency = path_latency(schedule, machine)[schedule.src != schedule.dst]
    if not len(latency):
        return True
    spread = int(latency.max() - latency.min())
    left = cycles + spread + (machine.router_cycles + 2 if machine.router.vc_reuse == "tail" else loop)
    in_loop = ceil_div(cycles + spread + loop, slot_cycles) * flits
    return left <= slot_cycles and machine.vc_buffer_flits >= min(flits_within(loop, scale), in_loop)


def _fit_buffers(schedule: Schedule, machine: Machine, packets: Sequence[int]) -> bool:
    """Whether fine slots send so little over each link that no sender lacks a credit (`finds_room`). False where iterations repeat
    or messages are several packets. O(uses of links, log)."""
    if not schedule.has_fine_slots or schedule.is_repeating or len(packets) > 1:
        return False
    times, uses = fine_times(schedule), fine_times(schedule).reservations
    return times.machine == machine and finds_room(schedule.topology, machine, uses.pair, uses.entry, times.length[uses.row])


def finds_room(topology: Topology, machine: Machine, pair: Int64, entry: Int64, length: Int64) -> bool:
    """Whether messages that enter the links of these pairs in these cycles, each for its length, never lack a credit, though
    buffers may be smaller than the loop of a credit on the longest link: for each link a buffer covers the loop of that link, or
    holds all flits of the messages that use the link within it. O(uses of links, log)."""
    loops = credit_loops(topology, machine)
    order = np.lexsort((entry, pair))
    order = order[loops[pair[order]] > machine.vc_buffer_flits]
    pair, entry, flits = pair[order], entry[order], length[order]
    since = np.maximum(0, entry - loops[pair] - flits.max(initial=0))  # earlier ones have left, and their credits are back
    entry, since = within_words(len(loops), entry, since)
    span = int(entry.max(initial=0)) + 1
    key, first = pair * span + entry, pair * span + since
    sent = np.concatenate(([0], np.cumsum(flits)))
    within = sent[1:] - sent[np.searchsorted(key, first)]
    return int(within.max(initial=0)) <= machine.vc_buffer_flits


def pipeline_effect(
    topology: Topology,
    machine: Machine,
    flits: int,
    longest: int | None = None,
    *,
    is_far: bool,
    layers: int = 1,
    has_room: bool = False,
) -> str | None:
    """The effect that the pipeline and the buffers of the routers may have on packets of at least `flits` flits that share no lane
    with packets from another lane; None: no effect, or no router that the flit engine could run. `longest`: flits of the longest
    packet, if known; `is_far`: whether any packet goes over several links; `layers`: into which their virtual channels are divided;
    `has_room`: no buffer is ever full. O(links)."""
    if not has_routers(machine):
        return None
    router, loop = machine.router, credit_loop(topology, machine)
    need = flits_within(loop, topology.scale)
    route, vc, _, _ = router.stages(machine.router_cycles)
    vcs = fewest_vcs(topology, machine, is_far=is_far, layers=layers)
    turns = turns_of(machine.vc_count, vcs)
    if machine.vc_buffer_flits < need and not has_room:
        most, least = np.array([longest or 0]), np.array([flits])
        if longest is None or not never_lack_credits(most, least, machine, loop, turns).all():
            return f"buffers of {machine.vc_buffer_flits} flits do not cover the loop of a credit, {loop} cycles"
    if router.vc_choice != "rotate" or router.vc_reuse != "tail":
        return "packets may come to a virtual channel that another is still leaving"
    apart = (
        (turns - 1) * flits * topology.scale // 1
    )  # since the last flit that the channel had: packets follow each other unrounded
    if apart <= route + vc:
        return f"{turns} virtual channels are used up before the pipeline has routed the next packet"
    if router.flow_control == "cut-through" and machine.vc_buffer_flits >= need and not has_room:
        first = _first_flits(machine) if longest is None else min(longest, _first_flits(machine))
        if first <= machine.vc_buffer_flits < first + flits_within(max(0, loop - apart), topology.scale):
            return f"buffers of {machine.vc_buffer_flits} flits have no room for {first} next to those whose credits come back"
    return None


def pass_without_waiting(topology: Topology, machine: Machine, flits: Int64) -> NDArray[np.bool_]:
    """Whether messages of these lengths, over any routes in one layer of virtual channels, never wait for a credit; all of them
    where buffers cover the loop of a credit, and where routers have other effects or cannot be simulated. O(links + messages)."""
    router = machine.router
    if not has_routers(machine) or (router.interfaces, router.vc_choice, router.vc_reuse) != ("link", "rotate", "tail"):
        return np.ones(len(flits), np.bool_)
    loop = credit_loop(topology, machine)
    if machine.vc_buffer_flits >= flits_within(loop, topology.scale):
        return np.ones(len(flits), np.bool_)
    turns = min(2, fewest_vcs(topology, machine, is_far=True))
    return never_lack_credits(flits, flits, machine, loop, turns)


def fewest_vcs(topology: Topology, machine: Machine, *, is_far: bool, layers: int = 1) -> int:
    """The virtual channels that a packet may take, where it has the fewest: those of its layer, or of its half of a ring."""
    if is_far and layers > 1:
        return machine.vc_count // layers
    if is_far and machine.router.datelines and machine.vc_count > 1 and _has_rings(topology):
        return machine.vc_count // 2
    return machine.vc_count


def has_routes(schedule: Schedule) -> bool:
    """Whether any message goes further than to a neighbour."""
    return bool((schedule.route != DIRECT).any())


@lru_cache(maxsize=4)
def _has_rings(topology: Topology) -> bool:
    """Whether the network is a grid with rings, on which packets may take only one half of the virtual channels."""
    grid = Grid.of(topology)
    return grid is not None and bool(grid.is_ring.any())


def has_routers(machine: Machine) -> bool:
    """Whether the machine has routers that could be simulated: of a cycle at least, with room for the stages."""
    try:
        machine.router.stages(machine.router_cycles)
    except UnsupportedError:
        return False
    return True


def _shares_interfaces(schedule: Schedule) -> bool:
    topology, routed = schedule.topology, np.unique(schedule.route[schedule.route != DIRECT])
    direct = topology.pair_index(schedule.src, schedule.dst)[schedule.route == DIRECT]
    first, last = (np.array([schedule.routes[number][hop] for number in routed], np.int64) for hop in (0, -1))
    return shares_interfaces(topology, *(np.append(direct, topology.pair_of_link[link]) for link in (first, last)))


def shares_interfaces(topology: Topology, first: Int64, last: Int64) -> bool:
    """Whether a node sends over, or receives from, more than one lane: messages leave over pairs `first`, and come by `last`."""
    ends = (topology.pair_src, np.unique(first)), (topology.pair_dst, np.unique(last))
    return any((np.bincount(node[used], weights=topology.pair_capacity[used]) > 1).any() for node, used in ends)


def credit_loop(topology: Topology, machine: Machine) -> int:
    """Cycles from the sending of a flit to the use of its credit, on the longest link. UnsupportedError where the machine has no
    such routers."""
    return int(credit_loops(topology, machine).max(initial=int(_loops_of(np.zeros(1, np.int64), machine, topology.scale)[0])))


def flits_within(cycles: int, scale: int | Fraction) -> int:
    """The most flits that leave on one lane within any `cycles` cycles."""
    return ceil(cycles / Fraction(scale))


def credit_loops(topology: Topology, machine: Machine) -> Int64:
    """The loop of a credit of each joined pair of nodes, on its own link."""
    return _loops_of(link_cycles(topology, machine).astype(np.int64), machine, topology.scale)


def _loops_of(link: Int64, machine: Machine, scale: int | Fraction) -> Int64:
    """The loops of credits for links of these latencies. A head stays in the buffer behind its link for as long as it is routed, so
    its credit takes the longest; an interface gives the place of a flit back when it has all of it."""
    route, vc, switch, traversal = machine.router.stages(machine.router_cycles)
    wire = np.maximum(link, machine.ni_cycles + machine.ni_issue_cycles)
    return 1 + ceil(scale) + traversal + (switch - 1) + 2 * wire + machine.router.credit_cycles + route + vc


def never_lack_credits(flits: Int64, shortest: Int64, machine: Machine, loop: int, turns: int) -> NDArray[np.bool_]:
    """Whether packets, or messages, of up to `flits` and at least `shortest` flits never wait for a credit, whenever they follow
    each other on a lane; of a flit per cycle, or fewer, which leave more time for credits.

    A virtual channel (VC) carries at most one of `turns` that follow each other, which start at least `turns` times the shortest
    apart. When it is given to a message, the first sub-message, or the whole packet, must find room next to what it carried before
    and whose credits are still on their way; when the last flit is sent, all of the message must. In between there is never less
    room than at the end: with each flit that is sent, at most one credit comes back.
    """
    room, apart = machine.vc_buffer_flits, turns * shortest
    first = np.minimum(flits, _first_flits(machine))
    fits_at_start = first + _sent_before(np.full_like(flits, loop), flits, apart) <= room
    fits_at_end = flits + _sent_before(np.maximum(loop - flits, 0), flits, apart) <= room
    passes: NDArray[np.bool_] = (apart >= flits) & (turns > 1) & fits_at_start & fits_at_end
    return passes


def _first_flits(machine: Machine) -> int:
    """Flits that must fit behind a virtual channel that is taken, at most: a whole packet, or the first sub-message."""
    whole = machine.head_flits + machine.packet_granules
    return max(whole, machine.router.sub_message_flits)


def _sent_before(span: Int64, flits: Int64, apart: Int64) -> Int64:
    """Flits that a VC carried in the last `span` cycles before a message, of messages that start every `apart` cycles."""
    sent: Int64 = span // apart * flits + np.maximum(span % apart - (apart - flits), 0)
    return sent


def turns_of(vc_count: int, fewest: int) -> int:
    """How many messages that follow each other on a lane have different virtual channels (VCs), given away in rotation, at least:
    all VCs where every message may take each; two where some may take `fewest` of them only, and these are two or more."""
    return vc_count if fewest == vc_count else min(2, fewest)
