"""Witnesses that count the work of many units: all links, all reduction units."""

import math
from collections.abc import Mapping
from typing import Any

from certree.models.schedule.timing import ceil_div
from certree.verify.bounds.classes import OF_SUMS, assumes, class_of, machine, no_coding, only_forwarding
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TIME_WITNESSES, TimeInstance
from certree.verify.bounds.witness import WitnessError, check_bound, only_fields


def _of_bound(instance: Instance, witness: Mapping[str, Any]) -> list[str]:
    """The assumptions of the bandwidth bound."""
    return class_of(instance, witness["bound"]["kind"], witness["bound"]["witness"])


@TIME_WITNESSES.register("load")
@assumes("load", _of_bound, machine)
def load(of: TimeInstance, witness: Mapping[str, Any]) -> int:
    """{"bound": a bandwidth bound}: start + the shortest path + scale · header + the cycles of value · granules of the message.

    Proof. The bandwidth bound shows that transfers of one chunk need more messages, weighted by a price for each link, than `value`
    rounds of all links offer; so do the granules of all chunks, one by one. A message over a lane is fired `inject` cycles or more
    before it enters the lane, and its end arrives `hop` + `ni` cycles after the last flit has entered. Between the two there is
    time for n flits of each lane, a header among them: in a run of T cycles, scale · n is at most T less the start and the latency
    of a route (a route of one link, where there are such). So n − header ≥ value · granules. Where the network states exact rates,
    all lanes of a link are no faster than it, and each takes a header no sooner than a full link, so that the bound of exact
    capacities holds for what remains. O(the bandwidth bound).
    """
    only_fields("load", witness, ["bound"])
    value = check_bound(of.exact, witness["bound"])
    if witness["bound"]["kind"] in OF_SUMS:
        raise WitnessError("witness-foreign", "load witness: a bound on schedules that add in some way is none on every run")
    if witness["bound"]["quantity"] != "bandwidth":
        raise WitnessError("witness-wrong", f"load witness: a bound on {witness['bound']['quantity']}; one on bandwidth is needed")
    scale = of.exact.topology.scale
    if of.scale == scale:  # chunks are whole on lanes that all networks of this kind have
        cycles = of.scale * ceil_div(value.numerator * of.granules, value.denominator)
    else:
        cycles = math.ceil(value * scale * of.granules)
    return of.machine.ni_start_cycles + of.near + of.header + cycles


@TIME_WITNESSES.register("additions")
@assumes("additions", machine, no_coding, only_forwarding)
def additions(of: TimeInstance, witness: Mapping[str, Any]) -> int:
    """{}: the first message complete + start of an addition + quanta of all additions / nodes that can add.

    Proof. N contributions to a granule make a sum in N − 1 additions. A unit that adds x bytes in all, in chunks, is busy for at
    least x / (bytes per quantum) quanta, and one of the units has its share of the N − 1 messages or more. None starts before the
    first message is complete. Endpoints and switches that reduce have units.
    """
    only_fields("additions", witness, [])
    if not of.addition:
        raise WitnessError("witness-foreign", f"an additions witness bounds sums; a {of.instance.collective.words} has none")
    machine, units = of.machine, int(of.instance.topology.holds.sum())  # endpoints that take no part may add
    summed = (of.instance.count - 1) * of.granules * machine.flit_bytes
    quanta = ceil_div(summed, units * machine.reduce_bytes_per_cycle * machine.reduce_quantum_cycles)
    return of.received + machine.reduce_start_cycles + quanta * machine.reduce_quantum_cycles
