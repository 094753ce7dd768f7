"""The ring algorithm along a Hamiltonian cycle.

Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009), Section 3; known from
Baidu's ring all-reduce.
"""

import numpy as np

from certree.models.collective import SYMMETRIC_KINDS
from certree.models.errors import UnsupportedError
from certree.models.schedule import Schedule
from certree.models.topology import Int32
from certree.synth.cycle import hamiltonian_cycle
from certree.synth.method import METHODS, Request, flag, read_options, require_collective, require_direct, require_shape
from certree.synth.phases import Phase, compose


@METHODS.register("ring")
def ring(request: Request) -> Schedule:
    """Chunks travel round a Hamiltonian cycle: N-1 steps a phase; bidirectional=true uses both directions at once.

    One chunk per endpoint, rooted there, or two when bidirectional (the second goes the other way round), which halves the
    length of every step. The cycle is found by `certree.synth.cycle`.
    """
    require_collective(request, "ring", SYMMETRIC_KINDS)
    require_direct(request, "ring")
    options = read_options(request, "ring", {"bidirectional": flag(False)})
    nodes, both_ways = len(request.topology.endpoints), options["bidirectional"]
    if both_ways and nodes == 2:
        raise UnsupportedError("a ring of 2 nodes has one direction: its two links join the same nodes")
    phases = int(request.collective.reduces) + int(request.collective.gathers)
    require_shape(request, "ring", 2 * nodes if both_ways else nodes, phases * (nodes - 1))
    order = np.array(hamiltonian_cycle(request, both_ways=both_ways), np.int32)
    ways = [order, order[::-1]] if both_ways else [order]
    rank = request.topology.rank
    gather = _around(ways, rank, behind=0)
    reduce = _around(ways, rank, behind=1)
    roots = np.tile(request.topology.endpoints, len(ways))
    return request.offer(compose(request, roots, reduce, gather, request.provenance("ring", options)))


def _around(ways: list[Int32], rank: Int32, behind: int) -> Phase:
    """One trip of every chunk round each way, N-1 hops; it starts `behind` nodes after its root.

    Copies start at the root (0); a partial sum starts one node after it (1) and ends there. O(N^2) rows.
    """
    nodes = len(ways[0])
    position, step = (grid.ravel() for grid in np.meshgrid(np.arange(nodes), np.arange(nodes - 1), indexing="ij"))
    at = position + step + behind
    return Phase(
        chunk=np.concatenate([rank[way[position]] + way_number * nodes for way_number, way in enumerate(ways)]).astype(np.int32),
        step=np.tile(step, len(ways)).astype(np.int32),
        src=np.concatenate([way[at % nodes] for way in ways]),
        dst=np.concatenate([way[(at + 1) % nodes] for way in ways]),
    )
