"""`ring:N`."""

from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import grid, parse_sizes
from certree.models.network.topology import Topology


@FAMILIES.register("ring", "ring:5")
def ring(arguments: str) -> Topology:
    """ring:N - N nodes in a circle, links in both directions."""
    return grid(f"ring:{arguments}", parse_sizes("ring", arguments, dimensions=1), wrap=True)
