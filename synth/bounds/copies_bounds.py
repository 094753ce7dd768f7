"""Copies bounds: which endpoints a broadcast has to reach, and from which cycle on bytes count as late."""

import numpy as np

from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.timed import TimeInstance, make_time_bound
from certree.verify.bounds.times.copies import Senders
from certree.verify.bounds.witness import Bound
from certree.verify.bounds.witnesses.metric import distances

MOST_DISTANCES = 1 << 16  # from an endpoint to a node; no bound on larger networks
MOST_SETS = 4  # of endpoints that are far from the root
PARTS = 8  # into which the range of cycles is divided, and then again the range around the best of them


def best_copies(of: TimeInstance) -> list[Bound]:
    """The strongest copies bound found for a broadcast, to all endpoints at some distance or more from the root; an empty list for
    other collectives. O(links · sets · log² cycles) and the distances between endpoints and nodes."""
    topology, collective = of.instance.topology, of.instance.collective
    is_small = len(topology.endpoints) * len(topology.kind) <= MOST_DISTANCES
    if collective.kind is not CollectiveKind.BROADCAST or topology.reducing.any() or not is_small:
        return []
    others = topology.endpoints[of.instance.sinks].astype(np.int64)
    others = others[others != collective.root]
    away = distances(topology, of.hops, np.array([collective.root]))[0, others]
    bounds = []
    for least in np.unique(away)[:MOST_SETS].tolist():
        sinks = others[away >= least].tolist()
        late = _best_late(Senders.of(of, sinks))
        bounds.append(make_time_bound(of, "copies", {"to": sinks, "late": late}))
    return [max(bounds, key=lambda bound: int(bound["value"]))]


def _best_late(senders: Senders) -> int:
    """The cycle with the highest bound: of a few cycles over the whole range, then of a few around the best of these."""
    low, high, best = 0, senders.most_late - 1, (0, 0)
    while True:
        step = max(1, (high - low) // PARTS)
        best = max(best, *((senders.fewest_cycles(late), -late) for late in range(low, high + 1, step)))
        if step == 1:
            return -best[1]
        low, high = max(low, -best[1] - step), min(high, -best[1] + step)
