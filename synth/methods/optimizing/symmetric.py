"""One tree for all nodes: schedules of Cayley graphs that their translations map to themselves."""

from dataclasses import dataclass

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import SYMMETRIC_KINDS, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.schedule.symmetric.symmetric_schedule import WHOLE, AnySchedule, SymmetricSchedule
from certree.models.schedule.timing import chunk_bytes_of, slot_length
from certree.synth.method import Options, Request, Tier, choice, method, require_shape, whole_number
from certree.synth.packing.slotting import Clock, SlotRules, slowest_route
from certree.synth.phases import Phase, by_reversal, joined
from certree.synth.price import FREE
from certree.synth.symmetric.disjoint_trees import disjoint_trees
from certree.synth.symmetric.translations import TRIES, Cayley, cayley_of, grow_trees

#: rows up to which a schedule is written out if nothing else is asked for
WRITTEN_TRANSFERS = 1 << 20
#: rows up to which several shapes are tried and the best is kept; beyond, only the most promising one
TRIED_TRANSFERS = 1 << 18
TRIED = 3
#: the most edges of the trees that are tried for one shape; the fewest tries of any shape
TRIED_EDGES, LEAST_TRIES = 1 << 18, 3
MAX_DELAY = 64


@dataclass(frozen=True)
class _Shape:
    """The number of trees per node, and the delay of the schedule."""

    trees: int
    delay: int


@method(
    "symmetric",
    [*SYMMETRIC_KINDS, CollectiveKind.BROADCAST, CollectiveKind.REDUCE],
    options={"delay": whole_number(None, 1, MAX_DELAY), "form": choice("auto", "folded", "written")},
    published=False,
    tier=Tier.ALWAYS,
    order=62,
    is_sparse=True,
    is_repeated=True,
    price=lambda *_: FREE,
)
def symmetric(request: Request, options: Options) -> AnySchedule:
    """Trees at one node, found by randomised greedy search and translated to all others, on tori, rings, hypercubes and the like.

    For direct networks with a group of automorphisms that has one element for each node (`certree.synth.symmetric.translations`
    finds and checks it). An all-gather of C chunks per node takes ⌈C(N-1)/d⌉ rounds, d being the chunks that a node sends per
    round, or more, which the provenance states; a reduce-scatter is its reversal, an all-reduce is both. --chunks is C·N; without
    it C is 1 or the least number that keeps all links always busy, whichever is faster. A broadcast or reduce uses as many trees as
    a node has links, without common links, again in each round (tori, hypercubes, full networks;
    `certree.synth.symmetric.disjoint_trees`). Options: delay=D, steps until sent data are used (by default the fastest at the
    size); form=folded keeps base trees and group, form=written all transfers, form=auto writes out up to a million.
    """
    cayley = cayley_of(request.topology)
    if request.collective.has_one_root:
        return request.offer(_from_one_root(request, cayley, options["delay"]))
    shapes = _shapes(request, cayley, options["delay"])
    made = [_made(request, cayley, shape, _tries(request, cayley, shape, len(shapes))) for shape in shapes]
    best = min(made, key=request.rank) if len(made) > 1 else made[0]
    if options["form"] == "written" or (options["form"] == "auto" and best.transfers <= WRITTEN_TRANSFERS):
        return request.offer(best.written_out())
    return request.offer(best)


def _from_one_root(request: Request, cayley: Cayley, delay: int | None) -> Schedule:
    """A broadcast in all slots at once: period 1, the repeats and the delay by closed form; a reduce is its reversal."""
    topology, reduces = request.topology, request.collective.reduces
    trees = disjoint_trees(topology, cayley.action.box, int(request.collective.root or 0))
    if trees is None or len(np.unique(cayley.capacity)) > 1:
        raise UnsupportedError(
            f"symmetric makes a {request.collective.kind} on tori, hypercubes and full networks with links of one width;"
            f" {topology.name} is not one of them"
        )
    width = int(cayley.capacity[0])
    chunks = width * len(trees.parent)
    clock = Clock(request, slowest_route(request, 1))
    choices = []
    for wait in range(1, MAX_DELAY + 1) if delay is None else [delay]:
        steps = (trees.most_hops - 1) * wait + 1
        cycles, repeats = clock.best(chunks, SlotRules(wait, 1, 0), steps, cayley.degree * reduces)
        choices.append((cycles, wait, steps, repeats))
    _, wait, steps, repeats = min(choices)
    require_shape(request, "symmetric", chunks, steps)
    tree, child = np.nonzero(trees.parent >= 0)
    parent, slot = trees.parent[tree, child], (trees.depth[tree, child] - 1) * wait
    columns = {
        "chunk": (tree[:, None] * width + np.arange(width)).ravel(),
        "op": np.full(width * len(tree), Op.REDUCE if reduces else Op.COPY, np.int8),
        "step": np.repeat(steps - 1 - slot if reduces else slot, width),
        "src": np.repeat(child if reduces else parent, width),
        "dst": np.repeat(parent if reduces else child, width),
    }
    columns = {name: column.astype(np.int8 if name == "op" else np.int32) for name, column in columns.items()}
    provenance = request.provenance("symmetric", {}, trees=len(trees.parent), links=len(cayley.generators), hops=trees.most_hops)
    period = 1 if repeats > 1 else None
    roots = np.full(chunks, request.collective.root, np.int32)
    return make_schedule(
        topology, request.collective, roots, columns, delay=wait, period=period, repeats=repeats, provenance=provenance
    )


def _shapes(request: Request, cayley: Cayley, delay: int | None) -> list[_Shape]:
    """Shapes of schedules to make, the most promising by the bound on rounds first."""
    nodes = cayley.nodes
    if request.chunks is None:
        counts = sorted({1, cayley.exact_trees})
    elif request.chunks % nodes:
        raise UnsupportedError(f"symmetric gives each of the {nodes} nodes as many chunks; {request.chunks} were asked for")
    else:
        counts = [request.chunks // nodes]
    delays = range(1, MAX_DELAY + 1) if delay is None and request.steps is None else [delay or 1]
    shapes = [_Shape(trees, wait) for trees in counts for wait in delays]
    shapes.sort(key=lambda shape: _promise(request, cayley, shape))
    largest = _phases(request) * max(counts) * nodes * (nodes - 1)
    return shapes[: TRIED if largest <= TRIED_TRANSFERS else 1]


def _tries(request: Request, cayley: Cayley, shape: _Shape, shapes: int) -> int:
    """The most tries at trees of a shape, which end when one takes the fewest rounds; fewer for large trees."""
    return max(LEAST_TRIES, min(TRIES, TRIED_EDGES // (shape.trees * cayley.nodes)) // shapes) * request.effort


def _phases(request: Request) -> int:
    return int(request.collective.reduces) + int(request.collective.gathers)


def _promise(request: Request, cayley: Cayley, shape: _Shape) -> int:
    """The approximate cycles of a schedule that takes no more rounds than the bound."""
    machine, phases = request.machine, _phases(request)
    chunk = chunk_bytes_of(request.message_bytes, shape.trees * cayley.nodes, 1, machine)
    steps = phases * cayley.least_rounds(shape.trees, shape.delay) + (phases - 1) * (shape.delay - 1)
    peak, lat = cayley.degree * request.collective.reduces, slowest_route(request, 1).latency
    return steps * slot_length(chunk, machine, delay=shape.delay, peak=peak, lat=lat, scale=request.topology.scale)[-1]


def _made(request: Request, cayley: Cayley, shape: _Shape, tries: int) -> SymmetricSchedule:
    """The schedule of a shape."""
    least: list[int] = []
    taken: list[int] = []

    def gather(topology: Topology) -> Phase:
        here = cayley if topology is request.topology else Cayley(topology, cayley.action)
        grown = grow_trees(here, shape.trees, request.seed, tries, shape.delay)
        least.append(here.least_rounds(shape.trees, shape.delay))
        taken.append(grown.rounds)
        return Phase(chunk=grown.tree, step=grown.round, src=grown.parent, dst=grown.child)

    reduce, copy = by_reversal(request, gather)
    kind = next(base for base, whole in WHOLE.items() if whole is request.collective.kind)
    base_collective = Collective(kind, 0 if request.collective.is_rooted else None)
    columns = joined(request.collective, reduce, copy, shape.delay)
    roots = np.full(shape.trees, 0 if request.collective.is_rooted else NO_ROOT, np.int32)
    base = make_schedule(request.topology, base_collective, roots, columns, delay=shape.delay)
    require_shape(request, "symmetric", shape.trees * cayley.nodes, base.steps)
    above = max(took - bound for took, bound in zip(taken, least, strict=True))
    provenance = request.provenance(
        "symmetric",
        {},
        trees_per_node=shape.trees,
        phase_rounds=max(taken),
        phase_bound=max(least),
        rounds_above_bound=above,
    )
    return SymmetricSchedule(base, cayley.action, provenance=provenance)
