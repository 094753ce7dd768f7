"""`full-mesh:AxBxC`."""

import math

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import from_heads, parse_sizes
from certree.models.network.topology import Topology

MAX_LINKS = 1 << 24


@FAMILIES.register("full-mesh", "full-mesh:3x4")
def full_mesh(arguments: str) -> Topology:
    """full-mesh:AxB[x...] - a grid in which all nodes of a row, of a column and so on are joined to each other.

    The n-dimensional full mesh of UB-Mesh (Liao et al., 2025), whose racks are `full-mesh:8x8` of NPUs; also called Hamming graph,
    or generalised hypercube. With switches as nodes it is `hyperx`. Nodes are numbered as in a mesh.
    """
    sizes = parse_sizes("full-mesh", arguments)
    return from_heads(f"full-mesh:{arguments}", row_neighbours(f"full-mesh:{arguments}", sizes))


def row_neighbours(where: str, sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Shape (nodes, Σ (size - 1)): the nodes that differ from each node in one coordinate, by dimension and distance."""
    nodes = math.prod(sizes)
    if nodes * sum(size - 1 for size in sizes) > MAX_LINKS:
        raise TopologyError(f"{where}: more than {MAX_LINKS} links")
    place = np.stack(np.unravel_index(np.arange(nodes), sizes), axis=1)
    heads = [np.empty((nodes, 0), np.int64)]
    for dimension, size in enumerate(sizes):
        for distance in range(1, size):
            moved = place.copy()
            moved[:, dimension] = (moved[:, dimension] + distance) % size
            heads.append(np.ravel_multi_index(tuple(moved.T), sizes)[:, None])
    return np.concatenate(heads, axis=1)
