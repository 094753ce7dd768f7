"""Clocks of the nodes: start times (skew) and speeds (drift) of their counters."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError

MAX_SKEW = (1 << 32) - 1
_MAX_PART = (1 << 32) - 1


@dataclass(frozen=True)
class Clocks:
    """Skew and drift of every node id: its counters start at cycle `skew`, and c cycles of them last c · (1 + drift) cycles,
    rounded up. Links, routers and reduction units keep the common clock.

    The constructor raises InputError for negative skews, drifts of -1 or less, and numbers beyond 32 bits.
    """

    skew: tuple[int, ...]
    drift: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for node, cycles in enumerate(self.skew):
            if not 0 <= cycles <= MAX_SKEW:
                raise InputError(f"node {node}: skew of {cycles} cycles; allowed: 0 to {MAX_SKEW}")
        for node, drift in enumerate(self.drift):
            if drift <= -1 or (1 + drift).numerator > _MAX_PART or drift.denominator > _MAX_PART:
                raise InputError(f"node {node}: drift {drift}; allowed: more than -1, with numbers below 2^32")

    @classmethod
    def equal(cls, nodes: int) -> "Clocks":
        """Clocks without skew or drift."""
        return cls((0,) * nodes, (Fraction(0),) * nodes)

    @property
    def are_equal(self) -> bool:
        """Whether no clock differs from the common one."""
        return not any(self.skew) and not any(self.drift)

    def later(self, cycles: int) -> "Clocks":
        """The clocks, all started that many cycles later."""
        return Clocks(tuple(skew + cycles for skew in self.skew), self.drift)

    def columns(self) -> dict[str, NDArray[np.int64]]:
        """The columns for the simulator core."""
        rates = [1 + drift for drift in self.drift]
        return {
            "clock_skew": np.array(self.skew, np.int64),
            "clock_numerator": np.array([rate.numerator for rate in rates], np.int64),
            "clock_denominator": np.array([rate.denominator for rate in rates], np.int64),
        }


def parse_clocks(nodes: int, skew: str | None, drift: str | None) -> Clocks:
    """Clocks from what a user types: `7` for every node, or `node=value` pairs, as in `3=100,5=20`; drifts are rationals such as
    `1/10000` or `-3/1000000`, or parts per million, `100ppm`. Raises InputError for other text."""
    skews = _values("skew", skew, nodes, _whole)
    drifts = _values("drift", drift, nodes, _rational)
    return Clocks(tuple(int(value) for value in skews), tuple(drifts))


def _values(what: str, text: str | None, nodes: int, read: Callable[[str, str], Fraction]) -> Sequence[Fraction]:
    values = [Fraction(0)] * nodes
    for part in text.split(",") if text else []:
        node, equals, value = part.rpartition("=")
        if not equals:
            values = [read(what, value)] * nodes
        elif node.isdecimal() and int(node) < nodes:
            values[int(node)] = read(what, value)
        else:
            raise InputError(f"{what} {part!r}: {node!r} is not a node; allowed: 0 to {nodes - 1}")
    return values


def _whole(what: str, text: str) -> Fraction:
    if not text.isdecimal():
        raise InputError(f"{what} {text!r}; allowed: a whole number of cycles, or node=cycles pairs with commas between them")
    return Fraction(int(text))


def _rational(what: str, text: str) -> Fraction:
    found = re.fullmatch(r"([+-]?\d+)(?:/(\d+)|(ppm))?", text)
    if not found or found[2] == "0":
        raise InputError(f"{what} {text!r}; allowed: a rational such as 1/10000, or parts per million such as 100ppm")
    return Fraction(int(found[1]), 1_000_000 if found[3] else int(found[2] or 1))
