"""From a schedule to the tables that are run: always by way of files, so that what runs is what ships."""

import tempfile
from pathlib import Path

from certree.cli.sources import machine_or_default, read_schedule, size_or_default
from certree.hw.directory import export_tables, read_tables
from certree.hw.lowering import lower
from certree.models.machine import Machine
from certree.models.schedule import Schedule
from certree.models.tables import Tables


def through_files(schedule: Schedule, message_bytes: int, machine: Machine) -> Tables:
    """The schedule's tables after export to a temporary directory and reading back."""
    tables = lower(schedule, message_bytes, machine)
    with tempfile.TemporaryDirectory(prefix="certree-") as folder:
        export_tables(tables, Path(folder) / "tables")
        return read_tables(Path(folder) / "tables")


def tables_to_run(path: Path, size: int | None, machine: Machine | None) -> Tables:
    """The tables in a directory as they are, or made again from their schedule for another size or machine; those of a
    schedule file after export to a temporary directory and reading back."""
    if not path.is_dir():
        return through_files(read_schedule(path), size_or_default(size), machine_or_default(machine))
    tables = read_tables(path)
    if size is None and machine is None:
        return tables
    return through_files(tables.schedule, size or tables.message_bytes, machine or tables.machine)
