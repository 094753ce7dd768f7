"""NCCL's protocols as its tuning model has them: a launch, a latency for each step, and the bytes of the fullest link.

NCCL computes the time of an all-reduce as `latency + size / bandwidth` (`src/graph/tuning.cc`). The latency is that of a launch and
of 2 (n - 1) steps of a ring, both by protocol; the bandwidth is the sum over the channels of a ring, less by protocol. Here the
same numbers are of a step and of a link, so that they apply to any schedule. Steps follow each other, as there.
"""

from dataclasses import dataclass
from fractions import Fraction

from certree.extras.costs.model.cost_model import COST_MODELS, Cost, Term
from certree.extras.costs.model.counting import Counts


@COST_MODELS.register("nccl")
@dataclass(frozen=True)
class Nccl:
    """One protocol over one kind of link: LL has a flag for every 4 bytes, LL128 one for every 120, Simple one for every chunk.

    `link_bytes_per_second`: what the protocol attains over a link of capacity 1. Additions take no time of their own.
    """

    name: str
    launch_seconds: Fraction
    step_seconds: Fraction
    link_bytes_per_second: Fraction

    def cost(self, counts: Counts, message_bytes: int) -> Cost:
        """A launch, the latencies of all steps, and in each step the bytes of the fullest link. O(entries of `counts`)."""
        profile = counts.profile()
        return Cost(
            (
                Term("launch", "launch of the kernel", self.launch_seconds),
                Term("step", "latencies of steps", profile.steps * self.step_seconds),
                Term("bytes", "bytes of the fullest links", profile.received * message_bytes / self.link_bytes_per_second),
            )
        )
