"""How a schedule shows itself in notebooks: what it is, its time against the bound, and a picture."""

from contextlib import suppress
from fractions import Fraction
from html import escape
from typing import Any

from certree.api.reports.schedule_report import schedule_report
from certree.api.reports.text import clock_words, gap_words, size_words
from certree.api.settings import setting
from certree.extras.reports.pictures.network import network_picture
from certree.extras.reports.pictures.timetable import timetable_picture
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.checker import verify_schedule

MOST_TRANSFERS = 100_000  # of a schedule that is checked whenever it is shown
MOST_DRAWN = 500  # transfers of a schedule that is drawn, so that a notebook stays small


def notebook_html(schedule: AnySchedule) -> str:
    """An HTML table: facts, the verdict, time, bandwidths and gaps at the size and on the machine that it was made for, and a
    picture in SVG, of the schedule where it has at most 500 transfers, else of its network.

    Raises UnsupportedError for schedules of more than 100,000 transfers. Time and memory as the checker.

    Examples
    --------
    >>> import certree.api as ct
    >>> "<td>algbw</td><td>9.576 GB/s</td>" in notebook_html(ct.synthesize("ring:4", method="ring", size="1MiB"))
    True
    """
    if schedule.transfers > MOST_TRANSFERS:
        raise UnsupportedError(f"a table for {schedule.transfers:,} transfers; allowed: {MOST_TRANSFERS:,}")
    used = setting(schedule)
    report = schedule_report(schedule, verify_schedule(schedule), used.message_bytes, used.machine)
    facts = {name: str(fact) for name, fact in schedule.facts().items()} | _checked(report)
    rows = [f"<tr><td>{escape(name)}</td><td>{escape(fact)}</td></tr>" for name, fact in facts.items()]
    caption = escape(f"{type(schedule).__name__}: {schedule.title()}")
    return f'<table><caption>{caption}</caption>{"".join(rows)}<tr><td colspan="2">{_picture(schedule)}</td></tr></table>'


def _checked(report: dict[str, Any]) -> dict[str, str]:
    """The verdict and what it says of time and bounds, by label."""
    if not report["valid"]:
        return {"verdict": f"invalid: {report['violations'][0]['message']}"}
    facts = {"verdict": "valid"}
    if report["time_cycles"] is not None:
        time, *bandwidths = clock_words(report).split(", ")
        size = size_words(report["message_bytes"])
        facts["time"] = f"{time} ({report['time_cycles']:,} cycles) for {size} on machine {report['machine']}"
        for words in bandwidths:
            name, _, value = words.rpartition("bw ")
            facts[f"{name}bw" if name else "GB/s"] = value
    if report["time_over_bound"] is not None:
        facts["time / time bound"] = f"{float(Fraction(report['time_over_bound'])):.4g}"
    for quantity, gap in report["gap"].items():
        if gap is not None:
            facts[f"gap in {quantity}"] = "optimal" if quantity in report["optimal_in"] else gap_words(gap)
    return facts


def _picture(schedule: AnySchedule) -> str:
    """SVG without the XML declaration; nothing where even the network is too large to be drawn."""
    drawn = ""
    with suppress(UnsupportedError):
        drawn = network_picture(schedule.topology)
    if isinstance(schedule, Schedule) and schedule.transfers <= MOST_DRAWN:
        with suppress(UnsupportedError):
            drawn = timetable_picture(schedule, "")
    return drawn[drawn.index("<svg") :] if drawn else ""
