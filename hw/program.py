"""`Tables` as the plain columns that the simulator core runs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.hw.table_rows import TableRows, check_limits
from certree.models.errors import TableFormatError, UnsupportedError
from certree.models.tables import Tables
from certree.models.topology import UNKNOWN_LATENCY, NodeKind

Int64 = NDArray[np.int64]
MAX_STAGES = 1 << 30  # flits in all wires and pipelines: 4 GiB


class Program(TableRows):
    """The columns of `core/program.hpp` for one set of tables: rows, and lanes that carry their messages; `scalars` and `columns`
    go to the core as they are.

    Raises TableFormatError when the tables are malformed, UnsupportedError for switches and for sizes beyond the core's counters.
    O(rows log rows) time.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        if (tables.topology.kind == NodeKind.SWITCH).any():
            raise UnsupportedError("the simulator runs direct networks; this one has switches")
        lanes = self._lanes()
        self._check_stages(lanes)
        self.columns = self.rows | {name: column.astype(np.uint32) for name, column in lanes.items()}

    def _lanes(self) -> dict[str, NDArray[np.integer]]:
        sent = self.sent
        pair = self.tables.topology.pair_index(sent["src"], sent["dst"])
        if (pair < 0).any():
            lost = int(np.argmax(pair < 0))
            raise TableFormatError(f"node {sent['src'][lost]} sends to node {sent['dst'][lost]}, and no link joins them")
        pairs, bundle = np.unique(pair, return_inverse=True)
        return {"message_bundle": bundle, **self._bundles(pairs, np.bincount(bundle, minlength=len(pairs)))}

    def _bundles(self, pairs: Int64, messages: Int64) -> dict[str, Int64]:
        """The lanes between two neighbours, as many as can ever be in use, each as long as the slowest link of the bundle."""
        topology = self.tables.topology
        stated = topology.latency.astype(np.int64)
        wire = np.where(stated == UNKNOWN_LATENCY, self.tables.machine.link_latency_cycles, stated)
        slowest = np.zeros(len(topology.pair_capacity), np.int64)
        np.maximum.at(slowest, topology.pair_of_link, wire)
        lanes = np.minimum(topology.pair_capacity[pairs], messages * self.tables.repeats)
        return {
            "bundle_begin": np.concatenate(([0], np.cumsum(lanes))),
            "bundle_source": topology.pair_src[pairs],
            "bundle_destination": topology.pair_dst[pairs],
            "bundle_latency": slowest[pairs],
        }

    def _check_stages(self, lanes: dict[str, NDArray[np.integer]]) -> None:
        path = lanes["bundle_latency"] + 2 * (self.scalars["ni_cycles"] + self.scalars["router_cycles"])
        width = np.diff(lanes["bundle_begin"])
        stages = sum(a * b for a, b in zip(path.tolist(), width.tolist(), strict=True))
        check_limits((stages, MAX_STAGES, "flits in wires and pipelines"))


def initial_cells(nodes: int, chunks: int) -> NDArray[np.uint64]:
    """What every node holds at the start, shape (nodes, chunks of all iterations): a mixing hash of (node, chunk).

    SplitMix64 (Steele, Lea, Flood 2014) of node · 2^40 + chunk: no two cells are alike and none is zero (only an input beyond the
    largest node id mixes to zero), so that a missing, doubled or misplaced contribution changes the sum.
    """
    node, chunk = np.arange(nodes, dtype=np.uint64)[:, None], np.arange(chunks, dtype=np.uint64)
    cells: NDArray[np.uint64] = np.bitwise_or(node << np.uint64(40), chunk) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        cells = (cells ^ (cells >> np.uint64(shift))) * np.uint64(factor)
    mixed: NDArray[np.uint64] = cells ^ (cells >> np.uint64(31))
    return mixed


def first_wrong(tables: Tables, cells: NDArray[np.uint64], chunk_root: NDArray[Any]) -> tuple[int, int] | None:
    """The first (rank, chunk of all iterations) whose value is not what the collective promises; None when all are right.

    Sums are taken here, over the initial values, modulo 2^64.
    """
    endpoints = tables.topology.endpoints
    initial = initial_cells(len(tables.topology.kind), cells.shape[1])
    roots = np.tile(chunk_root, tables.repeats)
    if tables.collective.reduces:
        promised = initial[endpoints].sum(axis=0, dtype=np.uint64)
    else:
        promised = initial[roots, np.arange(len(roots))]
    wrong = cells[endpoints] != promised
    if not tables.collective.gathers:  # due at the root only
        wrong &= endpoints[:, None] == roots
    if not wrong.any():
        return None
    rank, chunk = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(rank), int(chunk)
