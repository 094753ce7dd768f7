"""All-gather and reduce-scatter with unequal shares: endpoints of few links root more of the message."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Options, Request, Tier, method
from certree.synth.packing.root_shares import MAX_ROOTS, FreeRoots
from certree.synth.packing.routed_branchings import FreelyRoutedBranchings
from certree.synth.packing.selection import Search, Trees
from certree.synth.packing.slotting import slowest_route
from certree.synth.packing.undirected import BothWays

PERIODS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16)
_MAX_FLOW = 1 << 27  # trees times trees times links of a packing, for one unit of effort


@method(
    "free-shares",
    [CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER],
    published=False,
    tier=Tier.NAMED,
    is_anytime=True,
    compares=True,
    own_units=True,
)
def free_shares(request: Request, _: Options) -> Schedule:
    """An all-gather or reduce-scatter in which endpoints may root unequal parts of the message, in the fastest proportion found.

    With equal shares, a corner with only two links limits all endpoints; the more chunks it roots itself, the fewer it must
    receive. For every period of PERIODS the most chunks that fit with any shares are found by flows
    (`certree.synth.packing.root_shares`), packed as branchings and given slots; the fastest by closed form is returned. Two such
    phases take 3/4 M/B on a mesh and 63/64 M/B with equal shares; no shares allow less (`certree.synth.bounds.find.shares_bound`).
    With switches, branchings use paths through them, with the capacity that links have in both directions; there slightly fewer
    chunks are tried too. For networks up to 512 endpoints; `auto` does not try it, since it solves a different problem. No options.
    """
    size = len(request.topology.endpoints)
    if size > MAX_ROOTS:
        raise UnsupportedError(f"free-shares: {size} endpoints; up to {MAX_ROOTS} are tried")
    options = [option for period in PERIODS for option in _options(request, period)]
    if not options:
        raise UnsupportedError(f"free-shares: no period of {PERIODS} fits that many chunks, or the packings are too large")

    def provenance(origin: Mapping[str, Any]) -> Mapping[str, Any]:
        return request.provenance("free-shares", {}, **origin)

    return Search(request, provenance).run(options)


def _options(request: Request, period: int) -> Iterator[Trees]:
    """Yield branchings for the most chunks that fit into a period and, with switches, where none may exist, for some fewer."""
    topology, collective, size = request.topology, request.collective, len(request.topology.endpoints)
    network = FreeRoots(topology if topology.is_direct else BothWays.of(topology).network, collective)
    most, _ = network.most(period)
    for chunks in [most] if topology.is_direct else dict.fromkeys((most, most - 1, most - most // 8)):
        held = network.shares(chunks, period) if chunks else None
        if held is None or request.chunks not in (None, chunks) or chunks**2 * len(topology.src) > _MAX_FLOW * request.effort:
            continue
        rooted = network.rooted(held) if topology.is_direct else FreelyRoutedBranchings(topology, collective, held)
        yield Trees(
            chunks=chunks,
            period=period,
            least_period=period,
            chain=rooted.least_height(period),
            reductions=-(-chunks * (size - 1) // size) * collective.reduces,
            even=False,
            build=partial(rooted.pack, collective, chunks, period, moves=0, seed=request.seed),
            reach=None if topology.is_direct else slowest_route(request, 2),
        )
