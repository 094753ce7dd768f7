"""Source routes in the form of the hardware: at each router the number of the output port, then eject.

Ports of a node are the links that leave it, numbered from 0 in link order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import numbered
from certree.models.common.errors import TableFormatError
from certree.models.network.topology import Int32, Topology
from certree.models.tables.table_columns import NIL
from certree.models.tables.tables import Tables

EJECT = NIL  # the message leaves the network here


def port_numbers(topology: Topology) -> Int32:
    """The port of each link at the node that it leaves. O(links log links)."""
    return numbered(topology.src).astype(np.int32)


def route_ports(tables: Tables) -> Int32:
    """The ports of every route, shape (routes, longest + 1), each filled up with EJECT; one column more, in front, with the virtual
    channels where routes state them. O(routes · longest)."""
    ports = port_numbers(tables.topology)
    lines = np.full((len(tables.routes), max(map(len, tables.routes), default=0) + 1), EJECT, np.int32)
    for line, route in zip(lines, tables.routes, strict=True):
        line[: len(route)] = ports[list(route)]
    return lines if tables.virtual_channel is None else np.column_stack((tables.virtual_channel, lines))


def links_of_ports(topology: Topology, node: Int32, route: Int32, ports: NDArray[Any]) -> tuple[tuple[int, ...], ...]:
    """The link numbers of every route, followed from the `node` of the first row that names it in its `route` column.

    `ports` has a line for each route. Raises TableFormatError for a route that no row takes, a port that a router does not have,
    and anything behind the first EJECT. O(rows + routes · longest).
    """
    used, first = np.unique(route[route != NIL], return_index=True)
    missing = np.setdiff1d(np.arange(len(ports)), used)
    if len(missing):
        raise TableFormatError(f"route {missing[0]} is taken by no row")
    if len(used) > len(ports):
        raise TableFormatError(f"a row takes route {used[-1]}; there are {len(ports)}")
    starts = node[route != NIL][first].tolist()
    links_of = {
        (tail, port): link
        for link, (tail, port) in enumerate(zip(topology.src.tolist(), port_numbers(topology).tolist(), strict=True))
    }
    heads = topology.dst.tolist()
    routes = []
    for number, (start, line) in enumerate(zip(starts, ports.tolist(), strict=True)):
        at, links = start, list[int]()
        length = line.index(EJECT) if EJECT in line else 0
        if not length or any(port != EJECT for port in line[length:]):
            raise TableFormatError(f"route {number} is {line}; a route is a port or more, then eject to the end of the line")
        for port in line[:length]:
            if (at, port) not in links_of:
                raise TableFormatError(f"route {number} takes port {port} of node {at}, which has no such port")
            links.append(links_of[at, port])
            at = heads[links[-1]]
        routes.append(tuple(links))
    return tuple(routes)
