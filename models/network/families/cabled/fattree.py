"""`fattree:LxM`."""

import numpy as np

from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.families.regular.grid import parse_sizes
from certree.models.network.topology import Topology


@FAMILIES.register("fattree", "fattree:4x4")
def fattree(arguments: str) -> Topology:
    """fattree:LxM - L leaf switches with M endpoints each, and M spine switches, each with one cable to every leaf.

    Each leaf has as many uplinks as endpoints (full bisection). `fattree:8x8` is the 8-ary 2-level fat tree of 64 nodes of the
    MultiTree paper (Section VI-A). Endpoint i hangs on leaf i div M; leaves are nodes L·M .. L·M + L - 1, spines follow.
    """
    leaves, spines = parse_sizes("fattree", arguments, dimensions=2)
    nodes = leaves * spines
    cables = Cables(f"fattree:{arguments}", nodes, leaves + spines)
    leaf = nodes + np.arange(leaves)
    cables.join(np.arange(nodes), np.repeat(leaf, spines))
    cables.join(leaf[:, None], leaf[-1] + 1 + np.arange(spines))
    return cables.build()
