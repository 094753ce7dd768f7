"""`leafspine:LxSxM`."""

import numpy as np

from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.families.cabled.tree import split_capacity
from certree.models.network.families.regular.grid import parse_sizes
from certree.models.network.topology import Topology


@FAMILIES.register("leafspine", "leafspine:3x2x4@2")
def leafspine(arguments: str) -> Topology:
    """leafspine:LxSxM[@C] - L leaf switches with M endpoints each, S spine switches, leaf-spine cables of capacity C (1).

    Every leaf has one cable to every spine; oversubscribed M : S·C. Endpoint i hangs on leaf i div M; leaves come before spines.
    """
    sizes, capacity = split_capacity("leafspine", arguments)
    leaves, spines, below = parse_sizes("leafspine", sizes, dimensions=3)
    nodes = leaves * below
    cables = Cables(f"leafspine:{arguments}", nodes, leaves + spines)
    leaf = nodes + np.arange(leaves)
    cables.join(np.arange(nodes), np.repeat(leaf, below))
    cables.join(leaf[:, None], leaf[-1] + 1 + np.arange(spines), capacity)
    return cables.build()
