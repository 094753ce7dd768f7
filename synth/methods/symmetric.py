"""One tree for all nodes: schedules of Cayley graphs that their translations map to themselves."""

import numpy as np

from certree.models.collective import SYMMETRIC_KINDS
from certree.models.errors import UnsupportedError
from certree.models.schedule import Schedule
from certree.models.topology import Topology
from certree.synth.cayley import Cayley, RootedTrees, cayley_of, grow_trees
from certree.synth.method import METHODS, Request, read_options, require_collective, require_shape
from certree.synth.phases import Phase, by_reversal, compose

#: rows of the largest schedule that is written out; 8.4 million take about a gigabyte
MAX_TRANSFERS = 1 << 23
#: up to so many rows the number of chunks that divides exactly is tried beside one chunk a node
TRIED_TRANSFERS = 1 << 18


@METHODS.register("symmetric")
def symmetric(request: Request) -> Schedule:
    """Trees at one node, found by randomised greedy search and translated to all others; tori, rings, hypercubes, full, circulants.

    For direct networks that a group moves onto themselves with one element for each node (`certree.synth.cayley` finds and checks
    it), up to MAX_TRANSFERS transfers. An all-gather of C chunks a node takes ⌈C(N-1)/d⌉ rounds, d being what a node sends a round,
    or the provenance says how many more; a reduce-scatter is its reversal, an all-reduce the two of them. --chunks is C·N;
    without it C is 1 or, where that is faster and the schedule small, the least that keeps all links busy throughout. No options.
    """
    require_collective(request, "symmetric", SYMMETRIC_KINDS)
    read_options(request, "symmetric", {})
    cayley = cayley_of(request.topology)
    made = [_made(request, trees) for trees in _choices(request, cayley)]
    return min(made, key=request.cycles) if len(made) > 1 else made[0]


def _choices(request: Request, cayley: Cayley) -> list[int]:
    """Chunks a node that are tried; UnsupportedError where there are none."""
    nodes = cayley.nodes
    if request.chunks is None:
        exact = cayley.exact_trees
        return [1] if exact == 1 or _transfers(request, nodes, exact) > TRIED_TRANSFERS else [1, exact]
    if request.chunks % nodes:
        raise UnsupportedError(f"symmetric gives each of the {nodes} nodes as many chunks; {request.chunks} were asked for")
    return [request.chunks // nodes]


def _transfers(request: Request, nodes: int, trees: int) -> int:
    phases = int(request.collective.reduces) + int(request.collective.gathers)
    return phases * trees * nodes * (nodes - 1)


def _made(request: Request, trees: int) -> Schedule:
    """The schedule of so many trees a node."""
    nodes, transfers = len(request.topology.endpoints), _transfers(request, len(request.topology.endpoints), trees)
    if transfers > MAX_TRANSFERS:
        raise UnsupportedError(f"symmetric: {transfers} transfers; at most {MAX_TRANSFERS} are written out")
    least: list[int] = []
    taken: list[int] = []

    def gather(topology: Topology) -> Phase:
        cayley = cayley_of(topology)
        grown = grow_trees(cayley, trees, request.seed, request.effort)
        least.append(cayley.least_rounds(trees))
        taken.append(grown.rounds)
        return _translated(cayley, grown)

    reduce, copy = by_reversal(request, gather)
    phases = [phase for phase in (reduce, copy) if phase is not None]
    require_shape(request, "symmetric", trees * nodes, sum(phase.steps for phase in phases))
    above = max(took - bound for took, bound in zip(taken, least, strict=True))
    provenance = request.provenance(
        "symmetric", {}, trees_per_node=trees, phase_rounds=max(taken), phase_bound=max(least), rounds_above_bound=above
    )
    roots = np.tile(np.arange(nodes, dtype=np.int32), trees)
    return request.offer(compose(request, roots, reduce, copy, provenance))


def _translated(cayley: Cayley, grown: RootedTrees) -> Phase:
    """Every tree at every node; chunk t·N + g travels tree t moved by element g. O(trees · N^2) rows, in order of steps."""
    elements = np.arange(cayley.nodes, dtype=np.int32)
    by_node = np.ascontiguousarray(cayley.moved.T)
    return Phase(
        chunk=(grown.tree[:, None] * np.int32(cayley.nodes) + elements).ravel(),
        step=np.repeat(grown.round, cayley.nodes),
        src=by_node[grown.parent].ravel(),
        dst=by_node[grown.child].ravel(),
    )
