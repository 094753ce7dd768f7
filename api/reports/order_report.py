"""The order of additions in reports: key `order`, and its line."""

from collections.abc import Mapping
from typing import Any

from certree.api.reports.text import counted
from certree.models.common.errors import InputError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.order.additions import additions_of


def order_of(schedule: AnySchedule) -> dict[str, Any]:
    """`order` of a report on a valid schedule; nothing for a collective that does not add, and `order_unknown`, the reason, where
    it is too large to be examined."""
    try:
        found = additions_of(schedule)
    except InputError as error:
        return {"order": None, "order_unknown": str(error)}
    return {} if found is None else {"order": found.document()}


def order_words(report: Mapping[str, Any]) -> list[str]:
    """The line of a report, if it has one."""
    if "order_unknown" in report:
        return [f"  order of additions: unknown: {report['order_unknown']}"]
    order = report.get("order")
    if order is None:
        return []
    found = "one for all chunks" if order["orders"] == 1 else f"{order['orders']:,} for {counted(report['chunks'], 'chunks')}"
    if order["nested"]:
        found += ", nested"
    agreed = "the same at all ranks"
    if not order["same_at_all_ranks"]:
        rank, chunk = order["differs"]
        agreed = f"rank {rank} has a different one for chunk {chunk}"
    fixed = "fixed by the slots"
    if order["tied"] is not None:
        node, chunk = order["tied"]
        arrive = "arrives" if order["ties"] == 1 else "arrive"
        words = f"{counted(order['ties'], 'operands')} {arrive} together with others"
        fixed = f"not fixed: {words}, for example for chunk {chunk} at node {node}"
    return [f"  order of additions: {found}; {agreed}; {fixed}"]
