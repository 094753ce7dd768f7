"""Machines for networks that state the speed of their links, and contradictions between the two."""

import math
import re
from dataclasses import replace

import numpy as np

from certree.models.machine.machine import MACHINES, Machine, load_machine
from certree.models.network.topology import Topology

_REDUCED_LINKS = 8  # links of capacity 1 whose data the reduction unit takes, as on machine multitree


def contradiction(topology: Topology, machine: Machine) -> str | None:
    """A contradiction between the clock or full-link bandwidth that the network states and the machine; None without one.

    Clocks are whole Hz: a bandwidth that no flit and clock give exactly is met by the clock just below.
    """
    if topology.clock is not None and topology.clock != machine.clock_hz:
        return f"the topology states a clock of {topology.clock / 10**9:.10g} GHz, the machine {machine.clock_hz / 10**9:.10g} GHz"
    unit = machine.flit_bytes * machine.clock_hz
    if topology.bandwidth is not None and not unit <= topology.bandwidth < unit + machine.flit_bytes:
        return f"the topology states links of {topology.bandwidth / 10**9:.10g} GB/s, the machine {unit / 10**9:.10g} GB/s"
    return None


def with_speeds_of(topology: Topology, machine: Machine) -> Machine:
    """The machine with the clock that the network states, and with flits of as many bytes as a link of capacity 1 moves per cycle;
    itself where it contradicts nothing that is stated.

    Its reduction unit takes what 8 links of capacity 1 bring, or what all links of an endpoint bring where they are more. Latencies
    in cycles and headers in flits stay.
    """
    if contradiction(topology, machine) is None:
        return machine
    clock = topology.clock or machine.clock_hz
    if topology.bandwidth is None:
        return replace(machine, name=f"{machine.name} at {clock / 10**9:.6g} GHz", clock_hz=clock)
    flit = max(1, (2 * topology.bandwidth + clock) // (2 * clock))
    into = np.zeros(len(topology.kind), np.int64)
    np.add.at(into, topology.dst, topology.exact.capacity)
    links = max(_REDUCED_LINKS, math.ceil(topology.exact.speed(int(into[topology.endpoints].max()))))
    return replace(
        machine,
        name=f"{machine.name} at {topology.bandwidth / 10**9:.6g} GB/s",
        clock_hz=topology.clock or topology.bandwidth // flit,
        flit_bytes=flit,
        reduce_bytes_per_cycle=links * flit,
        packet_payload_bytes=machine.packet_granules * flit,
    )


def default_machine(topology: Topology, otherwise: str) -> Machine:
    """The preset of the boxes that the network names, as `h100:4` or an import with assume=h100, or else the one of that name; with
    the speeds that the network states. The reduction unit of a preset of boxes stays."""
    named = re.search(r",assume=([a-z0-9]+)", topology.name) or re.match("([a-z0-9]+)(?![^:,@])", topology.name)
    if topology.bandwidth is None or named is None or named[1] not in MACHINES.names():
        return with_speeds_of(topology, load_machine(otherwise))
    box = load_machine(named[1])
    used = with_speeds_of(topology, box)
    return replace(used, reduce_bytes_per_cycle=max(used.reduce_bytes_per_cycle, box.reduce_bytes_per_cycle))
