"""From one all-gather to the three collectives: the reverse is a reduce-scatter, the reverse before it an all-reduce."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.collective import Collective
from certree.models.schedule import NO_ROOT, Op, Schedule, make_schedule
from certree.models.topology import Int32, Topology
from certree.synth.method import Request


@dataclass(frozen=True)
class Phase:
    """The copies of an all-gather, one row each: `chunk`, `step` (unit rounds, from 0), `src`, `dst`; int32 columns."""

    chunk: Int32
    step: Int32
    src: Int32
    dst: Int32

    @property
    def steps(self) -> int:
        """Steps of the phase."""
        return int(self.step.max()) + 1

    def reversed(self) -> "Phase":
        """The same transfers backwards in time and direction. When every chunk flows along a tree from its root, and no node
        sends what arrived in the same step, these reduces add up every contribution once at the root (MultiTree, lines 16-17).
        """
        return Phase(chunk=self.chunk, step=self.steps - 1 - self.step, src=self.dst, dst=self.src)


def by_reversal(request: Request, make: Callable[[Topology], Phase]) -> tuple[Phase | None, Phase | None]:
    """(reduce, gather) of the requested collective from a maker of all-gathers; None for a phase that it has not.

    Where links differ by direction, the reduces are the reversal of an all-gather on the network with all links turned round.
    """
    topology, collective = request.topology, request.collective
    gather = make(topology) if collective.gathers else None
    if not collective.reduces:
        return None, gather
    if gather is not None and topology.is_full_duplex:
        return gather.reversed(), gather
    return make(turned_round(topology)).reversed(), gather


def turned_round(topology: Topology) -> Topology:
    """The network with every link in the other direction; itself when that changes nothing."""
    return topology if topology.is_full_duplex else replace(topology, src=topology.dst, dst=topology.src)


def joined(collective: Collective, reduce: Phase | None, gather: Phase | None) -> dict[str, NDArray[Any]]:
    """The transfers of a collective (`chunk`, `op`, `step`, `src`, `dst`) from its phases; copies start after the last reduce.

    A phase that the collective has not is ignored. O(rows).
    """
    parts = []
    if collective.reduces and reduce is not None:
        parts.append((Op.REDUCE, reduce, 0))
    if collective.gathers and gather is not None:
        parts.append((Op.COPY, gather, parts[0][1].steps if parts else 0))
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
    """The requested collective from phases whose transfers all run between neighbours (`synth.embedding` serves the others).

    `roots`: of every chunk. O(rows log rows).
    """
    collective = request.collective
    chunk_root = roots if collective.is_rooted else np.full(len(roots), NO_ROOT, np.int32)
    return make_schedule(request.topology, collective, chunk_root, joined(collective, reduce, gather), provenance=provenance)
