"""`kautz:DxK`."""

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import from_heads, parse_numbers
from certree.models.network.topology import MAX_NODES, Topology


@FAMILIES.register("kautz", "kautz:2x3")
def kautz(arguments: str) -> Topology:
    """kautz:DxK - the Kautz digraph: (D + 1)·D^(K-1) nodes with D one-way links each, every node within K hops.

    Node i has links to -(D·i + a) modulo the number of nodes, a = 1 ... D (Imase and Itoh, IEEE Trans. Computers 1981).
    `kautz:3x6`, 972 nodes, is the network of the SiCortex SC5832.
    """
    degree, hops = parse_numbers("kautz", arguments, count=2)
    if hops > 20 or (degree + 1) * degree ** (hops - 1) > MAX_NODES:
        raise TopologyError(f"kautz:{arguments}: more than {MAX_NODES} nodes, or more than 20 hops")
    nodes = (degree + 1) * degree ** (hops - 1)
    heads = -(degree * np.arange(nodes)[:, None] + np.arange(1, degree + 1)) % nodes
    return from_heads(f"kautz:{arguments}", heads)
