"""Addresses of tables: where the chunks of rows and arrivals are in the memory of a node (`docs/reference/tables.md`, "Data")."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Int32
from certree.models.schedule.collective import Collective
from certree.models.tables import Profile, Tables

Int64 = NDArray[np.int64]
NOWHERE = -1


@dataclass(frozen=True)
class Layout:
    """Granules: an address below `work_base` moves by `stride` from iteration to iteration; any other by `work_stride`, and comes
    back after `in_flight` iterations."""

    stride: int
    work_base: int
    work_stride: int
    in_flight: int


def blocks_of(tables: Tables) -> int:
    """k, the chunks of one iteration for each pair of endpoints, of tables of `blocks`; 0 elsewhere."""
    return message_chunks(tables) // len(tables.members) if tables.profile is Profile.BLOCKS else 0


def message_chunks(tables: Tables) -> int:
    """Chunks that the message of one iteration is cut into, as `Schedule.message_chunks`."""
    return message_chunks_of(tables.collective, len(tables.members), tables.chunks)


def message_chunks_of(collective: Collective, members: int, chunks: int) -> int:
    """The same, of a collective in which that many endpoints take part, with that many chunks in an iteration."""
    if not collective.has_targets:
        return chunks
    moving = members - 1 if collective.has_one_root else members * (members - 1)
    return members * -(-chunks // max(1, moving))


def layout(tables: Tables) -> Layout:
    """Strides and the beginning of the work cells. O(arrivals)."""
    size, chunks = tables.chunk_bytes // tables.machine.flit_bytes, message_chunks(tables)
    areas = 2 if tables.profile is Profile.BLOCKS else 1
    most = int(np.bincount(tables.arrival_node[_is_work(tables)]).max(initial=0))
    stride = (blocks_of(tables) or chunks) * size
    return Layout(stride, areas * chunks * tables.repeats * size, most * size, tables.in_flight)


def _is_work(tables: Tables) -> NDArray[np.bool_]:
    """The arrivals of each work cell: of a scratch buffer, or of a chunk on its way."""
    if tables.chunk_target is not None:
        through: NDArray[np.bool_] = tables.chunk_target[tables.arrival_flow] != tables.arrival_node
        return through
    return np.asarray(tables.arrival_buffer > 0)


def cell_addresses(tables: Tables, node: Int32, flow: Int32, buffer: Int32) -> Int64:
    """The address of each cell in iteration 0; NOWHERE for a work cell that no arrival is for. O(n log arrivals)."""
    size = tables.chunk_bytes // tables.machine.flit_bytes
    work = tables.arrival_keys()[_is_work(tables)]
    owner = tables.arrival_node[_is_work(tables)]
    keys = tables.cells(node, flow, buffer)
    order = np.argsort(work, kind="stable")
    place = np.searchsorted(work[order], keys)
    known = np.append(work[order], NOWHERE)[place] == keys
    number = place - np.searchsorted(owner[order], node)
    scratch = np.where(known, layout(tables).work_base + number * size, NOWHERE)
    if tables.profile is not Profile.BLOCKS:
        return np.where(buffer > 0, scratch, flow.astype(np.int64) * size)
    sent, received = _block_addresses(tables, size)
    assert tables.chunk_root is not None
    assert tables.chunk_target is not None
    at_home = np.where(node == tables.chunk_root[flow], sent[flow], scratch)
    return np.where(node == tables.chunk_target[flow], received[flow], at_home)


def _block_addresses(tables: Tables, size: int) -> tuple[Int64, Int64]:
    """The address of each chunk in the first area of its source, and in the second area of its target."""
    assert tables.chunk_root is not None
    assert tables.chunk_target is not None
    rank, in_block = np.zeros(len(tables.topology.kind), np.int64), blocks_of(tables) * tables.repeats
    rank[tables.members] = np.arange(len(tables.members))
    pair = tables.chunk_root.astype(np.int64) * len(rank) + tables.chunk_target
    order = np.argsort(pair, kind="stable")
    number = np.empty(len(pair), np.int64)
    number[order] = np.arange(len(pair)) - np.searchsorted(pair[order], pair[order])
    area = len(tables.members) * in_block
    return (
        (rank[tables.chunk_target] * in_block + number) * size,
        (area + rank[tables.chunk_root] * in_block + number) * size,
    )
