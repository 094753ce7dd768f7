"""Words for numbers, sizes, gaps, collectives and names in reports."""

from fractions import Fraction
from typing import Any

from certree.models.schedule.collective import ALLTOALLV, blocks_text, parse_collective

#: names of the two quantities of a schedule for people, and their units
QUANTITIES = {"bandwidth": "bandwidth time", "latency": "latency"}
UNITS = {"bandwidth": "M/B", "latency": "steps"}


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
    """`1,024 steps`, `1 step`; a number as text stays as it is: `9/16 M/B`."""
    text = f"{number:,}" if isinstance(number, int) else number
    return f"{text} {unit.removesuffix('s') if number == 1 else unit}"


def gap_words(gap: str | None) -> str:
    """`1/80` as `1.25 %`."""
    return "unknown" if gap is None else f"{float(Fraction(gap)) * 100:.2f} %"


def size_words(size: int) -> str:
    """Bytes in the largest binary unit that fits exactly, else in the largest decimal one."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def seconds_words(seconds: float) -> str:
    """A short time in microseconds."""
    return f"{1e6 * seconds:,.1f} µs"
