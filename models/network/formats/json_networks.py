"""certree's own JSON."""

import re

from certree.models.common.files import Opened, canonical_json
from certree.models.network.network_files import Given, NetworkFormat, network_format
from certree.models.network.topology import Topology
from certree.models.network.topology_file import FORMAT, topology_document, topology_from_document

_START = re.compile(rf'\s*\{{\s*"format"\s*:\s*"{FORMAT}"'.encode())


@network_format("certree")
class JsonNetwork(NetworkFormat):
    """certree's own JSON: everything that a network states."""

    suffixes = (".json", ".json.gz")

    def matches(self, start: bytes) -> bool:
        """Whether a file states the format of certree."""
        return _START.match(start) is not None

    def read(self, file: Opened, options: Given) -> Topology:
        """The network; a document without a format may be node-link JSON, whose keys come in any order."""
        document = file.document()
        if isinstance(document, dict) and "format" not in document and "nodes" in document:
            from certree.models.network.topology_graph import from_node_link  # noqa: PLC0415 - networkx is slow to load

            return from_node_link(document, str(file))
        return topology_from_document(document, str(file))

    def written(self, topology: Topology) -> bytes:
        """The bytes of the document."""
        return canonical_json(topology_document(topology))
