"""Words for numbers, sizes, times, gaps, collectives, names and what was rounded in reports."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import ALLTOALLV, Collective, blocks_text, parse_collective

#: names of the two quantities of a schedule for people, and their units
QUANTITIES = {"bandwidth": "bandwidth time", "latency": "latency"}
UNITS = {"bandwidth": "M/B", "latency": "steps"}
NAMED = 3  # rounded rates that words list
_SECONDS = ((1, "s"), (1000, "ms"), (10**6, "µs"), (10**9, "ns"))


def one_line(text: str) -> str:
    """A name from a file without line breaks and control characters, so that it cannot imitate output of certree."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def collective_words(report: dict[str, Any]) -> str:
    """The collective of a report, with its root and its members, which it states only where not all endpoints take part."""
    if report["collective"] == ALLTOALLV:
        return f"{ALLTOALLV} of {blocks_text(report['blocks'])}"
    return parse_collective(report["collective"], report["root"], report.get("members")).words


def place_words(report: dict[str, Any]) -> str:
    """The network of a report, or the ranks of a program that was verified without one."""
    return f"on {one_line(report['topology'])}" if "topology" in report else f"of {report['ranks']} ranks"


def counted(number: int | str, unit: str) -> str:
    """`1,024 steps`, `1 step`; a fraction as text is a decimal with the fraction behind it: `0.5625 (9/16) M/B`."""
    text = f"{number:,}" if isinstance(number, int) else decimal_words(number)
    return f"{text} {unit.removesuffix('s') if text == '1' else unit}"


def decimal_words(exact: str, *notes: str) -> str:
    """`9/16` as `0.5625 (9/16)`, with notes as `0.5625 (9/16, partition)`; a whole number stays as it is."""
    value, behind = float(Fraction(exact)), ", ".join([exact, *notes] if "/" in exact else notes)
    text = f"{value:,.{'4g' if value < 1000 else '0f'}}" if "/" in exact else exact
    return f"{text} ({behind})" if behind else text


def kind_words(witness: Mapping[str, Any]) -> str:
    """The kind of a witness, with what its bound is restricted to where a report says that nowhere else."""
    return f"{witness['kind']}, sums made once" if witness["kind"] == "steiner" else str(witness["kind"])


def gap_words(gap: str | None) -> str:
    """`1/80` as `1.25 %`."""
    return "unknown" if gap is None else f"{float(Fraction(gap)) * 100:.2f} %"


def size_words(size: int) -> str:
    """Bytes in the largest binary unit that fits exactly, else in the largest decimal one."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def microseconds_words(seconds: float) -> str:
    """A short time in microseconds."""
    return f"{1e6 * seconds:,.1f} µs"


def clock_times(cycles: int | None, message_bytes: int, machine: Machine) -> dict[str, str | None]:
    """`seconds` of the cycles, and `bytes_per_second` of the message in that time, as exact texts; null without them."""
    if not cycles:
        return {"seconds": None if cycles is None else "0", "bytes_per_second": None}
    seconds = Fraction(cycles, machine.clock_hz)
    return {"seconds": str(seconds), "bytes_per_second": str(message_bytes / seconds)}


def run_times(
    cycles: int | None, message_bytes: int, machine: Machine, collective: Collective, topology: Topology
) -> dict[str, str | None]:
    """`clock_times` of a collective, with `algbw` and `busbw` as nccl-tests defines them, in bytes per second as exact texts: the
    message over the time, and that times the share of the message that the busiest port of a member carries
    (`Collective.bus_share`). Null without cycles; `busbw` also with a demand."""
    times, share = clock_times(cycles, message_bytes, machine), collective.bus_share(len(collective.members_of(topology)))
    rate = times["bytes_per_second"]
    return times | {"algbw": rate, "busbw": None if rate is None or share is None else str(share * Fraction(rate))}


def seconds_words(seconds: str | Fraction) -> str:
    """A time in the unit that leaves one to three digits before the point: `2.38 ms`."""
    value = Fraction(seconds)
    factor, unit = next((entry for entry in _SECONDS if value * entry[0] >= 1), _SECONDS[-1])
    return f"{float(value * factor):.4g} {unit}"


def rate_words(bytes_per_second: str | None) -> str:
    """A bandwidth in GB/s."""
    return "-" if bytes_per_second is None else f"{float(Fraction(bytes_per_second)) / 10**9:.4g} GB/s"


def clock_words(report: dict[str, Any]) -> str:
    """The time and the bandwidth of a report: `2.38 ms, 28.2 GB/s`, or `2.38 ms, algbw 28.2 GB/s, busbw 49.3 GB/s` where it has
    both."""
    words = seconds_words(report["seconds"])
    if report["bytes_per_second"] is None:
        return words
    if report.get("busbw") is None:
        return f"{words}, {rate_words(report['bytes_per_second'])}"
    return f"{words}, algbw {rate_words(report['algbw'])}, busbw {rate_words(report['busbw'])}"


def rounded_of(topology: Topology) -> dict[str, Any]:
    """The key `rounded` of a report; nothing where the units of schedules divide all rates."""
    return {} if topology.rounded is None else {"rounded": topology.rounded.document()}


def rounded_words(report: Mapping[str, Any], then: str = "bounds are of the rates described") -> list[str]:
    """The line that states which rates a schedule uses in part, and `then`; none without such rates."""
    if "rounded" not in report:
        return []
    unit, rates = report["rounded"]["unit"], report["rounded"]["rates"]
    words = rate_words if Fraction(unit) > 1 else lambda rate: f"{rate} full links"
    named = [f"{counted(one['links'], 'links')} from {words(one['described'])} to {words(one['used'])}" for one in rates]
    if len(named) > NAMED:
        named[NAMED:] = [f"{len(named) - NAMED} more"]
    which = f"{counted(len(rates), 'rates')}: {', '.join(named)} (unit {words(unit)})"
    return [f"  rounded: {which}; {then}"]
