"""CP-SAT on the order of a small program: intervals of messages on links and of sums in reduction units that do not overlap.

The times of its solution are the turns of a booking, so that the list scheduler decides what counts (`synth.fine.booking`).
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import NONE, Booked, Costs, Order, Rows, Turns
from certree.synth.fine.search import Trial, rank_of
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, Status, solve_model

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

MOST_INTERVALS = 3_000  # of messages on links
MOST_PAIRS = 60_000  # of sums in one unit


def fastest_order(trial: Trial, best: Booked, least: int, budget: Budget, seed: int, monitor: Monitor) -> tuple[Booked, Status]:
    """A booking of a program that is not slower than `best`, and what is known of it: OPTIMAL where no order of these transfers
    along these links is faster, FEASIBLE otherwise.

    `least`: cycles that every order takes. Where one row of each block stands for all, only orders in which blocks are whole are
    meant. Programs with slots of several cycles, more than MOST_INTERVALS messages on links or MOST_PAIRS of sums stay as they are.
    Deterministic but for the monitor's limit. O(messages on links + pairs of sums) for the model, and the solver's budget.
    """
    if best.end <= least:
        return best, Status.OPTIMAL
    rows = trial.few.transfers
    if trial.costs.slot > 1 or _is_large(rows):
        return best, Status.FEASIBLE
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    fire = [model.new_int_var(0, best.end, "") for _ in rows.routes]
    landed = _units(model, rows, trial.costs, fire, best.end)
    _links(model, rows, trial.costs, fire)
    _gates(model, trial.few.order, trial.costs, fire, landed, best.end)
    end = model.new_int_var(least, best.end, "")
    model.add_max_equality(end, landed)
    model.minimize(end)
    for variable, cycle in zip(fire, best.fire[trial.first_rows].tolist(), strict=True):
        model.add_hint(variable, cycle)
    status, solver = solve_model(model, seed, monitor, budget)
    if status.has_solution:
        best = min((best, *_booked(trial, [solver.value(one) for one in fire])), key=rank_of)
    is_best = status is Status.OPTIMAL and best.end <= solver.value(end)
    return best, Status.OPTIMAL if is_best else Status.FEASIBLE


def _is_large(rows: Rows) -> bool:
    sums = np.bincount(rows.dst[rows.adds > 0])
    return sum(map(len, rows.routes)) > MOST_INTERVALS or int((sums * (sums - 1) // 2).sum()) > MOST_PAIRS


def _booked(trial: Trial, fire: list[int]) -> list[Booked]:
    """Bookings of transfers that leave in these cycles, or in the order of them."""
    cycle = np.array(fire, np.int64)
    found = []
    for turns in (trial.turns_at(cycle), Turns.first_of(cycle), Turns.first_of(cycle, patient=True)):
        with suppress(UnsupportedError):  # those that leave together meet
            found.append(trial.booked(turns))
    return found


def _units(model: cp_model.CpModel, rows: Rows, costs: Costs, fire: list[cp_model.IntVar], most: int) -> list[cp_model.LinearExprT]:
    """The cycle in which each row has landed: what is added once the unit of its node, which takes the first, is done."""
    sums: dict[int, list[tuple[cp_model.LinearExprT, cp_model.IntVar, cp_model.IntVar]]] = defaultdict(list)
    landed: list[cp_model.LinearExprT] = []
    for row, route in enumerate(rows.routes):
        crossing = sum(costs.hop[rows.links[link]] for link in route) + (costs.ends if route else 0)
        arrives = fire[row] + crossing + costs.ser
        if not rows.adds[row]:
            landed.append(arrives)
            continue
        starts, ends = (model.new_int_var(0, most, "") for _ in range(2))
        model.add(starts >= arrives + costs.start)
        model.add(ends >= starts + costs.red)
        sums[int(rows.dst[row])].append((arrives, starts, ends))
        landed.append(ends)
    for served in sums.values():
        model.add_no_overlap([model.new_fixed_size_interval_var(starts, costs.red, "") for _, starts, _ in served])
        for (one, first, first_ends), (other, second, second_ends) in combinations(served, 2):
            before, after, together = (model.new_bool_var("") for _ in range(3))
            model.add_exactly_one(before, after, together)
            model.add(one < other).only_enforce_if(before)
            model.add(first + costs.red <= second).only_enforce_if(before)
            model.add(other < one).only_enforce_if(after)
            model.add(second + costs.red <= first).only_enforce_if(after)
            model.add(one == other).only_enforce_if(together)  # each counts as the last
            model.add(first_ends >= second + costs.red).only_enforce_if(together)
            model.add(second_ends >= first + costs.red).only_enforce_if(together)
    return landed


def _links(model: cp_model.CpModel, rows: Rows, costs: Costs, fire: list[cp_model.IntVar]) -> None:
    """Messages of a link's lanes, and local copies of a node's copy unit, one after the other. Parallel links count as one."""
    links: dict[int, list[cp_model.IntervalVar]] = defaultdict(list)
    copies: dict[int, list[cp_model.IntervalVar]] = defaultdict(list)
    for row, route in enumerate(rows.routes):
        entry = 0
        for link in route:
            interval = model.new_fixed_size_interval_var(fire[row] + entry, costs.ser, "")
            links[min(rows.parallel[link])].append(interval)
            entry += costs.hop[rows.links[link]]
        if not route:
            copies[int(rows.src[row])].append(model.new_fixed_size_interval_var(fire[row], costs.ser, ""))
    for intervals in copies.values():
        model.add_no_overlap(intervals)
    for link, intervals in links.items():
        lanes = sum(int(rows.lanes[one]) for one in rows.parallel[link])
        if lanes == 1:
            model.add_no_overlap(intervals)
        else:
            model.add_cumulative(intervals, [1] * len(intervals), lanes)


def _gates(
    model: cp_model.CpModel,
    order: Order,
    costs: Costs,
    fire: list[cp_model.IntVar],
    landed: list[cp_model.LinearExprT],
    most: int,
) -> None:
    """Require that rows wait for each other (`synth.fine.order`)."""
    opens = [model.new_int_var(0, most, "") for _ in order.needs]
    for row, sent in enumerate(fire):
        for gate in order.when_sent[row]:
            model.add(opens[gate] >= sent)
        for gate in order.when_landed[row]:
            model.add(opens[gate] >= landed[row])
    for gate, rows in enumerate(order.opens):
        for row in rows:
            model.add(fire[row] >= opens[gate])
    for row, copy in enumerate(order.original_of):
        if copy != NONE:  # it reads the original until the copy is made, or the copy
            before = model.new_bool_var("")
            model.add(fire[row] <= fire[copy]).only_enforce_if(before)
            model.add(fire[row] >= fire[copy] + costs.ser).only_enforce_if(~before)
    for rows in order.groups:
        for row in rows[1:]:
            model.add(fire[row] == fire[rows[0]])
