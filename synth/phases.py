"""Three collectives from one all-gather: its reversal is a reduce-scatter, both in turn are an all-reduce."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.synth.method import Request


@dataclass(frozen=True)
class Phase:
    """The copies of an all-gather, one row each: `chunk`, `step` (unit rounds, from 0), `src`, `dst`; int32 columns.

    `path`: the links of each row's route, shape (rows, hops), filled up with -1; None where all rows run between neighbours.
    """

    chunk: Int32
    step: Int32
    src: Int32
    dst: Int32
    path: Int32 | None = None

    @property
    def steps(self) -> int:
        """The number of steps of the phase."""
        return int(self.step.max()) + 1

    def reversed(self, back: Int32 | None = None) -> "Phase":
        """The phase with its transfers backwards in time and direction. When every chunk flows along a tree from its root, and no
        node sends what arrived in the same step, these reduces add up every contribution once at the root (MultiTree, lines 16-17).

        `back`: for each link the one that leads back, by default the same number, as in `turned_round`.
        """
        path = None if self.path is None else self.path[:, ::-1]
        if path is not None and back is not None:
            path = np.where(path < 0, -1, back[path])
        return Phase(chunk=self.chunk, step=self.steps - 1 - self.step, src=self.dst, dst=self.src, path=path)


def by_reversal(request: Request, make: Callable[[Topology], Phase]) -> tuple[Phase | None, Phase | None]:
    """(reduce, gather) of the requested collective from a function that makes all-gathers; None for a phase that it lacks.

    Where links differ by direction, the reduces are the reversal of an all-gather on the network with all links reversed.
    """
    topology, collective = request.topology, request.collective
    gather = make(topology) if collective.gathers else None
    if not collective.reduces:
        return None, gather
    back = links_back(topology)
    if back is not None:
        return (gather or make(topology)).reversed(back), gather
    return make(turned_round(topology)).reversed(), gather


def links_back(topology: Topology) -> Int32 | None:
    """For each link one of the same capacity in the other direction, each taken once; None unless all have one.
    O(links log links)."""
    there = np.lexsort((topology.capacity, topology.dst, topology.src))
    back = np.lexsort((topology.capacity, topology.src, topology.dst))
    same = [topology.src[there] == topology.dst[back], topology.dst[there] == topology.src[back]]
    if not np.logical_and.reduce([*same, topology.capacity[there] == topology.capacity[back]]).all():
        return None
    twin = np.empty(len(there), np.int32)
    twin[there] = back
    return twin


def turned_round(topology: Topology) -> Topology:
    """The network with every link in the other direction; itself when that changes nothing."""
    return topology if links_back(topology) is not None else replace(topology, src=topology.dst, dst=topology.src)


def joined(collective: Collective, reduce: Phase | None, gather: Phase | None, delay: int = 1) -> dict[str, NDArray[Any]]:
    """The transfers of a collective (`chunk`, `op`, `step`, `src`, `dst`) from its phases; copies start when the last reduce has
    landed, `delay` steps after it was sent.

    A phase that the collective lacks is ignored, and paths are left out. O(rows).
    """
    parts = []
    if collective.reduces and reduce is not None:
        parts.append((Op.REDUCE, reduce, 0))
    if collective.gathers and gather is not None:
        parts.append((Op.COPY, gather, parts[0][1].steps + delay - 1 if parts else 0))
    return {
        "chunk": np.concatenate([phase.chunk for _, phase, _ in parts]),
        "op": np.concatenate([np.full(len(phase.chunk), op, np.int8) for op, phase, _ in parts]),
        "step": np.concatenate([phase.step + start for _, phase, start in parts]),
        "src": np.concatenate([phase.src for _, phase, _ in parts]),
        "dst": np.concatenate([phase.dst for _, phase, _ in parts]),
    }


def compose(
    request: Request, roots: NDArray[Any], reduce: Phase | None, gather: Phase | None, provenance: Mapping[str, Any]
) -> Schedule:
    """The requested collective from phases that know their links: rows between neighbours, or with paths of their own
    (`synth.ranks.embedding` finds routes for others).

    `roots`: of every chunk. O(rows log rows).
    """
    collective = request.collective
    columns = joined(collective, reduce, gather)
    phases = [phase for phase in (reduce if collective.reduces else None, gather if collective.gathers else None) if phase]
    routes: tuple[tuple[int, ...], ...] = ()
    if any(phase.path is not None for phase in phases):
        columns["route"], routes = routes_along(*[phase.path for phase in phases if phase.path is not None])
    chunk_root = roots if collective.is_rooted else np.full(len(roots), NO_ROOT, np.int32)
    return make_schedule(request.topology, collective, chunk_root, columns, routes=routes, provenance=provenance)


def routes_along(*paths: Int32) -> tuple[Int32, tuple[tuple[int, ...], ...]]:
    """The route column and the routes of rows with these paths (`Phase.path`), one block of rows after the other; a path of one
    link is direct. O(rows · hops · log rows).
    """
    widest = max(path.shape[1] for path in paths)
    rows = np.concatenate([np.pad(path, ((0, 0), (0, widest - path.shape[1])), constant_values=-1) for path in paths])
    far = np.flatnonzero((rows >= 0).sum(axis=1) > 1)
    column = np.full(len(rows), DIRECT, np.int32)
    different, column[far] = np.unique(rows[far], axis=0, return_inverse=True)
    return column, tuple(tuple(link for link in row if link >= 0) for row in different.tolist())
