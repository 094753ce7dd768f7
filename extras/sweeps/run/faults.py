"""Networks with failed links and nodes, drawn at random."""

import numpy as np

from certree.models.common.errors import InputError
from certree.models.network.spec import parse_topology

SEEDS = 1000  # draw d of n failed links has the seed SEEDS · n + d
DRAWS = 1000  # of one network, until one is connected


def less_links(spec: str, links: int, seed: int, nodes: int = 0) -> str:
    """The network without N random links (both directions) and nodes, drawn until the rest is connected.

    No drawn link ends at a drawn node. InputError where DRAWS draws do not suffice.
    """
    import networkx as nx  # slow to load, and most sweeps have no faults

    topology, draws = parse_topology(spec), np.random.default_rng(seed)
    cables = np.flatnonzero(topology.src < topology.dst)
    for _ in range(DRAWS if links <= len(cables) and nodes < len(topology.endpoints) else 0):
        cut = draws.choice(cables, links, replace=False)
        gone = draws.choice(topology.endpoints, nodes, replace=False)
        graph = nx.Graph(zip(topology.src.tolist(), topology.dst.tolist(), strict=True))
        graph.remove_edges_from((int(topology.src[link]), int(topology.dst[link])) for link in cut)
        graph.remove_nodes_from(gone.tolist())
        touching = np.isin(topology.src[cut], gone) | np.isin(topology.dst[cut], gone)
        if nx.is_connected(graph) and not touching.any():
            parts = [f"without-link={topology.src[link]}-{topology.dst[link]}" for link in cut.tolist()]
            return ",".join([spec, *parts, *[f"without-node={node}" for node in gone.tolist()]])
    raise InputError(f"{spec} less {links} links and {nodes} nodes: none of {DRAWS} draws (seed {seed}) is connected")
