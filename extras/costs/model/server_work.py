"""The work of servers in a step besides sending: additions and memory accesses, in shares of the message."""

import numpy as np
from numpy.typing import NDArray

from certree.extras.costs.model.distinct_rows import distinct
from certree.models.network.topology import NodeKind
from certree.models.schedule.paths import is_local
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

Int64 = NDArray[np.int64]


def chunk_shares(schedule: Schedule) -> Int64:
    """The size of each chunk in shares of the message: one, or with a demand its granules."""
    granules = schedule.chunk_granules
    return np.ones(schedule.chunks, np.int64) if granules is None else granules.astype(np.int64)


def server_work(schedule: Schedule, step: Int64, stages: int) -> tuple[Int64, Int64, Int64]:
    """(step · nodes + server, additions, accesses) of every server that adds or moves data within itself in a step, ascending.

    `step`: of the transfers of `stages` iterations, one after the other. A reduction of f terms into a place is f - 1 additions, f
    reads and a write (GenTree, Section 3.1); a copy from one buffer of a node to another is a read and a write, and no message.
    Additions in switches cost servers nothing. O(rows log rows).
    """
    ends, shares, buffers = schedule.topology.kind == NodeKind.ENDPOINT, chunk_shares(schedule), np.int64(schedule.buffers)
    nodes, iteration = np.int64(len(ends)), np.repeat(np.arange(stages), schedule.transfers)
    dst, chunk = (np.tile(column, stages).astype(np.int64) for column in (schedule.dst, schedule.chunk))
    place = (iteration * schedule.chunks + chunk) * buffers
    place += 0 if schedule.dst_buffer is None else np.tile(schedule.dst_buffer, stages)
    reduces = np.tile((schedule.op == Op.REDUCE) & ends[schedule.dst], stages)
    copies = np.tile((schedule.op == Op.COPY) & is_local(schedule), stages)
    (summed, into), terms = distinct((step * nodes + dst)[reduces], place[reduces])
    moved = (step * nodes + dst)[copies]
    servers = np.unique(np.concatenate((summed, moved)))
    additions, accesses = (np.zeros(len(servers), np.int64) for _ in range(2))
    size, at = shares[into // buffers % schedule.chunks], np.searchsorted(servers, summed)
    np.add.at(additions, at, terms * size)
    np.add.at(accesses, at, (terms + 2) * size)
    np.add.at(accesses, np.searchsorted(servers, moved), 2 * shares[chunk[copies]])
    return servers, additions, accesses
