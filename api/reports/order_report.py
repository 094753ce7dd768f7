"""The order of additions in reports: key `order`, and its line."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.api.reports.text import counted
from certree.models.common.errors import InputError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.bounds.classes import is_general
from certree.verify.bounds.instance import Instance
from certree.verify.order.additions import additions_of


def order_of(schedule: AnySchedule, router_effect: str | None = None) -> dict[str, Any]:
    """The key `order` of a report on a valid schedule; nothing for a collective that does not add, and `order_unknown`, the reason,
    where it is too large to be examined. `router_effect`: why messages may be late, and so come in another order than that of the
    slots, if they may; it becomes `may_change` where slots fix one order."""
    try:
        found = additions_of(schedule)
    except InputError as error:
        return {"order": None, "order_unknown": str(error)}
    if found is None:
        return {}
    late = {} if router_effect is None or found.certain is None else {"may_change": router_effect}
    return {"order": found.document() | late | _price(schedule)}


def _price(schedule: AnySchedule) -> dict[str, Any]:
    """`bandwidth_bound` of schedules with its order, and `free_bound` of those with any, where its certificate proves the first."""
    instance, bounds = Instance.of(schedule), (schedule.certificate or {}).get("bounds", [])
    scale, of_bandwidth = instance.topology.scale, [bound for bound in bounds if bound["quantity"] == "bandwidth"]
    own = [Fraction(bound["value"]) for bound in of_bandwidth if bound["kind"] == "order"]
    free = [Fraction(bound["value"]) for bound in of_bandwidth if is_general(instance, bound)]
    return {"bandwidth_bound": str(max(own) * scale), "free_bound": str(max(free) * scale)} if own and free else {}


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
    return [f"  order of additions: {found}; {agreed}; {_fixed_words(order)}", *_price_words(report)]


def _fixed_words(order: Mapping[str, Any]) -> str:
    """The reason why an order is certain, or why it is not."""
    if order["tied"] is None:
        late = f", unless messages are late: {order['may_change']}" if "may_change" in order else ""
        return {"slots": "fixed by the slots", "waits": "fixed by what steps wait for"}[order["fixed_by"]] + late
    (place, chunk), is_one = order["tied"], order["ties"] == 1
    how, where = ("arrives" if is_one else "arrive") + " together with others", "node"
    if order["fixed_by"] == "arrival":
        how, where = ("is" if is_one else "are") + " added in no stated order", "rank"
    return f"not fixed: {counted(order['ties'], 'operands')} {how}, for example for chunk {chunk} at {where} {place}"


def _price_words(report: Mapping[str, Any]) -> list[str]:
    """The bandwidth time of an order over what any order may reach."""
    free = report["order"].get("free_bound")
    if free is None or "fine_slot_cycles" in report:  # with fine slots the time alone says how good they are
        return []
    times = float(Fraction(report["bandwidth_time"]) / Fraction(free))
    return [f"  price of the order: bandwidth time {report['bandwidth_time']} M/B; in any order at least {free}: {times:.4g} times"]
