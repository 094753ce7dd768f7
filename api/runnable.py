"""From a schedule to what is run: its tables, by way of files, so that what runs is what ships (very large ones from memory: see
MOST_THROUGH_FILES); or the schedule itself where rows cannot say it."""

import tempfile
from pathlib import Path

from certree.api.inputs import machine_or_default, read_schedule, size_or_default
from certree.hw.engines.schedule_run import Plan
from certree.hw.run import run_exactly
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric import AnySchedule, written_out
from certree.models.schedule.timing import schedule_cycles, slotted
from certree.models.tables import Tables
from certree.synth.method import Form

FASTEST = "fastest"  # of both ways to run
#: transfers of one iteration up to which tables are written and read back before they run; beyond, that takes longer than the run
MOST_THROUGH_FILES = 100_000


def through_files(schedule: Schedule, message_bytes: int, machine: Machine) -> Tables:
    """The schedule's tables after export to a temporary directory and reading back."""
    tables = lower(schedule, message_bytes, machine)
    with tempfile.TemporaryDirectory(prefix="certree-") as folder:
        export_tables(tables, Path(folder) / "tables")
        return read_tables(Path(folder) / "tables")


def made_tables(topology: str, collective: str, method: str, message_bytes: int) -> Tables:
    """The tables of what a method makes for a network, on the default machine, after export and reading back."""
    from certree.synth.method import Request, load_methods

    machine = machine_or_default(None)
    request = Request(parse_topology(topology), parse_collective(collective), message_bytes, machine)
    return through_files(written_out(load_methods()[method](request)), message_bytes, machine)


def playable(schedule: AnySchedule, message_bytes: int, machine: Machine) -> Tables | Plan:
    """The schedule's tables after export and reading back; a plan of its own transfers where it has no tables.
    UnsupportedError for a symmetric schedule that is too large to be written out."""
    return playable_or_reason(written_out(schedule), message_bytes, machine)[0]


def playable_or_reason(schedule: Schedule, message_bytes: int, machine: Machine) -> tuple[Tables | Plan, str | None]:
    """What `playable` gives, and why it is no tables."""
    try:
        if schedule.transfers > MOST_THROUGH_FILES:
            return lower(schedule, message_bytes, machine), None
        return through_files(schedule, message_bytes, machine), None
    except UnsupportedError as error:
        return Plan.of(schedule, message_bytes, machine), str(error)


def form_of(run: str, message_bytes: int, machine: Machine) -> Form | None:
    """How candidates are compared: `slotted` by closed form (None), `paced` simulated, or by the `fastest` of both.

    Paced runs are on lanes that serve whole messages, one after the other: routers, which let flits of messages that meet on
    their way take turns, would take minutes for a candidate. A run that ends with wrong data counts as one that cannot be run.
    """

    def slotted_cycles(schedule: AnySchedule) -> int:
        plan, timing = slotted(schedule, message_bytes, machine)
        return schedule_cycles(plan, timing, machine)

    def paced_cycles(schedule: AnySchedule) -> int:
        source: Tables | Plan
        try:
            source = lower(written_out(schedule), message_bytes, machine)
        except UnsupportedError:
            source = Plan.of(written_out(schedule), message_bytes, machine)
        result = run_exactly(source, "paced")
        if not result.data_ok:
            raise UnsupportedError("the paced run ends with wrong data")
        return result.cycles

    def fewest_cycles(schedule: AnySchedule) -> int:
        try:
            return min(slotted_cycles(schedule), paced_cycles(schedule))
        except UnsupportedError:
            return slotted_cycles(schedule)

    return {
        "slotted": None,
        "paced": Form("paced on lanes", paced_cycles),
        FASTEST: Form("in slots or paced on lanes", fewest_cycles),
    }[run]


def source_to_run(path: Path, size: int | None, machine: Machine | None) -> tuple[Tables | Plan, str | None]:
    """As `tables_to_run`, but a schedule file without tables becomes a plan; with the reason in that case."""
    if path.is_dir():
        return tables_to_run(path, size, machine), None
    return playable_or_reason(written_out(read_schedule(path)), size_or_default(size), machine_or_default(machine))


def tables_to_run(path: Path, size: int | None, machine: Machine | None) -> Tables:
    """The tables in a directory as they are, or made again from their schedule for another size or machine; those of a
    schedule file after export to a temporary directory and reading back."""
    if not path.is_dir():
        return through_files(written_out(read_schedule(path)), size_or_default(size), machine_or_default(machine))
    tables = read_tables(path)
    if size is None and machine is None:
        return tables
    return through_files(tables.schedule, size or tables.message_bytes, machine or tables.machine)
