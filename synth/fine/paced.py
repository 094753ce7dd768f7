"""Schedules with slots of one length in fine slots: each transfer as early as in a paced run, without its contention."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.symmetric.symmetric import AnySchedule, written_out
from certree.models.schedule.timing import chunk_bytes_of
from certree.synth.fine.booking import Costs
from certree.synth.fine.program import Program, program_of
from certree.synth.fine.schedule import in_fine_slots, least_cycles
from certree.synth.method import Request, takes_fine_slots
from certree.synth.monitor import Monitor
from certree.synth.virtual_channels import with_channels

MOST_ROWS = 1 << 15  # transfers of all iterations: more of them are left in slots of one length
REPEATED_ROWS = 1 << 8  # likewise for each endpoint, where iterations repeat: written out they take a row each in tables
MOST_REFUSED = 2  # schedules that the machine does not take, after which no other one is looked at


def may_be_paced(request: Request, schedule: AnySchedule) -> bool:
    """Whether `best_paced` looks at a schedule: it has equal slots and no blocks that are for one endpoint each, and all iterations
    have at most MOST_ROWS transfers, REPEATED_ROWS for each endpoint where there are several."""
    if request.form is not None or request.collective.has_targets or request.topology.reducing.any():
        return False
    if schedule.slot_cycles is not None or not takes_fine_slots(request):
        return False
    most = MOST_ROWS if schedule.repeats == 1 else min(MOST_ROWS, REPEATED_ROWS * len(request.members))
    return schedule.transfers * schedule.repeats <= most


def best_paced(request: Request, found: Sequence[tuple[str, AnySchedule]], bar: int) -> Schedule | None:
    """The fastest of some labelled schedules in fine slots, if it takes fewer than `bar` cycles; None where none does.

    Those come first that could be the fastest: whose busiest link, and whose longest chain of transfers, take the fewest cycles.
    O(rows) for each, and the bookings of `in_fine_slots`.
    """
    ranked: list[tuple[int, str, Program]] = []
    known: set[str] = set()
    for label, schedule in found:
        whole = written_out(schedule)
        if whole.digest in known:
            continue
        known.add(whole.digest)
        program = program_of(whole)
        size = chunk_bytes_of(request.message_bytes, len(program.chunk_root), 1, request.machine)
        costs = Costs.of(program, size, request.machine)
        least = request.machine.ni_start_cycles + max(least_cycles(program, costs), chain_cycles(program, costs))
        if least < bar:
            ranked.append((least, label, program))
    ranked.sort(key=lambda one: one[0])
    programs = {label: program for _, label, program in ranked}
    for _ in range(MOST_REFUSED + 1):
        alone = replace(request, monitor=Monitor(request.monitor.deadline, request.monitor.report, bar), chunks=None)
        try:
            made = in_fine_slots(alone, programs.items(), "retime", {})
        except UnsupportedError:
            return None
        label = made.provenance["program"]
        made = written_out(with_channels(made, request.machine))
        try:
            request.require_runnable(made)
            cycles = request.cycles(made)
        except UnsupportedError:  # its routes may deadlock, or only slots keep it in order and messages may be late
            del programs[label]
            continue
        if cycles >= bar:
            return None
        source = label.replace(":", ",")  # as option `of` of method retime names it
        provenance = request.provenance("retime", {"of": source, "from": "paced"}, program=f"transfers of {source}")
        return replace(made, provenance=provenance)
    return None


def chain_cycles(program: Program, costs: Costs) -> int:
    """Cycles that a program takes at least: those of its longest chain of transfers, each of which waits for all that came into the
    cell that it reads. O(rows + stages)."""
    read, written = program.cells()
    local = program.src == program.dst
    flight = np.array([sum(costs.hop[link] for link in way) for way in program.ways], np.int64) + costs.ends + costs.ser
    flight += np.where(program.op == Op.REDUCE, costs.start + costs.red, 0)
    flight[local] = 0  # what a local copy keeps may be read before it is made
    ready = np.zeros(int(max(read.max(initial=0), written.max(initial=0))) + 1, np.int64)
    last = 0
    after: dict[int, list[tuple[Any, Any]]] = {}
    order = np.argsort(program.reads, kind="stable")
    bounds = np.flatnonzero(np.diff(program.reads[order], prepend=-1))
    for rows in np.split(order, bounds[1:]):
        stage = int(program.reads[rows[0]])
        for earlier in [one for one in sorted(after) if one < stage]:
            for cells, landed in after.pop(earlier):
                np.maximum.at(ready, cells, landed)
        lands = ready[read[rows]] + flight[rows]
        last = max(last, int(lands.max()))
        for writes in np.unique(program.writes[rows]).tolist():
            those = program.writes[rows] == writes
            after.setdefault(writes, []).append((written[rows][those], lands[those]))
    return last
