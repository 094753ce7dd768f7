"""Programs of the one-shot and two-shot all-reduces and of forms between them, on any network."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import chunk_bytes_of, reduction_cycles
from certree.synth.fine.booking import least_cycles
from certree.synth.fine.fine_routes import default_routes, even_routes
from certree.synth.fine.fine_schedule import costs_of
from certree.synth.fine.levels import Levels, Piece
from certree.synth.fine.program import Program
from certree.synth.method import Request
from certree.synth.ranks.cliques import cliques_of
from certree.synth.ranks.layout import Layout, layout_of

MOST_CHUNKS = 1 << 12
MOST_ROWS = 1 << 17  # transfers of a program; larger ones are left out
LONG = 1 << 20  # of a run: all neighbours
PIECES = (1, 2, 4)  # into which a message is cut where all endpoints are one group
DETOUR = 3  # hops
FEW_MISSING = 4
MOST_PAIRS = 1 << 12  # pairs of endpoints, in all pieces together, where there are several pieces
#: pieces that begin with the widest links; one more where units then add faster
PARTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
MOST_PARTS = 6  # numbers of pieces that are compared
MOST_WORK = 3  # times the least work of the units
PART_ROWS = 1 << 13  # transfers of a program of such pieces
BOOKED = 8  # programs of such pieces, those with the lowest estimates


def either(*choices: Iterator[tuple[str, Program]]) -> Iterator[tuple[str, Program]]:
    """Yield the programs of all choices that apply, one of each in turn, since only some are booked where there are many.
    UnsupportedError, with the reason of the last choice, where none applies."""
    found, reason, left = False, None, list(choices)
    while left:
        for choice in list(left):
            try:
                yield next(choice)
                found = True
            except StopIteration:
                left.remove(choice)
            except UnsupportedError as error:
                left.remove(choice)
                reason = error
    if not found and reason is not None:
        raise reason


def flat(request: Request, scattered: bool) -> Iterator[tuple[str, Program]]:
    """Yield programs with all endpoints as one group and the message in PIECES pieces; UnsupportedError for many endpoints.

    Sums of one piece go out while those of the next one come in.
    """
    layout = Layout((len(request.members),), request.members)
    counts = [count for count in PIECES if count == 1 or count * len(request.members) ** 2 <= MOST_PAIRS]
    yield from programs(request, layout, [(Piece((0,), int(scattered)),) * count for count in counts])


def by_dimension(request: Request, scattered: int | None) -> Iterator[tuple[str, Program]]:
    """Yield programs that take one dimension of the network after the other, `scattered` of them (None: all) summed up in shares.
    Pieces of the message take the dimensions in different orders. Groups whose members are all joined to each other, with their
    counterparts, are dimensions, too. UnsupportedError for a network of one dimension."""
    found = [cliques_of(request.topology), layout_of(request.topology, None)]
    layouts = {(layout.sizes, layout.nodes.tobytes()): layout for layout in found if layout is not None and len(layout.sizes) > 1}
    if not layouts:
        raise UnsupportedError(f"{request.topology.name} has one dimension")
    yield from either(*(_along(request, layout, scattered) for layout in layouts.values()))


def _along(request: Request, layout: Layout, scattered: int | None) -> Iterator[tuple[str, Program]]:
    """Programs along the dimensions of a layout."""
    dimensions = len(layout.sizes)
    scattered = dimensions if scattered is None else scattered
    if scattered > dimensions:
        raise UnsupportedError(f"{request.topology.name} has {dimensions} dimensions; {scattered} were to be scattered")
    orders = [tuple(((np.arange(dimensions) + first) % dimensions).tolist()) for first in range(dimensions)]
    straight = tuple(Piece(order, scattered) for order in orders)
    pieces = [straight, straight * 2, *((piece,) for piece in straight)]
    if has_rings(request.topology, layout):
        pieces = [*_on_rings(orders, scattered), *pieces]
    yield from programs(request, layout, pieces)


#: of pieces on rings: neighbours in a run, swaps, and how many times as many pieces as there are dimensions and ways round
EXCHANGED = ((0, 0, 1), (0, 1, 2), (0, 1, 1))
SHARED = ((2, 1, 1), (LONG, 1, 2), (2, 1, 2), (LONG, 2, 2), (1, 0, 1), (LONG, 1, 1), (LONG, 2, 1))


def _on_rings(orders: list[tuple[int, ...]], scattered: int) -> Iterator[tuple[Piece, ...]]:
    """Pieces that use links between neighbours, where all dimensions are rings."""
    for run, swaps, times in SHARED if scattered else EXCHANGED:
        if scattered < len(orders) or not swaps or swaps == 1:
            yield tuple(Piece(order, scattered, run, False, back, swaps) for back in (False, True) for order in orders) * times


def widest_first(request: Request, scattered: Sequence[int | None]) -> Iterator[tuple[str, Program]]:
    """Yield programs whose pieces all begin with the dimension of the widest links, so that other dimensions carry shares only.

    `scattered`: numbers of dimensions along which there are shares, None: all; along the others whole vectors are exchanged.
    Narrower dimensions come one after the other, or all at once. Only the programs with the lowest estimates are yielded.
    UnsupportedError where no dimension has wider links than all others, or programs would be too large.
    """
    topology, layout, collective = request.topology, layout_of(request.topology, None), request.collective
    width, dimensions = link_widths(topology, layout), len(layout.sizes)
    first = int(np.argmax(width))
    if dimensions < 2 or sum(one == width[first] for one in width) > 1:
        raise UnsupportedError(f"{topology.name} has no dimension with wider links than all others")
    least = min((one for one in scattered if one is not None), default=0)
    if least >= dimensions:
        raise UnsupportedError(f"{topology.name} has {dimensions} dimensions; fewer can be scattered, not {least}")
    rest = [one for one in range(dimensions) if one != first]
    shapes = [(layout, [(first, *rest[turn:], *rest[:turn]) for turn in range(len(rest))])]
    if dimensions > 2 and not first:
        shapes.append((layout.flattened(), [(0, 1)]))
    found: list[tuple[Fraction, str, Program]] = []
    for shape, orders in shapes:
        most = len(shape.sizes)
        for shared in sorted({most if one is None else one for one in scattered if one is None or one < most}):
            for pieces in _beginning_alike(request, shape, orders, shared):
                levels = Levels(shape.sizes, shape.nodes, pieces, collective.reduces, collective.gathers)
                stages, roots = levels.rows()
                program = stages.program(topology, collective, roots, even_routes(topology))
                found.append((_estimate(request, program), f"{_words(shape, pieces)}, even routes", program))
    if not found:
        raise UnsupportedError(f"fine slots are made for up to {PART_ROWS} transfers here; {topology.name} would take more")
    yield from (one[1:] for one in sorted(found, key=lambda one: one[0])[:BOOKED])


def _beginning_alike(request: Request, shape: Layout, orders: list[tuple[int, ...]], shared: int) -> Iterator[tuple[Piece, ...]]:
    """Yield several numbers of pieces, which take these orders in turn, with sums sent directly or round the ring."""
    for count in _numbers_of_pieces(request, prod(shape.sizes[one] for one in orders[0][:shared])):
        for run in (0, LONG):
            yield tuple(Piece(orders[n % len(orders)], shared, run, False, bool(n // len(orders) % 2), 1) for n in range(count))


def link_widths(topology: Topology, layout: Layout) -> list[int]:
    """The lanes of the narrowest link between the neighbours in each dimension; 0 where some are not joined."""
    found, place, stride = [], np.arange(len(layout.nodes)), 1
    for size in layout.sizes:
        here = place[place // stride % size < size - 1]
        pair = topology.pair_index(layout.nodes[here], layout.nodes[here + stride])
        found.append(int(np.where(pair < 0, 0, topology.pair_capacity[np.maximum(pair, 0)]).min()))
        stride *= size
    return found


def _numbers_of_pieces(request: Request, chunks: int) -> list[int]:
    """Numbers of pieces, of `chunks` chunks each, into which a message is cut: the largest that leave reduction units little
    work."""

    def work(count: int) -> int:
        each = chunk_bytes_of(request.message_bytes, count * chunks, 1, request.machine)
        return count * reduction_cycles(each, request.machine)

    numbers = sorted({min((count, count + 1), key=work) for count in PARTS})
    most = MOST_WORK * min(map(work, numbers))
    rows = 2 * chunks * (len(request.members) - 1)
    return [count for count in numbers if work(count) <= most and count * rows <= PART_ROWS][-MOST_PARTS:]


def _estimate(request: Request, program: Program) -> Fraction:
    """The estimated cycles of a program: `least_cycles` plus half the work of the busiest unit, since it has to wait at times."""
    costs = costs_of(request, program)
    sums = np.bincount(program.dst[program.op == Op.REDUCE], minlength=1)
    return least_cycles(program, costs) + Fraction(int(sums.max()) * costs.red, 2)


def passed_sums(request: Request, layout: Layout) -> Iterator[tuple[str, Program]]:
    """Yield programs of partial sums along one dimension after the other; parts of the message begin with different dimensions."""
    dimensions = len(layout.sizes)
    orders = [tuple(((np.arange(dimensions) + first) % dimensions).tolist()) for first in range(dimensions)]
    parts = [Piece(order, 0, 0, True, mirrored) for mirrored in (False, True) for order in orders]
    yield from programs(request, layout, [tuple(parts[:1]), tuple(parts[:dimensions]), tuple(parts)])


def has_rings(topology: Topology, layout: Layout) -> bool:
    """Whether neighbours in each dimension are joined, and the last with the first. Fewer than one link in FEW_MISSING of each
    dimension may be missing, where a detour has at most DETOUR hops; messages then take the detour."""
    place, stride = np.arange(len(layout.nodes)), 1
    for size in layout.sizes:
        digit = place // stride % size
        ahead = place + ((digit + 1) % size - digit) * stride
        ends = np.stack((layout.nodes[place], layout.nodes[ahead]))
        apart = ends[:, (topology.pair_index(*ends) < 0) | (topology.pair_index(*ends[::-1]) < 0)]
        if FEW_MISSING * apart.shape[1] >= len(place):
            return False
        if any(max(topology.distances(one)[other], topology.distances(other)[one]) > DETOUR for one, other in apart.T.tolist()):
            return False
        stride *= size
    return True


def in_groups(request: Request, groups: str, scattered: int | None) -> Iterator[tuple[str, Program]]:
    """`flat` (groups "all"), `by_dimension` ("dimensions"), or both; `scattered`: None for all dimensions, or 0."""
    together, apart = flat(request, scattered is None), by_dimension(request, scattered)
    return {"all": together, "dimensions": apart}.get(groups) or either(apart, together)


def programs(request: Request, layout: Layout, choices: list[tuple[Piece, ...]]) -> Iterator[tuple[str, Program]]:
    """Yield a program for each division into pieces and each way to find routes; UnsupportedError where all have more than
    MOST_ROWS transfers."""
    collective, turns, found = request.collective, has_rings(request.topology, layout), False
    count, sizes = len(layout.nodes), layout.sizes
    for pieces in choices:
        levels = Levels(layout.sizes, layout.nodes, pieces, collective.reduces, collective.gathers, turns)
        chunks = levels.chunks_of_a_piece * len(pieces)
        order, scattered = pieces[0].order, pieces[0].scattered
        exchanged = count // prod(sizes[one] for one in order[:scattered]) * sum(sizes[one] - 1 for one in order[scattered:])
        of_a_chunk = max((count - 1) * (collective.reduces + collective.gathers), exchanged)  # transfers, at least
        if chunks > MOST_CHUNKS or chunks * of_a_chunk > MOST_ROWS:
            continue
        found = True
        stages, roots = levels.rows()
        uses_rings = pieces[0].run or pieces[0].passed or pieces[0].swaps
        by_default = stages.program(request.topology, collective, roots, default_routes(request.topology))
        yield f"{_words(layout, pieces)}, default routes", by_default
        if not uses_rings:
            evenly = stages.program(request.topology, collective, roots, even_routes(request.topology))
            if evenly.routes != by_default.routes:
                yield f"{_words(layout, pieces)}, even routes", evenly
    if not found:
        raise UnsupportedError(f"fine slots are made for up to {MOST_ROWS} transfers; {request.topology.name} would take more")


def _words(layout: Layout, pieces: tuple[Piece, ...]) -> str:
    """A description such as "2 piece(s) over 8x8, first dimensions 0 1, 1 scattered"."""
    shape = "x".join(map(str, layout.sizes))
    if len(layout.sizes) == 1:
        return f"{shape} endpoints" + (f", {len(pieces)} pieces" if len(pieces) > 1 else "")
    first = " ".join(str(piece.order[0]) for piece in pieces)
    piece = pieces[0]
    runs = f" in runs of {piece.run}" if 0 < piece.run < LONG else " in runs" if piece.run else ""
    others = ", passed on" if piece.passed else f", groups of {2 * piece.swaps}" if piece.swaps else ""
    return f"{len(pieces)} piece(s) over {shape}, first dimensions {first}, {piece.scattered} scattered{runs}{others}"
