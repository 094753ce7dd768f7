"""How long cells take, before they run: by those that were measured, else by a rough rule."""

from collections.abc import Mapping, Sequence
from statistics import mean

from certree.extras.sweeps.run.plan import Cell, SweepPlan

#: seconds of a cell without measurements: of any, and for each pair of endpoints (for searches; an algorithm takes a tenth)
LEAST, PER_PAIR, OF_PUBLISHED = 0.05, 4e-4, 0.1


def estimated_seconds(plan: SweepPlan, cells: Sequence[Cell], known: Mapping[str, float]) -> tuple[float, int]:
    """CPU seconds of some cells, and for how many of them nothing was measured. `known`: CPU seconds by key.

    Counts the mean of measured cells with the same method on the same network, else of the same method on networks of as many
    endpoints, else the rule.
    """
    near: dict[tuple[object, ...], list[float]] = {}
    for key, seconds in known.items():
        cell = plan.by_key.get(key)
        if cell is not None:
            for group in _groups(plan, cell):
                near.setdefault(group, []).append(seconds)
    means = {group: mean(seconds) for group, seconds in near.items()}
    total, unknown = 0.0, 0
    for cell in cells:
        found = next((means[group] for group in _groups(plan, cell) if group in means), None)
        unknown += found is None
        total += _by_rule(plan, cell) if found is None else found
    return total, unknown


def _groups(plan: SweepPlan, cell: Cell) -> tuple[tuple[object, ...], ...]:
    return (cell.method, cell.network), (cell.method, plan.endpoints(cell))


def _by_rule(plan: SweepPlan, cell: Cell) -> float:
    from certree.synth.method import load_methods

    known, name = load_methods(), cell.method.partition(":")[0]
    part = OF_PUBLISHED if name in known and known[name].published else 1
    return LEAST + part * PER_PAIR * plan.endpoints(cell) ** 2
