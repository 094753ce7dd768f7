"""Cycles as seconds, and messages over seconds as GB/s."""

from fractions import Fraction
from typing import Any

from certree.models.machine.machine import Machine

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
