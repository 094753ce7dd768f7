"""Freedom of deadlock in the routers of the machine."""

from collections.abc import Iterator, Mapping

from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status, absent
from certree.extras.bundles.model.bundle import Item
from certree.extras.bundles.reading import DEADLOCK
from certree.models.common.errors import UnsupportedError
from certree.models.common.files import canonical_json
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.verify.deadlock.freedom import Freedom, deadlock_of_schedule, deadlock_of_tables


@EVIDENCE.register("deadlock")
class DeadlockEvidence(Evidence):
    """no packets can ever wait for each other in a circle in the routers of the machine, at any timing"""

    needs = ("schedule", "tables")
    by_hand = "deadlock.json numbers the channels: on every route each packet waits only for channels of larger numbers"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """The numbering of the channels."""
        freedom = _freedom(source.tables, source.given)
        if not freedom.free:
            raise absent(f"packets may deadlock: {freedom.explanation()}")
        return {DEADLOCK: canonical_json(freedom.document())}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """The routes are walked again; the numbering must be theirs, and a small checker must find no fault in it."""
        freedom = _freedom(opened.tables, opened.bundle.schedule)
        stated, true = opened.bundle.members[DEADLOCK], canonical_json(freedom.document())
        if not freedom.free:
            yield ItemResult(name, Status.FAILED, f"packets may deadlock: {freedom.explanation()}")
        elif stated != true:
            yield ItemResult(name, Status.FAILED, f"{DEADLOCK} is not the certificate of these routes on this machine")
        elif (fault := freedom.fault()) is not None:
            yield ItemResult(name, Status.FAILED, fault)
        else:
            yield ItemResult(name, Status.RECHECKED, f"{freedom.explanation()}; machine {freedom.machine.name}")

    def recheck_absence(self, name: str, item: Item, opened: Opened) -> Iterator[ItemResult]:
        """Check freedom from deadlock, which can be found out without the certificate."""
        try:
            freedom = _freedom(opened.tables, opened.bundle.schedule)
        except UnsupportedError:
            yield from super().recheck_absence(name, item, opened)
            return
        told = f"the bundle has no certificate; found out now: {freedom.explanation()}"
        yield ItemResult(name, Status.RECHECKED if freedom.free else Status.FAILED, told)


def _freedom(tables: Tables | None, schedule: AnySchedule) -> Freedom:
    """For tables, or for a schedule without; UnsupportedError where it is for no machine, or for too many virtual channels."""
    if tables is not None:
        return deadlock_of_tables(tables)
    if schedule.made_for is None:
        raise UnsupportedError("the schedule does not say for which size and machine it was made")
    return deadlock_of_schedule(schedule, schedule.made_for.machine, schedule.made_for.message_bytes)
