"""Search for lower bounds by exact graph algorithms; `certree.verify` re-checks each witness."""

from fractions import Fraction
from typing import Any

from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth.bounds.gossips import best_gossip
from certree.synth.bounds.parts import lengths_of_parts
from certree.synth.bounds.tolls import best_tolls
from certree.synth.bounds.weights import weighted_lengths
from certree.synth.graphs.cuts import best_cut
from certree.synth.graphs.lengths import best_lengths
from certree.synth.packing.root_shares import MAX_ROOTS, FreeRoots
from certree.synth.packing.spanning_trees import network_of
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.classes import is_shared
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import make_bound, with_class

Bound = dict[str, Any]


def find_bounds(topology: Topology, collective: Collective, delay: int = 1) -> list[Bound]:
    """Bounds for equal shares, strongest first within each quantity: the best partition or cut, then those that are cheap to find.
    For an all-gather or reduce-scatter the best subpartition is among them; it holds for any shares.

    All-reduce on a full-duplex direct network: the tight partition, which a packing attains (Tutte, Nash-Williams); elsewhere, and
    where some endpoints take no part, lengths and tolls. Local search and linear programs find these, and they need not be the best
    possible. Collectives with roots, except all-to-all: the best cut. Costs as in `Network.strength` and `best_cut`.
    """
    bounds: list[Bound] = []
    instance = Instance(topology, collective, delay=delay)
    if collective.is_rooted and collective.kind is not CollectiveKind.ALL_TO_ALL:
        bounds.append(with_class(instance, best_cut(topology, collective)))
    collective = instance.collective
    everyone = collective.members is None
    if not collective.is_rooted and topology.is_direct and topology.is_full_duplex and everyone:
        # the tight partition bounds an all-reduce: rounds / K >= 1 / strength
        bounds.append(make_bound(instance, "partition", {"part": network_of(topology).tight_partition.tolist()}))
    if not bounds:
        by_lengths = best_lengths(instance, [*weighted_lengths(instance), *lengths_of_parts(instance)])
        bounds += [bound for bound in (by_lengths, best_gossip(instance)) if bound is not None]
    if not collective.is_rooted and not topology.is_full_duplex and (by_tolls := best_tolls(instance)) is not None:
        bounds.append(by_tolls)
    if (whatever := shares_bound(topology, collective)) is not None:
        bounds.append(whatever)
    bounds += cheap_bounds(instance)
    return sorted(bounds, key=lambda bound: (bound["quantity"], -Fraction(bound["value"])))


def shares_bound(topology: Topology, collective: Collective) -> Bound | None:
    """The best subpartition bound that `FreeRoots.best_sets` finds on an all-gather or reduce-scatter with any shares. None on
    networks of more than MAX_ROOTS endpoints, where only some endpoints take part, and for other collectives.

    It costs a maximum flow for each endpoint and step of Newton's iteration.
    """
    instance = Instance(topology, collective)
    if not is_shared(instance) or len(topology.endpoints) > MAX_ROOTS or instance.collective.members is not None:
        return None
    return make_bound(instance, "subpartition", {"sets": FreeRoots(topology, collective).best_sets()})
