"""`mesh:RxC`, `mesh:AxBxC`, ..."""

from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import grid, parse_sizes
from certree.models.network.topology import Topology


@FAMILIES.register("mesh", "mesh:3x4")
def mesh(arguments: str) -> Topology:
    """mesh:RxC[x...] - a grid without wrap-around links."""
    return grid(f"mesh:{arguments}", parse_sizes("mesh", arguments), wrap=False)
