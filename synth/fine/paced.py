"""Schedules with slots of one length in fine slots: each transfer as early as in a paced run, without its contention.

With planned waits it is the paced run itself: messages leave as soon as they can and wait at routers, first come, first served.
Where there is room for all waiting messages, the run is a schedule as it stands (sentences F14 to F16 of
docs/decisions/0009-fine-slots.md). A message that waits needs a buffer to itself: messages that would meet there take different
virtual channels where the machine has enough, and leave later where it has not.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.fine.forwarding import unkept_waits
from certree.models.fine.list_jobs import Channels, Turns
from certree.models.fine.list_scheduler import ListScheduler
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import Machine
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.synth.fine.booking import least_cycles, rests, rows_of
from certree.synth.fine.fine_schedule import MOST_HOPS, MOST_SLOTS, PIECES, costs_of, in_fine_slots, in_pieces, schedule_of
from certree.synth.fine.order import order_of
from certree.synth.fine.program import Program, distinct, program_of
from certree.synth.method import Request, takes_fine_slots
from certree.synth.monitor import Monitor
from certree.verify.deadlock.layers import layers_of

MOST_ROWS = 1 << 16  # transfers of all iterations: more of them are left in slots of one length
ROUNDS = 64  # rounds of booking, in each of which messages without a buffer to wait in leave later
REPEATED_ROWS = 1 << 8  # likewise for each endpoint, where iterations repeat: written out they take a row each in tables


def may_be_paced(request: Request, schedule: AnySchedule) -> bool:
    """Whether `best_paced` looks at a schedule: it has equal slots and no blocks that are for one endpoint each, and all iterations
    have at most MOST_ROWS transfers, REPEATED_ROWS for each endpoint where there are several."""
    if request.form is not None or request.collective.has_targets:
        return False
    if schedule.has_fine_slots or not takes_fine_slots(request):
        return False
    most = MOST_ROWS if schedule.repeats == 1 else min(MOST_ROWS, REPEATED_ROWS * len(request.members))
    return schedule.transfers * schedule.repeats <= most


def best_paced(request: Request, found: Sequence[tuple[str, AnySchedule]], bar: int | None) -> Schedule | None:
    """The fastest of some labelled schedules in fine slots, if it takes fewer than `bar` cycles; None where none does, or where
    its messages would wait for credits in routers.

    The likely fastest, by `least_cycles`, come first. O(rows log rows) for each, and the bookings of `in_fine_slots`.
    """
    ranked: list[tuple[int, str, Program]] = []
    known: set[str] = set()
    for label, schedule in found:
        whole = written_out(schedule)
        if whole.digest in known:
            continue
        known.add(whole.digest)
        program, _ = in_pieces(request, program_of(whole))
        least = request.machine.ni_start_cycles + least_cycles(program, costs_of(request, program))
        if bar is None or least < bar:
            ranked.append((least, label, program))
    ranked.sort(key=lambda one: one[0])
    alone = replace(request, monitor=Monitor(request.monitor.deadline, request.monitor.report, bar), chunks=None)
    try:
        made = in_fine_slots(alone, [(label, program) for _, label, program in ranked], "retime", {})
        request.require_runnable(made)
        waits, cycles = request.rank(made)
    except UnsupportedError:  # no schedule is faster, or the machine takes none
        return None
    if waits or (bar is not None and cycles >= bar) or not request.is_in_order(made):
        return None
    source = made.provenance["program"].replace(":", ",")  # as option `of` of method retime names it
    pieces = {name: value for name, value in made.provenance.items() if name == PIECES}
    provenance = request.provenance("retime", {"of": source, "from": "paced"}, program=f"transfers of {source}", **pieces)
    return replace(made, provenance=provenance)


def with_planned_waits(request: Request, program: Program, bar: int) -> Schedule | None:
    """The fastest paced run found of a program, as a schedule that takes fewer than `bar` cycles. None where the buffers of the
    machine have no room for any run, where its routers do not take it, where links are parallel, or where switches reduce. O(rows ·
    hops · log rows) for each round."""
    topology, machine = program.topology, request.machine
    if topology.reducing.any() or len(topology.pair_capacity) < len(topology.src) or sum(map(len, program.routes)) > MOST_HOPS:
        return None
    order, costs = order_of(program), costs_of(request, program)
    if order.groups:
        return None
    booking, channels, best = ListScheduler(rows_of(program), order), _channels(program, machine), None
    if channels.layers > machine.vc_count:
        return None
    try:
        first = booking.run(costs)
        for priority in (np.arange(program.rows, dtype=np.int64), -rests(program, order, first), first.fire):
            found = booking.forwarded(costs, Turns.first_of(priority), channels, 0 if request.monitor.expired else ROUNDS)
            end = machine.ni_start_cycles + found.booked.end
            if found.crowded == 0 and end < min(bar, MOST_SLOTS):
                best, bar = found, end
    except UnsupportedError:  # transfers wait for each other
        return None
    if best is None:
        return None
    made_for = MadeFor(request.message_bytes, machine)
    made = schedule_of(program, order, best.booked, 1, made_for, request.provenance("retime", {}), best)
    with suppress(UnsupportedError):  # with fewer virtual channels for each message the machine may not take it
        request.require_runnable(made)
        if next(unkept_waits(made), None) is None and fine_times(made).cycles <= bar:
            return made
    return None


def _channels(program: Program, machine: Machine) -> Channels:
    """The virtual channels of each layer of routes, as many as there are."""
    numbers = distinct(route for route in program.routes if route)
    pairs = program.topology.pair_of_link
    layer = np.array([*layers_of([pairs[list(route)].tolist() for route in numbers]), -1], np.int32)
    route = np.array([numbers.get(route, -1) for route in program.routes], np.int32)
    layers = int(layer.max()) + 1
    return Channels(layer[route], route, layers, max(1, machine.vc_count // max(1, layers)), machine.vc_buffer_flits)
