"""CP-SAT on a neighbourhood of the last slots: the same rows in fewer of them, all others staying where they are."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from certree.extras.improvement.make.precedence import Occupancy, Precedence
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget, solve_model

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

WINDOW = 160  # rows that are free at a time
_MOST = 0.5  # of the budget's units for one neighbourhood


def without_last_slot(
    precedence: Precedence, slots: Sequence[int], budget: Budget, chance: random.Random, monitor: Monitor
) -> list[int] | None:
    """Slots that leave the last one empty, or None where CP-SAT finds none (which says nothing of others).

    Free are the rows of the last slot, what they depend on or share resources with, the latest first, up to WINDOW, with a few at
    random; the rest stays. Deterministic but for the monitor's limit.
    """
    from ortools.sat.python import cp_model

    last = max(slots)
    free = _neighbourhood(precedence, slots, chance)
    if sum(slot == last for slot in slots) > len(free):
        return None
    occupancy = Occupancy(precedence)
    for row, slot in enumerate(slots):
        if row not in free:
            occupancy.take(row, slot)
    model = cp_model.CpModel()
    variable = {}
    for row in sorted(free):
        low, high = 0, last - 1
        for other, gap in precedence.before[row]:
            low = max(low, slots[other] + gap) if other not in free else low
        for other, gap in precedence.after[row]:
            high = min(high, slots[other] - gap) if other not in free else high
        full = occupancy.full(row)
        allowed = [slot for slot in range(low, high + 1) if not full >> slot & 1]
        if not allowed:
            return None
        variable[row] = model.new_int_var_from_domain(cp_model.Domain.from_values(allowed), "")
    _relate(model, precedence, variable, occupancy, last)
    for row, slot in enumerate(slots):
        if row in variable:
            model.add_hint(variable[row], min(slot, last - 1))
    status, solver = solve_model(model, chance.randrange(1 << 30), monitor, budget, most=_MOST)
    if not status.has_solution:
        return None
    return [solver.value(variable[row]) if row in variable else slot for row, slot in enumerate(slots)]


def _neighbourhood(precedence: Precedence, slots: Sequence[int], chance: random.Random) -> set[int]:
    last = max(slots)
    sharing: dict[int, list[int]] = defaultdict(list)
    for row, resources in enumerate(precedence.resources):
        for resource in resources:
            sharing[resource].append(row)
    free = {row for row, slot in enumerate(slots) if slot == last}
    fresh = sorted(free)
    while fresh and len(free) < WINDOW:
        near = {other for row in fresh for other, _ in precedence.before[row]}
        near |= {other for row in fresh for resource in precedence.resources[row] for other in sharing[resource]}
        found = sorted(near - free, key=lambda row: (-slots[row] + chance.randint(0, 3), row))
        fresh = found[: WINDOW - len(free)]
        free |= set(fresh)
    return free


def _relate(
    model: cp_model.CpModel,
    precedence: Precedence,
    variable: dict[int, cp_model.IntVar],
    occupancy: Occupancy,
    last: int,
) -> None:
    """Precedences and resources between the free rows."""
    users: dict[int, list[int]] = defaultdict(list)
    for row, slot in variable.items():
        for other, gap in precedence.before[row]:
            if other in variable:
                model.add(slot >= variable[other] + gap)
        for resource in precedence.resources[row]:
            users[resource].append(row)
    for resource, rows in users.items():
        capacity = precedence.capacity[resource]
        if len(rows) < 2:
            continue
        if capacity == 1:
            model.add_all_different([variable[row] for row in rows])
            continue
        intervals = [model.new_fixed_size_interval_var(variable[row], 1, "") for row in rows]
        fixed = [(slot, occupancy.load(resource, slot)) for slot in range(last) if occupancy.load(resource, slot)]
        intervals += [model.new_fixed_size_interval_var(slot, 1, "") for slot, _ in fixed]
        model.add_cumulative(intervals, [1] * len(rows) + [load for _, load in fixed], capacity)
