"""Collectives as the specification of a sweep names them."""

from dataclasses import dataclass
from pathlib import Path

from certree.models.common.errors import InputError
from certree.models.demand import load_demand
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import ALLTOALLV, Collective, CollectiveKind, parse_collective, parse_members

OPTIONS = ("members", "demand")


@dataclass(frozen=True)
class Wanted:
    """A collective on any network: what is known `bare` of one, and the CSV with the `demand` of an alltoallv."""

    bare: Collective
    demand: Path | None = None

    def on(self, topology: Topology, machine: Machine) -> Collective:
        """The collective on a network, a demand in granules of the machine. InputError where root, members or matrix do not fit."""
        if self.demand is None:
            return self.bare.fitted(topology)
        return parse_collective(ALLTOALLV, demand=load_demand(self.demand, topology, machine.flit_bytes))


def parse_wanted(text: str) -> Wanted:
    """The collective that a text names; InputError.

    >>> parse_wanted("broadcast@0:members=0,2,4-7").bare.words
    'broadcast from node 0 among nodes 0, 2, 4, 5, 6, 7'
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
    return Wanted(parse_collective(kind, int(root) if at else None, members))


def _only_file(pairs: dict[str, str], text: str) -> Path:
    """The file of the demand, from which members follow."""
    if "members" in pairs:
        raise InputError(f"{text!r}: the members of an {ALLTOALLV} follow from its demand")
    return Path(pairs["demand"])
