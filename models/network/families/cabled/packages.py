"""Networks of packages: wide links inside a package, and a torus or switches between packages.

Endpoint ids run package by package, packages row by row: id = (row · columns + column) · N + place. Coordinates are (row,
column, place). Inside a package links are wider and shorter than outside, by the figures of the papers.
"""

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.families.regular.grid import parse_sizes
from certree.models.network.topology import Int32, Topology

#: switch-fc, Table II: 512 and 256 bits/ns; 90 and 200 ns at cycles of 1 ns. ACE, Table 7: 200 and 25 GB/s; 90 and 200 cycles
SWITCH_FC_INSIDE, ACE_INSIDE = 2, 8
LATENCY_INSIDE, LATENCY_OUTSIDE = 90, 200
ACE_SWITCHES = 4  # ACE, Table 5: fully connected switches of the alltoall platform, one inter-package link of every NPU to each


@FAMILIES.register("switch-fc", "switch-fc:4x3", "switch-fc:2x2x4x2")
def switch_fc(arguments: str) -> Topology:
    """switch-fc:[RxCx]NxS - R x C packages (one by default) of N nodes on S local switches, 1 to N; a torus between packages.

    The switch-based fully connected platform: every node has a cable to each local switch of its package, and ring cables to the
    nodes of the same place in the packages of its row and column; nodes do not forward. Local links have capacity 2 and latency
    90 cycles, torus links 1 and 200 (Table II). Switch s of a package has the place N + s and, after all endpoints, the next id.
    """
    sizes = parse_sizes("switch-fc", arguments)
    if len(sizes) not in (2, 4):
        raise TopologyError(f"switch-fc:{arguments}: expected NxS or RxCxNxS, such as 4x3 or 2x2x4x3")
    rows, columns, nodes, switches = sizes if len(sizes) == 4 else (1, 1, *sizes)
    if switches > nodes:
        raise TopologyError(f"switch-fc:{arguments}: {switches} local switches; allowed: 1 to {nodes}")
    packages = rows * columns
    cables = Cables(f"switch-fc:{arguments}", packages * nodes, packages * switches)
    endpoint = np.arange(packages * nodes).reshape(packages, nodes, 1)
    local = packages * nodes + np.arange(packages * switches).reshape(packages, 1, switches)
    cables.join(endpoint, local, SWITCH_FC_INSIDE, LATENCY_INSIDE)
    _torus_between(cables, rows, columns, nodes)
    places = [(package, place) for package in range(packages) for place in range(nodes)]
    places += [(package, nodes + place) for package in range(packages) for place in range(switches)]
    return cables.build(np.array([(*divmod(package, columns), place) for package, place in places], np.int32))


@FAMILIES.register("hier-torus", "hier-torus:2x2x4")
def hier_torus(arguments: str) -> Topology:
    """hier-torus:RxCxN - R x C packages of N nodes in a ring of capacity 2; a unit torus between nodes of the same place.

    The hierarchical torus that the switch-based fully connected platform is compared with; latencies 90 and 200 cycles (Table II).
    """
    rows, columns, nodes = parse_sizes("hier-torus", arguments, dimensions=3)
    cables = Cables(f"hier-torus:{arguments}", rows * columns * nodes)
    _ring(cables, _grid_ids(rows, columns, nodes), 2, SWITCH_FC_INSIDE, LATENCY_INSIDE)
    _torus_between(cables, rows, columns, nodes)
    return cables.build(_coordinates(rows, columns, nodes))


@FAMILIES.register("ace-torus", "ace-torus:4x2x2")
def ace_torus(arguments: str) -> Topology:
    """ace-torus:LxVxH - V x H packages of L NPUs in a ring of capacity 8; unit rings along V and H between packages.

    ACE, Tables 5 and 7: every NPU has two links of 200 GB/s inside and four of 25 GB/s (the unit) outside; latencies 90 and 200
    cycles. Both links of a ring of two meet the same neighbour: one link of twice the capacity. When V or H is 1, the other has
    two rings (capacity 2), so that all four links are used; Table 5 prints L where H must be meant.
    """
    inside, rows, columns = parse_sizes("ace-torus", arguments, dimensions=3)
    cables = Cables(f"ace-torus:{arguments}", inside * rows * columns)
    ids = _grid_ids(rows, columns, inside)
    rings = 2 if 1 in (rows, columns) else 1
    for axis, size, capacity, latency in (
        (2, inside, ACE_INSIDE, LATENCY_INSIDE),
        (0, rows, rings, LATENCY_OUTSIDE),
        (1, columns, rings, LATENCY_OUTSIDE),
    ):
        _ring(cables, ids, axis, 2 * capacity if size == 2 else capacity, latency)
    return cables.build(_coordinates(rows, columns, inside))


@FAMILIES.register("ace-alltoall", "ace-alltoall:4x2")
def ace_alltoall(arguments: str) -> Topology:
    """ace-alltoall:LxP - P packages of L NPUs in a ring of capacity 8; four global switches with a unit link to every NPU.

    ACE, Tables 5 and 7, as `ace-torus`. NPU l of package p is node p·L + l and has the coordinates (p, l); switches have (-1, s).
    """
    inside, packages = parse_sizes("ace-alltoall", arguments, dimensions=2)
    nodes = inside * packages
    cables = Cables(f"ace-alltoall:{arguments}", nodes, ACE_SWITCHES)
    capacity = 2 * ACE_INSIDE if inside == 2 else ACE_INSIDE
    _ring(cables, _grid_ids(1, packages, inside), 2, capacity, LATENCY_INSIDE)
    cables.join(np.arange(nodes)[:, None], nodes + np.arange(ACE_SWITCHES), 1, LATENCY_OUTSIDE)
    switches = [(-1, s) for s in range(ACE_SWITCHES)]
    return cables.build(np.concatenate([_coordinates(1, packages, inside)[:, 1:], np.array(switches, np.int32)]))


def _grid_ids(rows: int, columns: int, nodes: int) -> NDArray[np.int64]:
    return np.arange(rows * columns * nodes).reshape(rows, columns, nodes)


def _coordinates(rows: int, columns: int, nodes: int) -> Int32:
    """(row, column, place) of every endpoint."""
    where = np.unravel_index(np.arange(rows * columns * nodes), (rows, columns, nodes))
    return np.stack(where, axis=1).astype(np.int32)


def _ring(cables: Cables, ids: NDArray[np.int64], axis: int, capacity: int, latency: int) -> None:
    """Rings along an axis of the ids: a cable from each to the next; two in a row have one cable, a single one none."""
    size = ids.shape[axis]
    if size > 1:
        ahead = np.take(ids, range(size - 1 if size == 2 else size), axis)
        cables.join(ahead, np.take(ids, [(place + 1) % size for place in range(ahead.shape[axis])], axis), capacity, latency)


def _torus_between(cables: Cables, rows: int, columns: int, nodes: int) -> None:
    """Unit rings through the nodes of the same place, along the columns and the rows of packages."""
    for axis in (0, 1):
        _ring(cables, _grid_ids(rows, columns, nodes), axis, 1, LATENCY_OUTSIDE)
