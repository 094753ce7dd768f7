"""What an import rounded: link rates that are not whole multiples of the unit of capacity."""

from dataclasses import dataclass
from typing import Any

from certree.models.common.fields import Positive


@dataclass(frozen=True)
class RoundedRate:
    """As many `links` (directed ones) were `described` with one rate and `used` with a lower one; bytes per second."""

    described: Positive
    used: Positive
    links: int


@dataclass(frozen=True)
class Rounding:
    """The rates that were rounded down to whole multiples of a unit, the fastest first; bytes per second.

    The network is then another one than was described: its links are slower, and its bounds are its own.
    """

    unit: Positive
    rates: tuple[RoundedRate, ...]

    def document(self) -> dict[str, Any]:
        """The value of the key `rounded` in network files and reports; rates as exact texts."""
        rates = [{"described": str(rate.described), "used": str(rate.used), "links": rate.links} for rate in self.rates]
        return {"unit": str(self.unit), "rates": rates}
