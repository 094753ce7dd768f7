"""Scratch slots: buffers of an endpoint next to its accumulators, in which an all-reduce keeps partial sums apart.

Each of the K slots of an endpoint stores one partial sum, of any chunk, or nothing; all slots start empty. A transfer reads an
accumulator or a slot of its source and writes an accumulator or a slot of its destination, which may be the same endpoint: such a
transfer takes its step and loads no link. A copy replaces the contents. A reduce adds to a stored partial sum of the same chunk (a
slot is never cleared, so the first arrival is a copy). A slot stores one chunk at a time; a new chunk replaces the old one.

(A ring of 5 sums up one chunk in 2 steps with a slot at each node: the slot keeps a neighbour's contribution to send it on while
it is added up. With the accumulator alone it could only be sent on within sums that would count contributions twice.)

Slots are represented as a network, so that schedules on it are verified like any others: slots are reducing switches, and an
endpoint with its slots lies behind a forwarding hub, over links that are never full. `fault` checks the other conditions on slots.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from certree.models.network.routing import DIRECT
from certree.models.network.topology import MAX_CAPACITY, UNKNOWN_LATENCY, NodeKind, Topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op


@dataclass(frozen=True, eq=False)
class SlotNetwork:
    """A network whose endpoints have `slots` scratch slots each (1 or more).

    Ids: the nodes of `plain` keep theirs; then the slots, endpoint by endpoint; then the hubs. Links: those of `plain` keep their
    numbers, from hub to hub where they ran from endpoint to endpoint; then those inside.
    """

    plain: Topology
    slots: int

    @cached_property
    def _places(self) -> dict[int, tuple[int, ...]]:
        first = len(self.plain.kind)
        return {
            node: (node, *range(first + rank * self.slots, first + (rank + 1) * self.slots))
            for rank, node in enumerate(self.plain.endpoints.tolist())
        }

    def places(self, node: int) -> tuple[int, ...]:
        """The cells of a node: itself, then its slots."""
        return self._places.get(node, (node,))

    @cached_property
    def home(self) -> dict[int, int]:
        """The endpoint of each of its cells."""
        return {place: node for node, places in self._places.items() for place in places}

    @property
    def ids(self) -> tuple[int, ...]:
        """The numbers of all slots."""
        return tuple(place for places in self._places.values() for place in places[1:])

    @property
    def inside(self) -> Iterator[tuple[int, int]]:
        """(from, to) of the transfers within endpoints."""
        return ((src, dst) for places in self._places.values() for src in places for dst in places if src != dst)

    @cached_property
    def _hub(self) -> dict[int, int]:
        first = len(self.plain.kind) + len(self._places) * self.slots
        return {node: first + rank for rank, node in enumerate(self._places)}

    @cached_property
    def _ports(self) -> list[tuple[int, int]]:
        """The links inside: from every cell to its hub and back."""
        cells = sorted(self.home.items())
        return [ends for place, node in cells for ends in ((place, self._hub[node]), (self._hub[node], place))]

    @cached_property
    def topology(self) -> Topology:
        """The network with slots and hubs."""
        plain, count = self.plain, len(self._places)
        src = [self._hub.get(node, node) for node in plain.src.tolist()] + [tail for tail, _ in self._ports]
        dst = [self._hub.get(node, node) for node in plain.dst.tolist()] + [head for _, head in self._ports]
        added = np.arange(count * (self.slots + 1))
        return Topology(
            name=f"{plain.name} with {self.slots} scratch slots",
            kind=np.concatenate((plain.kind, np.full(len(added), NodeKind.SWITCH, np.int8))),
            src=np.array(src, np.int32),
            dst=np.array(dst, np.int32),
            capacity=np.concatenate((plain.capacity, np.full(len(self._ports), MAX_CAPACITY, np.int32))),
            latency=np.concatenate((plain.latency, np.full(len(self._ports), UNKNOWN_LATENCY, np.int32))),
            reducing=np.concatenate((plain.reducing, added < count * self.slots)),
            scale=plain.scale if plain.rates is None else 1,  # questions are about whole units
        )

    def route(self, src: int, dst: int, links: tuple[int, ...]) -> tuple[int, ...]:
        """The links of a transfer between two cells that passes these links of the plain network."""
        number = {ends: len(self.plain.src) + index for index, ends in enumerate(self._ports)}
        leaving = (number[src, self._hub[self.home[src]]],) if src in self.home else ()
        coming = (number[self._hub[self.home[dst]], dst],) if dst in self.home else ()
        return leaving + links + coming

    def fault(self, schedule: Schedule) -> str | None:
        """The first condition on slots and hubs that an otherwise valid schedule on this network breaks, or None.

        O(transfers + slots · steps).
        """
        hubs = {hub: node for node, hub in self._hub.items()}
        for row, index in enumerate(schedule.route.tolist()):
            ends = {self.home.get(int(end)) for end in (schedule.src[row], schedule.dst[row])}
            passed = [] if index == DIRECT else [int(self.topology.dst[link]) for link in schedule.routes[index][:-1]]
            if any(node in hubs and hubs[node] not in ends for node in passed):
                return "a transfer passes an endpoint within its step, which the machine of the frontier does not"
        return next((words for slot in self.ids if (words := self._misused(slot, schedule)) is not None), None)

    def _misused(self, slot: int, schedule: Schedule) -> str | None:
        """Why one slot cannot store what the schedule requires."""
        into, out = np.flatnonzero(schedule.dst == slot), np.flatnonzero(schedule.src == slot)
        stored: dict[int, set[int]] = {}
        copied: dict[int, list[int]] = {}
        for row in into.tolist():
            chunk, lands = int(schedule.chunk[row]), int(schedule.step[row]) + 1
            stored.setdefault(lands, set()).add(chunk)
            if schedule.op[row] == Op.COPY:
                copied.setdefault(chunk, []).append(lands)
        added = into[schedule.op[into] == Op.REDUCE]
        for row in [*added.tolist(), *out.tolist()]:
            chunk, needed = int(schedule.chunk[row]), int(schedule.step[row])
            since = max((lands for lands in copied.get(chunk, []) if lands <= needed), default=None)
            if since is None:
                return f"slot {slot} stores nothing of chunk {chunk} in step {needed}"
            for step in range(since, needed + 1):
                stored.setdefault(step, set()).add(chunk)
        crowded = sorted(step for step, chunks in stored.items() if len(chunks) > 1)
        return f"slot {slot} has to store {len(stored[crowded[0]])} chunks when step {crowded[0]} begins" if crowded else None
