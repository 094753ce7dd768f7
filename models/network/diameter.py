"""The endpoint that is farthest from another one."""

import numpy as np
from numpy.typing import NDArray

_SEARCH_WORDS = 1 << 22  # words that one search may hold for its links

Int32 = NDArray[np.int32]


def farthest_pair(nodes: int, src: Int32, dst: Int32, endpoints: Int32) -> tuple[int, int]:
    """(hops, from): the most hops of a shortest path between endpoints, and the first endpoint where such a path begins.

    Searches from 64 endpoints at a time, a bit each: O(links · hops · endpoints / 64).
    """
    order = np.argsort(dst, kind="stable")
    tails = src[order]
    heads, first = np.unique(dst[order], return_index=True)
    width = 64 * max(1, _SEARCH_WORDS // len(tails))
    best = (0, -1)
    for low in range(0, len(endpoints), width):
        hops, start = _farthest(nodes, endpoints[low : low + width], endpoints, tails, heads, first)
        if hops > best[0]:
            best = (hops, start)
    return best


def _farthest(nodes: int, starts: Int32, endpoints: Int32, tails: Int32, heads: Int32, first: NDArray[np.int64]) -> tuple[int, int]:
    """(hops, start): the first of `starts` that takes the most hops to reach every endpoint. Links are sorted by head."""
    count = len(starts)
    reached = np.zeros((nodes, -(-count // 64)), np.uint64)
    bits = np.uint64(1) << (np.arange(count, dtype=np.uint64) % np.uint64(64))
    reached[starts, np.arange(count) // 64] = bits
    hops, incomplete = 0, np.ones(count, np.bool_)
    while True:
        everywhere = np.bitwise_and.reduce(reached[endpoints], axis=0)
        still = (everywhere[np.arange(count) // 64] & bits) == 0
        if not still.any():
            return hops, int(starts[int(incomplete.argmax())])
        incomplete = still
        reached[heads] |= np.bitwise_or.reduceat(reached[tails], first, axis=0)
        hops += 1
