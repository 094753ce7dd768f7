"""Programs of orders of levels, and of all-to-alls whose blocks take one level after the other."""

from collections.abc import Iterator

from certree.extras.levels.make.level_orders import LevelOrder, level_orders, transfers_of
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_scheduler import ListScheduler
from certree.synth.fine.booking import rows_of
from certree.synth.fine.fine_schedule import costs_of
from certree.synth.fine.levels import Levels
from certree.synth.fine.order import order_of
from certree.synth.fine.program import Program
from certree.synth.fine.ways import default_ways, even_ways
from certree.synth.method import Request

MOST_ROWS = 1 << 17  # transfers of a program, for effort 1
PROBED = 16  # orders that are booked once, the first ones
PROBED_WORK = 1 << 20  # rows and hops of these, for effort 1
KEPT = 3  # programs that are booked in other turns, those that end first
EVEN = 2  # orders that are booked with even routes, too: the first ones


def sums_in_levels(request: Request, sizes: tuple[int, ...] | None) -> Iterator[tuple[str, Program]]:
    """(label, program) of the orders that end first when they are booked once; `sizes`: only of that one. UnsupportedError where
    all have more than MOST_ROWS transfers for effort 1. O(PROBED_WORK log PROBED_WORK) and as `level_orders`."""
    most = MOST_ROWS * request.effort
    orders = [one for one in level_orders(request) if sizes in (None, one.sizes)]
    if not orders:
        raise UnsupportedError(f"{request.topology.name} has no levels of sizes {'x'.join(map(str, sizes or ()))} that routes join")
    orders = [one for one in orders if transfers_of(request, one) <= most]
    found: list[tuple[int, int, str, Program]] = []
    spent, refused = 0, f"levels makes up to {most} transfers; {request.topology.name} would take more"
    for number, order in enumerate(orders[:PROBED]):
        known = None
        for words in ("default", "even")[: 1 + (number < EVEN)]:
            program = program_of_order(request, order, even=words == "even")
            if known is not None and program.ways == known.ways:
                continue
            known, costs = program, costs_of(request, program)
            try:
                end = ListScheduler(rows_of(program), order_of(program)).run(costs).end
            except UnsupportedError as error:
                refused = str(error)
                continue
            found.append((end, len(found), f"{order}, {words} routes", program))
            spent += program.rows + sum(map(len, program.ways))
        if spent > PROBED_WORK * request.effort or (found and request.monitor.expired):
            break
    if not found:
        raise UnsupportedError(refused)
    yield from ((label, program) for _, _, label, program in sorted(found, key=lambda one: one[:2])[:KEPT])


def program_of_order(request: Request, order: LevelOrder, *, even: bool) -> Program:
    """The transfers of an order, on `even` or default routes."""
    collective = request.collective
    levels = Levels(order.sizes, request.members, order.parts(), collective.reduces, collective.gathers)
    stages, roots = levels.rows()
    return stages.program(request.topology, collective, roots, (even_ways if even else default_ways)(request.topology))
