"""Exact link rates, and which of them the units of a schedule do not divide."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TopologyError
from certree.models.common.fields import Positive

MAX_DIGITS = 20  # of the numerator and the denominator of a unit, as `exact_number` reads them


@dataclass(frozen=True, eq=False)
class Rates:
    """The exact capacities of all links: `capacity` / `scale` full links each."""

    capacity: NDArray[np.int64]
    scale: int

    def check(self, name: str, units: NDArray[np.int32], scale: int | Fraction) -> None:
        """Raise TopologyError where there is not one rate for each link, or units of 1/`scale` full links are more than it."""
        if len(self.capacity) != len(units):
            raise TopologyError(f"{name}: {len(self.capacity)} exact capacities for {len(units)} links")
        if scale < 1 or self.scale < 1:
            raise TopologyError(f"{name}: a unit of {1 / Fraction(scale)} full links; allowed: up to 1")
        top, bottom = Fraction(scale).as_integer_ratio()
        wrong = np.flatnonzero(units.astype(object) * (bottom * self.scale) > self.capacity.astype(object) * top)
        if len(wrong):
            raise TopologyError(f"{name}: link {wrong[0]} has {units[wrong[0]]} units, which are faster than the link")

    def counted(self, unit: Fraction, name: str, most: int, bandwidth: int | None) -> NDArray[np.int32]:
        """The whole units of each link, a unit having the speed of `unit` full links.

        TopologyError for a unit above a full link or the slowest link, one that leaves a link more than `most` units, and one that
        files cannot state.
        """
        slowest, widest = (Fraction(int(end), self.scale) for end in (self.capacity.min(), self.capacity.max()))
        slowest = min(slowest, Fraction(1))
        require_near(name, slowest, widest, most, bandwidth)
        if not 0 < unit <= slowest or widest / unit > most:
            full = (bandwidth or 10**9) / 10**9
            low, high = (float(end) * full for end in (widest / most, slowest))
            asked = f"{float(unit) * full:.6g} {unit_of(bandwidth)}"
            raise TopologyError(f"{name}: units of {asked}; allowed: {low:.4g} to {high:.6g}")
        if max(unit.as_integer_ratio()) >= 10**MAX_DIGITS:
            raise TopologyError(f"{name}: units of {unit} full links; allowed: up to {MAX_DIGITS} digits")
        size = {exact: int(Fraction(exact, self.scale) // unit) for exact in np.unique(self.capacity).tolist()}
        return np.array([size[exact] for exact in self.capacity.tolist()], np.int32)


def require_near(name: str, slowest: Fraction, fastest: Fraction, most: int, bandwidth: int | None) -> None:
    """Raise TopologyError where the fastest link is over `most` times as fast as the slowest: no unit suits both."""
    if fastest > most * slowest:
        low, high = (f"{float(end * (bandwidth or 10**9)) / 10**9:.6g}" for end in (slowest, fastest))
        found = f"links from {low} to {high} {unit_of(bandwidth)}"
        raise TopologyError(f"{name}: {found}; allowed: the fastest up to {most} times the slowest")


def unit_of(bandwidth: int | None) -> str:
    """The unit in which errors name speeds: GB/s where that of a full link is known."""
    return "full links" if bandwidth is None else "GB/s"


@dataclass(frozen=True)
class RoundedRate:
    """A rate that `links` directed links have, `described`, and the lower one that is `used`: in bytes per second, or in full links
    where the network states no bandwidth."""

    described: Positive
    used: Positive
    links: int


@dataclass(frozen=True)
class Rounding:
    """The rates that a schedule uses in part, since they are not whole multiples of its unit, the fastest first."""

    unit: Positive
    rates: tuple[RoundedRate, ...]

    def document(self) -> dict[str, Any]:
        """The value of the key `rounded` in reports; rates as exact texts."""
        rates = [{"described": str(rate.described), "used": str(rate.used), "links": rate.links} for rate in self.rates]
        return {"unit": str(self.unit), "rates": rates}


def rounding_of(rates: Rates, units: NDArray[np.int32], scale: int | Fraction, bandwidth: int | None) -> Rounding | None:
    """The rates that are not `units` / `scale` full links; None where all are. `bandwidth`: of a full link, if it is known."""
    full, unit = bandwidth or 1, (bandwidth or 1) / Fraction(scale)
    counts = Counter(zip(rates.capacity.tolist(), units.tolist(), strict=True))
    found = [
        RoundedRate(full * Fraction(exact, rates.scale), lanes * unit, links)
        for (exact, lanes), links in sorted(counts.items(), reverse=True)
        if Fraction(exact, rates.scale) != lanes / Fraction(scale)
    ]
    return Rounding(unit, tuple(found)) if found else None
