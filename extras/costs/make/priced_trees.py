"""The cheapest tree with steps for an element of a vector, by prices of links and servers: a program over sets of servers.

A tree sums the terms of all servers up at a root, by the end of some step, and copies the sum to all in the steps after it. Sets of
servers are numbers, a bit for each. Numbers may be floats or exact rationals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEVER = float("inf")
Table = NDArray[Any]  # by set of servers and server


@dataclass(frozen=True)
class Costs:
    """Costs of a step: `link[u, v]` of a transfer from u to v, NEVER where there is none; `first[v]` of the first arrival that v
    adds in the step, `more[v]` of each other one."""

    link: NDArray[Any]
    first: NDArray[Any]
    more: NDArray[Any]


@dataclass(frozen=True)
class Tree:
    """Transfers (step, source, destination): `sums` are added, `copies` are not."""

    sums: tuple[tuple[int, int, int], ...]
    copies: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Found:
    """A tree with its cost."""

    cost: Any
    tree: Tree


def cheapest(steps: Sequence[Costs]) -> list[Found]:
    """The cheapest tree for each root and each last step of sums that has one. O(3^servers · servers · steps)."""
    servers = len(steps[0].first)
    gathering = _Tables(steps)
    free = np.zeros_like(steps[0].first)
    spreading = _Tables([Costs(step.link.T, free, free) for step in reversed(steps)])
    everyone, found = (1 << servers) - 1, []
    for last in range(1, len(steps)):
        for root in range(servers):
            cost = gathering.cost(last, everyone, root) + spreading.cost(len(steps) - last, everyone, root)
            if cost < NEVER:
                sums = tuple(sorted(gathering.transfers(last, everyone, root)))
                there = spreading.transfers(len(steps) - last, everyone, root)
                copies = tuple(sorted((len(steps) - 1 - step, dst, src) for step, src, dst in there))
                found.append(Found(cost, Tree(sums, copies)))
    return found


class _Tables:
    """Costs to have the sum of a set at a server after each step."""

    def __init__(self, steps: Sequence[Costs]) -> None:
        self._steps, servers = steps, len(steps[0].first)
        self._sets = sorted(range(1, 1 << servers), key=int.bit_count)
        self._has = np.array([[bool(chosen >> server & 1) for server in range(servers)] for chosen in range(1 << servers)])
        start = np.full((1 << servers, servers), NEVER, steps[0].first.dtype)
        for server in range(servers):
            start[1 << server, server] = 0 * steps[0].first[server]
        self._kept, self._received, self._sent = [start], [start], [start]
        for costs in steps:
            self._advance(costs)

    def _advance(self, costs: Costs) -> None:
        before = self._kept[-1]
        sent = (before[:, :, None] + costs.link[None, :, :]).min(axis=1)  # from the best server that has the sum
        received = np.full_like(before, NEVER)
        for chosen in self._sets:
            for part in _parts(chosen):
                rest = chosen ^ part
                into = np.minimum(before[rest] + costs.first, received[rest] + costs.more) + sent[part]
                received[chosen] = np.minimum(received[chosen], into)
        self._kept.append(np.minimum(before, received))
        self._received.append(received)
        self._sent.append(sent)

    def cost(self, step: int, chosen: int, server: int) -> Any:
        """After that many steps."""
        return self._kept[step][chosen, server]

    def transfers(self, step: int, chosen: int, server: int) -> Iterator[tuple[int, int, int]]:
        """(step, source, destination) of a cheapest way."""
        while step and self._kept[step][chosen, server] == self._kept[step - 1][chosen, server]:
            step -= 1
        if step:
            yield from self._arrivals(step, chosen, server)

    def _arrivals(self, step: int, chosen: int, server: int) -> Iterator[tuple[int, int, int]]:
        """The transfers of a choice by which something arrives at the server in the last step."""
        costs, before, received = self._steps[step - 1], self._kept[step - 1], self._received[step]
        for part in _parts(chosen):
            rest = chosen ^ part
            for base, is_first in (
                (before[rest, server] + costs.first[server], True),
                (received[rest, server] + costs.more[server], False),
            ):
                if base + self._sent[step][part, server] == received[chosen, server]:
                    source = int(np.argmin(before[part] + costs.link[:, server]))
                    yield step - 1, source, server
                    yield from self.transfers(step - 1, part, source)
                    yield from self.transfers(step - 1, rest, server) if is_first else self._arrivals(step, rest, server)
                    return
        raise AssertionError(f"no part of set {chosen} at server {server} costs what the table says")


def _parts(chosen: int) -> Iterator[int]:
    """The subsets that are neither empty nor the whole."""
    part = (chosen - 1) & chosen
    while part:
        yield part
        part = (part - 1) & chosen
