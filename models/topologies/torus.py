"""`torus:RxC`, `torus:AxBxC`, ..."""

from certree.models.topologies import FAMILIES
from certree.models.topologies.grid import grid, parse_sizes
from certree.models.topology import Topology


@FAMILIES.register("torus")
def torus(arguments: str) -> Topology:
    """torus:RxC[x...] - a grid that wraps around in every dimension; a dimension of size 2 has one pair of links."""
    return grid(f"torus:{arguments}", parse_sizes("torus", arguments), wrap=True)
