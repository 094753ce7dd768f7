"""Spanning-tree packing, modulo-scheduled: the all-reduce of highest bandwidth on full-duplex networks, direct or with switches."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import bandwidth_bound_cycles, reduction_cycles, serialization_cycles
from certree.synth.candidate_prices import generic_price
from certree.synth.method import Options, Request, Tier, choice, method, whole_number
from certree.synth.packing.branchings import KINDS, RootedNetwork
from certree.synth.packing.directed import OpposedNetwork
from certree.synth.packing.routed_branchings import RoutedBranchings
from certree.synth.packing.selection import BUDGET, Search, Trees
from certree.synth.packing.slotting import slowest_route
from certree.synth.packing.spanning_trees import MAX_TREES, Fabric, network_of, usual_moves
from certree.synth.packing.splitting import SwitchedNetwork
from certree.synth.packing.steiner import PERIODS, ReducingNetwork
from certree.synth.packing.trees import TreeFamily, with_even_sums
from certree.synth.price import Price

_MAX_TREES = 1024  # in packings below the highest rate
_PROVEN = 250  # a provably optimal rate is worth 1/250 of the time
_MAX_ROWS = 70_000  # transfers per iteration, for one unit of effort
_MAX_PATHS = 1 << 22  # trees times paths through switches, likewise
_MAX_FLOW = 1 << 27  # trees times trees times links where branchings are packed by flows, likewise
_MAX_STEINER = 1 << 18  # trees times links times endpoints where switches reduce, likewise
_NEAR_PERIODS = 48  # up to which a rate near the highest is sought
_A_TRANSFER = 180  # units of BUDGET that take as long as a transfer of other methods
_FEW_TREES = 12  # for long paths and deep trees: a short period and shallow trees
_MAX_TIGHT_ROWS = 600_000  # transfers, where a schedule of the highest rate is sought once more


def _price(request: Request, _options: Options) -> Price:
    """The price of a chunk for each endpoint, of searches of 3 units of BUDGET, and of building as many trees, at most 1.

    Trees by flows or from paths took 15 to 300 ns for each trees² · links · N / 1,000, on 32 to 128 endpoints.
    """
    rows, building = generic_price(request), len(request.members) ** 3 * len(request.topology.src) // 64
    return replace(rows, transfers=rows.transfers + request.effort * (3 * BUDGET + min(BUDGET, building)) // _A_TRANSFER)


@method(
    "packing",
    [CollectiveKind.ALL_REDUCE, *KINDS],
    options={"rate": choice("any", "optimal"), "moves": whole_number(None, 0, 1 << 40)},
    published=False,
    tier=Tier.ALWAYS,
    order=63,
    is_anytime=True,
    compares=True,
    own_units=True,
    price=_price,
)
def packing(request: Request, options: Options) -> Schedule:
    """Spanning trees packed by matroid union, in a repeating slotted table; meets the partition bound as the message grows.

    All-gather, reduce-scatter, broadcast and reduce: branchings with the requested roots, by Edmonds' theorem at the rate of the
    best cut, on direct networks with any capacities (`certree.synth.packing.branchings`). Where the directions of links differ,
    all-reduces use an in-tree and an out-tree for each chunk (`certree.synth.packing.directed`). With switches, edges are paths
    through them (`certree.synth.packing.splitting`, `routed_branchings`) with the capacity that links have in both directions; the
    bound shows whether the rate is the highest. Where some or all switches reduce, and links are equally wide in both directions,
    all-reduces also use Steiner trees that branch in switches (`certree.synth.packing.steiner`). Chunks K, period L, repeats and
    delay are chosen together by closed form at the given size; a provably optimal rate is preferred to a schedule that is faster by
    less than 1 in 250, unless an iteration is too long. Options: rate=optimal keeps to packings of the highest rate K/L (the
    network's strength), or of a rate near it where that takes too many trees; moves=N random exchanges that shorten the trees.
    """

    def provenance(origin: Mapping[str, Any]) -> Mapping[str, Any]:
        return request.provenance("packing", options, **origin)

    def measure(made: Schedule) -> tuple[Fraction, tuple[bool, Fraction | int]]:
        return made.bandwidth_time if options["rate"] == "optimal" else Fraction(0), request.rank(made)

    best: Schedule | None = None
    fabrics = fabrics_of(request)
    for network in fabrics:
        least = Fraction(0) if options["rate"] == "any" else 1 / network.strength
        fewest = bandwidth_bound_cycles(1 / network.strength, request.message_bytes, request.machine, request.topology.scale)
        if best is not None and measure(best) <= (least, (False, fewest)):
            continue
        try:
            made = _packed_into(network, request, provenance, rate=options["rate"], moves=options["moves"])
        except UnsupportedError:
            if best is None and network is fabrics[-1]:
                raise
            continue
        best = made if best is None else min(best, made, key=measure)
    if best is None:
        raise AssertionError("the last fabric gives a schedule or says why not")
    return request.offer(best)


def _packed_into(
    network: Fabric,
    request: Request,
    provenance: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    *,
    rate: str,
    moves: int | None,
) -> Schedule:
    """The fastest schedule found for trees in one fabric, or one of the highest rate that is almost as fast."""
    options = packings(request, network, rate=rate, moves=moves)
    best = Search(request, provenance).run(options)
    bound = bandwidth_bound_cycles(1 / network.strength, request.message_bytes, request.machine, request.topology.scale)
    if isinstance(network, SwitchedNetwork) and 11 * bound < 10 * request.cycles(best) < 40 * bound:  # guesses assume short paths
        few = [trees for trees in options if trees.chunks <= max(_FEW_TREES, network.multiple)]
        best = min([best, *_tried(Search(request, provenance), lambda: few)], key=request.rank)
    is_highest = best.bandwidth_time * network.strength <= 1
    if request.chunks is not None or (is_highest and rate == "optimal"):
        return best
    if not _worth_a_second_search(request, network, best, is_highest=is_highest):
        return best
    if _rows(request, network.tight[0]) > _MAX_TIGHT_ROWS * request.effort:
        return best
    search = Search(replace(request, monitor=request.monitor.watching()), provenance, budget=2 * BUDGET)
    for tight in _tried(search, lambda: packings(request, network, rate="optimal", moves=moves)):
        if request.cycles(tight) * _PROVEN <= request.cycles(best) * (_PROVEN + 1):
            return request.offer(tight)
    return best


def _tried(search: Search, options: Callable[[], list[Trees]]) -> list[Schedule]:
    """The result of a search, or an empty list: with switches the rate of the bound may be impossible, or need too many trees."""
    try:
        return [search.run(options())]
    except UnsupportedError:
        return []


def fabrics_of(request: Request) -> list[Fabric]:
    """The networks that trees are packed into for this collective; UnsupportedError where none is known.

    Where switches reduce there are two: more trees fit when they branch in switches, but additions in switches take time.
    """
    topology = request.topology
    if request.collective.kind in KINDS:
        return [(RootedNetwork if topology.is_direct else RoutedBranchings)(topology, request.collective)]
    if topology.is_direct:
        return [_direct(topology)]
    passing: list[Fabric] = [SwitchedNetwork(topology)]
    if not topology.reducing.any() or not topology.is_full_duplex:
        return passing
    branching = ReducingNetwork(topology)
    is_small = branching.size * len(topology.src) * branching.strength * max(PERIODS) <= _MAX_STEINER * request.effort
    return [branching, *passing] if is_small or not branching.has_paths else passing


def _direct(topology: Topology) -> Fabric:
    """The fabric of a direct network. Where links differ by direction, their common capacity if it holds as many trees, since
    in-trees and out-trees are deeper."""
    both_ways = network_of(topology)
    if topology.is_full_duplex:
        return both_ways
    opposed = OpposedNetwork(topology) if OpposedNetwork.covers(topology) else None
    if both_ways.is_connected and (opposed is None or both_ways.strength >= opposed.strength):
        return both_ways
    if opposed is None:
        raise UnsupportedError(f"packing: networks of this size need links in both directions; {topology.name} has others")
    return opposed


def _rows(request: Request, trees: int) -> int:
    """The number of transfers of one iteration."""
    phases = int(request.collective.reduces) + int(request.collective.gathers)
    return phases * trees * (len(request.topology.endpoints) - 1)


def _worth_a_second_search(request: Request, network: Fabric, schedule: Schedule, *, is_highest: bool) -> bool:
    """Whether to search the highest rate alone. That is so where the rate found is lower and the time is within a tenth of the
    bandwidth bound, so that the rate decides. With switches, whose paths are longer than first guesses assume, the time must be
    within a half, and at the highest rate not within a twentieth."""
    bound = bandwidth_bound_cycles(1 / network.strength, request.message_bytes, request.machine, request.topology.scale)
    cycles = request.cycles(schedule)
    if isinstance(network, SwitchedNetwork):
        return 2 * cycles <= 3 * bound and not (is_highest and 20 * cycles <= 21 * bound)
    return 10 * cycles <= 11 * bound and not is_highest


def packings(request: Request, network: Fabric, *, rate: str = "any", moves: int | None = None) -> list[Trees]:
    """Candidate packings: of the highest rate, of nearly that rate with short periods, and loose ones of short trees."""
    strength, tight = network.strength, network.tight
    nearly = [tight] if _fits(request, network, *tight) else _nearly(request, network)
    shapes = nearly if rate == "optimal" else list(dict.fromkeys([*nearly, *_shapes(network, _MAX_ROWS * request.effort)]))
    shapes = [shape for shape in shapes if _fits(request, network, *shape)]
    if isinstance(network, ReducingNetwork):
        most = _MAX_STEINER * request.effort // (len(request.topology.src) * network.size)
        periods = [period for period in PERIODS if rate == "any" and network.strength * period <= most]
        shapes += [(network.most(request.collective, period, seed=request.seed), period) for period in periods]
        shapes = [shape for shape in dict.fromkeys(shapes) if 1 <= shape[0] <= max(1, most)]
    if not shapes:
        asks = f"; the highest rate asks for {tight[0]}; allowed: up to {MAX_TREES}" if tight[0] > MAX_TREES else ""
        raise UnsupportedError(f"packing: too many trees for {request.collective.words} on {request.topology.name}{asks}")
    if request.chunks is not None:
        shapes = [shape for shape in shapes if shape[0] == request.chunks]
        if not shapes:
            if request.chunks % network.multiple:
                raise UnsupportedError(
                    f"packing gives each of {network.multiple} roots as many chunks; {request.chunks} were asked for"
                )
            shapes = [(request.chunks, math.ceil(request.chunks / strength))]
    options = [_option(request, network, trees, period, moves) for trees, period in shapes]
    if rate == "optimal":
        return options
    options = [replace(option, units_limit=_units_limit(request, option), build=cache(option.build)) for option in options]
    return [*(_with_even_sums(option) for option in options if option.units_limit), *options]


def _units_limit(request: Request, trees: Trees) -> bool:
    """Whether reduction units take more than two thirds of the time of the links for the same chunks, if all nodes add equally
    many: nodes that add more may then limit an all-reduce."""
    machine = request.machine
    chunk = machine.reduce_bytes_per_cycle * machine.reduce_quantum_cycles
    link = serialization_cycles(chunk, machine, request.topology.scale)
    is_all_reduce = request.collective.kind is CollectiveKind.ALL_REDUCE
    return is_all_reduce and 3 * trees.reductions * reduction_cycles(chunk, machine) > 2 * trees.period * link


def _with_even_sums(trees: Trees) -> Trees:
    """The trees with roots such that the busiest node adds as little as can be."""

    def build() -> TreeFamily | None:
        family = trees.build()
        return None if family is None else with_even_sums(family)

    return replace(trees, build=build, is_summed=True)


def _fits(request: Request, network: Fabric, trees: int, period: int) -> bool:
    """Whether a packing is small enough to be searched."""
    if trees > MAX_TREES:
        return False
    if isinstance(network, (RootedNetwork, OpposedNetwork)):
        return trees**2 * len(request.topology.src) <= _MAX_FLOW * request.effort
    return not isinstance(network, SwitchedNetwork) or trees * period * network.path_capacity <= _MAX_PATHS * request.effort


def _nearly(request: Request, network: Fabric) -> list[tuple[int, int]]:
    """The K trees and period L with the highest rate K/L among short periods that fit, the shortest of equal ones; [] if none."""
    shapes = [(int(network.strength * period) // network.multiple * network.multiple, period) for period in range(1, _NEAR_PERIODS)]
    rated = [
        (Fraction(trees, -period), period, trees) for trees, period in shapes if trees and _fits(request, network, trees, period)
    ]
    return [(trees, period) for _, period, trees in sorted(rated)[:1]]


def _has_paths(network: Fabric) -> bool:
    """Whether edges of trees may be paths."""
    return isinstance(network, SwitchedNetwork) or (isinstance(network, ReducingNetwork) and network.has_paths)


def _shapes(network: Fabric, rows: int) -> list[tuple[int, int]]:
    """(K, L): for short periods the most trees they hold; for numbers of trees from 1 the period without and with some slack."""
    strength, size = network.strength, network.size
    most = min(_MAX_TREES, max(8 * size, 64), rows // (2 * size))
    shapes = []
    for period in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64):
        trees = int(strength * period) // network.multiple * network.multiple
        if 1 <= trees <= most and period < network.tight[1]:
            shapes.append((trees, period))
    # Chunks come in whole flits and reductions in whole quanta: a few trees more than a round number can fit better.
    near = {size, size + -(-size // 16), size + size // 8, size + size // 4}
    round_numbers = {2**i for i in range(11)} | {3 * 2**i for i in range(10)}
    for trees in sorted({network.multiple * number for number in round_numbers} | near):
        if trees <= most and trees % network.multiple == 0:
            slack = Fraction(9, 8) if trees >= size else Fraction(3, 2)
            shapes += [(trees, math.ceil(trees / strength)), (trees, math.ceil(trees / strength * slack))]
    return shapes


def _option(request: Request, network: Fabric, trees: int, period: int, moves: int | None) -> Trees:
    size, collective = network.size, request.collective
    return Trees(
        chunks=trees,
        period=period,
        least_period=math.ceil(trees * (size - 1) / network.edge_capacity),
        chain=(int(collective.reduces) + int(collective.gathers)) * network.least_height(period),
        reductions=-(-trees * (size - 1) // size) * collective.reduces,
        even=network.is_even,
        build=partial(
            network.pack,
            collective,
            trees,
            period,
            moves=usual_moves(trees, size) if moves is None else moves,
            seed=request.seed,
        ),
        reach=slowest_route(request, 2) if _has_paths(network) else None,
    )
