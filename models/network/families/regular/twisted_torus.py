"""`twisted-torus:AxBxC`."""

import math

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import from_heads, parse_sizes
from certree.models.network.topology import Topology


@FAMILIES.register("twisted-torus", "twisted-torus:2x4", "twisted-torus:2x2x4", "twisted-torus:2x4x4")
def twisted_torus(arguments: str) -> Topology:
    """twisted-torus:AxBxC - a torus of sizes K and 2K; links around a short side also move K along every long side.

    Two or three sizes. Cámara et al. (IEEE TPDS 2010) for K x 2K and K x K x 2K; K x 2K x 2K is the body-centred lattice of
    Camarero, Martínez and Beivide (2013). Slices of TPU v4 of these shapes can be twisted: 4x4x8, 4x8x8, 8x8x16 and so on (Jouppi
    et al., ISCA 2023). Nodes are numbered as in a torus, and links leave them in the same order.
    """
    sizes = parse_sizes("twisted-torus", arguments)
    short, long = min(sizes), max(sizes)
    if not 2 <= len(sizes) <= 3 or short < 2 or long != 2 * short or not set(sizes) <= {short, long}:
        raise TopologyError(f"twisted-torus:{arguments}: allowed: two or three sizes K and 2K, both of them, K from 2 on")
    place = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
    twist = np.where(np.array(sizes) == long, short, 0)
    heads = []
    for dimension, size in enumerate(sizes):
        for direction in (-1, +1):
            moved = place.copy()
            moved[:, dimension] += direction
            if size == short:
                around = (moved[:, dimension] < 0) | (moved[:, dimension] >= size)
                moved[around] += twist
            heads.append(np.ravel_multi_index(tuple((moved % sizes).T), sizes))
    return from_heads(f"twisted-torus:{arguments}", np.stack(heads, axis=1))
