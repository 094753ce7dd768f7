"""Schedules with fine slots in another order of their transfers: local search, and CP-SAT on small ones."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from certree.extras.improvement.make.fastest_order import fastest_order
from certree.models.fine.list_jobs import Booked
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.booking import least_cycles
from certree.synth.fine.fine_schedule import costs_of, schedule_of
from certree.synth.fine.program import program_of
from certree.synth.fine.search import Trial, searched
from certree.synth.method import Request
from certree.synth.solvers.cpsat import Budget, Status

SOLVED = 5.0  # CP-SAT's units of deterministic time for one unit of effort


def reordered(source: Schedule, request: Request, origin: Mapping[str, Any]) -> Iterator[tuple[Schedule, str]]:
    """Schedules with the transfers of one with fine slots in other orders, each as early as list scheduling gets it, and what
    found them. `source` is made for the request's size and machine and does not repeat; what it plans to wait, these do not.
    O(rows · hops · log rows) for each booking.
    """
    program = program_of(source)
    costs = costs_of(request, program, fine_times(source).slot)
    trial, least = Trial.of(program, costs), least_cycles(program, costs)

    def made(booked: Booked, moves: str) -> Schedule:
        provenance = request.provenance("improve", {}, moves=moves, **origin)
        assert source.made_for is not None
        return schedule_of(program, trial.order, booked, costs.slot, source.made_for, provenance)

    turns = trial.turns_at(source.step[trial.first_rows].astype(np.int64) * costs.slot)
    best = searched(trial, request, (turns, trial.booked(turns)), least)
    yield made(best, "order"), "local search for an order"
    best, status = fastest_order(trial, best, least, Budget(SOLVED * request.effort), request.seed, request.monitor)
    yield made(best, "order, CP-SAT"), "an order by CP-SAT"
    if status is Status.OPTIMAL:
        meant = "order of these transfers" if trial.few is trial.whole else "order that keeps transfers of one slot together"
        request.monitor.report(f"no other {meant} is faster")
