"""Programs that are booked once each, before those that end first are booked in many turns."""

from collections.abc import Iterable
from itertools import compress

from certree.extras.levels.make.stops import most_layers
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_scheduler import ListScheduler
from certree.models.routers.grid_routing import Grid
from certree.synth.fine.booking import rows_of
from certree.synth.fine.fine_routes import default_routes
from certree.synth.fine.fine_schedule import costs_of, flits_of, in_pieces
from certree.synth.fine.order import order_of
from certree.synth.fine.program import Program, Route, distinct
from certree.synth.method import Request
from certree.verify.deadlock.layers import layers_of

PROBED_WORK = 1 << 20  # rows and hops that are booked, for effort 1
#: by routes and a number of layers, whether these are enough
_Known = dict[tuple[frozenset[Route], int], bool]


def soonest(request: Request, choices: Iterable[tuple[str, Program]], most: int) -> list[tuple[str, Program]]:
    """Up to `most` of some labelled programs, those that end first when they are booked once, in the order of their ends.

    Programs beyond PROBED_WORK are not looked at, and none after the first one within no time. Programs are left out whose messages
    may be late in routers (`runs_alike`), before they are booked. UnsupportedError, with the reason of the last one, where none can
    be booked, or all are left out. O(PROBED_WORK log PROBED_WORK), and `runs_alike` once for all programs with the same routes.
    """
    found: list[tuple[int, int, tuple[str, Program]]] = []
    known: _Known = {}
    spent, reason = 0, UnsupportedError("there are no programs")
    for number, (label, program) in enumerate(choices):
        if not runs_alike(request, program, known):
            name = request.machine.name
            reason = UnsupportedError(f"the routes need more layers of virtual channels than machine {name} can spare")
            continue
        try:
            end = ListScheduler(rows_of(program), order_of(program)).run(costs_of(request, program)).end
        except UnsupportedError as error:
            reason = error
            continue
        found.append((end, number, (label, program)))
        spent += program.rows + sum(map(len, program.routes))
        if spent > PROBED_WORK * request.effort or request.monitor.expired:
            break
    if not found:
        raise reason
    return [one for _, _, one in sorted(found, key=lambda one: one[:2])[:most]]


def runs_alike(request: Request, program: Program, known: _Known | None = None) -> bool:
    """Whether its routes need so few layers of virtual channels that messages pass routers as they pass single links, so that a
    run takes the cycles of the closed form. Default routes on grids need one where rings have datelines. Cost as `layers_of`, which
    is asked once for each set of routes and number of layers: `known` has the answers."""
    topology, machine = request.topology, request.machine
    far = [route for route in distinct(program.routes) if len(route) > 1]
    if not far:
        return True
    cut, _ = in_pieces(request, program)
    most = most_layers(request, flits_of(request, cut))
    if most and machine.router.datelines and Grid.of(topology) is not None:
        sent = program.src != program.dst
        if list(compress(program.routes, sent)) == default_routes(topology)(program.src[sent], program.dst[sent]):
            return True
    known, routes = {} if known is None else known, (frozenset(far), most)
    if routes not in known:
        known[routes] = max(layers_of([topology.pair_of_link[list(route)].tolist() for route in far], most)) < most
    return known[routes]
