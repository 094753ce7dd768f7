"""Addresses of tables: where the chunks of rows and arrivals are in the memory of a node (`docs/reference/tables.md`, "Data")."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import numbered
from certree.models.network.topology import Int32
from certree.models.schedule.collective import Collective
from certree.models.tables.table_columns import Profile
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]
NOWHERE = -1


@dataclass(frozen=True)
class Layout:
    """Strides in granules: an address below `work_base` moves by `stride` from iteration to iteration; any other by `work_stride`,
    and comes back after `in_flight` iterations."""

    stride: int
    work_base: int
    work_stride: int
    in_flight: int


def blocks_of(tables: Tables) -> int:
    """k, the number of chunks of one iteration for each pair of endpoints, in tables of equal `blocks`; 0 for other tables."""
    equal = tables.profile is Profile.BLOCKS and not tables.has_sizes
    return message_chunks(tables) // len(tables.members) if equal else 0


def message_chunks(tables: Tables) -> int:
    """The number of chunks that the message of one iteration is cut into, as `Schedule.message_chunks`."""
    return message_chunks_of(tables.collective, len(tables.members), tables.chunks)


def message_chunks_of(collective: Collective, members: int, chunks: int) -> int:
    """The number of chunks that the message of one iteration is cut into, for that many members and chunks."""
    if collective.demand is not None:
        return collective.demand.granules
    if not collective.has_targets:
        return chunks
    moving = members - 1 if collective.has_one_root else members * (members - 1)
    return members * -(-chunks // max(1, moving))


def layout(tables: Tables) -> Layout:
    """Strides and the beginning of the work cells. O(arrivals)."""
    if tables.has_sizes:
        return _layout_of_sizes(tables)
    size, chunks = tables.chunk_bytes // tables.machine.flit_bytes, message_chunks(tables)
    areas = 2 if tables.profile is Profile.BLOCKS else 1
    most = int(np.bincount(tables.arrival_node[_is_work(tables)]).max(initial=0))
    stride = (blocks_of(tables) or chunks) * size
    return Layout(stride, areas * chunks * tables.repeats * size, most * size, tables.in_flight)


def _layout_of_sizes(tables: Tables) -> Layout:
    """The layout with a demand: the areas are as long as the longest of any node. With one iteration, strides have no use."""
    sizes, nodes = tables.sizes(np.arange(tables.chunks, dtype=np.int32)), len(tables.topology.kind)
    work = _is_work(tables)
    passing = tables.arrival_node[work], tables.sizes(tables.arrival_flow[work])
    most = []
    assert tables.chunk_root is not None
    assert tables.chunk_target is not None
    for node, size in ((tables.chunk_root, sizes), (tables.chunk_target, sizes), passing):
        total = np.zeros(nodes, np.int64)
        np.add.at(total, node, size)
        most.append(int(total.max()))
    return Layout(0, most[0] + most[1], most[2], tables.in_flight)


def _is_work(tables: Tables) -> NDArray[np.bool_]:
    """The arrivals of each work cell: of a scratch buffer, or of a chunk that is passed on."""
    if tables.chunk_target is not None:
        through: NDArray[np.bool_] = tables.chunk_target[tables.arrival_flow] != tables.arrival_node
        return through
    return np.asarray(tables.arrival_buffer > 0)


def cell_addresses(tables: Tables, node: Int32, flow: Int32, buffer: Int32) -> Int64:
    """The address of each cell in iteration 0; NOWHERE for a work cell that no arrival is for. O(n log arrivals)."""
    size = tables.chunk_bytes // tables.machine.flit_bytes
    work = np.flatnonzero(_is_work(tables))
    work = work[np.argsort(tables.arrival_keys()[work], kind="stable")]
    cells, keys = tables.arrival_keys()[work], tables.cells(node, flow, buffer)
    place = np.searchsorted(cells, keys)
    known = np.append(cells, NOWHERE)[place] == keys
    before = np.concatenate(([0], np.cumsum(tables.sizes(tables.arrival_flow[work]))))  # granules of all work cells before each one
    inside = before[place] - before[np.searchsorted(tables.arrival_node[work], node)]
    scratch = np.where(known, layout(tables).work_base + inside, NOWHERE)
    if tables.profile is not Profile.BLOCKS:
        return np.where(buffer > 0, scratch, flow.astype(np.int64) * size)
    sent, received = block_addresses(tables)
    assert tables.chunk_root is not None
    assert tables.chunk_target is not None
    at_home = np.where(node == tables.chunk_root[flow], sent[flow], scratch)
    return np.where(node == tables.chunk_target[flow], received[flow], at_home)


def block_addresses(tables: Tables) -> tuple[Int64, Int64]:
    """The address of each chunk of tables of `blocks`, in iteration 0, in the first area of its source and in the second area of
    its target. O(chunks log chunks)."""
    size = tables.chunk_bytes // tables.machine.flit_bytes
    assert tables.chunk_root is not None
    assert tables.chunk_target is not None
    if tables.has_sizes:
        return _sized_addresses(tables, tables.chunk_root, tables.chunk_target)
    rank, in_block = np.zeros(len(tables.topology.kind), np.int64), blocks_of(tables) * tables.repeats
    rank[tables.members] = np.arange(len(tables.members))
    pair = tables.chunk_root.astype(np.int64) * len(rank) + tables.chunk_target
    number = numbered(pair)
    area = len(tables.members) * in_block
    return (
        (rank[tables.chunk_target] * in_block + number) * size,
        (area + rank[tables.chunk_root] * in_block + number) * size,
    )


def _sized_addresses(tables: Tables, root: Int32, target: Int32) -> tuple[Int64, Int64]:
    """The addresses of chunks of a demand: those of a node one after the other, by the other end, then by number."""
    sizes, number = tables.sizes(np.arange(tables.chunks, dtype=np.int32)), np.arange(tables.chunks)
    found, area = [], 0
    for node, other in ((root, target), (target, root)):
        order = np.lexsort((number, other, node))
        end = np.cumsum(sizes[order])
        first = np.searchsorted(node[order], node[order])
        address = np.empty(tables.chunks, np.int64)
        address[order] = area + end - sizes[order] - (end - sizes[order])[first]
        found.append(address)
        total = np.zeros(len(tables.topology.kind), np.int64)
        np.add.at(total, node, sizes)
        area = int(total.max())
    return found[0], found[1]


def cell_places(tables: Tables) -> Int64:
    """The addresses at which chunks are, in any node, ascending. O(rows log rows)."""
    return np.unique(np.concatenate((tables.addr, tables.arrival_addr)))
