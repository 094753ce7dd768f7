"""Comparison of the checker with a reference that moves whole numbers, on drawn schedules and after random changes."""

from collections.abc import Callable
from random import Random

from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from tests.verify import moved

Fault = Callable[[Schedule], str | None]
Change = Callable[[Random, Schedule], Schedule]


def agree(schedule: Schedule, fault: Fault = moved.fault) -> bool:
    """Whether the schedule is valid; checker and reference must say the same."""
    verdict, wrong = verify_schedule(schedule), fault(schedule)
    assert verdict.valid == (wrong is None), (verdict.violations, wrong, schedule)
    return verdict.valid


def agree_after(rng: Random, changes: int, schedule: Schedule, change: Change = moved.changed, fault: Fault = moved.fault) -> bool:
    """Whether the schedule is valid after some random changes; checker and reference must say the same."""
    for _ in range(changes):
        schedule = change(rng, schedule)
    return agree(schedule, fault)
