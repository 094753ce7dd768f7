"""Bine trees and butterflies: binomial ones in which ranks are numbered in base -2, so that partners are closer.

Source: De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke and Hoefler, "Bine Trees: Enhancing Collective Operations by
Optimizing Communication Locality" (SC 2025, arXiv 2508.17311).
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.butterflies import Partners, programs
from certree.synth.fine.fine_routes import default_routes
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.program import Stages
from certree.synth.method import Options, Request, Tier, choice, method
from certree.synth.ranks.exchange import whole_log2

ROOTED = (CollectiveKind.BROADCAST, CollectiveKind.REDUCE)


@method(
    "bine",
    [CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER, *ROOTED],
    options={"form": choice("best", "vectors", "shares"), "distance": choice("doubling", "halving")},
    tier=Tier.FINE,
    order=68,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def bine(request: Request, options: Options) -> Schedule:
    """Partners whose ranks differ in all of the last bits in base -2: |1 - (-2)^s| / 3 places apart, ahead or back.

    In fine slots. Broadcast and reduce: a tree from the root, the farthest partner first. Other collectives: a butterfly. Options:
    distance=doubling|halving, the order of its distances; form=vectors: whole vectors; form=shares: shares that halve, and back.
    For a power of two of endpoints, in the order of their ids.
    """
    nodes, bits = request.members, whole_log2(len(request.members))
    if bits is None:
        raise UnsupportedError(f"bine needs a power of two of endpoints; there are {len(nodes)}")
    partners = _partners(len(nodes), bits)
    if request.collective.kind not in ROOTED:
        butterfly = partners if options["distance"] == "doubling" else partners[::-1]
        return in_fine_slots(request, programs(request, nodes, [butterfly], options["form"]), "bine", options)
    root = int(np.flatnonzero(nodes == request.collective.root)[0])
    nodes, stages, holders = np.roll(nodes, -root), Stages(), np.zeros(1, np.int64)
    inwards = request.collective.kind is CollectiveKind.REDUCE
    for stage, other in enumerate(partners[::-1]):
        here, there = nodes[holders], nodes[other[holders]]
        if inwards:
            stages.add(0, Op.REDUCE, there, here, stage=bits - 1 - stage)
        else:
            stages.add(0, Op.COPY, here, there, stage=stage)
        holders = np.concatenate((holders, other[holders]))
    routes = default_routes(request.topology)
    program = stages.program(request.topology, request.collective, [request.collective.root], routes)
    return in_fine_slots(request, [("tree", program)], "bine", options)


def _partners(ranks: int, bits: int) -> Partners:
    """The partner of each rank in each stage, the nearest first."""
    rank = np.arange(ranks)
    reach = np.array([(1 - (-2) ** count) // 3 for count in range(1, bits + 1)], np.int64)
    return np.asarray((rank + np.where(rank % 2 == 0, 1, -1) * reach[:, None]) % ranks)
