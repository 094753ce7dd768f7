"""What tables of wrong schedules expect: (rule and rows of a violation, the schedule, words of its message)."""

from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule

Wrong = tuple[str, tuple[int, ...], Schedule, str]


def rejected_first(wrong: Wrong) -> None:
    """The first violation is the expected one."""
    rule, rows, schedule, words = wrong
    violation = verify_schedule(schedule).violations[0]
    assert (violation.rule, violation.rows) == (rule, rows), violation
    assert words in violation.message


def rejected(wrong: Wrong) -> None:
    """The first violation of the expected rule is the expected one; other rules may be broken before."""
    rule, rows, schedule, words = wrong
    found = [violation for violation in verify_schedule(schedule).violations if violation.rule == rule]
    assert found, verify_schedule(schedule).violations
    assert found[0].rows == rows, found[0]
    assert words in found[0].message
