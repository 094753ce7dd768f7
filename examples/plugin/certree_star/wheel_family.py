"""The family `wheel:N`."""

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables


@FAMILIES.register("wheel", "wheel:4", "wheel:6")
def wheel(arguments):
    """wheel:N - a ring of N nodes, 3 to 4096, and a node in the middle that is joined to all of them."""
    if not (arguments.isascii() and arguments.isdigit() and len(arguments) < 5 and 3 <= int(arguments) <= 4096):
        raise TopologyError(f"wheel:{arguments}: allowed: a number of nodes from 3 to 4096")
    size = int(arguments)
    cables = Cables(f"wheel:{size}", size + 1)
    nodes = np.arange(size)
    cables.join(nodes, (nodes + 1) % size)
    cables.join(nodes, size)
    return cables.build()
