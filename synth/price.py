"""The price of a candidate: its work, and the least cycles that it can take, before it is built."""

from dataclasses import dataclass, replace

LINKS = 16  # that a search for routes visits in the time of a transfer


@dataclass(frozen=True)
class Price:
    """`transfers` that a candidate writes, `work` for each of them, and `cycles` in slots that it takes at least (0: not known);
    `searched`: links that the search for routes visits (0: those of the network from each endpoint)."""

    transfers: int
    work: int = 1
    cycles: int = 0
    searched: int = 0

    @property
    def total(self) -> int:
        """The work of all transfers and of the search for routes."""
        return self.transfers * self.work + self.searched // LINKS

    def of(self, transfers: int) -> "Price":
        """The price with the number of transfers that were written, where that is lower."""
        return replace(self, transfers=min(self.transfers, transfers))


#: of methods with limits of their own, which say at once that they do not apply
FREE = Price(0)
