"""The length of steps: as many rounds as their fullest links need."""

import numpy as np

from certree.models.network.topology import Int32
from certree.models.schedule.schedule import Schedule
from certree.verify.rules.contention import claims, granule_rounds


def rounds_needed(schedule: Schedule) -> Int32:
    """For every step the fewest rounds in which its links carry what it sends: the largest ceil(load / capacity), at least 1.

    Parallel links share the direct transfers between their ends; a routed transfer loads the links that its route names. Chunks of
    different sizes count by their granules. O(rows + hops).
    """
    if schedule.has_sizes:
        return granule_rounds(schedule).astype(np.int32)
    uses = claims(schedule)
    key = uses.resource * schedule.steps + schedule.step[uses.row]
    busy, load = np.unique(key, return_counts=True)
    rounds = np.ones(schedule.steps, np.int64)
    np.maximum.at(rounds, busy % schedule.steps, -(-load // uses.capacity[busy // schedule.steps]))
    return rounds.astype(np.int32)
