"""Small schedules for tests, of transfers as `tests.transfers` writes them, or of rows (chunk, op, step, src, dst)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.network.topology import UNKNOWN_LATENCY, NodeKind, Topology
from certree.models.schedule.collective import Collective, parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from tests.transfers import COPY, REDUCE, Row, transfers

__all__ = ["COPY", "PATH", "PATH_ROWS", "REDUCE", "Row", "build", "chain_all_reduce", "network", "path_all_reduce"]


def build(
    topology: Topology | str,
    collective: Collective | str,
    rows: Sequence[Row] | str,
    *,
    roots: Sequence[int] | None = None,
    targets: Sequence[int] | None = None,
    chunks: int | None = None,
    route: Sequence[int] | None = None,
    rounds: Sequence[int] | None = None,
    collective_root: int | None = None,
    **fields: Any,
) -> Schedule:
    """A schedule of these rows, in this order; K from `roots`, `chunks` or the largest chunk, one round a step by default.

    `roots`: of the chunks, where that is not `collective_root`: the root of a collective that has one.
    """
    network = parse_topology(topology) if isinstance(topology, str) else topology
    columns = np.array(transfers(rows) if isinstance(rows, str) else rows, np.int32).reshape(-1, 5)
    if roots is None:
        roots = [NO_ROOT if collective_root is None else collective_root] * (chunks or int(columns[:, 0].max(initial=0)) + 1)
    return Schedule(
        topology=network,
        collective=parse_collective(collective, collective_root) if isinstance(collective, str) else collective,
        chunk_root=np.array(roots, np.int32),
        chunk_target=None if targets is None else np.array(targets, np.int32),
        rounds=np.array(rounds or [1] * (int(columns[:, 2].max(initial=0)) + 1), np.int32),
        chunk=columns[:, 0],
        op=columns[:, 1].astype(np.int8),
        step=columns[:, 2],
        src=columns[:, 3],
        dst=columns[:, 4],
        route=np.array(route if route is not None else [DIRECT] * len(columns), np.int32),
        **fields,
    )


def network(kinds: str, links: Sequence[tuple[int, int, int]], reducing: Sequence[int] = ()) -> Topology:
    """A topology of nodes `e` (endpoint), `s` (switch), `-` (removed) and links (src, dst, capacity)."""
    src, dst, capacity = np.array(links, np.int32).T
    kind = np.array(["es-".index(kind) for kind in kinds], np.int8) + NodeKind.ENDPOINT
    flags = np.isin(np.arange(len(kinds)), reducing)
    return Topology("hand-made", kind, src, dst, capacity, np.full(len(links), UNKNOWN_LATENCY, np.int32), reducing=flags)


#: all-reduce of one chunk along the path 0-1-2 (mesh:1x3), root 1
PATH = "0+1 2+1; 1>0 1>2"
PATH_ROWS = transfers(PATH)


def path_all_reduce(rows: Sequence[Row] | str = PATH, **fields: Any) -> Schedule:
    """An all-reduce on three nodes in a row."""
    return build("mesh:1x3", "all-reduce", rows, **fields)


def chain_all_reduce(delay: int, **fields: Any) -> Schedule:
    """An all-reduce of one chunk up and down the path 0-1-2-3, every transfer as early as the delay allows."""
    rows = [(chunk, op, step * delay, src, dst) for chunk, op, step, src, dst in transfers("0+1; 1+2; 2+3; 3>2; 2>1; 1>0")]
    return build("mesh:1x4", "all-reduce", rows, delay=delay, **fields)
