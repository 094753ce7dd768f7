"""Families of trees over relays, as many trees as are found for each of several periods."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from certree.extras.groups.make.relayed_family import RelayedFamily
from certree.extras.groups.make.relayed_trees import RelayedNetwork
from certree.models.common.errors import UnsupportedError
from certree.synth.bounds.find import find_bounds
from certree.synth.method import Request

_MOST_ROWS = 70_000  # transfers of an iteration, for one unit of effort
_MOST_WORK = 1 << 21  # trees times members times links, likewise


def packed(request: Request, network: RelayedNetwork, periods: Sequence[int]) -> Iterator[RelayedFamily]:
    """For each period the most trees that are found, where they are more than shorter periods have for their length.

    No more are looked for than the bound on bandwidth time allows. UnsupportedError where even the fewest trees are too much work.
    """
    best, most = Fraction(0), _most(request)
    if most < network.multiple:
        raise UnsupportedError(f"trees for {request.collective.words} on {request.topology.name} are too many to look for")
    bounds = find_bounds(request.topology, request.collective)
    a_slot = 1 / max(Fraction(bound["value"]) for bound in bounds if bound["quantity"] == "bandwidth")  # trees in a slot
    for period in periods:
        limit = min(most, int(a_slot * period)) // network.multiple
        if request.chunks is not None:
            limit = min(limit, request.chunks // network.multiple)
        if limit * network.multiple <= best * period or (best and request.monitor.expired):
            continue
        low, high, found = int(best * period) // network.multiple, limit + 1, None
        while low + 1 < high:
            middle = (low + high) // 2 if found or low else high - 1
            family = network.pack(middle * network.multiple, period, request.seed)
            low, high, found = (low, middle, found) if family is None else (middle, high, family)
        if found is not None and request.chunks in (None, found.chunks):
            best = Fraction(found.chunks, period)
            yield found


def _most(request: Request) -> int:
    """The most trees that are looked for."""
    work = len(request.members) * len(request.topology.src)
    phases = int(request.collective.reduces) + int(request.collective.gathers)
    return min(_MOST_WORK // work, _MOST_ROWS // (phases * len(request.members))) * request.effort
