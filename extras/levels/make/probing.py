"""Programs that are booked once each, before those that end first are booked in many turns."""

from collections.abc import Iterable

from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_scheduler import ListScheduler
from certree.synth.fine.booking import rows_of
from certree.synth.fine.fine_schedule import costs_of
from certree.synth.fine.order import order_of
from certree.synth.fine.program import Program
from certree.synth.method import Request

PROBED_WORK = 1 << 20  # rows and hops that are booked, for effort 1


def soonest(request: Request, choices: Iterable[tuple[str, Program]], most: int) -> list[tuple[str, Program]]:
    """Up to `most` of some labelled programs, those that end first when they are booked once, in the order of their ends.

    Programs beyond PROBED_WORK are not looked at, and none after the first one within no time. UnsupportedError, with the reason of
    the last one, where none can be booked. O(PROBED_WORK log PROBED_WORK).
    """
    found: list[tuple[int, int, tuple[str, Program]]] = []
    spent, reason = 0, UnsupportedError("there are no programs")
    for number, (label, program) in enumerate(choices):
        try:
            end = ListScheduler(rows_of(program), order_of(program)).run(costs_of(request, program)).end
        except UnsupportedError as error:
            reason = error
            continue
        found.append((end, number, (label, program)))
        spent += program.rows + sum(map(len, program.ways))
        if spent > PROBED_WORK * request.effort or request.monitor.expired:
            break
    if not found:
        raise reason
    return [one for _, _, one in sorted(found, key=lambda one: one[:2])[:most]]
