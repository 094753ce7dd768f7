"""The unit in which a method counts link rates: the one asked for, or others that lose less of the rates."""

from fractions import Fraction

from certree.models.common.errors import InputError, TopologyError
from certree.models.common.fields import exact_number
from certree.models.common.quantities import parse_bandwidth
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.instance import Instance

#: the option of every method
UNIT = "unit"
#: the most units of the widest link with which other units are tried: the finer the unit, the longer a message takes on a lane
MOST_UNITS = 64
LEAST_GAIN = 200
MOST_TRIED = 5
MOST_LOST = Fraction(1, 20)  # of a rate, by rounding


def in_unit_asked_for(topology: Topology, text: str, method: str) -> Topology:
    """The network in the unit that the option `unit` of a method states.

    The unit is a bandwidth, such as 1GB/s, where the network states that of a full link, or a part of a full link, such as 1/4.
    InputError for anything else, and for a unit in which the network cannot be counted.
    """
    where, unit = f"{method}: option {UNIT}", exact_number(text)
    if unit is None and topology.bandwidth is not None:
        unit = parse_bandwidth(text, where) / topology.bandwidth
    if unit is None:
        raise InputError(f"{where}={text!r}; allowed: a part of a full link such as 1/4, since the network states no bandwidth")
    try:
        return topology.in_units_of(unit)
    except TopologyError as error:
        raise InputError(f"{where}={text}: {error}") from None


def other_units(topology: Topology, collective: Collective) -> list[Topology]:
    """The network in units other than its own, finer and finer, where its own do not divide all rates.

    A unit is worth trying if a bound that needs no search falls with it by at least 1 / LEAST_GAIN of what it is for exact rates,
    from the unit before. Such bounds do not see each cut: one more is the largest in which no rate loses more than MOST_LOST, or
    the one whose worst loss is least. The widest link has at most MOST_UNITS. At most MOST_TRIED networks.
    O(rates · MOST_UNITS · endpoints · links).
    """
    rates = topology.rates
    if rates is None or topology.rounded is None:
        return []
    speeds = sorted({Fraction(capacity, rates.scale) for capacity in set(rates.capacity.tolist())})
    units = {speed / count for speed in speeds for count in range(1, MOST_UNITS + 1)}
    most = min(speeds[0], Fraction(1))
    units = {unit for unit in units if speeds[-1] / MOST_UNITS <= unit <= most}
    lost = {unit: max(1 - speed // unit * unit / speed for speed in speeds) for unit in units}
    even = min(units, key=lambda unit: (max(lost[unit], MOST_LOST), -unit), default=None)
    own = 1 / Fraction(topology.scale)
    best, exact = _bound(topology, collective), _bound(topology.exact, collective)
    found: dict[Fraction, Topology] = {}
    for unit in sorted(units, reverse=True):
        counted = topology.in_units_of(unit)
        bound = _bound(counted, collective)
        gains = LEAST_GAIN * (best - bound) >= exact
        best = bound if gains else best
        if gains or unit == even != own:
            found[unit] = counted
    tried = {even, *[unit for unit in found if unit != even][: MOST_TRIED - 1]}
    return [counted for unit, counted in found.items() if unit in tried]


def _bound(topology: Topology, collective: Collective) -> Fraction:
    """A bound on bandwidth time that needs no search, as a coefficient of M/B."""
    bounds = cheap_bounds(Instance(topology, collective))
    return max(Fraction(one["value"]) for one in bounds if one["quantity"] == "bandwidth") * topology.scale
