"""Programs of butterflies: in each stage every rank exchanges with one partner, and after the last every rank has met all others.

`partners`: by stage and rank, the rank that it exchanges with. Either whole vectors are exchanged, or, for a reduce-scatter, the
shares of all ranks that the partner can still reach; the all-gather is the same backwards.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.fine_routes import default_routes, even_routes
from certree.synth.fine.program import Program, Stages
from certree.synth.method import Request

Partners = NDArray[np.int64]


def reached(partners: Partners) -> NDArray[np.bool_]:
    """The ranks that each rank can reach from each stage on, and after the last; UnsupportedError where a rank is reached twice or
    never, which is not a butterfly. O(stages · N²)."""
    stages, ranks = partners.shape
    found = np.zeros((stages + 1, ranks, ranks), np.bool_)
    found[stages] = np.eye(ranks, dtype=np.bool_)
    for stage in reversed(range(stages)):
        other = found[stage + 1, partners[stage]]
        if (partners[stage][partners[stage]] != np.arange(ranks)).any() or (other & found[stage + 1]).any():
            raise UnsupportedError("these partners are no butterfly: some pair meets twice")
        found[stage] = found[stage + 1] | other
    if not found[0].all():
        raise UnsupportedError("these partners are no butterfly: some pair never meets")
    return found


def whole_vectors(stages: Stages, nodes: Int32, partners: Partners, chunk: int) -> None:
    """Add stages in which all ranks exchange the whole vector `chunk`."""
    reached(partners)
    for stage, other in enumerate(partners):
        stages.add(chunk, Op.REDUCE, nodes, nodes[other], stage=stage)


def shares(stages: Stages, nodes: Int32, partners: Partners, first_chunk: int, *, sums: bool, spreads: bool) -> None:
    """Add a reduce-scatter of one chunk for each rank, numbered from `first_chunk` on, and the all-gather that reverses it."""
    reach, count = reached(partners), len(partners)
    for stage, other in enumerate(partners):
        rank, chunk = np.nonzero(reach[stage + 1, other])  # the chunks that the partner can still deliver
        here, there = nodes[rank], nodes[other[rank]]
        if sums:
            stages.add(chunk + first_chunk, Op.REDUCE, here, there, stage=stage)
        if spreads:
            stages.add(chunk + first_chunk, Op.COPY, there, here, stage=2 * count - 1 - stage)


def programs(request: Request, nodes: Int32, ports: list[Partners], form: str) -> Iterator[tuple[str, Program]]:
    """Programs of butterflies side by side, each on its part of the message. `form`: "vectors", "shares", or "best" for both where
    the collective is an all-reduce."""
    collective = request.collective
    both = collective.reduces and collective.gathers
    for name in ("vectors", "shares"):
        if form not in (name, "best") or (name == "vectors" and not both):
            continue
        stages = Stages()
        for port, partners in enumerate(ports):
            if name == "vectors":
                whole_vectors(stages, nodes, partners, port)
            else:
                shares(stages, nodes, partners, port * len(nodes), sums=collective.reduces, spreads=collective.gathers)
        root = np.tile(nodes, len(ports)) if name == "shares" else np.zeros(len(ports), np.int32)
        for words, find in (("default routes", default_routes), ("even routes", even_routes)):
            routes: Callable[..., list[tuple[int, ...]]] = find(request.topology)
            yield f"{len(ports)} port(s), {name}, {words}", stages.program(request.topology, collective, root, routes)
    if form == "vectors" and not both:
        raise UnsupportedError(f"whole vectors are for an all-reduce, not {collective.kind}")
