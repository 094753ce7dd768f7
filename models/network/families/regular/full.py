"""`full:N`."""

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import parse_sizes
from certree.models.network.topology import UNKNOWN_LATENCY, NodeKind, Topology


@FAMILIES.register("full", "full:5")
def full(arguments: str) -> Topology:
    """full:N - every node linked to every other."""
    (nodes,) = parse_sizes("full", arguments, dimensions=1)
    if not 2 <= nodes <= 4096:
        raise TopologyError(f"full:{arguments}: {nodes} node(s); allowed: 2 to 4096")
    src, dst = np.nonzero(~np.eye(nodes, dtype=np.bool_))
    return Topology(
        name=f"full:{nodes}",
        kind=np.full(nodes, NodeKind.ENDPOINT, np.int8),
        src=src.astype(np.int32),
        dst=dst.astype(np.int32),
        capacity=np.ones(len(src), np.int32),
        latency=np.full(len(src), UNKNOWN_LATENCY, np.int32),
    )
