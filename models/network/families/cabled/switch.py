"""`switch:N`."""

import numpy as np

from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.families.regular.grid import parse_sizes
from certree.models.network.topology import Topology


@FAMILIES.register("switch", "switch:6")
def switch(arguments: str) -> Topology:
    """switch:N - N endpoints, one cable each to a single switch (node N)."""
    (nodes,) = parse_sizes("switch", arguments, dimensions=1)
    cables = Cables(f"switch:{nodes}", nodes, 1)
    cables.join(np.arange(nodes), nodes)
    return cables.build()
