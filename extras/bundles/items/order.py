"""The order in which a schedule adds its chunks."""

from collections.abc import Iterator, Mapping

from certree.api.reports.order_report import order_of
from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status, absent
from certree.models.common.files import canonical_json
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule

ORDER = "order.json"


@EVIDENCE.register("order")
class OrderEvidence(Evidence):
    """all chunks are added in the one order of order.json, the same at all ranks and fixed by the slots"""

    needs = ("schedule",)
    by_hand = "`certree verify schedule.json --json`: the key `order` is order.json"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """What `verify` says of the order."""
        if _expression(source.given) is None:
            raise absent("the chunks are not added in one order, or it is not fixed, or nothing is added")
        return {ORDER: canonical_json(order_of(source.given))}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """The sums are followed again."""
        schedule = opened.bundle.schedule
        if _expression(schedule) is None:
            yield ItemResult(name, Status.FAILED, "the chunks are not added in one order")
        elif opened.bundle.members[ORDER] != canonical_json(order_of(schedule)):
            yield ItemResult(name, Status.FAILED, f"{ORDER} is not what the schedule does")
        else:
            yield ItemResult(name, Status.RECHECKED, f"{schedule.chunks:,} chunks, each at all ranks that need it, have one order")


def _expression(schedule: AnySchedule) -> str | None:
    """The one order of a schedule, where the slots fix it."""
    order = order_of(schedule).get("order") or {}
    return order.get("expression") if order.get("fixed_by") == "slots" else None
