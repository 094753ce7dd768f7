"""Networks built cable by cable: the common part of the families with switches."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certree.models.common.errors import TopologyError
from certree.models.network.topology import MAX_NODES, UNKNOWN_LATENCY, Int32, NodeKind, Topology


class Cables:
    """Full-duplex cables in the order of their laying, which is the order of the links out of each node.

    Endpoints have the ids 0 .. endpoints - 1, switches follow. TopologyError when there would be more than MAX_NODES.
    """

    def __init__(self, name: str, endpoints: int, switches: int = 0) -> None:
        if endpoints + switches > MAX_NODES:
            raise TopologyError(f"{name}: {endpoints + switches} nodes; allowed: up to {MAX_NODES}")
        self._name = name
        self._endpoints = endpoints
        self._switches = switches
        self._rows: list[NDArray[np.int32]] = [np.empty((0, 4), np.int32)]

    def join(self, a: ArrayLike, b: ArrayLike, capacity: int = 1, latency: int = UNKNOWN_LATENCY) -> None:
        """Lay a cable between every a and its b (numbers, or columns broadcast against each other): a link in each direction."""
        ends = np.stack([side.ravel() for side in np.broadcast_arrays(a, b)], axis=1).astype(np.int32)
        rows = np.empty((2 * len(ends), 4), np.int32)
        rows[0::2, :2], rows[1::2, :2] = ends, ends[:, ::-1]
        rows[:, 2:] = capacity, latency
        self._rows.append(rows)

    def build(self, coordinates: Int32 | None = None, **fields: Any) -> Topology:
        """The network; `fields` are any others of `Topology`. O(links log links)."""
        links = np.concatenate(self._rows)
        links = links[np.argsort(links[:, 0], kind="stable")]
        kind = np.full(self._endpoints + self._switches, NodeKind.SWITCH, np.int8)
        kind[: self._endpoints] = NodeKind.ENDPOINT
        return Topology(
            name=self._name,
            kind=kind,
            src=links[:, 0],
            dst=links[:, 1],
            capacity=links[:, 2],
            latency=links[:, 3],
            coordinates=coordinates,
            **fields,
        )
