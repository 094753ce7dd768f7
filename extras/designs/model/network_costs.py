"""Prices and power of the parts of a network, from a TOML file: every entry says where its figures come from."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, TypeVar

from certree.models.common.errors import InputError
from certree.models.common.fields import Fields, Limits
from certree.models.common.presets import Presets

FORMAT, VERSION = "certree-network-costs", 1
NETWORK_COSTS = Presets("certree.extras.designs.model", "presets", "network costs")

MOST = 10**9
Count = Annotated[int, Limits(1, 10**6)]
Amount = Annotated[Fraction, Limits(0, MOST)]  # money, watts or metres
Rate = Annotated[Fraction, Limits(1, 10**6)]  # Gb/s
Reach = Annotated[Fraction, Limits(0, MOST, above=True)]
Years = Annotated[int, Limits(0, 1000)]


@dataclass(frozen=True)
class Port:
    """An interface port of an endpoint."""

    gigabits_per_second: Rate
    cost: Amount
    watts: Amount
    source: str


@dataclass(frozen=True)
class Switch:
    """A switch with that many ports; its price and power are those of the whole switch."""

    ports: Count
    gigabits_per_second: Rate
    cost: Amount
    watts: Amount
    source: str


@dataclass(frozen=True)
class Cable:
    """A cable with whatever is at both of its ends, of any length up to its reach."""

    medium: str
    gigabits_per_second: Rate
    reach_metres: Reach
    cost: Amount
    cost_per_metre: Amount
    watts: Amount
    source: str


@dataclass(frozen=True)
class Floor:
    """Racks in rows. A cable inside a rack has one length; one between racks the Manhattan distance and the slack at its ends."""

    endpoints_per_rack: Count
    racks_per_row: Count
    rack_pitch_metres: Amount
    row_pitch_metres: Amount
    within_rack_metres: Amount
    slack_metres: Amount
    source: str


@dataclass(frozen=True)
class Energy:
    """The cost of power while the network is in use; `overhead`: power of the building for each watt of the network."""

    cost_per_kilowatt_hour: Amount
    years: Years
    overhead: Amount
    source: str

    def cost(self, watts: Fraction) -> Fraction:
        """The cost of that power, used all the time; a year has 8760 hours."""
        return watts * self.overhead * 8760 * self.years / 1000 * self.cost_per_kilowatt_hour


@dataclass(frozen=True)
class NetworkCosts:
    """A cost model of networks."""

    name: str
    currency: str
    ports: tuple[Port, ...]
    switches: tuple[Switch, ...]
    cables: tuple[Cable, ...]
    floor: Floor
    energy: Energy

    def port(self, rate: Fraction) -> Port:
        """The cheapest port of that rate."""
        return _cheapest([one for one in self.ports if one.gigabits_per_second == rate])

    def switch(self, ports: int, rate: Fraction) -> Switch:
        """The cheapest switch with that many ports of that rate, or of a faster one; InputError where the model has none."""
        found = [one for one in self.switches if one.gigabits_per_second >= rate and one.ports >= ports]
        if not found:
            raise InputError(f"network costs {self.name}: no switch has {ports} ports of {rate} Gb/s; add one to switches")
        return _cheapest(found)

    def cable(self, metres: Fraction, rate: Fraction) -> Cable:
        """The cable of that rate that reaches so far for the least cost; InputError where the model has none."""
        found = [one for one in self.cables if one.gigabits_per_second == rate and one.reach_metres >= metres]
        if not found:
            raise InputError(f"network costs {self.name}: no cable of {rate} Gb/s reaches {float(metres):g} m; add one to cables")
        return min(found, key=lambda one: (one.cost + metres * one.cost_per_metre, one.watts, one.medium))


_Part = TypeVar("_Part", Port, Switch)


def _cheapest(parts: Iterable[_Part]) -> _Part:
    return min(parts, key=lambda one: (one.cost, one.watts))


def load_network_costs(name: str) -> NetworkCosts:
    """A preset by name, or a TOML file; InputError names the part that is unknown, or has no source."""
    fields = Fields.of_format(NETWORK_COSTS.load(name), FORMAT, VERSION, name)
    found = fields.read(NetworkCosts)
    for kind in ("ports", "switches", "cables"):
        for number, one in enumerate(getattr(found, kind), 1):
            if not one.source.strip():
                fields.refuse(f"{kind} {number}: source is empty; expected where the figures come from, or assumption")
    for kind in ("floor", "energy"):
        if not getattr(found, kind).source.strip():
            fields.refuse(f"{kind}: source is empty; expected where the figures come from, or assumption")
    return found
