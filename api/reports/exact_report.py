"""The part of a report that compares a schedule with the best that exists: the keys of `--json`, and the same in words."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from certree.api.reports.text import counted, gap_words
from certree.verify.exact.question import Point
from certree.verify.verdict import Quality

LISTED = 6  # attempts that are listed for people


def exact_keys(quality: Quality | None) -> dict[str, Any]:
    """`exact` ("optimal", or null where nothing is proved), `exact_point` and `exact_cycles` of a report on any schedule."""
    point, cycles = (None, None) if quality is None else (quality.optimum, quality.fewest_cycles)
    proved = point is not None or cycles is not None
    return {
        "exact": "optimal" if proved else None,
        "exact_point": None if point is None else list(point),
        "exact_cycles": cycles,
    }


def exact_words(report: dict[str, Any]) -> list[str]:
    """The lines of a report as text."""
    if report.get("exact") is None:
        return []
    if report["exact"] == "optimal" and report["exact_cycles"] is not None:
        return ["  exact: optimal: no schedule with fine slots and equal chunks takes fewer cycles on this machine, proved"]
    if report["exact"] == "optimal":
        chunks, steps, rounds = report["exact_point"]
        most = f"at most {counted(chunks, 'chunks')}, {counted(steps, 'steps')} and {Fraction(rounds, chunks)} rounds per chunk"
        return [
            f"  exact: optimal: no schedule with {most} has fewer of any (delay 1; endpoints do not forward within a step), proved"
        ]
    if report["exact"] == "beaten":
        own, other = report["simulated_cycles"], report["better_cycles"]
        proved = ", which is proved optimal" if report["better_exact"] else ""
        if report["exact_point"] is None:
            least = "" if report["better_exact"] else f"; every schedule with fine slots takes {report['exact_cycles']:,}"
            return [f"  exact: beaten: {own:,} cycles by {other:,}, in {report['better']}{proved}{least}"]
        lines = [
            f"  exact: beaten: {point_words(report['exact_point'])} (chunks, steps, rounds) "
            f"by {point_words(report['better_point'])}, in {report['better']}{proved}"
        ]
        if own is None or other is None:
            return [*lines, "  simulated: one of the two cannot be run as tables"]
        than = f"the better one {other:,}, for this size and machine"
        if own > other:
            than = f"{gap_words(str(Fraction(own, other) - 1))} more than the better one ({other:,} cycles)"
        return [*lines, f"  simulated: {own:,} cycles, {than}"]
    tried = report["tried"]
    more = [f"    and {len(tried) - LISTED} more"] if len(tried) > LISTED else []
    return ["  exact: open; tried:", *(f"    {line}" for line in tried[-LISTED:]), *more]


def gap_answer(report: dict[str, Any], name: str) -> str:
    """The answer to a gap: for a schedule that is proved optimal, the gap is that of the bound, not of the schedule."""
    gap = gap_words(report["gap"][name])
    if report.get("exact_point") is None or report["exact"] != "optimal":
        return f"gap {gap}"
    others = {"latency": "chunks and rounds per chunk", "bandwidth": "chunks and steps"}[name]
    return f"{gap} above this bound; optimal with as few {others}"


def point_words(point: Sequence[int] | Point) -> str:
    """A point as (C, S, R)."""
    return "({}, {}, {})".format(*point)
