"""Fine slots for the messages of a demand, whose chunks differ in size: each leaves when its data is there and its links are free.

Times are those of `certree.models.fine.slots`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.fine.chains import Chains
from certree.models.fine.list_jobs import Turns
from certree.models.fine.slots import fine_times, reserved_lanes
from certree.models.network.routing import DIRECT
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.paths import link_cycles
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import chunk_bytes_of, serialization_cycles
from certree.synth.flows.block_slots import Moves
from certree.synth.method import Request

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

FAR = 4  # a latency of more than 1/FAR of the load of the fullest link is long
FULL = 16  # loads are weighed in this many parts of the load of the fullest link
LATE = 16  # chunks that arrive in the last of LATE equal parts of a run are late

#: (source, target, granules) of each chunk
Chunks = tuple[Int64, Int64, Int64]


@dataclass(frozen=True, eq=False)
class Messages:
    """The transfers of chunks on the machine of a request: `chunks`, and `moves`, whose blocks are the chunks; by row the `length`
    on a lane, and the `flight`, until it has landed."""

    request: Request
    chunks: Chunks
    moves: Moves
    length: Int64
    flight: Int64

    @classmethod
    def of(cls, request: Request, chunks: Chunks, moves: Moves) -> "Messages":
        """The times of transfers, as `FineTimes` has them. O(hops)."""
        topology, machine = request.topology, request.machine
        route = (link_cycles(topology, machine) + machine.router_cycles)[moves.pair]
        unit = chunk_bytes_of(request.message_bytes, request.collective.message_chunks(topology, len(chunks[0])), 1, machine)
        length = serialization_cycles(chunks[2][moves.block] * unit, machine, topology.scale)
        latency = np.add.reduceat(route, moves.offset[:-1]) + machine.interface_cycles + machine.router_cycles
        return cls(request, chunks, moves, np.ascontiguousarray(length, np.int64), latency + length)

    @property
    def rest(self) -> Int64:
        """The cycles from the firing of each row until its chunk is at its target, if nothing waits."""
        return self._to_the_target(self.flight)

    @property
    def pressing(self) -> Int64:
        """The urgency of the chunk of each row: `rest`, where the latency of the longest route is long compared with the load of
        the fullest link. Otherwise the cycles of each row are weighed by the load of its fullest link, so that chunks that still
        have to pass full links go first."""
        if int(self._to_the_target(self.flight - self.length).max()) * FAR >= self.fullest:
            return self.rest
        full = np.maximum.reduceat(self._load[self.moves.pair], self.moves.offset[:-1]) * FULL // self.fullest
        return self._to_the_target(self.flight * full**2) // FULL**2

    def _to_the_target(self, of_row: Int64) -> Int64:
        """The sum over each row and the rows behind it until its chunk is at its target."""
        last = np.flatnonzero(self.moves.is_last)
        until = np.cumsum(of_row)
        return until[last][np.searchsorted(last, np.arange(len(until)))] - until + of_row

    @property
    def fullest(self) -> int:
        """The number of cycles that messages take on the fullest link."""
        return int(self._load.max())

    @cached_property
    def _load(self) -> Int64:
        """The cycles that messages take on each link, over its lanes."""
        topology, moves = self.request.topology, self.moves
        load = np.zeros(len(topology.pair_src), np.int64)
        np.add.at(load, moves.pair, np.repeat(self.length, np.diff(moves.offset)))
        return load // topology.pair_capacity

    @cached_property
    def _chains(self) -> Chains:
        moves, topology, machine = self.moves, self.request.topology, self.request.machine
        return Chains(
            src=moves.src,
            dst=moves.dst,
            link=moves.pair,
            begin=moves.offset,
            length=self.length,
            is_last=moves.is_last,
            lanes=np.minimum(topology.pair_capacity, len(moves.src)).astype(np.int32),
            hop=link_cycles(topology, machine) + machine.router_cycles,
            ends=machine.interface_cycles + machine.router_cycles,
            nodes=len(topology.kind),
        )

    def booked(self, priority: Int64, *, patient: bool, most_slots: int) -> "Booked":
        """The transfers booked in slots of one cycle, or of the least power of two with about `most_slots` slots or fewer. Of the
        transfers that can leave, the one of the lowest priority goes first (`Turns`)."""
        slot = 1 << (self.fullest // most_slots).bit_length()
        fire = self._chains.run(Turns.first_of(priority, patient=patient), slot)
        return Booked(self, fire, slot, priority, patient)

    def squeezed(self, first: "Booked", rounds: int, most_slots: int, enough: int = 0) -> "Booked":
        """The booking that ends first, of a given one and of others, in each of which the chunks that came last in the previous one
        go earlier. The search stops at a booking that ends by the cycle `enough`."""
        best = last = first
        moves, ahead = self.moves, np.zeros(len(self.chunks[0]), np.int64)
        for _ in range(rounds):
            if best.end <= enough:
                break
            comes = (last.fire + self.flight)[moves.is_last]
            is_late = comes > comes.max() - comes.max() // LATE
            ahead[moves.block[moves.is_last][is_late]] += int(comes.max()) // LATE
            last = self.booked(first.priority - ahead[moves.block], patient=first.patient, most_slots=most_slots)
            best = min(best, last, key=lambda one: one.end)
        return best


@dataclass(frozen=True, eq=False)
class Booked:
    """Messages with the cycle `fire` of each row, a multiple of `slot`, and the way they were booked (`priority`, `patient`)."""

    messages: Messages
    fire: Int64
    slot: int
    priority: Int64
    patient: bool

    @property
    def end(self) -> int:
        """The cycle in which everything has landed, from the common start."""
        return self.messages.request.machine.ni_start_cycles + int((self.fire + self.messages.flight).max())

    def schedule(self, method: str, options: Mapping[str, Any], **more: Any) -> Schedule:
        """The schedule; `more`: what its provenance says."""
        messages, moves = self.messages, self.messages.moves
        request, (source, target, granules) = messages.request, messages.chunks
        step = self.fire // self.slot
        order = np.argsort(step * len(source) + moves.block)  # a chunk is in one transfer at a time: canonical order
        columns = {"chunk": moves.block, "step": step.astype(np.int32), "src": moves.src, "dst": moves.dst, "route": moves.route}
        columns = {name: column[order] for name, column in columns.items()} | {"op": np.full(len(order), Op.COPY, np.int8)}
        made = make_schedule(
            request.topology,
            request.collective,
            source,
            columns,
            target,
            routes=moves.routes,
            chunk_granules=None if request.collective.demand is None else granules,
            slot_cycles=self.slot,
            made_for=MadeFor(request.message_bytes, request.machine),
            provenance=request.provenance(method, options, **more),
        )
        return _over_lanes(made)


def _over_lanes(schedule: Schedule) -> Schedule:
    """The schedule with each hop over parallel links on a link that has a free lane for it. O(hops log hops)."""
    topology = schedule.topology
    parallel = np.bincount(topology.pair_of_link) > 1
    uses = fine_times(schedule).reservations
    if not parallel[uses.pair].any():
        return schedule
    by_pair = np.argsort(topology.pair_of_link, kind="stable")
    filled = np.cumsum(topology.capacity[by_pair].astype(np.int64))
    begin = np.cumsum(topology.pair_capacity) - topology.pair_capacity
    lane = begin[uses.pair] + reserved_lanes(fine_times(schedule))
    link = by_pair[np.searchsorted(filled, lane, side="right")].tolist()
    offset = np.searchsorted(uses.row, np.arange(schedule.transfers + 1))
    named = (np.diff(offset) > 1) | parallel[uses.pair[offset[:-1]]]
    numbers: dict[tuple[int, ...], int] = {}
    route = np.full(len(named), DIRECT, np.int32)
    for row in np.flatnonzero(named).tolist():
        route[row] = numbers.setdefault(tuple(link[offset[row] : offset[row + 1]]), len(numbers))
    return replace(schedule, route=route, routes=tuple(numbers))
