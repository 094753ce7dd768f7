"""`bigraph:MxN`."""

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.families.regular.grid import parse_sizes
from certree.models.network.topology import Topology


@FAMILIES.register("bigraph", "bigraph:2x4")
def bigraph(arguments: str) -> Topology:
    """bigraph:MxN - N switches with M endpoints each; each of the N/2 upper ones joined to each of the N/2 lower ones.

    The BiGraph of EFLOPS (HPCA 2020) in the sizes of the MultiTree paper (Section VI-A): `bigraph:4x8` has 32 endpoints on 4 upper
    and 4 lower switches, `bigraph:4x16` has 64. Endpoint i hangs on switch i div M; upper switches come first.
    """
    below, switches = parse_sizes("bigraph", arguments, dimensions=2)
    if switches % 2:
        raise TopologyError(f"bigraph:{arguments}: {switches} switches; allowed: an even number")
    nodes, half = below * switches, switches // 2
    cables = Cables(f"bigraph:{arguments}", nodes, switches)
    switch = nodes + np.arange(switches)
    cables.join(np.arange(nodes), np.repeat(switch, below))
    cables.join(switch[:half, None], switch[half:])
    return cables.build()
