"""Collectives as the specification of a sweep names them."""

from dataclasses import dataclass
from pathlib import Path

from certree.models.common.errors import InputError
from certree.models.demand import load_demand
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.relays import ALL, relayed
from certree.models.schedule.collective import ALLTOALLV, Collective, CollectiveKind, parse_collective, parse_members

OPTIONS = ("members", "relay", "demand")


@dataclass(frozen=True)
class Wanted:
    """A collective on any network: what is known `bare` of one, the CSV with the `demand` of an alltoallv, and the endpoints that
    `relay` the data of members (`models/relays.py`)."""

    bare: Collective
    demand: Path | None = None
    relay: str = ALL

    @property
    def arguments(self) -> list[str]:
        """The options by which commands ask for it."""
        if self.demand is not None:
            return ["--collective", ALLTOALLV, "--demand", str(self.demand)]
        kind, root, members = self.bare.kind, self.bare.root, self.bare.members
        found = ["--collective", str(kind), *([] if root is None else ["--root", str(root)])]
        return found if members is None else [*found, "--members", ",".join(map(str, members)), "--relay", self.relay]

    def through(self, topology: Topology) -> Topology:
        """The network that it may use.

        InputError for relays that are not endpoints, and where members do not reach each other."""
        return topology if self.demand is not None else relayed(topology, self.bare, self.relay)[0]

    def on(self, topology: Topology, machine: Machine) -> Collective:
        """The collective on the network that it may use, a demand in granules of the machine. InputError where root, members or
        matrix do not fit."""
        if self.demand is None:
            return self.bare.fitted(topology)
        return parse_collective(ALLTOALLV, demand=load_demand(self.demand, topology, machine.flit_bytes))


def parse_wanted(text: str) -> Wanted:
    """The collective that a text names; InputError.

    >>> wanted = parse_wanted("broadcast@0:members=0,2,4-7:relay=1,3")
    >>> wanted.bare.words, wanted.relay
    ('broadcast from node 0 among nodes 0, 2, 4, 5, 6, 7', '1,3')
    """
    named, *options = text.split(":")
    kind, at, root = named.partition("@")
    pairs = dict(option.partition("=")[::2] for option in options)
    if at and not (root.isascii() and root.isdigit() and len(root) < 10):
        raise InputError(f"{text!r}: expected KIND or KIND@ROOT, the id of an endpoint")
    if len(pairs) < len(options) or not all(name in OPTIONS and value for name, value in pairs.items()):
        raise InputError(f"{text!r}: expected KIND:NAME=VALUE, NAME one of {', '.join(OPTIONS)}, each once")
    members = parse_members(pairs["members"]) if "members" in pairs else None
    if kind == ALLTOALLV and "demand" in pairs:
        return Wanted(Collective(CollectiveKind.ALL_TO_ALL, int(root) if at else None, members), _only_file(pairs, text))
    if "demand" in pairs:
        raise InputError(f"{text!r}: a demand is for {ALLTOALLV}, not for {kind}")
    if "relay" in pairs and members is None:
        raise InputError(f"{text!r}: relay is for a collective with members=")
    return Wanted(parse_collective(kind, int(root) if at else None, members), relay=pairs.get("relay", ALL))


def _only_file(pairs: dict[str, str], text: str) -> Path:
    """The file of the demand, from which members follow."""
    if "members" in pairs:
        raise InputError(f"{text!r}: the members of an {ALLTOALLV} follow from its demand")
    if "relay" in pairs:
        raise InputError(f"{text!r}: relay is not for an {ALLTOALLV}, in which all endpoints may forward")
    return Path(pairs["demand"])
