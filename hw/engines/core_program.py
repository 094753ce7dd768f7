"""Tables, or a schedule without tables, as the columns that the simulator core runs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.hw.core_calls import check_fits, narrowed
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.table_rows import Rows
from certree.models.common.errors import TableFormatError, UnsupportedError
from certree.models.network.topology import NodeKind
from certree.models.schedule.paths import link_cycles, route_of
from certree.models.tables.table_columns import Profile
from certree.models.tables.table_memory import cell_addresses, cell_places, layout
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]
MAX_STAGES = 1 << 30  # flits in all wires and pipelines: 4 GiB


class Program:
    """The program of an engine without routers (`common/program.hpp`): rows and the lanes of their messages; `scalars` and
    `columns` are the input of the core.

    Raises TableFormatError for neighbours that no link joins, UnsupportedError for sizes beyond the core's counters, and for routes
    that pass a link twice or a router in zero cycles. O(hops log hops) time.
    """

    def __init__(self, source: Tables | SimulatedSchedule, rows: Rows) -> None:
        self._rows, self._topology, self._machine = rows, source.topology, source.machine
        self._routes = source.routes if isinstance(source, Tables) else source.schedule.routes
        self.scalars = rows.scalars
        self.columns = rows.rows | {name: narrowed(name, column) for name, column in self._lanes().items()}

    def _lanes(self) -> dict[str, NDArray[np.integer]]:
        sent = self._rows.sent
        far = np.flatnonzero((sent["src"] != sent["dst"]) | (not self._rows.has_local))
        message, pair = route_of(self._topology, sent["src"][far], sent["dst"][far], sent["route"][far], self._routes)
        message = far[message]
        if (pair < 0).any():
            lost = int(message[np.argmax(pair < 0)])
            raise TableFormatError(f"node {sent['src'][lost]} sends to node {sent['dst'][lost]}, and no link joins them")
        pairs, bundle = np.unique(pair, return_inverse=True)
        latency = link_cycles(self._topology, self._machine)[pairs]
        check_fits("cycles on one link", int(latency.max(initial=0)))
        self._check_routes(message, bundle, latency)
        uses = np.bincount(bundle, minlength=len(pairs)) * self.scalars["repeats"]
        lanes = np.minimum(self._topology.pair_capacity[pairs], uses)  # the most lanes that can ever be in use
        return {
            "message_hops_begin": np.searchsorted(message, np.arange(len(sent["src"]) + 1)),
            "message_hops": bundle,
            "bundle_begin": np.concatenate(([0], np.cumsum(lanes))),
            "bundle_source": self._topology.pair_src[pairs],
            "bundle_destination": self._topology.pair_dst[pairs],
            "bundle_latency": latency,
        }

    def _check_routes(self, message: Int64, bundle: Int64, latency: Int64) -> None:
        key = np.sort(message * (int(bundle.max(initial=0)) + 1) + bundle)
        if (np.diff(key) == 0).any():
            raise UnsupportedError("a route passes one link twice; the simulator runs routes without circles")
        if (np.diff(message) == 0).any() and (latency + self._machine.router_cycles == 0).any():
            raise UnsupportedError("routes over several links need routers or links that take a cycle; these take none")

    def check_stages(self) -> None:
        """Raise UnsupportedError when the wires and pipelines hold more flits than the flit engine has places for."""
        path = (
            self.columns["bundle_latency"].astype(np.int64) + self.scalars["interface_cycles"] + 2 * self.scalars["router_cycles"]
        )
        width = np.diff(self.columns["bundle_begin"].astype(np.int64))
        stages = sum(a * b for a, b in zip(path.tolist(), width.tolist(), strict=True))
        check_fits("flits in wires and pipelines", stages, MAX_STAGES)


def initial_cells(nodes: int, chunks: int) -> NDArray[np.uint64]:
    """The initial data of every node, shape (nodes, chunks of all iterations): a mixing hash of (node, chunk).

    SplitMix64 (Steele, Lea, Flood 2014) of node · 2^40 + chunk: no two cells are equal and all differ from zero (only an input
    beyond the largest node id mixes to zero), so that a missing, doubled or misplaced contribution changes the sum."""
    return mixed(np.arange(nodes)[:, None], np.arange(chunks))


def mixed(node: NDArray[Any], number: NDArray[Any]) -> NDArray[np.uint64]:
    """SplitMix64 of node · 2^40 + number, elementwise, broadcast against each other."""
    place = np.bitwise_or(node.astype(np.uint64) << np.uint64(40), number.astype(np.uint64))
    cells: NDArray[np.uint64] = place + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        cells = (cells ^ (cells >> np.uint64(shift))) * np.uint64(factor)
    last: NDArray[np.uint64] = cells ^ (cells >> np.uint64(31))
    return last


def first_cells(source: Tables | SimulatedSchedule) -> NDArray[np.uint64]:
    """The initial data of a run, shape (nodes, cells of a node): `initial_cells`, with empty accumulators (zero) at switches. Cells
    that hold no data at the start hold other numbers, which must not get into a result."""
    topology = source.topology
    cells = initial_cells(len(topology.kind), _cells_of_node(source))
    cells[topology.kind != NodeKind.ENDPOINT] = 0
    return cells


def _cells_of_node(source: Tables | SimulatedSchedule) -> int:
    if not isinstance(source, Tables) or not source.is_counted:
        return source.chunks * source.repeats
    if source.has_sizes:
        return len(cell_places(source))
    memory, size = layout(source), source.chunk_bytes // source.machine.flit_bytes
    return (memory.work_base + memory.in_flight * memory.work_stride) // size


def first_wrong(source: Tables | SimulatedSchedule, cells: NDArray[np.uint64]) -> tuple[int, int] | None:
    """The first (rank, chunk of all iterations) with a wrong value, or None when all are correct.

    Sums are recomputed here from the initial values, modulo 2^64.
    """
    if isinstance(source, Tables) and source.profile is Profile.BLOCKS:
        return _first_wrong_block(source, cells)
    schedule, cells = source.schedule, cells[:, : source.chunks * source.repeats]
    members = schedule.collective.members_of(schedule.topology)
    initial = initial_cells(len(schedule.topology.kind), cells.shape[1])
    roots = np.tile(schedule.chunk_root, schedule.repeats)
    if schedule.collective.reduces:
        promised = initial[members].sum(axis=0, dtype=np.uint64)
    else:
        promised = initial[roots, np.arange(len(roots))]
    wrong = cells[members] != promised
    if not schedule.collective.gathers:  # due at one endpoint only
        due = roots if schedule.chunk_target is None else np.tile(schedule.chunk_target, schedule.repeats)
        wrong &= members[:, None] == due
    if not wrong.any():
        return None
    place, chunk = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return int(schedule.topology.rank[members[place]]), int(chunk)


def _first_wrong_block(tables: Tables, cells: NDArray[np.uint64]) -> tuple[int, int] | None:
    """The first block, of chunks with targets, that does not arrive at its target as its source had it; None when all do."""
    root, target, flow = tables.chunk_root, tables.chunk_target, np.arange(tables.chunks, dtype=np.int32)
    assert root is not None
    assert target is not None
    size, zero = tables.chunk_bytes // tables.machine.flit_bytes, np.zeros(tables.chunks, np.int32)
    sent, due = (cell_addresses(tables, node, flow, zero) for node in (root, target))
    if not tables.has_sizes:
        sent, due = sent // size, due // size
    else:
        sent, due = (np.searchsorted(cell_places(tables), address) for address in (sent, due))
    moved = np.arange(tables.repeats)[:, None] * (layout(tables).stride // size)
    wrong = cells[target, due + moved] != initial_cells(len(cells), cells.shape[1])[root, sent + moved]
    if not wrong.any():
        return None
    number = int(np.argmax(wrong))
    return int(tables.topology.rank[target[number % tables.chunks]]), number
