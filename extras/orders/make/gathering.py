"""Sequences of the dimensions of a grid in which two are a group, so that links are evenly loaded."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import Topology
from certree.synth.fine.fine_routes import even_routes
from certree.synth.ranks.layout import Layout


@dataclass(frozen=True, eq=False)
class Gathering:
    """A grid on a network, all sizes of which are 2. UnsupportedError where an exchange has no route."""

    topology: Topology
    layout: Layout

    @cached_property
    def loads(self) -> NDArray[np.int64]:
        """The load of each link in each dimension by a message from everyone to the other one of its pair, in parts of the least
        common multiple of all capacities."""
        place, unit = np.arange(len(self.layout.nodes)), np.lcm.reduce(self.topology.capacity.astype(np.int64))
        routes, found = even_routes(self.topology), np.zeros((len(self.layout.sizes), len(self.topology.src)), np.int64)
        for dimension, row in enumerate(found):
            for route in routes(self.layout.nodes, self.layout.nodes[place ^ 1 << dimension]):
                row[list(route)] += 1
        return np.asarray(found * (unit // self.topology.capacity))

    def nearest_first(self) -> tuple[int, ...]:
        """The dimensions by what they load, the least first."""
        return tuple(np.argsort(self.loads.sum(axis=1), kind="stable").tolist())

    def evenly(self, order: tuple[int, ...], pieces: int) -> list[tuple[int, ...]]:
        """For each piece the sequence in which the dimensions of `order` are gathered after they were scattered in that order.

        The dimension gathered last carries half of the message, the one before it a quarter, and so on. Each in turn is the one
        with which the sum of squares of the loads of links so far stays least. O(pieces · dimensions² · links).
        """
        weights = [1 << len(order) - 1 - at for at in range(len(order))]
        total = pieces * sum(weight * self.loads[dimension] for weight, dimension in zip(weights, order, strict=True))
        found = []
        for _ in range(pieces):
            left, sequence = list(order), list[int]()
            for weight in weights:
                best = min(left, key=lambda one: int(((total + weight * self.loads[one]) ** 2).sum()))
                total = total + weight * self.loads[best]
                left.remove(best)
                sequence.append(best)
            found.append(tuple(reversed(sequence)))
        return found
