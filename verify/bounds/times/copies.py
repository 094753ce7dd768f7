"""The copies witness: the endpoints together send what is late at the root once to each of many others."""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

import numpy as np

from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.classes import assumes, machine, no_coding, only_forwarding
from certree.verify.bounds.timed import TIME_WITNESSES, Int64, TimeInstance
from certree.verify.bounds.times.flow import endpoints_of
from certree.verify.bounds.witness import WitnessError, malformed, only_fields
from certree.verify.bounds.witnesses.metric import FAR, distances

MAX_LATE = 1 << 60


@TIME_WITNESSES.register("copies")
@assumes("copies", machine, no_coding, only_forwarding)
def copies(of: TimeInstance, witness: Mapping[str, Any]) -> int:
    """{"to": [ids], "late": cycles}: the fewest cycles in which a broadcast sends what leaves its root late to each of "to".

    A byte is *late* if it enters no lane out of the root r before `late` cycles after `first`. In that time a lane takes up to
    ceil(late / scale) flits, so all bytes but those of that many flits for each lane out of r are late.

    - A message brings each late byte to each node s in "to". Its sender is r or another endpoint x. The byte enters a lane out of
      the sender. These are as many entries as there are pairs of a late byte and an s, since a message has one destination.
    - It enters a lane out of r no earlier than first + late. If the sender is another endpoint x, the byte has come to x in a
      message. It entered a lane out of r before, no earlier than first + late. It was complete at x after the distance from r to x
      and `leave`, and x fired it again.
    - After its entry it takes at least the distance to the nearest node in "to", and `leave`.

    So the lanes out of all endpoints have room for all these bytes, each lane between its first and its last entry.

    The proof does not hold where switches add, since these may also multicast. Cost: the distances from one node and from all ends
    of links out of endpoints, and O(links · log cycles).
    """
    only_fields("copies", witness, ["to", "late"])
    collective, topology = of.instance.collective, of.instance.topology
    if collective.kind is not CollectiveKind.BROADCAST or topology.reducing.any():
        raise WitnessError("witness-foreign", "a copies witness bounds broadcasts on networks whose switches do not reduce")
    sinks, late = endpoints_of(of, "copies", "to", witness["to"]), witness["late"]
    if type(late) is not int or not 0 <= late <= MAX_LATE:
        raise malformed("copies witness: late must be a number of cycles")
    if wrong := [node for node in sinks if not of.instance.sinks[topology.rank[node]] or node == collective.root]:
        raise WitnessError("witness-wrong", f"copies witness: nothing is due at node {wrong[0]} in a {collective.words}")
    return Senders.of(of, sinks).fewest_cycles(late)


class Senders:
    """The links out of all endpoints: for each the first cycle in which it may be entered if all is late (`begin`), and the least
    number of cycles from an entry to the end of the run (`rest`). `count`: nodes that need everything."""

    def __init__(self, of: TimeInstance, count: int, links: Int64, begin: Int64, rest: Int64) -> None:
        topology = of.instance.topology
        self._scale, self._count = of.scale, count
        self._flit, self._bytes = of.machine.flit_bytes, of.message_bytes
        self._lanes = topology.capacity[links].tolist()
        self._begin, self._rest = begin, rest
        self._out_of_root = int(topology.capacity[links][topology.src[links] == of.instance.collective.root].sum())

    @classmethod
    def of(cls, of: TimeInstance, sinks: list[int]) -> "Senders":
        """The senders of a broadcast to some nodes."""
        topology, root = of.instance.topology, of.instance.collective.root
        links = np.flatnonzero(np.isin(topology.src, topology.endpoints))
        to_senders = distances(topology, of.hops, np.array([root]))[0] - of.stored
        again = of.leave + of.inject + of.header
        begin = of.first + np.where(np.arange(len(topology.kind)) == root, 0, to_senders + again)[topology.src[links]]
        heads, head = np.unique(topology.dst[links], return_inverse=True)
        towards = of.hops_towards(sinks)
        nearest = distances(topology, towards, heads)[:, sinks].min(axis=1)
        rest = towards[links] + nearest[head] + of.leave
        reached = (begin < FAR) & (rest < FAR)
        return cls(of, len(sinks), links[reached], begin[reached], rest[reached])

    @property
    def most_late(self) -> int:
        """The number of cycles after which nothing is late."""
        return self._scale * -(-self._bytes // (self._flit * self._out_of_root))

    def fewest_cycles(self, late: int) -> int:
        """The bound, for the bytes that are late after `late` cycles."""
        due = self._count * (self._bytes - self._flit * self._out_of_root * -(-late // self._scale))
        span = self._begin + late + self._rest

        def fits(cycles: int) -> bool:
            flits: list[int] = np.maximum((cycles - span) // self._scale + 1, 0).tolist()
            taken: int = sum(each * lanes for each, lanes in zip(flits, self._lanes, strict=True))
            return due <= self._flit * taken

        if due <= 0:
            return 0
        high = 1
        while not fits(high):
            high *= 2
        return bisect_left(range(high), True, key=fits)
