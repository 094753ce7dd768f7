"""`deadlock`: whether packets on given walks can ever wait for each other in a circle, with evidence for either answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.routers.transparency import has_routers
from certree.models.routers.virtual_channels import ClassVcs, class_vcs, layer_count
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.models.schedule.timing import FRAMINGS, chunk_bytes_of, framed_flits
from certree.models.tables.tables import Tables
from certree.verify.deadlock.graph import Waits, circle_of, load_of, numbering_fault, numbers_of, waits_of
from certree.verify.deadlock.layers import layers_of
from certree.verify.deadlock.walks import MOST_FLITS, Walks, no_walks, packet_walks, route_walks, schedule_vcs, schedule_walks
from certree.verify.order.agreement import agreement_of_schedule, agreement_of_tables
from certree.verify.wording import list_text

Int64 = NDArray[np.int64]
FORMAT, VERSION = "certree-deadlock", 1


@dataclass(frozen=True, order=True)
class Channel:
    """One direction of the links between two neighbours, and its virtual channels that packets may take together or not at all."""

    source: int
    destination: int
    virtual_channels: tuple[int, ...]

    def __str__(self) -> str:
        plural = "s" if len(self.virtual_channels) > 1 else ""
        return f"{self.source}>{self.destination} (virtual channel{plural} {list_text(self.virtual_channels)})"

    def document(self) -> dict[str, Any]:
        """The witness as a JSON object."""
        return {"source": self.source, "destination": self.destination, "virtual_channels": list(self.virtual_channels)}


@dataclass(frozen=True)
class Wait:
    """A packet on the route `nodes` that is in `holds` may wait for `wants`."""

    holds: Channel
    wants: Channel
    nodes: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Freedom(Shown):
    """Whether routes are free of deadlock on a machine, at any timing.

    - `free`: no packets can ever wait for each other in a circle
    - `numbering`: the certificate, a number for each channel; a packet waits only for channels of larger numbers than those that it
      holds, `absorbing` channels excepted: their buffers hold all that ever comes. None where the routes are not free
    - `cycle`: the counterexample: packets, each of which may wait for what the next one holds; empty where the routes are free
    - `agreement`: for the tables or the schedule of a slotted run, the effect that routers may add to lanes (None: both agree to
      the cycle); for anything else None as well. `agrees` is None where that was not asked
    """

    topology: Topology
    machine: Machine
    numbering: tuple[tuple[Channel, int], ...] | None
    absorbing: tuple[Channel, ...]
    cycle: tuple[Wait, ...]
    walks: Walks
    waits: Waits
    agrees: bool | None = None
    agreement: str | None = None

    @property
    def free(self) -> bool:
        """Whether nothing can deadlock."""
        return self.numbering is not None

    @cached_property
    def virtual_channels(self) -> int:
        """The number of virtual channels that are enough for these routes. For free routes: 1 where the waits have no circle even
        when all channels are one, otherwise as many as routes tell apart (datelines, layers, kinds of traffic). For others: layers
        without a circle, one channel for each (`layers_of`)."""
        if self.free:
            return 1 if numbers_of(waits_of(self.walks.on_one_channel())) is not None else len(self.waits.parts)
        begin, pair = self.walks.begin.tolist(), self.walks.pair.tolist()
        return 1 + max(layers_of([pair[a:b] for a, b in pairwise(begin)]), default=0)

    @cached_property
    def buffers_enough(self) -> int | None:
        """The flits that buffers need to hold so much of what ever comes that no circle of waits is left; None where only the
        buffers of virtual channels that are reused before they are empty help, and for any number of packets. O(log) times the
        graph."""
        if self.machine.router.vc_reuse != "tail":
            return None
        load = load_of(self.walks, self.waits)
        sizes = np.unique(load[self.waits.target])
        low, high = 0, len(sizes) - 1
        while low < high:
            middle = (low + high) // 2
            fits = numbers_of(self.waits.without(load <= sizes[middle])) is not None
            low, high = (low, middle) if fits else (middle + 1, high)
        enough = int(sizes[low]) if len(sizes) else 0
        return None if enough >= MOST_FLITS else enough

    def repairs(self) -> tuple[str, ...]:
        """Repairs that would make the routes free; none where they are."""
        if self.free:
            return ()
        enough, has = self.virtual_channels, self.machine.vc_count
        more = f"routes in {enough} layers of virtual channels" + (f" (the machine has {has})" if enough > has else "")
        buffers = self.buffers_enough
        deeper = () if buffers is None else (f"buffers of {buffers} flits (the machine has {self.machine.vc_buffer_flits})",)
        return (more, "other routes", *deeper)

    def explanation(self) -> str:
        """The counterexample and what repairs it, in one sentence; for free routes the reason."""
        if self.free:
            absorbed = f", {len(self.absorbing)} channels hold all that ever comes" if self.absorbing else ""
            return f"no circle of waits among {len(self.numbering or ())} channels{absorbed}"
        waits = [
            f"the packet on {'>'.join(map(str, wait.nodes))} holds {wait.holds} and waits for {wait.wants}" for wait in self.cycle
        ]
        return f"{list_text(waits, '; ')}; that is a circle. Repairs: {', or '.join(self.repairs())}"

    def title(self) -> str:
        """The network, the machine and the answer."""
        return f"{self.topology.name}, machine {self.machine.name}: {'free' if self.free else 'may deadlock'}"

    def facts(self) -> dict[str, object]:
        """The size of the certificate or of the counterexample."""
        size = {"channels": len(self.numbering)} if self.numbering is not None else {"cycle": len(self.cycle)}
        size["virtual channels"] = self.virtual_channels
        return {**size, **({} if self.agrees is None else {"agrees with lanes": self.agrees})}

    def document(self) -> dict[str, Any]:
        """The answer and its evidence as a JSON document (its form: `certree.models.schemas.evidence_forms`)."""
        numbering = None
        if self.numbering is not None:
            numbering = [{**channel.document(), "number": number} for channel, number in self.numbering]
        return {
            "format": FORMAT,
            "version": VERSION,
            "topology": self.topology.name,
            "machine": self.machine.name,
            "free": self.free,
            "virtual_channels": self.virtual_channels,
            "numbering": numbering,
            "absorbing": [channel.document() for channel in self.absorbing],
            "cycle": [
                {"holds": wait.holds.document(), "wants": wait.wants.document(), "route": list(wait.nodes)} for wait in self.cycle
            ],
            "repairs": list(self.repairs()),
            "agrees_with_lanes": self.agrees,
            "router_effect": self.agreement,
        }

    def fault(self) -> str | None:
        """The fault of the numbering, by the small checker; None for a proof."""
        numbers = {
            (channel.source, channel.destination, vc): number
            for channel, number in self.numbering or ()
            for vc in channel.virtual_channels
        }
        absorbing = {(channel.source, channel.destination, vc) for channel in self.absorbing for vc in channel.virtual_channels}
        return numbering_fault(self.walks, numbers, self.machine.vc_buffer_flits, frozenset(absorbing))


def deadlock(walks: Walks, machine: Machine, *, any_size: bool = False) -> Freedom:
    """Whether packets on these walks can deadlock in the routers of the machine, at any timing; interfaces always consume.

    Free where the channels can be numbered so that every packet waits only for larger numbers than it holds, which is enough for
    wormhole and for cut-through. A channel whose buffer holds all flits that may ever come to it is not an obstacle, provided that
    a VC may be taken when the last tail has left (`vc_reuse = "tail"`). On machines without routers messages wait in memory, and
    nothing deadlocks. `any_size`: the answer is for every message size, so that no buffer counts as deep. The conditions are
    sufficient, not necessary. O(hops of all walks, log).
    """
    if not has_routers(machine):
        walks = no_walks(walks.topology)
    waits = waits_of(walks)
    numbers, absorbing = numbers_of(waits), np.zeros(len(waits.used), np.bool_)
    if numbers is None and machine.router.vc_reuse == "tail" and not any_size:
        absorbing = waits.used & (load_of(walks, waits) <= machine.vc_buffer_flits)
    if numbers is None and absorbing.any():
        numbers = numbers_of(waits.without(absorbing))
    if numbers is None:
        return Freedom(walks.topology, machine, None, (), _cycle(walks, waits, absorbing), walks, waits)
    channels = np.flatnonzero(waits.used)
    numbering = tuple((_channel(walks, waits, number), int(numbers[number])) for number in channels.tolist())
    spared = tuple(_channel(walks, waits, number) for number in np.flatnonzero(absorbing).tolist())
    return Freedom(walks.topology, machine, numbering, spared, (), walks, waits)


def deadlock_of_schedule(schedule: AnySchedule, machine: Machine, message_bytes: int, framing: str | None = None) -> Freedom:
    """Whether the messages of a schedule can deadlock (`deadlock`), and whether a slotted run with equal clocks takes the same
    cycles through routers and on lanes.

    `framing`: how chunks are framed, "message" or "packet"; None: no deadlock with either, and the cycles of whole messages.

    `schedule`: valid, with links for all transfers; one without routes cannot deadlock, and a symmetric one has no routes.
    UnsupportedError where its routes state more virtual channels than the machine has. O(transfers log transfers + hops, log).
    """
    if isinstance(schedule, SymmetricSchedule):
        answer = deadlock(no_walks(schedule.topology), machine)
    else:
        chunk = chunk_bytes_of(message_bytes, schedule.message_chunks, schedule.repeats, machine)
        answer = _freedom(schedule, machine, chunk, framing)
    effect = agreement_of_schedule(schedule, machine, message_bytes, framing)
    return replace(answer, agrees=effect is None, agreement=effect)


def deadlock_of_tables(tables: Tables, framing: str | None = None) -> Freedom:
    """The result of `deadlock_of_schedule` for the schedule that the rows execute, at the message size and machine of the
    tables."""
    answer = _freedom(tables.schedule, tables.machine, tables.chunk_bytes, framing)
    effect = agreement_of_tables(tables, framing)
    return replace(answer, agrees=effect is None, agreement=effect)


def deadlock_of_packets(topology: Topology, machine: Machine, src: Int64, dst: Int64, flits: Int64) -> Freedom:
    """Whether packets from `src` to `dst` that bring no routes can deadlock (`deadlock`), at whatever times they start."""
    return deadlock(packet_walks(topology, machine, ClassVcs(0, machine.vc_count - 1), src, dst, flits), machine)


def deadlock_of_routes(topology: Topology, machine: Machine, routes: Sequence[Sequence[int]]) -> Freedom:
    """Whether any number of packets on these routes, each the pairs of neighbours that it joins (`Topology.pair_index`), can
    deadlock (`deadlock`)."""
    return deadlock(route_walks(topology, machine, ClassVcs(0, machine.vc_count - 1), routes), machine, any_size=True)


def deadlock_of_run(
    schedule: Schedule, machine: Machine, chunk_bytes: int, framing: str | None, others: tuple[Int64, Int64, Int64]
) -> Freedom:
    """Whether the messages of a schedule can deadlock next to other packets (sources, destinations, flits of each), which have
    virtual channels of their own. UnsupportedError where the machine has too few."""
    own, other = class_vcs(machine, layers=layer_count(schedule.virtual_channel), others=True)
    walks = schedule_walks(schedule, machine, own, _most_flits(chunk_bytes, machine, framing))
    joined = walks.joined(packet_walks(schedule.topology, machine, other, *others))
    return deadlock(joined, machine, any_size=schedule.has_sizes)


def channels_of_schedule(schedule: Schedule, machine: Machine) -> int | None:
    """How many virtual channels are enough for the routes of a schedule at any message size (`Freedom.virtual_channels`); None
    where messages pass no routers, or the routes state more channels than the machine has. O(hops, log) where routes are free."""
    if not has_routers(machine):
        return None
    try:
        walks = schedule_walks(schedule, machine, schedule_vcs(schedule, machine), 1)
    except UnsupportedError:
        return None
    return deadlock(walks, machine, any_size=True).virtual_channels


def _freedom(schedule: Schedule, machine: Machine, chunk_bytes: int, framing: str | None) -> Freedom:
    flits = _most_flits(chunk_bytes, machine, framing)
    walks = schedule_walks(schedule, machine, schedule_vcs(schedule, machine), flits)
    return deadlock(walks, machine, any_size=schedule.has_sizes)


def _most_flits(chunk_bytes: int, machine: Machine, framing: str | None) -> int:
    """The number of flits of a chunk, as a message or as packets, whichever are more where that is left open."""
    return max(framed_flits(chunk_bytes, machine, one) for one in (FRAMINGS if framing is None else (framing,)))


def _cycle(walks: Walks, waits: Waits, absorbing: np.ndarray) -> tuple[Wait, ...]:
    left = waits.without(absorbing)
    return tuple(
        Wait(
            _channel(walks, waits, int(left.source[edge])),
            _channel(walks, waits, int(left.target[edge])),
            walks.nodes(int(left.walk[edge])),
        )
        for edge in circle_of(left)
    )


def _channel(walks: Walks, waits: Waits, number: int) -> Channel:
    pair, bits = waits.channel(number)
    ends = int(walks.topology.pair_src[pair]), int(walks.topology.pair_dst[pair])
    return Channel(*ends, tuple(vc for vc in range(bits.bit_length()) if bits >> vc & 1))
