"""`dragonfly:GxAxH`."""

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import parse_numbers
from certree.models.network.families.routers.routers import split_endpoints, with_endpoints
from certree.models.network.topology import MAX_NODES, Topology

MAX_CABLES = 1 << 23


@FAMILIES.register("dragonfly", "dragonfly:5x2x2@1", "dragonfly:3x2x1")
def dragonfly(arguments: str) -> Topology:
    """dragonfly:GxAxH[@P] - G groups of A routers, all joined to each other, with H links to other groups and P endpoints each.

    Without @P the routers are the endpoints. Every two groups are joined by A·H div (G - 1) cables; ports that are left over are
    unused. Port k of a group, of its router k div H, leads to the group k mod (G - 1) + 1 further on. `dragonfly:9x4x2@2` is the
    network of 72 endpoints of Kim et al. (ISCA 2008, Figure 5); groups of 32 routers with 16 endpoints are those of Slingshot.
    Router a of group g is number g·A + a.
    """
    sizes, each = split_endpoints("dragonfly", arguments)
    groups, inside, links = parse_numbers("dragonfly", sizes, count=3)
    where = f"dragonfly:{arguments}"
    copies = inside * links // (groups - 1) if groups > 1 else 0
    if groups < 2 or not copies:
        raise TopologyError(f"{where}: {groups} groups with {inside * links} links each; allowed: 2 to {inside * links + 1} groups")
    if groups * inside > MAX_NODES or groups * inside * (inside + links) > MAX_CABLES:
        raise TopologyError(f"{where}: more than {MAX_CABLES} cables")
    cables, ids = with_endpoints(where, groups * inside, each)
    router = ids.reshape(groups, inside)
    low, high = np.triu_indices(inside, 1)
    cables.join(router[:, low], router[:, high])
    group, offset, copy = (axis.ravel() for axis in np.indices((groups, groups - 1, copies)))
    other = (group + offset + 1) % groups
    port, back = copy * (groups - 1) + offset, copy * (groups - 1) + groups - 2 - offset
    once = group < other
    cables.join(router[group, port // links][once], router[other, back // links][once])
    return cables.build()
