"""Networks in files."""

from certree.api.artefacts import Artefact, Asked, artefact
from certree.models.common.files import Opened
from certree.models.network.network_files import starts_as_network
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology


@artefact("network")
class NetworkFile(Artefact):
    """A network: certree's JSON, node-link JSON, GraphML, or a description by another tool."""

    is_network = True
    in_folders = False

    def matches(self, opened: Opened) -> bool:
        """Whether a file begins as one of the kinds of network files does."""
        return starts_as_network(opened.start)

    def load(self, opened: Opened, asked: Asked) -> Topology:
        """The network."""
        return parse_topology(opened)
