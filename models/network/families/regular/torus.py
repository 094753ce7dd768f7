"""`torus:RxC`, `torus:AxBxC`, ..."""

from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import grid, parse_sizes
from certree.models.network.topology import Topology


@FAMILIES.register("torus", "torus:4x4", "torus:2x3x4")
def torus(arguments: str) -> Topology:
    """torus:RxC[x...] - a grid that wraps around in every dimension; a dimension of size 2 has one pair of links."""
    return grid(f"torus:{arguments}", parse_sizes("torus", arguments), wrap=True)
