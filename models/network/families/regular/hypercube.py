"""`hypercube:D`."""

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import grid, parse_sizes
from certree.models.network.topology import Topology


@FAMILIES.register("hypercube", "hypercube:3")
def hypercube(arguments: str) -> Topology:
    """hypercube:D - 2^D nodes; links join ids that differ in one bit."""
    (dimensions,) = parse_sizes("hypercube", arguments, dimensions=1)
    if dimensions > 20:
        raise TopologyError(f"hypercube:{arguments}: allowed dimensions: 1 to 20")
    return grid(f"hypercube:{arguments}", (2,) * dimensions, wrap=False)
