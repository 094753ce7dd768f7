"""Routes through switches and the slots of a period, chosen together: transfers that share no link beyond its capacity."""

from collections import defaultdict, deque

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32, NodeKind, Topology
from certree.synth.flows.block_paths import Paths
from certree.synth.flows.block_slots import Moves

MOST_ROUTES = 32  # between two endpoints, that are tried
WORK, PATIENCE = (
    24,
    1,
)  # for effort 1: placements that repairs may take, for each transfer: in all, and while as many transfers wait

Int64 = NDArray[np.int64]


def routed(
    topology: Topology, moves: Moves, kind: Int32, capacity: Int64, blocks: int, period: int, seed: int, effort: int = 1
) -> tuple[Paths, Int32] | None:
    """(paths, place): routes for the transfers of `moves` and the slot of each modulo `period`; None where none are found.
    `kind`: class of each joined pair, `capacity`: of each class; no route passes a class twice.

    Transfers are placed by first fit in rotations: for each s, the transfers to the endpoint s places further come together. A
    transfer that finds no room takes the least contested slot and route, and the transfers there are placed again (negotiated
    congestion). Between its two endpoints a transfer may take any shortest route through switches, up to MOST_ROUTES, or that of
    `moves`. O(WORK · effort · transfers · routes · hops · period) time at worst.
    """
    table = _Table(topology, moves, kind, capacity, period)
    if not table.has_routes:
        return None
    for row in _rotations(topology, moves).tolist():
        if not table.fits(row):
            table.waiting.append(row)
    draw = np.random.default_rng(seed)
    fewest, since = len(table.waiting), 0
    for _ in range(WORK * effort * len(moves.block)):
        since += 1
        if len(table.waiting) < fewest:
            fewest, since = len(table.waiting), 0
        if not table.waiting or since > PATIENCE * effort * len(moves.block):
            break
        row = table.waiting.popleft()
        if not table.fits(row):
            table.push_in(row, draw)
    return None if table.waiting else (table.paths(blocks), table.slot)


def steps_of(moves: Moves, place: Int32, delay: int, period: int) -> Int32:
    """The first slot of each transfer that is `place` modulo the period and in which its block is there. O(transfers)."""
    slots: list[int] = []
    before = 0
    for row, (at, last) in enumerate(zip(place.tolist(), moves.is_last.tolist(), strict=True)):
        first = before if row and not moves.is_last[row - 1] else 0
        slots.append(first + (at - first) % period)
        before = 0 if last else slots[-1] + delay
    return np.array(slots, np.int32)


def _rotations(topology: Topology, moves: Moves) -> Int64:
    """Rows with the longest routes first, then by distance in groups of endpoints, then in places within the group.

    A group consists of the endpoints that are attached to the same switches.
    """
    rank, group, place = topology.rank, *_groups(topology)
    src, dst = moves.src, moves.dst
    groups, places = int(group.max()) + 1, int(place.max()) + 1
    on = (group[dst] - group[src]) % groups
    further = (place[dst] - place[src]) % places
    return np.lexsort((rank[src], moves.block, further, on, -np.diff(moves.offset)))


def _groups(topology: Topology) -> tuple[Int64, Int64]:
    """The number of the group of each endpoint, and its place there, by node id; 0 for switches."""
    near: dict[int, list[int]] = defaultdict(list)
    for tail, head in zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True):
        near[tail].append(head)
    group, place = np.zeros(len(topology.kind), np.int64), np.zeros(len(topology.kind), np.int64)
    seen: dict[tuple[int, ...], int] = {}
    filled: dict[int, int] = defaultdict(int)
    for node in topology.endpoints.tolist():
        number = seen.setdefault(tuple(near[node]), len(seen))
        group[node], place[node] = number, filled[number]
        filled[number] += 1
    return group, place


class _Table:
    """The free capacity of each class of joined pairs in each slot, and the transfers in it; the last class stands for none."""

    def __init__(self, topology: Topology, moves: Moves, kind: Int32, capacity: Int64, period: int) -> None:
        self.period, self.waiting = period, deque[int]()
        self._moves, self._kind = moves, np.append(kind, len(capacity))
        self._free = np.repeat(np.append(capacity, len(moves.block)).astype(np.int32)[:, None], period, axis=1)
        self._weight = np.ones(self._free.shape, np.int32)
        self._weight[-1] = 0
        self.slot = np.full(len(moves.block), -1, np.int32)
        self._taken: list[Int32] = [np.zeros(0, np.int32)] * len(moves.block)
        self._rows: dict[tuple[int, int], set[int]] = defaultdict(set)  # (class, slot): rows there
        self._routes = _Routes(topology, self._kind)

    @property
    def has_routes(self) -> bool:
        """Whether each transfer has a route that passes no class twice."""
        return all(len(self._routes_of(row)) for row in range(len(self.slot)))

    def _routes_of(self, row: int) -> Int32:
        moves = self._moves
        own = moves.pair[moves.offset[row] : moves.offset[row + 1]]
        return self._routes.between(int(moves.src[row]), int(moves.dst[row]), own)

    def fits(self, row: int) -> bool:
        """Put the transfer into the first slot in which one of its routes is free; False where there is none."""
        routes = self._routes_of(row)
        free: NDArray[np.bool_] = np.asarray((self._free[self._kind[routes]] > 0).all(axis=1))
        slot = int(free.any(axis=0).argmax())
        if not free[:, slot].any():
            return False
        self._put(row, routes[int(free[:, slot].argmax())], slot)
        return True

    def push_in(self, row: int, draw: np.random.Generator) -> None:
        """Put the transfer into the slot and route of least weight. One transfer leaves each full class, whose weight grows."""
        routes = self._routes_of(row)
        kinds = self._kind[routes]
        full = np.where(self._free[kinds] > 0, 0, self._weight[kinds]).sum(axis=1)
        best = np.flatnonzero(full.ravel() == full.min())
        route, slot = divmod(int(best[draw.integers(len(best))]), self.period)
        for kind in kinds[route].tolist():
            if self._free[kind, slot] <= 0:
                others = sorted(self._rows[kind, slot])
                self._weight[kind, slot] += 1
                self._take_out(others[int(draw.integers(len(others)))], slot)
        self._put(row, routes[route], slot)

    def _put(self, row: int, route: Int32, slot: int) -> None:
        kinds = self._kind[route]
        self._free[kinds, slot] -= 1
        self._free[-1] = len(self.slot)  # a route has it several times
        for kind in kinds.tolist():
            self._rows[kind, slot].add(row)
        self.slot[row], self._taken[row] = slot, route

    def _take_out(self, row: int, slot: int) -> None:
        kinds = self._kind[self._taken[row]]
        self._free[kinds, slot] += 1
        for kind in kinds.tolist():
            self._rows[kind, slot].discard(row)
        self.waiting.append(row)

    def paths(self, blocks: int) -> Paths:
        """The paths of all blocks over the routes that were taken."""
        none = len(self._kind) - 1
        taken = [route[route != none] for route in self._taken]
        length = np.bincount(self._moves.block, [len(route) for route in taken], blocks).astype(np.int64)
        return Paths(np.concatenate(([0], np.cumsum(length))).astype(np.int32), np.concatenate(taken).astype(np.int32), self.period)


class _Routes:
    """Shortest routes through switches between two endpoints, without those that pass a class of joined pairs twice."""

    def __init__(self, topology: Topology, kind: Int32) -> None:
        self._topology, self._kind = topology, kind
        self._pairs: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by node: (head, pair) of what leads out
        for pair, (tail, head) in enumerate(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True)):
            self._pairs[tail].append((head, pair))
        self._is_endpoint = (topology.kind == NodeKind.ENDPOINT).tolist()
        self._found: dict[tuple[int, int], Int32] = {}
        self._into: dict[int, list[int]] = defaultdict(list)
        for head, tail in zip(topology.pair_dst.tolist(), topology.pair_src.tolist(), strict=True):
            self._into[head].append(tail)
        self._far: dict[int, list[int]] = {}

    def between(self, src: int, dst: int, own: Int32) -> Int32:
        """Shape (routes, links): pairs of each route, the number of pairs where a route is shorter than the longest."""
        if (src, dst) not in self._found:
            routes = self._shortest(src, dst)
            if own.tolist() not in routes:
                routes.append(own.tolist())
            routes = [route for route in routes if len(np.unique(self._kind[route])) == len(route)]
            longest, none = max(map(len, routes), default=0), len(self._topology.pair_src)
            found = np.array([route + [none] * (longest - len(route)) for route in routes], np.int32)
            self._found[src, dst] = found.reshape(len(routes), longest)
        return self._found[src, dst]

    def _shortest(self, src: int, dst: int) -> list[list[int]]:
        far = self._switch_hops(dst)
        found: list[list[int]] = []
        stack: list[tuple[int, list[int]]] = [(src, [])]
        hops = min((far[head] for head, _ in self._pairs[src] if far[head] >= 0), default=0) + 1
        while stack and len(found) < MOST_ROUTES:
            node, route = stack.pop()
            if node == dst:
                found.append(route)
                continue
            left = hops - len(route) - 1
            stack += [(head, [*route, pair]) for head, pair in reversed(self._pairs[node]) if far[head] == left]
        return found

    def _switch_hops(self, dst: int) -> list[int]:
        """Links from each switch to an endpoint over switches only; -1 where there is no path, and at other endpoints."""
        if dst not in self._far:
            far = [-1] * len(self._is_endpoint)
            far[dst], reached = 0, deque([dst])
            while reached:
                node = reached.popleft()
                for tail in self._into[node]:
                    if far[tail] < 0 and not self._is_endpoint[tail]:
                        far[tail] = far[node] + 1
                        reached.append(tail)
            self._far[dst] = far
        return self._far[dst]
