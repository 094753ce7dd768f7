"""Tables directories."""

from collections.abc import Mapping
from typing import ClassVar

from certree.api.artefacts import NO_TRUST, Artefact, Asked, Checked, artefact
from certree.api.checks.verdicts import require_collective, schedule_outcome
from certree.hw.tables.directory import MANIFEST, read_tables
from certree.models.common.files import Opened
from certree.models.schedule.schedule_file import SUFFIXES
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule

_MADE_FOR_ONE = "tables are made for one size and machine; others do not apply"


@artefact("tables")
class TablesFolder(Artefact):
    """A tables directory: the rows of all network interfaces, with a manifest."""

    imports = SUFFIXES
    refuses: ClassVar[Mapping[str, str]] = {
        "size": _MADE_FOR_ONE,
        "machine": _MADE_FOR_ONE,
        "trust": NO_TRUST,
        "route": "routes are asked for, which only a CSV may leave open; tables state theirs",
    }

    def matches(self, opened: Opened) -> bool:
        """Whether a folder has the manifest of tables."""
        return opened.is_folder and (opened.path / MANIFEST).exists()

    def load(self, opened: Opened, asked: Asked) -> Tables:
        """The tables."""
        tables = read_tables(opened.path)
        require_collective(opened.path, tables.schedule, asked.collective)
        return tables

    schedule = load

    def verify(self, opened: Opened, asked: Asked) -> Checked:
        """The rules of tables, those of the schedule that the rows execute, and the golden trace where there is one. Bounds are
        searched for as for a certificate."""
        from certree.api.evidence import with_found_bounds
        from certree.hw.formats.systemverilog import TRACE_FILE
        from certree.hw.golden import check_trace
        from certree.verify.tables.table_checker import verify_tables

        tables = read_tables(opened.path)
        require_collective(opened.path, tables.schedule, asked.collective)
        verdict = verify_tables(tables)
        if verdict.valid:
            check_trace(tables, opened.path / TRACE_FILE)
        if verdict.valid and asked.topology is not None:
            verdict = verify_schedule(tables.schedule, topology=asked.topology)
        verdict = with_found_bounds(tables.schedule, verdict)
        return schedule_outcome(tables.schedule, verdict, asked, tables=tables, then=("simulate", opened.path))
