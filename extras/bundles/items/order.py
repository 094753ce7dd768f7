"""The order in which a schedule adds its chunks."""

from collections.abc import Iterator, Mapping
from typing import Any

from certree.api.reports.order_report import order_of
from certree.extras.bundles.evidence import EVIDENCE, Evidence, ItemResult, Opened, Source, Status, absent
from certree.models.common.files import canonical_json
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.order.agreement import agreement_of_schedule

ORDER = "order.json"


@EVIDENCE.register("order")
class OrderEvidence(Evidence):
    """all chunks are added in the one order of order.json, the same at all ranks and fixed by the slots"""

    needs = ("schedule",)
    by_hand = "`certree verify schedule.json --json`: the key `order` is order.json"

    def collect(self, source: Source) -> Mapping[str, bytes]:
        """The evidence on the order of additions, as `verify` reports it."""
        order = _one_order(source.given)
        if order is None:
            raise absent("the chunks are not added in one order, or it is not fixed, or nothing is added")
        return {ORDER: canonical_json(order)}

    def recheck(self, name: str, opened: Opened) -> Iterator[ItemResult]:
        """The sums are followed again."""
        schedule = opened.bundle.schedule
        order = _one_order(schedule)
        if order is None:
            yield ItemResult(name, Status.FAILED, "the chunks are not added in one order")
        elif opened.bundle.members[ORDER] != canonical_json(order):
            yield ItemResult(name, Status.FAILED, f"{ORDER} is not what the schedule does")
        else:
            yield ItemResult(name, Status.RECHECKED, f"{schedule.chunks:,} chunks, each at all ranks that need it, have one order")


def _one_order(schedule: AnySchedule) -> Mapping[str, Any] | None:
    """The keys of `verify` on the one order of a schedule, where the slots fix it; None without."""
    used = schedule.made_for
    said = order_of(schedule, None if used is None else agreement_of_schedule(schedule, used.machine, used.message_bytes))
    order = said.get("order") or {}
    return said if order.get("fixed_by") == "slots" and order.get("expression") is not None else None
