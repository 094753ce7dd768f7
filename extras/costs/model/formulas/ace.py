"""ACE's analytical model of an endpoint whose cores run the all-reduce (ACE, Section 3, Fig. 5)."""

from dataclasses import dataclass
from fractions import Fraction

from certree.extras.costs.model.cost_model import COST_MODELS, Cost, Term
from certree.extras.costs.model.counting import Counts
from certree.models.common.fields import Positive


@COST_MODELS.register("ace")
@dataclass(frozen=True)
class AceEndpoint:
    """Cores of an accelerator that load, add up and write to remote memory, and a latency for each step (ACE, Fig. 5).

    A byte that is sent is loaded once, a byte that is added needs one load more: 2 bytes of load for each byte of remote write
    while sums are formed, as the paper says; additions and local writes hide behind the loads. Loads run at what `cores` read, at
    most at the memory's bandwidth. A link carries `link_bytes_per_second`, of which `link_efficiency` counts. The paper leaves
    open whether loads and links overlap; its figure stacks them, so here they add up.
    """

    name: str
    cores: int
    core_read_bytes_per_second: Positive
    memory_bytes_per_second: Positive
    link_bytes_per_second: Positive
    link_efficiency: Positive
    step_seconds: Fraction

    def cost(self, counts: Counts, message_bytes: int) -> Cost:
        """Steps one after the other: loads of the busiest node, load of the fullest link, latency. O(entries)."""
        share = Fraction(message_bytes, counts.shares)
        read = min(self.cores * self.core_read_bytes_per_second, self.memory_bytes_per_second)
        write = self.link_bytes_per_second * self.link_efficiency
        loads = links = Fraction(0)
        for step, times in counts.busy_steps():
            loads += times * max((sent + additions for additions, _, sent in counts.servers_of(step)), default=0)
            links += times * max((load for _, _, load in counts.links_of(step)), default=0)
        return Cost(
            (
                Term("loads", "local reads for sums and copies", share * loads / read),
                Term("links", "remote writes", share * links / write),
                Term("latency", "each step", counts.steps * self.step_seconds),
            )
        )
