"""LogGP: latency, overhead, gap, Gap for a byte, processors (Alexandrov, Ionescu, Schauser and Scheiman, 1995)."""

from dataclasses import dataclass
from fractions import Fraction

from certree.extras.costs.model.cost_model import COST_MODELS, Cost, Term
from certree.extras.costs.model.counting import Counts


@COST_MODELS.register("loggp")
@dataclass(frozen=True)
class LogGP:
    """Latency L, overhead o at either end, gap g between messages, Gap G for each further byte.

    One message of k bytes takes o + (k - 1) G + L + o. A node that sends, or receives, m messages of k bytes in all in one step is
    busy with them for (k - m) G and (m - 1) max(g, o) more. There is no time for additions.
    """

    name: str
    latency_seconds: Fraction
    overhead_seconds: Fraction
    gap_seconds: Fraction
    gap_seconds_per_byte: Fraction

    def cost(self, counts: Counts, message_bytes: int) -> Cost:
        """Steps one after the other, each as long as its busiest node, sending or receiving, takes. O(entries of `counts`)."""
        share = Fraction(message_bytes, counts.shares)
        between = max(self.gap_seconds, self.overhead_seconds)
        gaps = long_gaps = Fraction(0)
        for step, times in counts.busy_steps():
            busiest = max(
                (
                    ((messages - 1) * between, max(share * shares - messages, Fraction(0)) * self.gap_seconds_per_byte)
                    for messages, shares in counts.ports_of(step)
                ),
                key=sum,
                default=(Fraction(0), Fraction(0)),
            )
            gaps += times * busiest[0]
            long_gaps += times * busiest[1]
        return Cost(
            (
                Term("L", "latency", counts.steps * self.latency_seconds),
                Term("o", "overhead", counts.steps * 2 * self.overhead_seconds),
                Term("g", "gaps between messages", gaps),
                Term("G", "bytes", long_gaps),
            )
        )
