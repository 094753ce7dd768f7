"""The bound on the time of a run, for the message size and the machine of the schedule."""

from collections.abc import Iterator, Mapping

from certree.api.reports.text import size_words
from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status, absent
from certree.extras.bundles.model.bundle import Item
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import with_class
from certree.verify.certificates.certificate import TIME, check_time


@EVIDENCE.register("time-bound")
class TimeBoundEvidence(Evidence):
    """no run of any schedule of these shares for this message size and machine, slotted or paced, takes fewer cycles"""

    needs = ("bounds",)
    by_hand = "`time` of the certificate in schedule.json; docs/explanation/bounds.md says what its witnesses have to show"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """No members of its own: the bound is in the certificate."""
        if (reason := _no_bound(source.given)) is not None:
            raise absent(reason)
        return {}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """Check the witness of the time bound."""
        schedule = opened.bundle.schedule
        if (reason := _no_bound(schedule)) is not None:
            yield ItemResult(name, Status.FAILED, reason)
            return
        document = (schedule.certificate or {})[TIME]
        made_for, least, any_shares = check_time(Instance.of(schedule), document)
        best = with_class(Instance.of(schedule), document["bounds"][0])
        kind = (
            best["kind"] if any_shares in (None, least) else f"{best['kind']}, {best['class'][0]}; {any_shares:,} with any shares"
        )
        told = f"{least:,} cycles ({kind}) for {size_words(made_for.message_bytes)}"
        yield ItemResult(name, Status.RECHECKED, f"{told}, machine {made_for.machine.name}")

    def recheck_absence(self, name: str, item: Item, opened: Opened) -> Iterator[ItemResult]:
        """The certificate must state none."""
        if _no_bound(opened.bundle.schedule) is None:
            yield ItemResult(name, Status.FAILED, "the certificate has a bound, although the bundle says that it has not")
        else:
            yield from super().recheck_absence(name, item, opened)


def _no_bound(schedule: AnySchedule) -> str | None:
    """Why a schedule comes without a bound on its time; None where it has one."""
    if TIME not in (schedule.certificate or {}):
        return "the certificate bounds no time"
    document = (schedule.certificate or {})[TIME]
    own = None if schedule.made_for is None else schedule.made_for.document()
    if own is None or any(document[key] != value for key, value in own.items()):
        return "the certificate bounds the time for another message size or machine"
    return None
