"""The report of `certree verify` with a second opinion in it."""

from dataclasses import replace
from typing import Any

from certree.api.artefacts import Checked
from certree.cli.words.schedules import show_checked
from certree.cli.words.terminal import note
from certree.extras.opinion.check.second_opinion import SecondOpinion, second_opinion
from certree.models.common.errors import InputError, UndecidedError

#: the rules of the checker that are covered. Here what lacks at the end is `missing` whatever the reason, `causality` and
#: `overwritten` included, and what counts twice is `duplicate`, `original-lost` included
COVERED = frozenset((
    "automorphism", "capacity", "causality", "demand", "duplicate", "in-flight", "link", "missing", "not-held", "original-lost",
    "overloaded", "overwritten", "period", "regular", "reserved", "self", "shares", "waiting", "write-conflict",
))  # fmt: skip


def show_answered_twice(checked: Checked, *, as_json: bool) -> int:
    """Show what the checker found, and the second opinion.

    Returns the exit code: 1 where the checker, or the second opinion, finds the schedule invalid, 3 where the second opinion is
    undecided on a valid one. InputError for what is not a schedule.
    """
    if checked.kind != "schedule" or checked.tables is not None:
        raise InputError("--second-opinion is for a schedule")
    opinion = second_opinion(checked.schedule)
    report = checked.report(note)
    report["second_opinion"] = {"answer": opinion.words.partition(":")[0], "reason": opinion.reason}

    def words(document: Any) -> str:
        return f"{checked.words(document)}\n  second opinion: {opinion.words}"

    code = show_checked(replace(checked, report=lambda _: report, words=words), as_json=as_json)
    if differs(opinion, report):
        answer = "valid" if report["valid"] else "invalid"
        note(f"the two differ, so one is wrong: the checker says {answer}, the second opinion {opinion.words}")
        return 1
    return UndecidedError.exit_code if opinion.valid is None and not code else code


def differs(opinion: SecondOpinion, report: dict[str, Any]) -> bool:
    """Whether the two answers contradict each other on what both cover. `report`: the document of the checker's verdict."""
    is_right = not COVERED.intersection(report.get("violation_counts", {}))
    return opinion.valid is not None and opinion.valid != is_right
