"""Hamiltonian cycles: an order in which a ring algorithm can visit every node over direct links."""

import math
from contextlib import suppress

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.synth.method import Request
from certree.synth.solvers.cpsat import Budget, Status, run

SEARCH_BUDGET = 5  # deterministic seconds at effort 1


def hamiltonian_cycle(request: Request, *, both_ways: bool) -> list[int]:
    """Endpoint ids in an order where each links to the next and the last to the first; backwards too with `both_ways`.

    It tries the order of the ids, on a grid with an even number of nodes a snake, then an exact search. UnsupportedError says
    whether there is no such cycle or none was found within the effort. The first two cost O(nodes + links).
    """
    topology = request.topology
    if (topology.pair_capacity < topology.lanes).any():  # the slowest link of a ring is the ring's speed
        with suppress(UnsupportedError):
            return _cycle(request, topology.pair_capacity >= topology.lanes, both_ways)
    return _cycle(request, np.ones(len(topology.pair_capacity), np.bool_), both_ways)


def _cycle(request: Request, usable: np.ndarray, both_ways: bool) -> list[int]:
    """A cycle over joined pairs that are flagged as usable."""
    topology = request.topology
    for order in (topology.endpoints.tolist(), _snake(topology)):
        if order is not None and _is_cycle(topology, order, usable, both_ways):
            return order
    return _search(request, usable, both_ways)


def _is_cycle(topology: Topology, order: list[int], usable: np.ndarray, both_ways: bool) -> bool:
    here, there = np.array(order), np.roll(order, -1)
    pairs = [topology.pair_index(here, there)] + ([topology.pair_index(there, here)] if both_ways else [])
    return all(bool((pair >= 0).all() and usable[pair].all()) for pair in pairs)


def _snake(topology: Topology) -> list[int] | None:
    """A cycle on an undamaged grid with an even side and at least one other side: along the first row of a 2-D view, and back
    through the remaining rows column by column. None on other networks. O(nodes · dimensions)."""
    if topology.coordinates is None or len(topology.endpoints) != len(topology.kind):
        return None
    sizes = tuple((topology.coordinates.max(axis=0) + 1).tolist())
    even = next((dimension for dimension, size in enumerate(sizes) if size % 2 == 0), None)
    if even is None or min(sizes) < 1 or math.prod(sizes) != len(topology.kind) or math.prod(sizes) == sizes[even]:
        return None
    # The other dimensions, walked back and forth, make one line of nodes that are neighbours in the grid.
    rest = sizes[:even] + sizes[even + 1 :]
    line = _back_and_forth(rest)
    at = np.insert(np.repeat(line, sizes[even], axis=0), even, np.tile(np.arange(sizes[even]), len(line)), axis=1)
    node = np.ravel_multi_index(tuple(at.T), sizes).reshape(len(line), sizes[even])
    # node[i][j]: i along the line, j along the even side.
    columns = [node[1:, j] if j % 2 else node[:0:-1, j] for j in range(sizes[even])]
    return [*node[0].tolist(), *np.concatenate(columns[::-1]).tolist()]


def _back_and_forth(sizes: tuple[int, ...]) -> np.ndarray:
    """All cells of a grid, each next to the one before it; shape (cells, dimensions)."""
    cells = np.zeros((1, 0), np.int64)
    for size in reversed(sizes):
        parts = [np.insert(cells[:: 1 if i % 2 == 0 else -1], 0, i, axis=1) for i in range(size)]
        cells = np.concatenate(parts)
    return cells


def _search(request: Request, usable: np.ndarray, both_ways: bool) -> list[int]:
    """A cycle by CP-SAT's circuit constraint, or UnsupportedError."""
    from ortools.sat.python import cp_model  # noqa: PLC0415

    topology = request.topology
    tails, heads = topology.pair_src, topology.pair_dst
    if both_ways:
        back = topology.pair_index(heads, tails)
        usable = usable & (back >= 0) & usable[back]
    none_exists = UnsupportedError(f"{topology.name} has no Hamiltonian cycle for a ring to follow")
    if not np.isin(topology.endpoints, tails[usable]).all():
        raise none_exists  # the circuit constraint overlooks nodes without arcs
    model = cp_model.CpModel()
    arcs = [(u, v, model.new_bool_var(f"{u}>{v}")) for u, v in zip(tails[usable].tolist(), heads[usable].tolist(), strict=True)]
    model.add_circuit(arcs)
    status, solver = run(model, request, Budget(SEARCH_BUDGET * request.effort))
    if status is Status.INFEASIBLE:
        raise none_exists
    if not status.has_solution:
        raise UnsupportedError(f"found no Hamiltonian cycle of {topology.name} at effort {request.effort}; there may be one")
    following = {u: v for u, v, used in arcs if solver.boolean_value(used)}
    order = [int(topology.endpoints[0])]
    while len(order) < len(topology.endpoints):
        order.append(following[order[-1]])
    return order
