"""Schedules whose chunks differ in size (K2 in docs/decisions/0007-schedule-version-2.md): rule `demand`, and `capacity` for them.

Over a link of capacity c the flits of c messages can pass at the same time, one of each message. r rounds are enough for messages
of g_1, g_2, ... granules exactly when no g is above r and their sum is at most c·r (McNaughton, 1959: fill one lane after the
other; a message that is cut at the end of a lane goes on at the start of the next, earlier in the same step).
"""

import numpy as np
from numpy.typing import NDArray

from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Slots
from certree.verify.rule import Stage, check, rule
from certree.verify.rules.contention import loads_in_granules, resource_text
from certree.verify.verdict import Findings
from certree.verify.wording import list_text, row_text

Int64 = NDArray[np.int64]


@check(stage=Stage.FORM, base_suffices=True)
@rule(
    "demand",
    "alltoallv: the chunks from one endpoint to another have more or fewer granules in all than the demand says",
    "tests/verify/rules/test_demand_rules.py",
)
def check_demand(schedule: Schedule, findings: Findings) -> None:
    """Report pairs of endpoints between which a schedule moves another number of granules than it should. O(chunks log chunks)."""
    if schedule.chunk_target is None or schedule.collective.demand is None:
        return
    source, target, granules = schedule.collective.demand.columns
    nodes = len(schedule.topology.kind)
    wanted = source * nodes + target
    pair, number = np.unique(
        np.concatenate((wanted, schedule.chunk_root.astype(np.int64) * nodes + schedule.chunk_target)), return_inverse=True
    )
    due, moved = np.zeros((2, len(pair)), np.int64)
    due[number[: len(wanted)]] = granules
    np.add.at(moved, number[len(wanted) :], schedule.granules)
    wrong = np.flatnonzero(due != moved)

    def tell(place: int) -> tuple[int, tuple[int, ...], str]:
        start, end = divmod(int(pair[place]), nodes)
        return 0, (), f"{moved[place]} granule(s) from node {start} to node {end}; the demand is {due[place]}"

    findings.add_each("demand", wrong.tolist(), tell)


@check(stage=Stage.LOAD, slots=(Slots.SIZED,))
def check_sizes(schedule: Schedule, findings: Findings) -> None:
    """Report links overfilled by one step (rule `capacity`) where chunks have sizes; with fine slots `check_reservations` does.
    O(uses log uses)."""
    uses, first, load, largest = loads_in_granules(schedule)
    step = schedule.step[uses.row[first]]
    resource, rounds = uses.resource[first], schedule.rounds[step].astype(np.int64)
    bad = np.flatnonzero((load > uses.capacity[resource] * rounds) | (largest > rounds))
    bad = bad[np.argsort(step[bad], kind="stable")]
    ends = np.append(first[1:], len(uses.row))

    def tell(group: int) -> tuple[int, tuple[int, ...], str]:
        rows = sorted(uses.row[first[group] : ends[group]].tolist())
        where = resource_text(schedule, uses, int(resource[group]))
        which = list_text([row_text(schedule, row) for row in rows], " and ")
        limit = f"capacity {uses.capacity[resource[group]]} x {rounds[group]} rounds"
        if load[group] <= uses.capacity[resource[group]] * rounds[group]:
            limit = f"{rounds[group]} rounds, the longest message has {largest[group]}"
        here = int(step[group])
        return here, tuple(rows), f"step {here}: {where} carries {load[group]} granules ({limit}): {which}"

    findings.add_each("capacity", bad.tolist(), tell)
