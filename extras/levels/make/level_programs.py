"""Programs of orders of levels: the transfers of the orders that are likely to be fast."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from certree.extras.levels.make.level_orders import LevelOrder, level_orders, transfers_of
from certree.extras.levels.make.probing import runs_alike, soonest
from certree.extras.levels.make.spreads import spread_program
from certree.models.common.errors import UnsupportedError
from certree.synth.fine.fine_routes import default_routes, even_routes, lighter_routes
from certree.synth.fine.levels import Levels
from certree.synth.fine.program import Program
from certree.synth.method import Request

MOST_ROWS = 1 << 17  # transfers of a program, for effort 1
PROBED = 16  # orders that are booked once, the first ones
ALIKE = 2  # orders of the same sizes in as many pieces among these
KEPT = 3  # programs that are booked in other turns
EVEN = 2  # orders that are booked with even routes, too: the first ones


def sums_in_levels(request: Request, sizes: tuple[int, ...] | None) -> Iterator[tuple[str, Program]]:
    """(label, program) of the orders that end first when they are booked once; `sizes`: only of that one. UnsupportedError where
    all have more than MOST_ROWS transfers for effort 1. Cost as `soonest` and `level_orders`."""
    most, name = MOST_ROWS * request.effort, request.topology.name
    orders = level_orders(request, sizes)
    if request.chunks is not None:
        orders = _in_chunks(orders, request.chunks)
    probed = list(islice(_different(one for one in orders if transfers_of(request, one) <= most), PROBED))
    if not probed:
        raise UnsupportedError(f"levels makes up to {most} transfers; {name} would take more")
    yield from soonest(request, _programs(request, probed), KEPT)


def _in_chunks(orders: Sequence[LevelOrder], chunks: int) -> list[LevelOrder]:
    """The orders of N chunks; UnsupportedError, with the numbers that there are, where there is none."""
    counts = [order.pieces * order.chunks_of_a_piece for order in orders]
    if chunks not in counts:
        raise UnsupportedError(f"levels makes {', '.join(map(str, sorted(set(counts))))} chunks here; {chunks} were asked for")
    return [order for order, count in zip(orders, counts, strict=True) if count == chunks]


def _different(orders: Iterable[LevelOrder]) -> Iterator[LevelOrder]:
    """The orders, but for those that come after ALIKE others of the same sizes in as many pieces."""
    seen: Counter[tuple[tuple[int, ...], int]] = Counter()
    for order in orders:
        alike = order.sizes, order.pieces
        seen[alike] += 1
        if seen[alike] <= ALIKE:
            yield order


def _programs(request: Request, orders: Sequence[LevelOrder]) -> Iterator[tuple[str, Program]]:
    if request.collective.has_one_root:
        lighter, default = lighter_routes(request.topology), default_routes(request.topology)
        for order in orders:
            program = spread_program(request, order, lighter)
            yield f"{order}", program if runs_alike(request, program) else spread_program(request, order, default)
        return
    for number, order in enumerate(orders):
        program = program_of_order(request, order, even=False)
        yield f"{order}, default routes", program
        if number < EVEN:
            evenly = program_of_order(request, order, even=True)
            if evenly.routes != program.routes:
                yield f"{order}, even routes", evenly


def program_of_order(request: Request, order: LevelOrder, *, even: bool) -> Program:
    """The transfers of an order, on `even` or default routes."""
    collective = request.collective
    levels = Levels(order.sizes, request.members, order.parts(), collective.reduces, collective.gathers)
    stages, roots = levels.rows()
    return stages.program(request.topology, collective, roots, (even_routes if even else default_routes)(request.topology))
