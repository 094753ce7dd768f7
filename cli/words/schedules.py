"""Output of a schedule with its verdict, shared by most commands."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from certree.api.artefacts import Checked
from certree.api.reports.schedule_report import schedule_report, schedule_words
from certree.cli.words.terminal import note, show
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.verdict import Verdict

SCHEDULE = "schedule"  # the kind of their documents


def show_schedule(
    schedule: AnySchedule,
    verdict: Verdict,
    used: MadeFor,
    *,
    as_json: bool,
    then: Sequence[object] = (),
    more: Mapping[str, Any] = MappingProxyType({}),
) -> int:
    """Show the report of a schedule, timed for the size and machine `used`. Returns the exit code, 1 where it is invalid. `then`:
    the command that usually follows a valid one; `more`: keys that are added or replaced."""
    report = {**schedule_report(schedule, verdict, used.message_bytes, used.machine), **more}
    show(report, schedule_words, kind=SCHEDULE, as_json=as_json, then=then if verdict.valid else ())
    return 0 if verdict.valid else 1


def show_checked(checked: Checked, *, as_json: bool) -> int:
    """Show what the check of an artefact found. Returns the exit code, 1 where it is invalid."""
    if checked.before is not None:
        note(checked.before)
    report = checked.report(note)
    show(report, checked.words, kind=checked.kind, as_json=as_json, then=checked.then if report["valid"] else ())
    return 0 if report["valid"] else 1
