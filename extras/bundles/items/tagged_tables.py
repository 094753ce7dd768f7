"""The rows of the network interfaces for all collectives of a joint schedule."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status
from certree.extras.bundles.items.tables import difference
from certree.extras.bundles.model.bundle import Item
from certree.extras.bundles.reading import TABLES
from certree.extras.joint.run.joint_rows import tables_of, tags_csv
from certree.hw.tables.directory import table_files, tables_of_files
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.tables.tables import Tables
from certree.verify.tables.table_checker import verify_tables

TAGS = "rows.csv"


@EVIDENCE.register("joint-tables")
class TaggedTablesEvidence(Evidence):
    """the rows of the network interfaces execute exactly these collectives, and `tables/rows.csv` has the collective of each row"""

    of, needs = "joint-schedule", ("joint",)
    by_hand = "`unzip F.certree 'tables/*' && certree verify tables/0`: a folder for each collective, in the order of `joint.json`"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """A tables directory for each collective, and the list of the rows of all."""
        assert source.joint is not None
        tables = tables_of(source.joint)
        members = {f"{TABLES}/{TAGS}": tags_csv(source.joint, tables)}
        for number, one in enumerate(tables):
            members |= {f"{TABLES}/{number}/{name}": data for name, data in sorted(table_files(one, source.format).items())}
        return members

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Check the rules for tables of each collective, and make the list of rows again."""
        joint, bundle = opened.joint, opened.bundle
        tables: list[Tables] = []
        for number, part in enumerate(joint.parts):
            folder = f"{TABLES}/{number}"
            tables.append(tables_of_files(bundle.under(folder), Path(bundle.source) / folder))
            verdict = verify_tables(tables[-1])
            if not verdict.valid:
                first = verdict.violations[0]
                yield ItemResult(name, Status.FAILED, f"{part.name}: {first.rule}: {first.message}")
                return
            if (fault := difference(tables[-1], part.schedule)) is not None:
                yield ItemResult(name, Status.FAILED, f"{part.name}: {fault}")
                return
        if (stray := set(bundle.under(TABLES)) - {TAGS, *self._names(opened)}) or TAGS not in bundle.under(TABLES):
            raise InputError(f"{bundle.source}: {TABLES} has {min(stray)}" if stray else f"{bundle.source}: no {TABLES}/{TAGS}")
        if bundle.under(TABLES)[TAGS] != tags_csv(joint, tables):
            yield ItemResult(name, Status.FAILED, f"{TABLES}/{TAGS} does not have the rows of these tables")
            return
        rows = sum(len(one.node) for one in tables)
        yield ItemResult(name, Status.RECHECKED, f"{rows:,} rows of {len(tables)} collectives, each with its collective and cycle")

    def _names(self, opened: Opened) -> Iterator[str]:
        """The members of the folders of the collectives."""
        for number in range(len(opened.joint.parts)):
            yield from (f"{number}/{name}" for name in opened.bundle.under(f"{TABLES}/{number}"))

    def recheck_absence(self, name: str, item: Item, opened: Opened) -> Iterator[ItemResult]:
        """Rows must indeed be unable to say what a collective does."""
        try:
            tables_of(opened.joint)
        except UnsupportedError as error:
            yield ItemResult(name, Status.ABSENT, str(error))
        else:
            yield ItemResult(name, Status.FAILED, "the bundle has none, although tables can represent all collectives")
