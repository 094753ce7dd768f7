"""The packets of a schedule on their routes, and those of them that may wait for each other.

Left out are channels that cannot be part of a circle of waits: those that every message takes first, and holds nothing while it
waits for them, and those that every message takes last, and leaves by itself. So are messages with one channel left.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np

from certree.extras.tla.check.routers.sent_messages import Sent
from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.routers.lanes import fixed_lanes
from certree.models.routers.transparency import has_routers
from certree.models.schedule.timing import packet_lengths
from certree.verify.deadlock.walks import Walks, schedule_vcs, schedule_walks

# All states are checked of groups whose flits can be on their routes in at most this many combinations; random runs beyond.
# There are about eight times as many states.
EXHAUSTIVE_PLACES = 1 << 14
#: of the packets of a schedule: steps of a random run
MOST_STEPS = 100_000


@dataclass(frozen=True)
class Packet:
    """A message, or a packet of one: its name, the kinds of its flits, its channels (two nodes, and the number of the lane where
    their link has several) and for each the virtual channels that it may take. `before`: the name of the packet in front of it,
    which takes the same channels."""

    name: str
    kinds: tuple[str, ...]
    channels: tuple[tuple[int, ...], ...]
    vcs: tuple[tuple[int, ...], ...]
    before: str | None

    @property
    def places(self) -> int:
        """The number of ways in which its flits, which keep their order, can be on its route, on virtual channels of its choice."""
        return comb(len(self.kinds) + len(self.channels) + 1, len(self.channels) + 1) * prod(map(len, self.vcs))


def packets_of(sent: Sent, framing: str) -> list[Packet]:
    """All packets with their whole routes. UnsupportedError for what the specification does not have."""
    schedule, machine = sent.schedule, sent.machine
    if not has_routers(machine):
        raise UnsupportedError(f"machine {machine.name} has no routers in which messages could wait")
    lengths = packet_lengths(sent.chunk_bytes, machine, framing)
    if min(lengths) < 2:
        raise UnsupportedError("model checks of routers: not supported for messages of one flit, head and tail at once")
    sub_message = machine.router.sub_message_flits if len(lengths) == 1 else 0  # of a chunk in one packet, as in runs
    whole = min(sub_message or max(lengths), max(lengths))
    if machine.router.flow_control == "cut-through" and whole > machine.vc_buffer_flits:
        raise UnsupportedError(
            f"{whole} flits are too many for cut-through, which moves them on when a buffer holds them all, and buffers have "
            f"{machine.vc_buffer_flits}"
        )
    kinds = [kinds_of(flits, sub_message) for flits in lengths]
    walks = schedule_walks(schedule, machine, schedule_vcs(schedule, machine), 1)
    steps = 2 * int((walks.flits * (np.diff(walks.begin) + 1)).sum()) * sum(lengths)
    if steps > MOST_STEPS:
        raise UnsupportedError(
            f"{int(walks.flits.sum())} messages of {sum(lengths)} flits are too many for TLC in routers: {steps} steps of flits "
            f"and credits; allowed: {MOST_STEPS}; take a smaller message or network"
        )
    found = []
    for walk, chosen, messages in messages_on_lanes(sent, walks):
        lanes = chosen or (0,)  # one to a neighbour, whichever: there it holds up nobody
        hops = range(int(walks.begin[walk]), int(walks.begin[walk + 1]))
        channels = tuple(_channel(schedule.topology, int(walks.pair[hop]), lane) for hop, lane in zip(hops, lanes, strict=True))
        vcs = tuple(tuple(vc for vc in range(machine.vc_count) if int(walks.mask[hop]) >> vc & 1) for hop in hops)
        name = ">".join(map(str, walks.nodes(walk)))
        if any(len(channel) > 2 for channel in channels):
            name += f" by lanes {','.join(map(str, lanes))}"
        before: str | None = None
        for message in range(messages):
            for part, kind in enumerate(kinds):
                own = f"{name} {message * len(kinds) + part + 1}"
                found.append(Packet(own, kind, channels, vcs, before))
                before = own
    return found


def messages_on_lanes(sent: Sent, walks: Walks) -> list[tuple[int, tuple[int, ...] | None, int]]:
    """(walk, number of the lane on each hop, messages) of the messages of all iterations, as routers have it (`fixed_lanes`): no
    numbers where any lane to a neighbour will do. `walks`: of the schedule, with one flit for each message."""
    columns = sent.columns
    fixed = fixed_lanes(sent.schedule, columns, sent.period)
    if fixed is None:
        return [(walk, None, int(walks.flits[walk])) for walk in range(walks.count)]
    neighbours = sent.schedule.topology.pair_index(columns["src"], columns["dst"])
    ends = columns["src"] != columns["dst"]
    is_direct = columns["route"] == DIRECT
    pairs, routes = np.unique(neighbours[ends & is_direct]), np.unique(columns["route"][~is_direct])
    route = np.where(is_direct, 0, columns["route"])
    walk_of = np.where(is_direct, np.searchsorted(pairs, neighbours), len(pairs) + np.searchsorted(routes, route))
    counts = Counter((walk, tuple(lanes.tolist())) for walk, (_, lanes) in zip(walk_of[ends].tolist(), fixed, strict=True))
    return [(walk, lanes, number * sent.schedule.repeats) for (walk, lanes), number in sorted(counts.items())]


def _channel(topology: Topology, pair: int, lane: int) -> tuple[int, ...]:
    """The channel between two nodes, with the number of the lane where there are several."""
    ends = int(topology.pair_src[pair]), int(topology.pair_dst[pair])
    return ends if topology.pair_capacity[pair] == 1 else (*ends, lane)


def kinds_of(flits: int, sub_message: int) -> tuple[str, ...]:
    """The kinds of a packet's flits: a head and data; every `sub_message` flits, if not 0, a sub-tail; and the tail."""
    ends = set(range(sub_message, flits, sub_message)) if sub_message else set()
    return ("head", *("tail" if place == flits else "subtail" if place in ends else "body" for place in range(2, flits + 1)))


def groups_of(packets: Sequence[Packet]) -> list[list[Packet]]:
    """The packets that may wait in a channel for another one, in groups that share no channel."""
    import networkx as nx

    first = {packet.channels[0] for packet in packets} - {channel for packet in packets for channel in packet.channels[1:]}
    last = {packet.channels[-1] for packet in packets} - {channel for packet in packets for channel in packet.channels[:-1]}
    cut = []
    for packet in packets:
        kept = [hop for hop, channel in enumerate(packet.channels) if channel not in first | last]
        if len(kept) > 1:
            channels = tuple(packet.channels[hop] for hop in kept)
            cut.append(Packet(packet.name, packet.kinds, channels, tuple(packet.vcs[hop] for hop in kept), packet.before))
    together: nx.Graph[object] = nx.Graph()
    for packet in cut:
        together.add_edges_from((packet.name, channel) for channel in packet.channels)
    parts = [set(part) for part in nx.connected_components(together)]
    return [[packet for packet in cut if packet.name in part] for part in parts]


def places_of(group: Sequence[Packet]) -> int:
    """The number of ways in which the flits of a group can be on their routes, whatever the others do."""
    return prod(packet.places for packet in group)


def is_small(group: Sequence[Packet]) -> bool:
    """Whether all states are checked."""
    return places_of(group) <= EXHAUSTIVE_PLACES


def longest_run(group: Sequence[Packet]) -> int:
    """States of the longest run: each flit goes on, and each credit comes back, once for each channel; heads may take full ones."""
    return 2 + sum((2 * len(packet.kinds) + 1) * (len(packet.channels) + 1) for packet in group)
