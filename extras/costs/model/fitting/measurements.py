"""Measured times for fits of GenModel: a CSV of three benchmarks, one line per run.

    benchmark,participants,floats,seconds
    co-located-ps,8,10000000,0.203

P being the participants, `co-located-ps` is an all-reduce of a vector of `floats` by P servers (GenTree, Section 3.4). In an
`exchange` P servers send to each other at once, each receiving `floats` in total (Section 3.2, Equation 6). In an `addition` one
server adds P vectors of `floats` at once (Section 3.1, Equation 5). Two more columns may follow: `device` says what added or sent,
`link` which kind of link an exchange fills: `middle`, those to servers, `root`, between switches, or `cross`, between the top
switches of two trees. P servers then send over one such link to P servers behind it, and `floats` pass it in total.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from statistics import median

from certree.models.common.errors import InputError
from certree.models.common.files import csv_rows, read_bytes

HEADER = ("benchmark", "participants", "floats", "seconds")
DEVICE, LINK = MORE = ("device", "link")  # further columns, each of which may be missing
MIDDLE, ROOT, CROSS = LINKS = ("middle", "root", "cross")
CO_LOCATED_PS, EXCHANGE, ADDITION = BENCHMARKS = ("co-located-ps", "exchange", "addition")
MAX_PARTICIPANTS, MAX_FLOATS = 1 << 20, 1 << 40
UNSTEADY = 1.5


@dataclass(frozen=True, order=True)
class Measurement:
    """One run of a benchmark. InputError names a field that is out of range."""

    benchmark: str
    participants: int
    floats: int
    seconds: float
    device: str = ""
    link: str = MIDDLE

    def __post_init__(self) -> None:
        if self.benchmark not in BENCHMARKS:
            raise InputError(f"benchmark is {self.benchmark!r}; allowed: {', '.join(BENCHMARKS)}")
        if self.link not in LINKS:
            raise InputError(f"link is {self.link!r}; allowed: {', '.join(LINKS)}")
        if self.link != MIDDLE and self.benchmark != EXCHANGE:
            raise InputError(f"link is {self.link!r} for {self.benchmark}; allowed with it: {MIDDLE}, others with {EXCHANGE}")
        if not 2 <= self.participants <= MAX_PARTICIPANTS:
            raise InputError(f"participants is {self.participants}; allowed: 2 to {MAX_PARTICIPANTS}")
        if not 1 <= self.floats <= MAX_FLOATS:
            raise InputError(f"floats is {self.floats}; allowed: 1 to {MAX_FLOATS}")
        if self.benchmark == CO_LOCATED_PS and self.floats < self.participants:
            raise InputError(f"{self.floats} floats leave some of {self.participants} servers without data")
        if not (isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"seconds is {self.seconds}; allowed: finite, above 0")


def read_measurements(path: Path) -> list[Measurement]:
    """The measurements of a CSV; InputError names the line and the field that is wrong."""
    rows = csv_rows(read_bytes(path), str(path))
    more = tuple(rows[0][len(HEADER) :]) if rows else ()
    if not rows or tuple(rows[0][: len(HEADER)]) != HEADER or more not in ((), (DEVICE,), (LINK,), MORE):
        given = ",".join(rows[0]) if rows else "nothing"
        raise InputError(f"{path}: the first line is {given[:80]!r}; expected {','.join(HEADER)!r}, which also states the units")
    found = [_measurement(row, more, f"{path}, line {number}") for number, row in enumerate(rows[1:], 2) if row]
    if not found:
        raise InputError(f"{path} has no measurements")
    return found


def _measurement(row: Sequence[str], more: Sequence[str], where: str) -> Measurement:
    columns = (*HEADER, *more)
    if len(row) != len(columns):
        raise InputError(f"{where}: {len(row)} fields; expected {len(columns)}: {','.join(columns)}")
    try:
        numbers = int(row[1]), int(row[2]), float(row[3])
    except ValueError:
        raise InputError(
            f"{where}: {','.join(row)[:80]!r}: expected whole numbers of participants and floats, and seconds"
        ) from None
    try:
        named = dict(zip(more, row[len(HEADER) :], strict=True))
        return Measurement(row[0], *numbers, device=named.get(DEVICE, ""), link=named.get(LINK, MIDDLE))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def measurements_csv(measurements: Iterable[Measurement]) -> bytes:
    """The CSV of measurements, in their order."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    known = list(measurements)
    used = {DEVICE: any(one.device for one in known), LINK: any(one.link != MIDDLE for one in known)}
    more = [name for name in MORE if used[name]]
    writer.writerow((*HEADER, *more))
    for one in known:
        further = [getattr(one, name) for name in more]
        writer.writerow((one.benchmark, one.participants, one.floats, f"{one.seconds:.9g}", *further))
    return text.getvalue().encode()


def unsteadiness(measurements: Iterable[Measurement]) -> str | None:
    """A note where repeated runs differ: the configuration with the largest ratio of median to minimum, if that is at least
    `UNSTEADY`. None where all ratios are smaller, or nothing was repeated."""
    runs = list(measurements)
    pairs = zip(merged(runs), merged(runs, least=True), strict=True)
    times, one = max(((usual.seconds / least.seconds, usual) for usual, least in pairs), default=(1.0, None))
    if one is None or times < UNSTEADY:
        return None
    return (
        f"repeated runs differ: the median of {one.benchmark}, {one.participants} participants, {one.floats} floats"
        f" is {times:.2g} times the minimum; the computer was busy with other work"
    )


def merged(measurements: Iterable[Measurement], *, least: bool = False) -> list[Measurement]:
    """One measurement for each benchmark, participants, floats and link, ascending: the median of its runs, or with `least`
    the minimum, which estimates the time on an idle computer. InputError where a benchmark ran on several devices."""
    runs: dict[tuple[str, int, int, str], list[float]] = {}
    devices: dict[str, str] = {}
    for one in measurements:
        runs.setdefault((one.benchmark, one.participants, one.floats, one.link), []).append(one.seconds)
        if devices.setdefault(one.benchmark, one.device) != one.device:
            raise InputError(
                f"{one.benchmark} was measured on {devices[one.benchmark]!r} and on {one.device!r}; a fit is of one of them"
            )
    return [
        Measurement(benchmark, participants, floats, min(seconds) if least else median(seconds), devices[benchmark], link)
        for (benchmark, participants, floats, link), seconds in sorted(runs.items())
    ]
