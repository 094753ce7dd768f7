"""Routes in dimension order on grids: along the last dimension (X) to the right column, then along the one before it, and so on."""

from functools import cached_property

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology


class DimensionOrder:
    """Routes between the nodes of a grid; UnsupportedError for a network without coordinates.

    Around a ring a route takes the shorter direction, and on ties towards higher coordinates.
    """

    def __init__(self, topology: Topology) -> None:
        if topology.coordinates is None or not _is_grid(topology, topology.coordinates):
            raise UnsupportedError(
                f"{topology.name} is not a grid; dimension order needs coordinates (mesh, torus, ring, hypercube)"
            )
        self.topology, self.at = topology, topology.coordinates
        self.sizes = (self.at.max(axis=0) + 1).tolist()
        self._node = {tuple(place): node for node, place in enumerate(self.at.tolist())}
        ends = zip(topology.src.tolist(), topology.dst.tolist(), strict=True)
        self._link = {pair: number for number, pair in enumerate(ends)}

    @cached_property
    def _wraps(self) -> list[bool]:
        """Whether some link joins the first and the last coordinate of each dimension."""
        apart = np.abs(self.at[self.topology.src] - self.at[self.topology.dst])
        return [size > 2 and bool((apart[:, dimension] == size - 1).any()) for dimension, size in enumerate(self.sizes)]

    def route(self, src: int, dst: int) -> tuple[int, ...]:
        """The numbers of the links from `src` to `dst`, in their order; UnsupportedError where one of them is missing."""
        place, goal = self.at[src].tolist(), self.at[dst].tolist()
        links = []
        for dimension in reversed(range(len(place))):
            size = self.sizes[dimension]
            while place[dimension] != goal[dimension]:
                up = (goal[dimension] - place[dimension]) % size
                rises = up <= size - up if self._wraps[dimension] else goal[dimension] > place[dimension]
                tail = self._node[tuple(place)]
                place[dimension] = (place[dimension] + (1 if rises else -1)) % size
                head = self._node.get(tuple(place))
                if head is None or (tail, head) not in self._link:
                    missing = f"its route in dimension order from {src} to {dst} needs {tail}>{head}"
                    raise UnsupportedError(f"{self.topology.name}: {missing}, which is not a link; shortest routes go around")
                links.append(self._link[tail, head])
        return tuple(links)


def _is_grid(topology: Topology, at: np.ndarray) -> bool:
    """Whether nodes have distinct coordinates, and every link leads one step along one dimension or around its ring."""
    apart = np.abs(at[topology.src] - at[topology.dst])
    one = (apart != 0).sum(axis=1) == 1
    step = apart.max(axis=1)
    around = (apart == at.max(axis=0)).any(axis=1)
    return (
        len(np.unique(at, axis=0)) == len(at) and bool((at.min(axis=0) == 0).all()) and bool((one & ((step == 1) | around)).all())
    )
