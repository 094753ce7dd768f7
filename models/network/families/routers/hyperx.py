"""`hyperx:AxB`."""

import math

import numpy as np

from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.full_mesh import row_neighbours
from certree.models.network.families.regular.grid import parse_sizes
from certree.models.network.families.routers.routers import split_endpoints, with_endpoints
from certree.models.network.topology import Topology


@FAMILIES.register("hyperx", "hyperx:2x3@2")
def hyperx(arguments: str) -> Topology:
    """hyperx:AxB[x...][@P] - a grid of routers with P endpoints each; all routers of a row, a column and so on are joined.

    Ahn et al. (SC 2009). `hyperx:12x8@7` is the network of 672 nodes that Domke et al. (SC 2019) built. Without @P the routers are
    the endpoints, as in `full-mesh`. Routers are numbered as the nodes of a mesh.
    """
    sizes, each = split_endpoints("hyperx", arguments)
    box = parse_sizes("hyperx", sizes)
    heads = row_neighbours(f"hyperx:{arguments}", box)
    cables, ids = with_endpoints(f"hyperx:{arguments}", math.prod(box), each)
    tail = np.repeat(np.arange(len(heads)), heads.shape[1])
    once = tail < heads.ravel()
    cables.join(ids[tail[once]], ids[heads.ravel()[once]])
    return cables.build()
