"""A broadcast in pieces along link-disjoint trees of few hops, in fine slots. A reduce: the same backwards.

Source: pieces that take turns on link-disjoint trees, as on hypercubes in Johnsson and Ho, "Optimum broadcasting and personalized
communication in hypercubes" (1989). certree finds such trees, with few hops, on any direct network
(`certree.synth.graphs.shallow_branchings`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.paths import link_cycles
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import ceil_div, chunk_bytes_of, reduction_cycles, serialization_cycles
from certree.synth.fine.fine_routes import default_routes
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.program import Program, Stages
from certree.synth.graphs.shallow_branchings import NONE, most_branchings, shallow_branchings
from certree.synth.method import Options, Request, Tier, method, whole_number

MOST_TREES = 64
MOST_PIECES = 1 << 10  # of each tree
MOST_ROWS = 1 << 15  # of a program that is tried where the number of pieces is not given
COUNTS = 8  # numbers of trees to compare
MOST_STARTS = 64  # families of trees, of which the one with the fewest cycles to its farthest node is used
WORK = 1 << 22  # trees, times nodes and links, in all of these
PROGRAMS = 6  # those of the lowest estimates

Int64 = NDArray[np.int64]


@method(
    "shallow-trees",
    [CollectiveKind.BROADCAST, CollectiveKind.REDUCE],
    options={"trees": whole_number(None, 1, MOST_TREES), "pieces": whole_number(None, 1, MOST_PIECES)},
    tier=Tier.SMALL,
    published=False,
    order=75,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def shallow_trees(request: Request, options: Options) -> Schedule:
    """Pieces of the message take link-disjoint trees from the root in turn, which reach all nodes over few links; in fine slots.

    A reduce is the same backwards. On direct networks. Options: trees=T; pieces=P of each tree. Without them numbers that suit the
    network and the size are compared: the more trees, the less each carries, and the more hops they have. N - 1 rows for each
    piece.
    """
    if not request.topology.is_direct:
        raise UnsupportedError(f"shallow-trees needs a direct network; {request.topology.name} has switches")
    return in_fine_slots(request, _programs(request, options["trees"], options["pieces"]), "shallow-trees", options)


def _programs(request: Request, trees: int | None, pieces: int | None) -> Iterator[tuple[str, Program]]:
    most = min(MOST_TREES, most_branchings(request.topology, _root(request), inward=request.collective.reduces))
    if trees is not None and trees > most:
        raise UnsupportedError(f"{request.topology.name} has {most} link-disjoint trees for this root, not {trees}")
    found = []
    for count in [trees] if trees else sorted({ceil_div(most * share, COUNTS) for share in range(1, COUNTS + 1)}):
        family = _shallowest(request, count)
        for number in [pieces] if pieces else _numbers(request, count):
            found.append((family.estimate(request, number), count, number, family))
    for _, count, number, family in sorted(found, key=lambda one: one[:3])[:PROGRAMS]:
        yield f"{count} tree(s), {number} piece(s) each", family.program(request, number)


def _root(request: Request) -> int:
    (root,) = request.members[request.members == request.collective.root].tolist()
    return int(root)


def _shallowest(request: Request, count: int) -> "_Family":
    """A family of `count` trees with the fewest cycles to the farthest node and, of equal ones, to all nodes together."""
    topology, root, inward = request.topology, _root(request), request.collective.reduces
    hop = link_cycles(topology, request.machine) + request.machine.router_cycles
    starts = max(1, min(MOST_STARTS, WORK // (count * len(topology.kind) * len(topology.pair_src))))
    seeds = range(request.seed << 16, (request.seed << 16) + starts)
    found = []
    for seed in seeds:
        found.append(_Family.of(topology, shallow_branchings(topology, root, count, hop, seed, inward=inward), hop))
        if request.monitor.expired:
            break
    return min(found, key=lambda family: (int(family.far.max()), int(family.far.sum())))


@dataclass(frozen=True, eq=False)
class _Family:
    """Trees: `before`, the node before each node on its path from the root; `depth`, its links; `far`, the cycles of these."""

    before: Int32
    depth: Int64
    far: Int64

    @classmethod
    def of(cls, topology: Topology, before: Int32, hop: Int64) -> "_Family":
        """The family of these trees; `hop`: cycles of each joined pair, equal in both directions."""
        tree, node = np.nonzero(before != NONE)
        one, cycles = (before != NONE).astype(np.int64), np.zeros(before.shape, np.int64)
        pair = topology.pair_index(before[tree, node], node)
        back = topology.pair_index(node, before[tree, node])
        cycles[tree, node] = hop[np.where(pair < 0, back, pair)]
        return cls(before, _from_root(before, one), _from_root(before, cycles))

    def estimate(self, request: Request, pieces: int) -> int:
        """Cycles for that many pieces of each tree if messages wait only for those before them, on links and at nodes that add."""
        machine, trees = request.machine, len(self.before)
        size = chunk_bytes_of(request.message_bytes, trees * pieces, 1, machine)
        each = serialization_cycles(size, machine, request.topology.scale)
        add, turn = 0, each
        if request.collective.reduces:
            red = reduction_cycles(size, machine)
            add = machine.reduce_start_cycles + red
            turn = max(each, red * int(np.bincount(self.before[self.before != NONE]).max()))
        return int(self.far.max()) + int(self.depth.max()) * (each + machine.ni_cycles + add) + (pieces - 1) * turn

    def program(self, request: Request, pieces: int) -> Program:
        """A program with that many pieces of each tree; the trees take turns."""
        stages, collective, trees, last = Stages(), request.collective, len(self.before), int(self.depth.max())
        for chunk in range(trees * pieces):
            before, depth = self.before[chunk % trees], self.depth[chunk % trees]
            to = np.flatnonzero(before != NONE)
            if collective.reduces:
                stages.add(chunk, Op.REDUCE, to, before[to], stage=last - depth[to])
            else:
                stages.add(chunk, Op.COPY, before[to], to, stage=depth[to] - 1)
        roots = np.full(trees * pieces, collective.root)
        return stages.program(request.topology, collective, roots, default_routes(request.topology))


def _from_root(before: Int32, step: Int64) -> Int64:
    """The sum of `step` along the path of each tree and node. O(trees · nodes · log hops)."""
    tree, total = np.arange(len(before))[:, None], step
    at = np.where(before == NONE, np.arange(before.shape[1]), before)
    while True:
        further = total + total[tree, at]
        if np.array_equal(further, total):
            return total
        at, total = at[tree, at], further


def _numbers(request: Request, trees: int) -> list[int]:
    """Numbers of pieces of each tree that waste no granule."""
    granules = ceil_div(ceil_div(request.message_bytes, request.machine.flit_bytes), trees)
    most = max(1, min(MOST_PIECES, MOST_ROWS // (trees * (len(request.members) - 1))))
    return sorted({ceil_div(granules, ceil_div(granules, number)) for number in range(1, most + 1)})
