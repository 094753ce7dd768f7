"""The receptions witness: a node gets many contributions one by one, or waits until others have added them."""

from bisect import bisect_left
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from certree.models.schedule.collective import CollectiveKind
from certree.verify.bounds.classes import assumes, machine, no_coding, only_forwarding, shares
from certree.verify.bounds.timed import TIME_WITNESSES, Int64, TimeInstance
from certree.verify.bounds.times.flow import endpoints_of
from certree.verify.bounds.witness import WitnessError, only_fields
from certree.verify.bounds.witnesses.metric import FAR


@TIME_WITNESSES.register("receptions")
@assumes("receptions", shares, machine, no_coding, only_forwarding)
def receptions(of: TimeInstance, witness: Mapping[str, Any]) -> int:
    """{"to": id, "from": [ids]}: the fewest cycles in which the lanes into "to" take the contributions of "from", alone or in sums.

    Each byte that is due at the node v = "to" needs the contributions of all k nodes in "from". Messages count whose data end in
    the result of v. A message that brings one of the contributions is *alone* for the byte, one that brings several is a *sum*. If
    none of them is a sum, there are k messages for the byte, otherwise at least one.

    - A granule from u enters a lane into v no earlier than the distance from u after `first`.
    - Take the endpoint x where two contributions of a sum are first added. At least one of them has come to x in a message. The
      later one is complete at x no earlier than `first`, the second shortest distance from "from" to x, and `leave` (x is at
      distance 0 from itself). The addition starts then: no copy may reach a cell while a sum into it is in flight (A6, S5). After
      it the message is fired and goes from x to the lane.
    - Lanes into v take a flit every `scale` cycles. Let s of the due bytes come in sums. These s bytes enter after sums can, and
      all s + k · (due - s) bytes enter after any contribution can. A run has room for both.

    v contributes to its own result. A run with fewer cycles than the shortest route from v to another endpoint, an addition and the
    way back gives v nothing that holds its own contribution. Then v adds all that it gets, which takes `addition` cycles after the
    last message. So the bound is the smaller of two numbers: the fewest cycles plus an addition, and the time of that way back. It
    is never less than the fewest cycles.

    Where switches add, this does not hold. Cost: the distances between all endpoints, and O((k + lanes into v) · endpoints).
    """
    only_fields("receptions", witness, ["to", "from"])
    if not of.only_endpoints_add:
        raise WitnessError("witness-foreign", "a receptions witness bounds sums on networks whose switches do not reduce")
    (sink,) = endpoints_of(of, "receptions", "to", [witness["to"]])
    sources = endpoints_of(of, "receptions", "from", witness["from"])
    rank = of.instance.topology.rank
    if not of.instance.sinks[rank[sink]]:
        raise WitnessError("witness-wrong", f"receptions witness: nothing is due at node {sink}")
    if wrong := [node for node in sources if node == sink or not of.instance.sources[rank[node]]]:
        raise WitnessError("witness-wrong", f"receptions witness: node {wrong[0]} contributes nothing that node {sink} has to get")
    alone, added, back = earliest(of, sink, np.array(sources))
    least = _least_cycles(of, sink, len(sources), alone, added)
    return max(least, min(least + of.addition, back))


def earliest(of: TimeInstance, sink: int, sources: Int64) -> tuple[Int64, Int64, int]:
    """The first cycles in which a granule of `sources`, and one of a sum of two of them, can enter each link into `sink`; and the
    cycle in which `sink` can have, at the earliest, a sum with its own contribution that another endpoint has added."""
    topology, again = of.instance.topology, of.leave + of.addition + of.inject + of.header
    into, adders = np.flatnonzero(topology.dst == sink), topology.endpoints.astype(np.int64)
    to_lanes, wire = of.between[:, topology.src[into]], of.hops_towards([sink])[into]
    to_adders = of.between[:, adders] - of.stored[adders]  # what has arrived there need not be fired again
    np.fill_diagonal(to_adders, 0)
    rows = topology.rank[sources]
    alone = of.first + to_lanes[rows].min(axis=0)
    added = np.full(len(into), FAR)
    if len(sources) > 1:
        second = np.partition(to_adders[rows], 1, axis=0)[1]
        added = of.first + again + (second[:, None] + to_lanes).min(axis=0)
    others = adders != sink
    way_back = to_adders[topology.rank[sink], others][:, None] + (to_lanes + wire)[others]
    return alone, added, int(of.first + again + way_back.min() + of.leave)


def _least_cycles(of: TimeInstance, sink: int, contributions: int, alone: Int64, added: Int64) -> int:
    """The fewest cycles in which the lanes into `sink` take all bytes, alone or in sums. O(links into it · log cycles)."""
    topology, kind = of.instance.topology, of.instance.collective.kind
    into = np.flatnonzero(topology.dst == sink)
    share = of.instance.shares[topology.rank[sink]] if kind is CollectiveKind.REDUCE_SCATTER else Fraction(1)
    due, flit = share.numerator * of.message_bytes, share.denominator * of.machine.flit_bytes  # in parts of a byte
    latest = of.hops_towards([sink])[into] + of.leave

    def room(cycles: int, begin: Int64) -> int:
        flits = np.maximum((cycles - latest - begin) // of.scale + 1, 0)
        taken: int = sum(each * lanes for each, lanes in zip(flits.tolist(), topology.capacity[into].tolist(), strict=True))
        return flit * taken

    def fits(cycles: int) -> bool:
        sums = min(due, room(cycles, added))
        return contributions * (due - sums) + sums <= room(cycles, alone)

    high = 1
    while not fits(high):
        high *= 2
    return bisect_left(range(high), True, key=fits)
