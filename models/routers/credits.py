"""Credits: how long one takes to come back, and which messages never wait for one though buffers are shorter than that."""

import numpy as np
from numpy.typing import NDArray

from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.paths import link_cycles

Int64 = NDArray[np.int64]


def credit_loop(topology: Topology, machine: Machine) -> int:
    """Cycles from the sending of a flit to the use of its credit, on the longest link. UnsupportedError where the machine has no
    such routers."""
    return int(credit_loops(topology, machine).max(initial=int(_loops_of(np.zeros(1, np.int64), machine)[0])))


def credit_loops(topology: Topology, machine: Machine) -> Int64:
    """The same for each joined pair of nodes, on its own link."""
    return _loops_of(link_cycles(topology, machine).astype(np.int64), machine)


def _loops_of(link: Int64, machine: Machine) -> Int64:
    """The same for links of these latencies. A head stays in the buffer behind its link for as long as it is routed, so its credit
    takes the longest."""
    route, vc, switch, traversal = machine.router.stages(machine.router_cycles)
    wire = np.maximum(link, machine.ni_cycles + machine.ni_issue_cycles)
    return 2 + traversal + (switch - 1) + 2 * wire + machine.router.credit_cycles + route + vc


def never_lack_credits(flits: Int64, shortest: Int64, machine: Machine, loop: int, turns: int) -> NDArray[np.bool_]:
    """Whether packets, or messages, of up to `flits` and at least `shortest` flits never wait for a credit, whenever they follow
    each other on a lane.

    A virtual channel (VC) carries at most one of `turns` that follow each other, which start at least `turns` times the shortest
    apart. When it is given to a message, the first sub-message, or the whole packet, must find room next to what it carried before
    and whose credits are still on their way; when the last flit is sent, all of the message must. In between there is never less
    room than at the end: with each flit that is sent, at most one credit comes back.
    """
    room, apart = machine.vc_buffer_flits, turns * shortest
    whole = machine.head_flits + max(1, machine.packet_payload_bytes // machine.flit_bytes)
    first = np.minimum(flits, max(whole, machine.router.sub_message_flits))
    fits_at_start = first + _sent_before(np.full_like(flits, loop), flits, apart) <= room
    fits_at_end = flits + _sent_before(np.maximum(loop - flits, 0), flits, apart) <= room
    passes: NDArray[np.bool_] = (apart >= flits) & (turns > 1) & fits_at_start & fits_at_end
    return passes


def _sent_before(span: Int64, flits: Int64, apart: Int64) -> Int64:
    """Flits that a VC carried in the last `span` cycles before a message, of messages that start every `apart` cycles."""
    sent: Int64 = span // apart * flits + np.maximum(span % apart - (apart - flits), 0)
    return sent


def turns_of(vc_count: int, fewest: int) -> int:
    """How many messages that follow each other on a lane have different virtual channels (VCs), given away in rotation, at least:
    all VCs where every message may take each; two where some may take `fewest` of them only, and these are two or more."""
    return vc_count if fewest == vc_count else min(2, fewest)
