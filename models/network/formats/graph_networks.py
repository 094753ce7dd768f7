"""Graphs of networkx: node-link JSON and GraphML. networkx is slow to load, and seldom needed."""

import re

from certree.models.common.files import Opened
from certree.models.network.network_files import Given, NetworkFormat, network_format
from certree.models.network.topology import Topology

_NODE_LINK = re.compile(rb'\s*\{\s*"(?:directed|multigraph|graph|nodes)"\s*:')


@network_format("graphml")
class GraphMl(NetworkFormat):
    """GraphML, as networkx writes it."""

    suffixes = (".graphml", ".graphml.gz")

    def matches(self, start: bytes) -> bool:
        """Whether a file begins with the root element of GraphML."""
        return b"<graphml" in start

    def read(self, file: Opened, options: Given) -> Topology:
        """The network of the graph."""
        from certree.models.network.topology_graph import read_graphml  # noqa: PLC0415

        return read_graphml(file)

    def written(self, topology: Topology) -> bytes:
        """The bytes of a GraphML file, which keeps neither link order nor drawing, bandwidth and clock."""
        from certree.models.network.topology_graph import graphml_bytes  # noqa: PLC0415

        return graphml_bytes(topology)


@network_format("node-link")
class NodeLink(NetworkFormat):
    """Node-link JSON of networkx."""

    suffixes = (".json", ".json.gz")

    def matches(self, start: bytes) -> bool:
        """Whether a file begins with the first key, as networkx writes it."""
        return _NODE_LINK.match(start) is not None

    def read(self, file: Opened, options: Given) -> Topology:
        """The network of the graph."""
        from certree.models.network.topology_graph import from_node_link  # noqa: PLC0415

        return from_node_link(file.document(), str(file))
