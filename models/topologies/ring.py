"""`ring:N`."""

from certree.models.topologies import FAMILIES
from certree.models.topologies.grid import grid, parse_sizes
from certree.models.topology import Topology


@FAMILIES.register("ring")
def ring(arguments: str) -> Topology:
    """ring:N - N nodes in a circle, links both ways."""
    return grid(f"ring:{arguments}", parse_sizes("ring", arguments, dimensions=1), wrap=True)
