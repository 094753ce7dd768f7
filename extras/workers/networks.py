"""Networks and collectives as they are sent to a worker, which may not see the files that they come from."""

from collections.abc import Mapping
from typing import Any

from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.network.families import load_families
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import Collective, read_collective
from certree.models.schedule.schedule_file import collective_document


def sent(topology: Topology, collective: Collective, given: str = "") -> dict[str, Any]:
    """The arguments that stand for a network and a collective: of the network the name and the digest of its links, and its
    document, unless it was `given` by the name of a family, which says it all."""
    is_family = bool(given) and given.split(",", maxsplit=1)[0].partition(":")[0] in load_families()
    document = None if is_family else topology_document(topology)
    known = {"network": topology.name, "document": document, "links": topology.digest}
    return known | {"collective": collective_document(collective)}


def received(arguments: Mapping[str, Any]) -> tuple[Topology, Collective]:
    """The network and the collective again; InputError where it is another network here."""
    name, document = arguments["network"], arguments["document"]
    topology = parse_topology(name) if document is None else topology_from_document(document, name)
    if topology.digest != arguments["links"]:
        raise InputError(f"{name} is another network on this worker")
    return topology, read_collective(Fields(arguments["collective"], "collective"), version_2=True)
