"""Schedules with slots of one length in fine slots: each transfer as early as in a paced run, without its contention."""

from collections.abc import Sequence
from dataclasses import replace

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric import AnySchedule, written_out
from certree.synth.fine.booking import least_cycles
from certree.synth.fine.program import Program, program_of
from certree.synth.fine.schedule import costs_of, in_fine_slots
from certree.synth.method import Request, takes_fine_slots
from certree.synth.monitor import Monitor

MOST_ROWS = 1 << 15  # transfers of all iterations: more of them are left in slots of one length
REPEATED_ROWS = 1 << 8  # likewise for each endpoint, where iterations repeat: written out they take a row each in tables


def may_be_paced(request: Request, schedule: AnySchedule) -> bool:
    """Whether `best_paced` looks at a schedule: it has equal slots and no blocks that are for one endpoint each, and all iterations
    have at most MOST_ROWS transfers, REPEATED_ROWS for each endpoint where there are several."""
    if request.form is not None or request.collective.has_targets:
        return False
    if schedule.slot_cycles is not None or not takes_fine_slots(request):
        return False
    most = MOST_ROWS if schedule.repeats == 1 else min(MOST_ROWS, REPEATED_ROWS * len(request.members))
    return schedule.transfers * schedule.repeats <= most


def best_paced(request: Request, found: Sequence[tuple[str, AnySchedule]], bar: int) -> Schedule | None:
    """The fastest of some labelled schedules in fine slots, if it takes fewer than `bar` cycles; None where none does.

    Those come first that could be the fastest, by `least_cycles`. O(rows log rows) for each, and the bookings of `in_fine_slots`.
    """
    ranked: list[tuple[int, str, Program]] = []
    known: set[str] = set()
    for label, schedule in found:
        whole = written_out(schedule)
        if whole.digest in known:
            continue
        known.add(whole.digest)
        program = program_of(whole)
        least = request.machine.ni_start_cycles + least_cycles(program, costs_of(request, program))
        if least < bar:
            ranked.append((least, label, program))
    ranked.sort(key=lambda one: one[0])
    alone = replace(request, monitor=Monitor(request.monitor.deadline, request.monitor.report, bar), chunks=None)
    try:
        made = in_fine_slots(alone, [(label, program) for _, label, program in ranked], "retime", {})
        request.require_runnable(made)
        cycles = request.cycles(made)
    except UnsupportedError:  # none is faster, or the machine takes none
        return None
    if cycles >= bar:
        return None
    source = made.provenance["program"].replace(":", ",")  # as option `of` of method retime names it
    provenance = request.provenance("retime", {"of": source, "from": "paced"}, program=f"transfers of {source}")
    return replace(made, provenance=provenance)
