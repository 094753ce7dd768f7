"""All-to-alls on networks of routers whose routes would need more virtual channels than there are.

In-transit buffers are those of Flich, Malumbres, López and Duato ("Boosting the performance of Myrinet networks", IEEE TPDS 2002);
fine slots and the choice of stops are certree's.
"""

from collections.abc import Iterator

import numpy as np

from certree.extras.levels.make.probing import soonest
from certree.extras.levels.make.stops import most_layers, with_stops
from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import chunk_bytes_of, message_flits
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.program import Program, first_links
from certree.synth.flows.block_paths import SWEEPS, Paths, balanced_paths
from certree.synth.flows.block_slots import moves_of
from certree.synth.method import Options, Request, Tier, method

MOST_ROWS = 1 << 17  # transfers of a program, for effort 1
PIECES = (1, 2, 4)  # of a block, over the same links


@method(
    "stopping-pass",
    [CollectiveKind.ALL_TO_ALL],
    published=False,
    tier=Tier.SMALL,
    order=25,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def stopping_pass(request: Request, options: Options) -> Schedule:
    """Each block leaves as soon as its links are free, and stops at an endpoint on its route where routes need it; in fine slots.

    For routers with endpoints whose routes need more layers of virtual channels than the machine can spare. Routes of the last
    layers are cut at a router that they pass: an endpoint there stores the block and sends it on. Where no route has to be cut it
    is left to single-pass. No options.
    """
    if request.topology.is_direct:
        raise UnsupportedError("stopping-pass is for networks with switches; single-pass stores blocks on others")
    return in_fine_slots(request, soonest(request, _programs(request), 1), "stopping-pass", options)


def _programs(request: Request) -> Iterator[tuple[str, Program]]:
    topology, count = request.topology, len(request.members)
    if count * (count - 1) > MOST_ROWS * request.effort:
        raise UnsupportedError(f"stopping-pass writes up to {MOST_ROWS * request.effort} transfers; here are {count * (count - 1)}")
    source, target = chunk_owners(topology, request.collective, count * (count - 1))
    assert target is not None
    chunks = request.collective.message_chunks(topology, len(source))
    flits = message_flits(chunk_bytes_of(request.message_bytes, chunks, 1, request.machine), request.machine)
    layers = most_layers(request, flits)
    found, reason = False, f"stopping-pass found no stops on {topology.name} for machine {request.machine.name}"
    for label, sweeps in (("even", SWEEPS * request.effort), ("shortest", 0)) if layers else ():
        straight = balanced_paths(topology, source, target, request.seed, sweeps)
        paths = with_stops(topology, straight, layers)
        if paths is None:
            continue
        if len(paths.pair) == len(straight.pair):
            reason = f"no block has to stop on {topology.name}: single-pass makes the same"
            continue
        program = _program(request, paths, source, target)
        if program.rows > MOST_ROWS * request.effort:
            reason = f"stopping-pass writes up to {MOST_ROWS * request.effort} transfers; with stops there are {program.rows}"
        for pieces in PIECES:
            if program.rows * pieces <= MOST_ROWS * request.effort and pieces < flits:
                found = True
                yield f"{pieces} piece(s) of a block, {label} paths, {layers} layer(s)", program.cut(pieces)
    if not found:
        raise UnsupportedError(reason)


def _program(request: Request, paths: Paths, source: Int32, target: Int32) -> Program:
    """The transfers of all blocks, each in a stage after those that bring its block."""
    topology = request.topology
    moves = moves_of(topology, paths, ~topology.forwards)
    stage = (np.arange(len(moves.block)) - np.searchsorted(moves.block, moves.block)).astype(np.int32)
    links, nothing = first_links(topology, moves.src, moves.dst), np.zeros(len(stage), np.int32)
    return Program(
        topology,
        request.collective,
        source,
        moves.block,
        np.full(len(stage), Op.COPY, np.int8),
        moves.src,
        moves.dst,
        nothing,
        nothing,
        stage,
        stage,
        np.arange(len(stage), dtype=np.int32),
        stage,
        moves.block,
        tuple((link,) if at == DIRECT else moves.routes[at] for at, link in zip(moves.route.tolist(), links, strict=True)),
        target,
    )
