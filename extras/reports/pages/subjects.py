"""The schedules that a report is on, each with its verdict and with what was computed for it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from certree.api.artefacts import Asked, opened_kind, verify_artefact
from certree.api.checks.verdicts import checked_source, on_machine
from certree.api.inputs import schedule_of
from certree.api.reports.schedule_report import schedule_report
from certree.api.reports.text import one_line
from certree.api.settings import setting
from certree.extras.reports.pages.timing import Cell, times
from certree.hw.engines.runs import Options, Run
from certree.hw.run import run, tables_or_plan
from certree.models.common.errors import InputError, ToolMissingError, UndecidedError
from certree.models.common.files import Opened
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.freedom import Freedom, deadlock_of_schedule
from certree.verify.verdict import Verdict

MOST_MESSAGES = 4_000_000  # of a run that a report simulates
MOST_TABLE_TRANSFERS = 300_000  # of a schedule whose tables a report makes
Source = str | Path | Opened | AnySchedule | Tables


@dataclass(frozen=True)
class Extent:
    """The parts that a report computes anew: times of published algorithms, a simulation, TLC on the tables."""

    published: bool = True
    simulate: bool = True
    without_routers: bool = False
    model_check: bool = False


@dataclass
class Subject:
    """One schedule. `name`: the path that commands take, None of an object; `left_out`: section -> why it has nothing.

    `without_routers`: how the run was. `models`: (name, result, extent) of checks by TLC, those of a bundle if it has any;
    `evidence`: (item, what was done about it, result) of a bundle.
    """

    name: str | None
    schedule: AnySchedule
    verdict: Verdict
    used: MadeFor
    report: dict[str, Any]
    tables: Tables | None = None
    run: Run | None = None
    without_routers: bool = False
    cells: list[Cell] = field(default_factory=list)
    models: list[tuple[str, str, str]] = field(default_factory=list)
    freedom: Freedom | None = None
    evidence: list[tuple[str, str, str]] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def read_subject(
    source: Source,
    topology: Topology | None,
    collective: Collective | None,
    size: int | str | None,
    machine: str | Path | Machine | None,
) -> Subject:
    """The schedule of a source with its verdict; InputError for what cannot be read."""
    slot_cycles, kind = None, None
    if isinstance(source, str | Path | Opened):
        opened, kind = opened_kind(source)
        checked = checked_source(opened, Asked(topology, collective, size=size, machine=machine))
        schedule, verdict = checked.schedule, checked.verdict
        slot_cycles = None if checked.tables is None else checked.tables.slot_cycles
    else:
        schedule = schedule_of(source)
        verdict = on_machine(schedule, verify_schedule(schedule, topology=topology), size, machine)
    used = setting(schedule, size, machine)
    report = schedule_report(schedule, verdict, used.message_bytes, used.machine, slot_cycles)
    subject = Subject(one_line(str(source)) if isinstance(source, str | Path | Opened) else None, schedule, verdict, used, report)
    if kind is not None and kind.name == "bundle":
        items = verify_artefact(opened, Asked(topology, collective)).verdict.items
        subject.evidence = [(item.name, str(item.status), one_line(item.text)) for item in items]
    return subject


def complete(subject: Subject, extent: Extent, tell: Callable[[str], None]) -> None:
    """Add tables, run, times and model checks of a valid schedule; what cannot be added has its reason in `left_out`."""
    if not subject.verdict.valid:
        return
    tell("deadlock")
    _attempt(subject, "deadlock", lambda: _add_freedom(subject))
    tell("tables")
    _attempt(subject, "tables", lambda: _add_tables(subject))
    tell("simulation")
    _attempt(subject, "run", lambda: _add_run(subject, extent))
    tell("times")
    _attempt(subject, "times", lambda: _add_times(subject, extent))
    tell("TLA+")
    _attempt(subject, "models", lambda: _add_models(subject, extent))


def _attempt(subject: Subject, section: str, add: Callable[[], None]) -> None:
    try:
        add()
    except (InputError, UndecidedError, ToolMissingError) as error:
        subject.left_out[section] = str(error)


def _add_freedom(subject: Subject) -> None:
    used = subject.used
    subject.freedom = deadlock_of_schedule(subject.schedule, used.machine, used.message_bytes)


def _add_tables(subject: Subject) -> None:
    from certree.hw.tables.lowering import lower
    from certree.models.schedule.symmetric.symmetric_schedule import written_out

    if subject.schedule.transfers > MOST_TABLE_TRANSFERS:
        count = f"{subject.schedule.transfers:,} transfers"
        subject.left_out["tables"] = f"{count} are too many for a report; certree export makes tables"
        return
    subject.tables = lower(written_out(subject.schedule), subject.used.message_bytes, subject.used.machine)


def _add_run(subject: Subject, extent: Extent) -> None:
    messages = subject.schedule.transfers * subject.schedule.repeats
    if not extent.simulate:
        subject.left_out["run"] = "a simulation was not asked for"
    elif messages > MOST_MESSAGES:
        subject.left_out["run"] = f"{messages:,} messages are too many for a report; certree simulate runs them"
    else:
        prepared = tables_or_plan(subject.schedule, subject.used.message_bytes, subject.used.machine)
        subject.without_routers = extent.without_routers
        subject.run = run(prepared, Options(without_routers=extent.without_routers))


def _add_times(subject: Subject, extent: Extent) -> None:
    quality = subject.verdict.quality
    assert quality is not None
    subject.cells, left_out = times(subject.schedule, quality, subject.used, published=extent.published)
    if left_out is not None:
        subject.left_out["published"] = left_out


def _add_models(subject: Subject, extent: Extent) -> None:
    subject.models = [entry for entry in subject.evidence if entry[0].startswith("tla") and entry[1] != "absent"]
    if subject.models:
        return
    if not extent.model_check:
        subject.left_out["models"] = "TLC was not asked for (it takes minutes for small tables, and is out of reach for large ones)"
        return
    from certree.extras.tla.run.model_checks import model_check

    used = subject.used
    found = model_check(schedule=subject.schedule, size=used.message_bytes, machine=used.machine)
    subject.models = [(model.name, str(model.result), one_line(model.message)) for model in found]
