"""Removal and regrowth of trees of a schedule on links that the others leave free: the large moves of `certree improve`."""

import random
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op


@dataclass
class Forest:
    """The transfers of a schedule of trees (`verify.rules.trees`) on a direct network, as lists: a row is (op, slot, tail, head).

    `rows[chunk]`; `root[chunk]`: where reduces end and copies start.
    """

    topology: Topology
    delay: int
    rows: list[list[tuple[int, int, int, int]]]
    root: list[int]

    @classmethod
    def of(cls, schedule: Schedule) -> "Forest":
        """The rows of a schedule of trees in steps of one round. O(rows)."""
        rows: list[list[tuple[int, int, int, int]]] = [[] for _ in range(schedule.chunks)]
        columns = (schedule.chunk, schedule.op, schedule.step, schedule.src, schedule.dst)
        for chunk, *row in zip(*(column.tolist() for column in columns), strict=True):
            rows[chunk].append((row[0], row[1], row[2], row[3]))
        root = schedule.chunk_root.tolist()
        for chunk, transfers in enumerate(rows):
            if root[chunk] == NO_ROOT:
                senders = {tail for op, _, tail, _ in transfers if op == Op.REDUCE}
                root[chunk] = next(head for op, _, _, head in transfers if op == Op.REDUCE and head not in senders)
        return cls(schedule.topology, schedule.delay, rows, root)

    @property
    def slots(self) -> int:
        """The number of slots in all."""
        return 1 + max(slot for rows in self.rows for _, slot, _, _ in rows)

    def schedule(self, like: Schedule) -> Schedule:
        """The schedule of these rows, early slots first used closed up; other fields as in `like`."""
        first = min(slot for rows in self.rows for _, slot, _, _ in rows)
        table = np.array(
            [(chunk, op, slot - first, tail, head) for chunk, rows in enumerate(self.rows) for op, slot, tail, head in rows]
        )
        columns = dict(zip(("chunk", "op", "step", "src", "dst"), table.T.astype(np.int32), strict=True))
        return make_schedule(like.topology, like.collective, like.chunk_root, columns, delay=self.delay, provenance=like.provenance)

    def mirrored(self) -> "Forest":
        """The forest backwards in time, every transfer in the other direction: reduces are copies there, and copies reduces."""
        last = self.slots - 1
        rows = [[(1 - op, last - slot, head, tail) for op, slot, tail, head in rows] for rows in self.rows]
        return Forest(self.topology, self.delay, rows, self.root)


class _Links:
    """Full slots of every joined pair, as the bits of a number; `backwards`: links are passed against their direction."""

    def __init__(self, topology: Topology, *, backwards: bool) -> None:
        ends = (topology.pair_dst, topology.pair_src) if backwards else (topology.pair_src, topology.pair_dst)
        self.pair = {ends: pair for pair, ends in enumerate(zip(ends[0].tolist(), ends[1].tolist(), strict=True))}
        self.out: list[list[tuple[int, int]]] = [[] for _ in topology.kind]
        for (tail, head), pair in self.pair.items():
            self.out[tail].append((head, pair))
        self.capacity = topology.pair_capacity.tolist()
        self.full = [0] * len(self.capacity)
        self.load: dict[tuple[int, int], int] = {}

    def take(self, pair: int, slot: int) -> None:
        load = self.load.get((pair, slot), 0) + 1
        self.load[pair, slot] = load
        if load >= self.capacity[pair]:
            self.full[pair] |= 1 << slot

    def leave(self, pair: int, slot: int) -> None:
        self.load[pair, slot] -= 1
        self.full[pair] &= ~(1 << slot)

    def first_free(self, pair: int, slot: int) -> int:
        free = ~(self.full[pair] >> slot)
        return slot + (free & -free).bit_length() - 1


class Regrowth:
    """Ruin and recreate on the copies of a forest. `backwards` for a mirrored one, whose copies are actually reduces."""

    def __init__(self, forest: Forest, *, backwards: bool) -> None:
        self.forest = forest
        self._links = _Links(forest.topology, backwards=backwards)
        for rows in forest.rows:
            for _, slot, tail, head in rows:
                self._links.take(self._links.pair[tail, head], slot)
        self._ends = len(forest.topology.endpoints)
        self._last = [max(slot for _, slot, _, _ in rows) for rows in forest.rows]

    def try_again(self, chunks: list[int]) -> bool:
        """Grow the copies of these chunks again, in this order; keep them when the last slot of all their transfers, and then the
        sum of their last slots, is no later. O(chunks · links log links)."""
        forest, links = self.forest, self._links
        old = {chunk: forest.rows[chunk] for chunk in chunks}
        self._take_out(chunks)
        for chunk in chunks:
            forest.rows[chunk] = [row for row in forest.rows[chunk] if row[0] == Op.REDUCE]
        for chunk in chunks:
            self._grow(chunk)
        now = [max(slot for _, slot, _, _ in forest.rows[chunk]) for chunk in chunks]
        was = [self._last[chunk] for chunk in chunks]
        if (max(now), sum(now)) <= (max(was), sum(was)):
            for chunk, end in zip(chunks, now, strict=True):
                self._last[chunk] = end
            return True
        self._take_out(chunks)
        for chunk, rows in old.items():
            forest.rows[chunk] = rows
            for op, slot, tail, head in rows:
                if op == Op.COPY:
                    links.take(links.pair[tail, head], slot)
        return False

    def _take_out(self, chunks: list[int]) -> None:
        """Free the slots of the copies of these chunks."""
        for chunk in chunks:
            for op, slot, tail, head in self.forest.rows[chunk]:
                if op == Op.COPY:
                    self._links.leave(self._links.pair[tail, head], slot)

    def _grow(self, chunk: int) -> None:
        """Copies along the tree in which every node is reached as early as the free slots allow."""
        forest, links, root = self.forest, self._links, self.forest.root[chunk]
        landed = [slot + forest.delay for op, slot, _, head in forest.rows[chunk] if op == Op.REDUCE and head == root]
        ready = {root: max(landed, default=0)}
        heap: list[tuple[int, int, int, int]] = []
        node = root
        while len(ready) < self._ends:
            for head, pair in links.out[node]:
                if head not in ready:
                    heappush(heap, (links.first_free(pair, ready[node]), pair, node, head))
            slot, pair, tail, head = heappop(heap)
            while head in ready:
                slot, pair, tail, head = heappop(heap)
            links.take(pair, slot)
            forest.rows[chunk].append((Op.COPY, slot, tail, head))
            ready[head] = slot + forest.delay
            node = head

    def late_chunks(self, chance: random.Random, most: int) -> list[int]:
        """Chunks to try: one that ends last, and others at random, in random order."""
        last = max(self._last)
        first = chance.choice([chunk for chunk, end in enumerate(self._last) if end == last])
        others = [chunk for chunk in range(len(self._last)) if chunk != first]
        chosen = [first, *chance.sample(others, min(len(others), chance.randint(0, most - 1)))]
        chance.shuffle(chosen)
        return chosen
