"""Exchanges between partners whose positions differ in one bit: the butterfly of halving-doubling and its relatives."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32
from certree.synth.phases import Phase


def whole_log2(count: int) -> int | None:
    """k of 2^k; None when `count` is not a power of two."""
    return count.bit_length() - 1 if count & (count - 1) == 0 else None


def butterfly(nodes: NDArray[Any], *, nearest_last: bool) -> Phase:
    """The all-gather by recursive doubling among 2^k nodes: in each step partners exchange all they hold, k steps.

    Chunk p starts at nodes[p]; what a node sends doubles from step to step. `nearest_last`: the partners of the last step, which
    exchange half of everything, have neighbouring positions, otherwise positions half of all apart. 2^k (2^k - 1) rows.
    """
    bits = len(nodes).bit_length() - 1
    position = np.arange(len(nodes))
    held = position[:, None]  # the chunks that each position holds
    columns: list[tuple[NDArray[Any], ...]] = []
    for step in range(bits):
        partner = position ^ (1 << (bits - 1 - step if nearest_last else step))
        columns.append(tuple(column.ravel() for column in np.broadcast_arrays(held, step, nodes[:, None], nodes[partner, None])))
        held = np.concatenate((held, held[partner]), axis=1)
    chunk, steps, src, dst = (np.concatenate(column).astype(np.int32) for column in zip(*columns, strict=True))
    return Phase(chunk=chunk, step=steps, src=src, dst=dst)


def core_of(nodes: Int32) -> tuple[Int32, Int32, Int32]:
    """(core, folded, partners): the largest power of two of nodes, and for each node left out the core node that acts for it.

    With r surplus nodes, the first 2r pair up, and the first of each pair belongs to the core.
    """
    size = 1 << (len(nodes).bit_length() - 1)
    pairs = 2 * (len(nodes) - size)
    return np.concatenate((nodes[:pairs:2], nodes[pairs:])), nodes[1:pairs:2], nodes[:pairs:2]
