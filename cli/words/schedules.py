"""A schedule with its verdict, as most commands end."""

from collections.abc import Mapping
from typing import Any

from certree.api.reports.schedules import schedule_report, schedule_words
from certree.cli.words.terminal import show
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric import AnySchedule
from certree.verify.verdict import Verdict


def show_schedule(
    schedule: AnySchedule, verdict: Verdict, size: int, machine: Machine, *, as_json: bool, more: Mapping[str, Any] | None = None
) -> int:
    """Show what is said of a schedule, and `more` in the JSON document; the exit code, 1 where it is invalid."""
    show(schedule_report(schedule, verdict, size, machine) | dict(more or {}), schedule_words, as_json=as_json)
    return 0 if verdict.valid else 1
