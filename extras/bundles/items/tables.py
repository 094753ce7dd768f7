"""The rows of the network interfaces."""

from collections.abc import Iterator, Mapping

from certree.api.reports.text import counted, size_words
from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status, absent
from certree.extras.bundles.model.bundle import Item
from certree.extras.bundles.reading import TABLES
from certree.hw.golden import trace_files
from certree.hw.tables.directory import table_files
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.tables.tables import Tables
from certree.verify.tables.table_checker import verify_tables


@EVIDENCE.register("tables")
class TablesEvidence(Evidence):
    """the rows of the network interfaces execute exactly this schedule, and wait for all that they use"""

    by_hand = "`unzip F.certree 'tables/*' && certree verify tables`"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """A tables directory."""
        if source.tables is None:
            raise absent(source.no_tables)
        more = trace_files(source.tables, source.format)
        return {f"{TABLES}/{name}": data for name, data in sorted(table_files(source.tables, source.format, more).items())}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Check the rules for tables, and compare the schedule that they execute with that of the bundle."""
        tables, schedule = opened.tables, opened.bundle.schedule
        if tables is None:
            raise InputError(f"{opened.bundle.source}: there are no tables")
        verdict = verify_tables(tables)
        if not verdict.valid:
            yield ItemResult(name, Status.FAILED, f"{verdict.violations[0].rule}: {verdict.violations[0].message}")
        elif (fault := difference(tables, schedule)) is not None:
            yield ItemResult(name, Status.FAILED, fault)
        else:
            slots = counted(tables.slot_cycles, "cycles")
            size = f"{size_words(tables.message_bytes)}, machine {tables.machine.name}, slots of {slots}"
            yield ItemResult(name, Status.RECHECKED, f"{len(tables.node):,} rows execute the schedule; {size}")

    def recheck_absence(self, name: str, item: Item, opened: Opened) -> Iterator[ItemResult]:
        """Rows must indeed be unable to represent the schedule."""
        made_for = opened.bundle.schedule.made_for
        if made_for is None:
            yield ItemResult(name, Status.FAILED, "the schedule does not say for which size and machine it was made")
            return
        try:
            lower(written_out(opened.bundle.schedule), made_for.message_bytes, made_for.machine)
        except UnsupportedError as error:
            yield ItemResult(name, Status.ABSENT, str(error))
        else:
            yield ItemResult(name, Status.FAILED, "the bundle has none, although tables can represent the schedule")


def difference(tables: Tables, schedule: AnySchedule) -> str | None:
    """Why tables are not those of a schedule, for the size and machine that it was made for; None where they are."""
    made_for = schedule.made_for
    if made_for is None or (made_for.message_bytes, made_for.machine) != (tables.message_bytes, tables.machine):
        return "the tables are for another size or machine than the schedule was made for"
    if tables.schedule.digest != lower(written_out(schedule), tables.message_bytes, tables.machine).schedule_digest:
        return "the tables execute another schedule than that of the bundle"
    return None
