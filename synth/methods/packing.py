"""Spanning-tree packing, modulo-scheduled: the all-reduce of highest bandwidth on full-duplex networks, direct or with switches."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from certree.models.collective import CollectiveKind
from certree.models.errors import UnsupportedError
from certree.models.schedule import Schedule
from certree.models.timing import bandwidth_bound_cycles
from certree.models.topology import NodeKind, Topology
from certree.synth.branching import KINDS, RootedNetwork
from certree.synth.method import (
    METHODS,
    Option,
    Request,
    read_options,
    require_collective,
    whole_number,
)
from certree.synth.opposed import OpposedNetwork
from certree.synth.packing import MAX_TREES, Fabric, network_of, usual_moves
from certree.synth.routed_branching import RoutedBranchings
from certree.synth.search import BUDGET, Search, Trees, slowest_way
from certree.synth.splitting import SwitchedNetwork
from certree.synth.steiner import ReducingNetwork

_MAX_TREES = 1024  # in packings below the highest rate
_PROVEN = 250  # a provably optimal rate is worth one part in so many of the time
_MAX_ROWS = 70_000  # transfers an iteration, for one unit of effort
_MAX_PATHS = 1 << 22  # trees times paths through switches, likewise
_MAX_FLOW = 1 << 27  # trees times trees times links where branchings are packed by flows, likewise
_MAX_STEINER = 1 << 18  # trees times links times endpoints where switches reduce, likewise
_STEINER_PERIODS = (1, 2, 3, 4)  # for which the most trees are looked for there
_MAX_TIGHT_ROWS = 600_000  # the same where a schedule of the highest rate is sought once more


@METHODS.register("packing")
def packing(request: Request) -> Schedule:
    """Spanning trees packed by matroid union, played in a repeating slotted table; meets the partition bound as the message grows.

    All-gather, reduce-scatter, broadcast and reduce: branchings with the roots that are asked for, by Edmonds' theorem at the rate
    of the best cut, on direct networks whatever the capacities (`certree.synth.branching`). Where links differ by direction
    all-reduces take an in-tree and an out-tree for each chunk (`certree.synth.opposed`). With switches edges are paths through them
    (`certree.synth.splitting`, `routed_branching`) that use of each link what leads both ways, and whether the rate is the highest
    is for the bound to say. Where all switches reduce, and links are equally wide both ways, all-reduces go
    along Steiner trees that branch in them (`certree.synth.steiner`). Chunks K, period L, repeats and delay are chosen together
    by closed form at the given size; a provably optimal rate is preferred to a schedule that is faster by less than 1 in 250,
    where an iteration is not too long to make.
    Options: rate=optimal keeps to packings of the highest rate K/L (the network's strength);
    moves=N random exchanges that shorten the trees.
    """
    require_collective(request, "packing", [CollectiveKind.ALL_REDUCE, *KINDS])
    options = read_options(
        request,
        "packing",
        {
            "rate": Option({"any": "any", "optimal": "optimal"}.__getitem__, "any", "any or optimal"),
            "moves": whole_number(None, 0, 1 << 40),
        },
    )
    network = fabric_of(request)

    def provenance(origin: Mapping[str, Any]) -> Mapping[str, Any]:
        return request.provenance("packing", options, **origin)

    best = Search(request, provenance).run(packings(request, network, rate=options["rate"], moves=options["moves"]))
    is_highest = best.bandwidth_time * network.strength <= 1
    if request.chunks is not None or (is_highest and options["rate"] == "optimal"):
        return best
    if not _worth_a_second_search(request, network, best, is_highest=is_highest):
        return best
    if _rows(request, network.tight[0]) > _MAX_TIGHT_ROWS * request.effort:
        return best
    try:
        tight = Search(replace(request, monitor=request.monitor.watching()), provenance, budget=2 * BUDGET).run(
            packings(request, network, rate="optimal", moves=options["moves"])
        )
    except UnsupportedError:  # with switches the highest rate that the bound leaves need not be had
        return best
    return request.offer(tight) if request.cycles(tight) * _PROVEN <= request.cycles(best) * (_PROVEN + 1) else best


def fabric_of(request: Request) -> Fabric:
    """What trees are packed into for this collective; UnsupportedError where nothing is known to be."""
    topology = request.topology
    if request.collective.kind in KINDS:
        return (RootedNetwork if topology.is_direct else RoutedBranchings)(topology, request.collective)
    if topology.is_direct:
        return _direct(topology)
    return (
        ReducingNetwork(topology)
        if topology.is_full_duplex and bool(topology.holds[topology.kind != NodeKind.ABSENT].all())
        else SwitchedNetwork(topology)
    )


def _direct(topology: Topology) -> Fabric:
    """Where links differ by direction, what both have if that holds as many trees: in-trees and out-trees are deeper."""
    both_ways = network_of(topology)
    if topology.is_full_duplex:
        return both_ways
    opposed = OpposedNetwork(topology) if OpposedNetwork.covers(topology) else None
    if both_ways.is_connected and (opposed is None or both_ways.strength >= opposed.strength):
        return both_ways
    if opposed is None:
        raise UnsupportedError(f"packing: links must lead both ways between all of so many nodes; {topology.name} has others")
    return opposed


def _rows(request: Request, trees: int) -> int:
    """Transfers of one iteration."""
    phases = int(request.collective.reduces) + int(request.collective.gathers)
    return phases * trees * (len(request.topology.endpoints) - 1)


def _worth_a_second_search(request: Request, network: Fabric, schedule: Schedule, *, is_highest: bool) -> bool:
    """Whether to look at the highest rate alone: where the message is so large that it decides, being within a tenth of the
    bandwidth bound, and the rate is a lower one; with switches, where ways are longer than the first guesses have them, within a
    half and not within a twentieth with that rate."""
    bound = bandwidth_bound_cycles(1 / network.strength, request.message_bytes, request.machine)
    cycles = request.cycles(schedule)
    if isinstance(network, SwitchedNetwork):
        return 2 * cycles <= 3 * bound and not (is_highest and 20 * cycles <= 21 * bound)
    return 10 * cycles <= 11 * bound and not is_highest


def packings(request: Request, network: Fabric, *, rate: str = "any", moves: int | None = None) -> list[Trees]:
    """Packings worth a look: of the highest rate, of nearly that rate with short periods, and loose ones of short trees."""
    strength, tight = network.strength, network.tight
    if tight[0] > MAX_TREES:
        if rate == "optimal":
            raise UnsupportedError(f"the highest rate asks for {tight[0]} trees; allowed: up to {MAX_TREES}")
        tight = (network.multiple, math.ceil(network.multiple / strength))
    shapes = [tight] if rate == "optimal" else list(dict.fromkeys([tight, *_shapes(network, _MAX_ROWS * request.effort)]))
    if isinstance(network, (RootedNetwork, OpposedNetwork)):
        shapes = [shape for shape in shapes if shape[0] ** 2 * len(request.topology.src) <= _MAX_FLOW * request.effort]
    if isinstance(network, SwitchedNetwork):
        shapes = [
            (trees, period) for trees, period in shapes if trees * period * network.path_capacity <= _MAX_PATHS * request.effort
        ]
    if isinstance(network, ReducingNetwork):
        most = _MAX_STEINER * request.effort // (len(request.topology.src) * network.size)
        periods = [period for period in _STEINER_PERIODS if rate == "any" and network.strength * period <= most]
        shapes += [(network.most(request.collective, period, seed=request.seed), period) for period in periods]
        shapes = [shape for shape in dict.fromkeys(shapes) if shape[0] <= max(1, most)]
    if not shapes:
        raise UnsupportedError(f"packing: too many trees for {request.collective.words} on {request.topology.name}")
    if request.chunks is not None:
        shapes = [shape for shape in shapes if shape[0] == request.chunks]
        if not shapes:
            if request.chunks % network.multiple:
                raise UnsupportedError(
                    f"packing gives each of {network.multiple} roots as many chunks; {request.chunks} were asked for"
                )
            shapes = [(request.chunks, math.ceil(request.chunks / strength))]
    return [_option(request, network, trees, period, moves) for trees, period in shapes]


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
        rows=_rows(request, trees),
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
        reach=slowest_way(request, 2) if isinstance(network, SwitchedNetwork) else None,
    )
