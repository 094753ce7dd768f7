"""Programs of fine slots for blocks with one source and one target: routed over all links of a path, or stored on its route."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, NodeKind
from certree.models.routers.transparency import pipeline_effect
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.fine_schedule import flits_of
from certree.synth.fine.program import Program, distinct, first_links
from certree.synth.flows.block_paths import SWEEPS, Paths, balanced_paths
from certree.synth.flows.block_slots import Moves, moves_of
from certree.synth.flows.fold import Fold, fold_of
from certree.synth.flows.ordered_paths import ordered_paths
from certree.synth.flows.root_paths import root_paths
from certree.synth.method import Request
from certree.synth.symmetric.translations import cayley_of
from certree.verify.deadlock.layers import layers_of

COPIES = (1, 2, 4, 8)  # pieces of a block that are tried
MOST_ROWS = 1 << 17


@dataclass(frozen=True, eq=False)
class _Routing:
    """Paths of `copies` pieces of each block; with a `fold` those of the blocks that stand for all."""

    label: str
    copies: int
    paths: Paths
    fold: Fold | None

    @property
    def is_ordered(self) -> bool:
        """Whether paths take the dimensions of a grid in turn, which is free of deadlock with datelines."""
        return self.label == "ordered"


def block_programs(request: Request, transport: str) -> Iterator[tuple[str, Program]]:
    """(label, program) for each choice of paths, and of transport: "routed", "stored", or both ("best").

    UnsupportedError for more than MOST_ROWS transfers, and where no routes suit the routers of the machine. O(blocks · links) for
    the paths of each.
    """
    topology, fold = request.topology, _fold(request)
    stops = {"routed": ~topology.forwards, "stored": topology.kind == NodeKind.ENDPOINT}
    granules = request.message_bytes // (request.machine.flit_bytes * len(request.members))
    found = False
    for copies in COPIES:
        if copies > max(1, granules):
            break
        for routing in _routings(request, copies, fold):
            before = 0
            for name, cut in stops.items():
                if transport not in (name, "best"):
                    continue
                moves = moves_of(topology, routing.paths, cut)
                if len(moves.block) == before:  # no block is stored on its route: the program is the same
                    continue
                before = len(moves.block)
                rows = before * (1 if fold is None else len(fold.images))
                if rows > MOST_ROWS:
                    if found:
                        return
                    raise UnsupportedError(f"single-pass writes up to {MOST_ROWS} transfers; here are {rows}")
                program = _program(request, routing, moves)
                if _runs_alike(request, routing, program):
                    found = True
                    yield f"{copies} piece(s) of a block, {routing.label} paths, {name}", program
    if not found:
        raise UnsupportedError(f"single-pass: the routes need more virtual channels than machine {request.machine.name} has")


def _runs_alike(request: Request, routing: _Routing, program: Program) -> bool:
    """Whether routes are free of deadlock on the machine, and its routers have no more effect on them than on single links."""
    topology, machine = request.topology, request.machine
    far = [route for route in distinct(program.routes) if len(route) > 1]
    layers = 1
    if far and not routing.is_ordered:
        layers = 1 + max(layers_of([topology.pair_of_link[list(route)].tolist() for route in far]))
    flits = flits_of(request, program)
    near = pipeline_effect(topology, machine, flits, flits, is_far=False)
    effect = pipeline_effect(topology, machine, flits, flits, is_far=bool(far), layers=layers)
    return layers <= machine.vc_count and effect in (None, near)


def _fold(request: Request) -> Fold | None:
    """A group of endpoints that look the same; None for one root, for some endpoints only, and where none is found."""
    topology, collective = request.topology, request.collective
    if collective.kind is not CollectiveKind.ALL_TO_ALL or collective.members is not None:
        return None
    if not topology.is_direct:
        return fold_of(topology)
    try:
        cayley = cayley_of(topology)
    except UnsupportedError:
        return None
    return Fold(topology, cayley.action.carried(np.arange(cayley.nodes)))


def _routings(request: Request, copies: int, fold: Fold | None) -> Iterator[_Routing]:
    """Paths in the order of dimensions, shortest ones, and those that load links as evenly as flows finds them."""
    topology, collective, members = request.topology, request.collective, request.members
    source, target = _blocks(request, copies) if fold is None else fold.blocks(copies)
    if (paths := ordered_paths(topology, source, target)) is not None:
        yield _Routing("ordered", copies, paths, fold)
    for label, sweeps in (("shortest", 0), ("even", SWEEPS * request.effort)):
        if fold is not None:
            yield _Routing(label, copies, fold.paths(copies, request.seed, sweeps), fold)
        elif sweeps and collective.has_one_root:
            inwards = collective.kind is CollectiveKind.GATHER
            root = int(collective.root or 0)
            yield _Routing(label, copies, root_paths(topology, root, members, copies, inwards=inwards), None)
        else:
            yield _Routing(label, copies, balanced_paths(topology, source, target, request.seed, sweeps), None)


def _blocks(request: Request, copies: int) -> tuple[Int32, Int32]:
    """Sources and targets of all pieces."""
    others = len(request.members) - 1
    count = copies * (others if request.collective.has_one_root else others * (others + 1))
    source, target = chunk_owners(request.topology, request.collective, count)
    assert target is not None
    return source, target


def _program(request: Request, routing: _Routing, moves: Moves) -> Program:
    """The transfers of all blocks, each in a stage after those that bring its block."""
    first = np.searchsorted(moves.block, moves.block)
    stage = (np.arange(len(first)) - first).astype(np.int32)
    if routing.fold is None:
        images, routes = 1, moves.routes
        columns = {"chunk": moves.block, "step": stage, "src": moves.src, "dst": moves.dst, "route": moves.route}
    else:
        images = len(routing.fold.images)
        columns, routes = routing.fold.written_out(moves, stage, routing.copies)
    links = first_links(request.topology, columns["src"], columns["dst"])
    nothing = np.zeros(len(links), np.int32)
    root, target = _blocks(request, routing.copies)
    return Program(
        request.topology,
        request.collective,
        root,
        columns["chunk"],
        np.full(len(links), Op.COPY, np.int8),
        columns["src"],
        columns["dst"],
        nothing,
        nothing,
        columns["step"],
        columns["step"],
        np.tile(np.arange(len(first), dtype=np.int32), images),
        columns["step"],
        columns["chunk"],
        tuple((link,) if at == DIRECT else routes[at] for at, link in zip(columns["route"].tolist(), links, strict=True)),
        target,
    )
