"""Capacities in text (whole numbers or parts of a full link), and as whole chunk units of one scale."""

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from certree.models.common.errors import TopologyError, short
from certree.models.network.topology import MAX_CAPACITY

ALLOWED = f"a whole number from 1 to {MAX_CAPACITY}, a part such as 1/2 or a decimal such as 0.25"
_WRITTEN = re.compile(r"[0-9]{1,10}(/[0-9]{1,10}|\.[0-9]{1,9})?", re.ASCII)


def capacity_of(value: Any) -> Fraction | None:
    """The exact capacity of 2, "1/2", "0.25" or 0.5 (read as it is written); None for anything else, and beyond MAX_CAPACITY."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = value.strip() if isinstance(value, str) else repr(value)
    if not _WRITTEN.fullmatch(text):
        return None
    try:
        capacity = Fraction(text)
    except ZeroDivisionError:
        return None
    return capacity if 0 < capacity <= MAX_CAPACITY else None


def in_units(capacities: Sequence[Fraction], where: str, most: int = MAX_CAPACITY) -> tuple[list[int], int]:
    """The capacities in chunk units, and the units of a full link: all times their common denominator.

    TopologyError where a link would have more than `most` units.
    """
    scale = math.lcm(*{capacity.denominator for capacity in capacities})
    units = int(max(capacities, default=Fraction(0)) * scale)
    if max(units, scale) > most:
        what = f"common denominator {scale}" if scale > most else f"a link of {units} units of 1/{scale}"
        raise TopologyError(f"{where}: {what}; allowed: at most {most} units per link")
    found = {capacity: int(capacity * scale) for capacity in set(capacities)}
    return [found[capacity] for capacity in capacities], scale


def read_capacities(values: Iterable[Any], where: str, most: int = MAX_CAPACITY) -> tuple[list[int], int]:
    """The result of `in_units` for capacities in a document; TopologyError names the first invalid one."""
    known: dict[tuple[type, Any], Fraction] = {}
    capacities = []
    for index, value in enumerate(values):
        key = (type(value), value) if isinstance(value, int | float | str) else None
        capacity = known.get(key) if key is not None else None
        if capacity is None:
            capacity = capacity_of(value)
            if capacity is None or key is None:
                raise TopologyError(f"{where}: entry {index} is {short(value)}; allowed: {ALLOWED}")
            known[key] = capacity
        capacities.append(capacity)
    return in_units(capacities, where, most)


def written(units: Iterable[int], scale: int) -> list[int] | list[int | str]:
    """Chunk units as written in documents: whole numbers, or parts of a full link such as "1/2"."""
    if scale == 1:
        return list(units)
    return [value // scale if value % scale == 0 else str(Fraction(value, scale)) for value in units]
