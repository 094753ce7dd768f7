"""Grids of any dimension, the common part of ring, torus, mesh and hypercube, and networks by the neighbours of each node."""

import math
import re

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import TopologyError
from certree.models.network.topology import MAX_DIMENSIONS, MAX_NODES, UNKNOWN_LATENCY, NodeKind, Topology


def parse_numbers(family: str, arguments: str, *, count: int | None = None) -> tuple[int, ...]:
    """(8, 8) of `8x8`; TopologyError unless the numbers are whole ones from 1 and as many as `count`."""
    where = f"{family}:{arguments}" if arguments else family
    example = "8x8 or 4x4x4" if count is None else "x".join("4" * count)
    several = f"whole numbers joined by x, such as {example}"
    wanted = {None: several, 1: "one whole number"}.get(count, f"{count} {several}")
    if not re.fullmatch(r"[0-9]{1,9}(x[0-9]{1,9})*", arguments):
        raise TopologyError(f"{where}: expected {wanted}")
    numbers = tuple(int(number) for number in arguments.split("x"))
    if count is not None and len(numbers) != count:
        raise TopologyError(f"{where}: expected {wanted}")
    if len(numbers) > MAX_DIMENSIONS:
        raise TopologyError(f"{family}: {len(numbers)} sizes; allowed: 1 to {MAX_DIMENSIONS}")
    if min(numbers) < 1:
        raise TopologyError(f"{where}: sizes start at 1")
    return numbers


def parse_sizes(family: str, arguments: str, *, dimensions: int | None = None) -> tuple[int, ...]:
    """The sizes of a box of nodes; TopologyError also where it has more than MAX_NODES."""
    sizes = parse_numbers(family, arguments, count=dimensions)
    if math.prod(sizes) > MAX_NODES:
        raise TopologyError(f"{family}:{arguments}: more than {MAX_NODES} nodes")
    return sizes


def no_arguments(family: str, arguments: str) -> None:
    """Raise TopologyError unless a network of fixed size was named without sizes."""
    if arguments:
        raise TopologyError(f"{family}:{arguments}: {family} takes no sizes")


def from_heads(name: str, heads: NDArray[np.integer]) -> Topology:
    """Unit links from each node v to `heads[v]`, shape (nodes, links of a node), all nodes being endpoints. O(links)."""
    nodes, degree = heads.shape
    return Topology(
        name=name,
        kind=np.full(nodes, NodeKind.ENDPOINT, np.int8),
        src=np.repeat(np.arange(nodes, dtype=np.int32), degree),
        dst=heads.ravel().astype(np.int32),
        capacity=np.ones(nodes * degree, np.int32),
        latency=np.full(nodes * degree, UNKNOWN_LATENCY, np.int32),
    )


def grid(name: str, sizes: tuple[int, ...], *, wrap: bool) -> Topology:
    """A grid of `sizes` (row dimension first; node = r·C + c), neighbours in the order Y-, Y+, X-, X+, and in the same
    order for more dimensions.

    O(nodes · dimensions) time and memory.
    """
    nodes = math.prod(sizes)
    coordinates = np.stack(np.unravel_index(np.arange(nodes), sizes), axis=1).astype(np.int32)
    sources, targets = [], []
    for dimension, size in enumerate(sizes):
        for direction in (-1, +1):
            moved = coordinates.copy()
            moved[:, dimension] += direction
            inside = (moved[:, dimension] >= 0) & (moved[:, dimension] < size)
            # With two nodes in a dimension both directions meet the same neighbour, which the inner links join already.
            keep = inside if not wrap or size <= 2 else np.ones(nodes, np.bool_)
            moved[:, dimension] %= size
            sources.append(np.flatnonzero(keep))
            targets.append(np.ravel_multi_index(tuple(moved[keep].T), sizes))
    src, dst = np.concatenate(sources), np.concatenate(targets)
    order = np.argsort(src, kind="stable")  # keeps the neighbour order within a node
    return Topology(
        name=name,
        kind=np.full(nodes, NodeKind.ENDPOINT, np.int8),
        src=src[order].astype(np.int32),
        dst=dst[order].astype(np.int32),
        capacity=np.ones(len(src), np.int32),
        latency=np.full(len(src), UNKNOWN_LATENCY, np.int32),
        coordinates=coordinates,
    )
