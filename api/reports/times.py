"""Cycles as seconds, messages over seconds as GB/s, and the least time that bounds allow."""

from fractions import Fraction
from math import ceil
from typing import Any

from certree.models.machine.machine import Machine
from certree.models.network.topology import UNKNOWN_LATENCY, Topology
from certree.models.schedule.paths import path_cycles
from certree.models.schedule.timing import bandwidth_bound_cycles

_UNITS = ((1, "s"), (1000, "ms"), (10**6, "µs"), (10**9, "ns"))


def clock_times(cycles: int | None, message_bytes: int, machine: Machine) -> dict[str, str | None]:
    """`seconds` of the cycles, and `bytes_per_second` of the message in that time, as exact texts; null without them."""
    if not cycles:
        return {"seconds": None if cycles is None else "0", "bytes_per_second": None}
    seconds = Fraction(cycles, machine.clock_hz)
    return {"seconds": str(seconds), "bytes_per_second": str(message_bytes / seconds)}


def seconds_words(seconds: str | Fraction) -> str:
    """A time in the unit that leaves one to three digits before the point: `2.38 ms`."""
    value = Fraction(seconds)
    factor, unit = next((entry for entry in _UNITS if value * entry[0] >= 1), _UNITS[-1])
    return f"{float(value * factor):.4g} {unit}"


def rate_words(bytes_per_second: str | None) -> str:
    """A bandwidth in GB/s."""
    return "-" if bytes_per_second is None else f"{float(Fraction(bytes_per_second)) / 10**9:.4g} GB/s"


def clock_words(report: dict[str, Any]) -> str:
    """The time and the bandwidth of a report: `2.38 ms, 28.2 GB/s`."""
    words = seconds_words(report["seconds"])
    return words if report["bytes_per_second"] is None else f"{words}, {rate_words(report['bytes_per_second'])}"


def time_bound_cycles(topology: Topology, bandwidth: Fraction, transfers: int, message_bytes: int, machine: Machine) -> int:
    """Cycles that any run takes, by the better of two bounds: `bandwidth` · M/B, and the way of a header and a flit over as many
    links as `transfers`, each the fastest; one transfer may pass the nodes between."""
    stated = topology.latency[topology.latency != UNKNOWN_LATENCY]
    wires = [*stated.tolist(), *([machine.link_latency_cycles] if len(stated) < len(topology.latency) else [])]
    way = path_cycles(machine, min(wires), transfers) + machine.head_flits + 1
    by_bandwidth = bandwidth_bound_cycles(bandwidth, message_bytes, machine)
    return machine.ni_start_cycles + max(ceil(by_bandwidth), way)
