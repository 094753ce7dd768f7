"""Wanted orders of additions: whether a schedule has the order that was asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from certree.models.common.errors import short
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.order.additions import additions_of
from certree.verify.order.expressions import Expression, read_expression


@dataclass(frozen=True)
class WantedOrder:
    """An order that all chunks of a schedule shall have. `name`: as it was asked for; `expression`: None for any one; `nested`:
    whether the sums of the first 1, 2, 4, ... ranks shall be parts of it."""

    name: str
    expression: Expression | None = None
    nested: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """The order as a JSON document, from which `wanted_from_document` makes it again."""
        return {"name": self.name, "nested": self.nested, "expression": None if self.expression is None else self.expression.text}

    def refusal(self, schedule: AnySchedule) -> str | None:
        """Why a valid schedule does not have this order; None where it does. O(rows log rows)."""
        found = additions_of(schedule)
        if found is None:
            return f"{schedule.collective.kind} adds nothing; an order is for all-reduce, reduce and reduce-scatter"
        if found.orders > 1:
            return f"order {self.name}: the chunks are added in {found.orders} orders"
        if not found.is_fixed:
            return f"order {self.name}: {found.ties} operands arrive together with others"
        if self.nested and not found.is_nested:
            return f"order {self.name}: the order of the chunks is not nested"
        if self.expression is not None and found.expression != self.expression.text:
            return f"order {self.name}: the chunks are added in the order {short(str(found.expression))}"
        return None


def wanted_from_document(document: Mapping[str, Any], ranks: Sequence[int]) -> WantedOrder:
    """The order of a document that a WantedOrder of these ranks gave."""
    text = document["expression"]
    return WantedOrder(document["name"], None if text is None else read_expression(text, ranks), document["nested"])
