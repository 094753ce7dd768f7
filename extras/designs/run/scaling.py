"""Networks and machines with faster links, or with longer latencies."""

from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np

from certree.extras.training.run.settings import scaled_machine
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology


def scaled(topology: Topology, machine: Machine, faster: Fraction, longer: Fraction) -> tuple[Topology, Machine]:
    """A network and its machine, whose links are `faster` times as fast and whose latencies `longer` times as long.

    Buffers grow with what is in flight, where that is more: with those of the machine links would wait for credits. Latencies that
    links state are in cycles of the machine, whose clock is as many times as fast as its links. A network that changes so is no
    longer what its name says, and gets another one.
    """
    changes: dict[str, object] = {}
    if (topology.latency >= 0).any():
        cycles = [latency if latency < 0 else round(latency * faster * longer) for latency in topology.latency.tolist()]
        changes["latency"] = np.array(cycles, np.int32)
    for name in ("bandwidth", "clock"):
        value = getattr(topology, name)
        if value is not None and faster != 1:
            changes[name] = round(value * faster)
    used, in_flight = scaled_machine(machine, faster, longer), max(Fraction(1), faster * longer)
    used = replace(
        used, vc_buffer_flits=ceil(machine.vc_buffer_flits * in_flight), ni_buffer_flits=ceil(machine.ni_buffer_flits * in_flight)
    )
    if not changes:
        return topology, used
    return replace(topology, name=f"rate {faster} and latency {longer} of {topology.name}", **changes), used  # type: ignore[arg-type]
