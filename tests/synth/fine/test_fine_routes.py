"""Even routes: those of a plain version in Python, and pairs without a path."""

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.synth.fine.fine_routes import SWEEPS, even_routes
from certree.synth.fine.program import Route
from tests.models.examples import network
from tests.synth.execution import ask


class PlainRerouting:
    """Loads of links, in parts of their capacity, and routes."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._out: list[list[tuple[int, int]]] = [[] for _ in topology.kind]
        self._into: list[list[int]] = [[] for _ in topology.kind]
        for link, (src, dst) in enumerate(zip(topology.src.tolist(), topology.dst.tolist(), strict=True)):
            self._out[src].append((link, dst))
            self._into[dst].append(src)
        self._load = [0] * len(topology.src)
        self._wide = topology.capacity.tolist()
        self._left: dict[int, list[int]] = {}
        self._only: dict[tuple[int, int], Route | None] = {}
        self._forwards = topology.forwards.tolist()

    def run(self, src: list[int], dst: list[int]) -> list[Route]:
        """A route for each pair, in their order; UnsupportedError for one without a path."""
        routes: list[Route] = [()] * len(src)
        open_rows = []  # with a choice
        for row, (here, there) in enumerate(zip(src, dst, strict=True)):
            only = self._single(here, there)
            routes[row] = self._least(here, there) if only is None else only
            open_rows += [(row, here, there)] * (only is None)
            for link in routes[row]:
                self._load[link] += 1
        for _ in range(1, SWEEPS):
            for row, here, there in open_rows:
                for link in routes[row]:
                    self._load[link] -= 1
                routes[row] = self._least(here, there)
                for link in routes[row]:
                    self._load[link] += 1
        return routes

    def _single(self, here: int, there: int) -> Route | None:
        """The shortest route where there is one only; None where there are none or several."""
        if (here, there) not in self._only:
            left, route, node = self._hops(there), [], here
            while node != there:
                ahead = [
                    (link, to)
                    for link, to in self._out[node]
                    if 0 <= left[to] == left[node] - 1 and (to == there or self._forwards[to])
                ]
                if len(ahead) != 1:
                    break
                route.append(ahead[0][0])
                node = ahead[0][1]
            self._only[here, there] = tuple(route) if node == there else None
        return self._only[here, there]

    def _least(self, here: int, there: int) -> Route:
        """The shortest route whose links have the least sum of squares of their loads; of equal ones the first."""
        left = self._hops(there)
        if left[here] < 0:
            raise UnsupportedError(f"{self._topology.name}: no route from node {here} to node {there}")
        best: dict[int, tuple[int, Route]] = {here: (0, ())}
        for rest in range(left[here] - 1, -1, -1):
            level: dict[int, tuple[int, Route]] = {}
            for node, (cost, route) in best.items():
                for link, to in self._out[node]:
                    if left[to] == rest and (to == there or self._forwards[to]):
                        more = cost + ((2 * self._load[link] + 1) << 16) // self._wide[link]
                        if to not in level or more < level[to][0]:
                            level[to] = (more, (*route, link))
            best = level
        return best[there][1]

    def _hops(self, there: int) -> list[int]:
        """Hops to a node, through nodes that forward; -1 where there is no way."""
        if there not in self._left:
            left = [-1] * len(self._out)
            left[there], level = 0, [there]
            while level:
                found = []
                for node in level:
                    for tail in self._into[node]:
                        if left[tail] < 0:
                            left[tail] = left[node] + 1
                            found.append(tail)
                level = [node for node in found if self._forwards[node]]
            self._left[there] = left
        return self._left[there]


@pytest.mark.parametrize(
    "name",
    ["torus:4x4", "torus:4x4,without-link=0-1", "fattree:4x4", "leafspine:3x2x4@2", "bigraph:4x8", "dgx1", "ace-torus:4x2x2"],
)
def test_routes_are_those_of_the_plain_version(name):
    topology, rng = ask(name).topology, np.random.default_rng(5)
    for count in (1, 40, 400):
        src, dst = rng.choice(topology.endpoints, (2, count))
        src, dst = src[src != dst], dst[src != dst]
        assert even_routes(topology)(src, dst) == PlainRerouting(topology).run(src.tolist(), dst.tolist())


def test_a_pair_without_a_path_is_named():
    """Endpoint 1 lies between the others, and does not forward."""
    chain = network(3, [(0, 1), (1, 0), (1, 2), (2, 1)])
    vars(chain)["forwards"] = np.zeros(3, np.bool_)
    assert even_routes(chain)(np.array([0, 2]), np.array([1, 1])) == [(0,), (3,)]
    with pytest.raises(UnsupportedError, match="no route from node 2 to node 0"):
        even_routes(chain)(np.array([0, 2]), np.array([1, 0]))
