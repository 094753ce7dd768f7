"""Channel dependencies: which channel may wait for which. Without a circle of them nothing waits for ever (Dally, Seitz 1987).

A channel is a joined pair of nodes and a *part*: VCs that every packet may take together or not at all. A packet in one channel of
its walk may wait for every channel that it may take next. Injection channels wait for others and nothing waits for them; ejection
channels never wait, since interfaces always consume. So neither can be on a circle, and the graph leaves both out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certree.verify.deadlock.walks import Walks

Int64 = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Waits:
    """Edges `source` -> `target` between channels, each once, and one `walk` that causes each.

    Channel c is the pair `c // len(parts)` with the VCs of `parts[c % len(parts)]`. `used`: which channels some packet may take.
    """

    parts: tuple[int, ...]
    used: Flags
    source: Int64
    target: Int64
    walk: Int64

    def channel(self, number: int) -> tuple[int, int]:
        """A channel as (joined pair, bits of the VCs)."""
        pair, part = divmod(number, len(self.parts))
        return pair, self.parts[part]

    def without(self, absorbing: Flags) -> "Waits":
        """The waits that are left when those for the given channels always end."""
        kept = ~absorbing[self.target]
        return replace(self, source=self.source[kept], target=self.target[kept], walk=self.walk[kept])


def waits_of(walks: Walks) -> Waits:
    """The dependencies of all walks. O(hops · parts² log)."""
    masks = np.unique(walks.mask)
    kind = np.searchsorted(masks, walks.mask)
    parts = _parts(masks.tolist())
    may = np.array([[bool(mask & part) for part in parts] for mask in masks.tolist()], np.bool_).reshape(len(masks), len(parts))
    channels = len(walks.topology.pair_capacity) * len(parts)
    used = np.zeros(channels, np.bool_)
    walk, goes_on = walks.walk_of_hop, np.zeros(0, np.int64)
    if len(walk):
        goes_on = np.flatnonzero(walk[1:] == walk[:-1])
    found = [np.zeros((2, 0), np.int64)]
    for part in range(len(parts)):
        hops = np.flatnonzero(may[kind, part])
        used[walks.pair[hops] * len(parts) + part] = True
        begins = goes_on[may[kind[goes_on], part]]
        for after in range(len(parts)):
            chosen = begins[may[kind[begins + 1], after]]
            ends = (walks.pair[chosen] * len(parts) + part) * channels + walks.pair[chosen + 1] * len(parts) + after
            edges, first = np.unique(ends, return_index=True)
            found.append(np.stack((edges, walk[chosen[first]])))
            del chosen, ends  # as long as the hops
    edges, cause = np.concatenate(found, axis=1)
    order = np.argsort(edges)  # each once: those of other parts differ
    return Waits(parts, used, edges[order] // channels, edges[order] % channels, cause[order])


def _parts(masks: list[int]) -> tuple[int, ...]:
    """The VCs of all masks, grouped: two are together where every mask has both or neither."""
    groups: dict[tuple[bool, ...], int] = {}
    for vc in range(64):
        key = tuple(bool(mask >> vc & 1) for mask in masks)
        if any(key):
            groups[key] = groups.get(key, 0) | 1 << vc
    return tuple(groups.values()) or (1,)


def numbers_of(waits: Waits) -> Int64 | None:
    """A number for each channel, larger than that of every channel that waits for it: the longest chain of waits that leads there,
    from 1. None where there is a circle. O(channels + waits)."""
    numbers, left = _peeled(waits)
    return None if left.any() else numbers


def _peeled(waits: Waits) -> tuple[Int64, Flags]:
    """The numbers, and the channels that have none because circles lead there."""
    channels = len(waits.used)
    order = np.argsort(waits.source, kind="stable")
    target = waits.target[order]
    begin = np.searchsorted(waits.source[order], np.arange(channels + 1))
    waiting = np.bincount(target, minlength=channels)
    numbers, level = np.zeros(channels, np.int64), 1
    front = np.flatnonzero(waiting == 0)
    while len(front):
        numbers[front] = level
        count = begin[front + 1] - begin[front]
        edges = np.repeat(begin[front] - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        reached, times = np.unique(target[edges], return_counts=True)
        waiting[reached] -= times
        front, level = reached[waiting[reached] == 0], level + 1
    return numbers, numbers == 0


def circle_of(waits: Waits) -> list[int]:
    """Numbers of waits that form a circle, each one's target the source of the next; empty where there is none.

    It is a shortest one through some channel. O(channels + waits)."""
    _, left = _peeled(waits)
    if not left.any():
        return []
    inner = np.flatnonzero(left[waits.source] & left[waits.target])
    leaving: dict[int, list[int]] = {}
    before: dict[int, int] = {}
    for edge, source, target in zip(inner.tolist(), waits.source[inner].tolist(), waits.target[inner].tolist(), strict=True):
        leaving.setdefault(source, []).append(edge)
        before[target] = source
    at, seen = next(iter(before)), set()
    while at not in seen:  # every channel that is left has one before it: going back ends in a circle
        seen.add(at)
        at = before[at]
    return _shortest_round(at, leaving, waits.target)


def _shortest_round(start: int, leaving: Mapping[int, list[int]], target: Int64) -> list[int]:
    """The fewest edges that lead from a channel back to itself; there must be such edges."""
    came_by: dict[int, int] = {}
    front, source_of = [start], {edge: at for at, edges in leaving.items() for edge in edges}
    while start not in came_by:
        reached = []
        for at in front:
            for edge in leaving.get(at, ()):
                to = int(target[edge])
                if to not in came_by:
                    came_by[to] = edge
                    reached.append(to)
        front = reached
    found = [came_by[start]]
    while source_of[found[-1]] != start:
        found.append(came_by[source_of[found[-1]]])
    return found[::-1]


def load_of(walks: Walks, waits: Waits) -> Int64:
    """The number of flits of all packets that may ever take each channel. O(hops · parts)."""
    load = np.zeros(len(waits.used), np.int64)
    flits = walks.flits[walks.walk_of_hop]
    for part, bits in enumerate(waits.parts):
        hops = np.flatnonzero(walks.mask & np.uint64(bits))
        np.add.at(load, walks.pair[hops] * len(waits.parts) + part, flits[hops])
    return load


def numbering_fault(
    walks: Walks,
    numbers: Mapping[tuple[int, int, int], int],
    buffer_flits: int = 0,
    absorbing: frozenset[tuple[int, int, int]] = frozenset(),
) -> str | None:
    """The small checker of a numbering; None where it proves that no circle of waits exists, else what is wrong.

    `numbers` of channels (source, destination, VC) must rise along every walk, whichever VCs its packets take. Waits for
    `absorbing` channels are exempt: the buffer of each must hold all flits of all packets that may ever take it. O(hops · VCs²)."""
    topology, load = walks.topology, dict.fromkeys(absorbing, 0)
    for walk in range(walks.count):
        first, last = int(walks.begin[walk]), int(walks.begin[walk + 1])
        before: list[tuple[int, int, int]] = []
        for hop in range(first, last):
            ends = int(topology.pair_src[walks.pair[hop]]), int(topology.pair_dst[walks.pair[hop]])
            here = [(*ends, vc) for vc in range(64) if int(walks.mask[hop]) >> vc & 1]
            for channel in here:
                if channel in load:
                    load[channel] += int(walks.flits[walk])
                    continue
                for earlier in before:
                    if not numbers.get(earlier, 0) < numbers.get(channel, 0):
                        return f"route {walk}: channel {channel} has no larger number than {earlier}, which waits for it"
            before = here
    full = next((channel for channel, flits in load.items() if flits > buffer_flits), None)
    return None if full is None else f"channel {full}: {load[full]} flits do not fit into a buffer of {buffer_flits}"
