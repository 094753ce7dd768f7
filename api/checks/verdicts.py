"""Outcomes of the check of a schedule: the verdict, freedom of deadlock on its machine, and the report."""

from functools import partial
from pathlib import Path
from typing import Any

from certree.api.artefacts import Asked, Checked, opened_kind, verify_artefact
from certree.api.reports.schedule_report import schedule_report, schedule_words
from certree.api.settings import Tell, setting, silent
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.deadlock_verdicts import verdict_on_machine
from certree.verify.verdict import Verdict


def checked_schedule(schedule: AnySchedule, asked: Asked, then: tuple[object, ...] = ()) -> Checked:
    """The verdict on a schedule by all rules, with freedom of deadlock on the machine; arguments as of `schedule_outcome`."""
    verdict = verify_schedule(schedule, topology=asked.topology)
    return schedule_outcome(schedule, on_machine(schedule, verdict, asked.size, asked.machine), asked, then=then)


def checked_source(path: str | Path | Opened, asked: Asked) -> Checked:
    """The check of the schedule or the tables that a path holds, whatever else is there; its verdict is a `Verdict`."""
    opened, kind = opened_kind(path)
    if not kind.is_more:
        return verify_artefact(opened, asked)
    found = kind.schedule(opened, asked)
    return checked_schedule(found.schedule if isinstance(found, Tables) else found, asked)


def schedule_outcome(
    schedule: AnySchedule,
    verdict: Verdict,
    asked: Asked,
    *,
    tables: Tables | None = None,
    then: tuple[object, ...] = (),
    before: str | None = None,
    whole: Any = None,
) -> Checked:
    """A schedule with its verdict and report, timed for the size and machine that are asked for, or that it was made for.

    `tables`: the tables whose schedule it is. `then`: the command that usually follows a valid one. `before`: lines that are
    printed first. `whole`: the verdict on what the schedule comes from, where that is more than the verdict on the schedule.
    """
    report = partial(_report, schedule, verdict, asked, tables)
    found = verdict if whole is None else whole
    return Checked(found, report, schedule_words, "schedule", then, before, schedule, tables)


def _report(schedule: AnySchedule, verdict: Verdict, asked: Asked, tables: Tables | None, tell: Tell) -> dict[str, Any]:
    used = setting(schedule, asked.size, asked.machine, tell if verdict.valid else silent)
    return schedule_report(schedule, verdict, used.message_bytes, used.machine, tables.slot_cycles if tables else None)


def on_machine(
    schedule: AnySchedule, verdict: Verdict, size: int | str | None = None, machine: str | Path | Machine | None = None
) -> Verdict:
    """The verdict on a schedule that is to run for `size` on `machine`, by default what it was made for: its routes must be free of
    deadlock there."""
    if not verdict.valid:
        return verdict
    used = setting(schedule, size, machine)
    return verdict_on_machine(schedule, verdict, used.machine, used.message_bytes)


def require_collective(path: Path, schedule: AnySchedule, collective: Collective | None) -> None:
    """Raise InputError unless the schedule in a file is one of the collective, if one is asked for."""
    if collective is None:
        return
    asked, made = collective.fitted(schedule.topology), schedule.collective
    if asked.demand is not None and made.demand is not None and asked != made:
        blocks = sorted(set(asked.demand.blocks) ^ set(made.demand.blocks))
        raise InputError(
            f"{path}: its demand is another one; a block that only one of the two has: {blocks[0]} (from, to, granules)"
        )
    if asked != made:
        raise InputError(f"{path}: the collective is {schedule.collective.words}, not {collective.words}")
