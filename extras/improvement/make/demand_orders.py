"""Schedules for demands with their transfers in another order: local search over the order in which links take them."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from certree.models.fine.demand_slots import booked_in, slots_in, unplaced
from certree.models.fine.slots import Int64, fine_times
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Request

WORK = 3_000_000  # uses of links that are booked in one unit of effort
MOST_TURNS = 2_000  # orders tried in one unit of effort


def reordered_demand(source: Schedule, request: Request, origin: Mapping[str, Any]) -> Iterator[tuple[Schedule, str]]:
    """Schedules with the transfers of one for a demand on their paths, each as early as links are free for it in other orders, and
    what found them. Where a chunk goes through several nodes its transfers keep their order. Errors as `demand_slots.booked`.
    O(hops · log hops) for each order.
    """
    still = unplaced(source, request.message_bytes, request.machine)
    search = _Search(still, request)
    for priority, what in (
        (source.step.astype(np.int64), "order"),
        (-search.left, "longest route first"),
        (-search.times.length.astype(np.int64), "largest first"),
    ):
        search.take(priority, what)
    for what, order in ((search.what, search.best), ("order", search.improved())):
        yield replace(booked_in(still, order), provenance=request.provenance("improve", {}, moves=what, **origin)), what


class _Search:
    """Orders of transfers: the `best` so far, when its messages end (`ends`), and `what` found it."""

    def __init__(self, still: Schedule, request: Request) -> None:
        self.times, self.request = fine_times(still), request
        self.before = _brought_by(still)
        self.after: list[list[int]] = [[] for _ in self.before]
        for row, other in enumerate(self.before):
            if other >= 0:
                self.after[other].append(row)
        self.lasts = (self.times.latency + self.times.length).astype(np.int64)
        self.left = self._left()
        self.best = self.ends = np.zeros(0, np.int64)
        self.cost, self.what = (-1, -1), ""

    def _left(self) -> Int64:
        """The cycles of each row from when it fires to when its chunk can be at its target at the earliest."""
        left = self.lasts.copy()
        for row in reversed(self._ordered(np.zeros(len(left), np.int64)).tolist()):
            left[row] += max((int(left[other]) for other in self.after[row]), default=0)
        return left

    def _ordered(self, priority: Int64) -> Int64:
        """All rows, the one of the least priority next among those whose chunk has come."""
        ready = [(int(priority[row]), row) for row, other in enumerate(self.before) if other < 0]
        heapify(ready)
        found = []
        while ready:
            _, row = heappop(ready)
            found.append(row)
            for other in self.after[row]:
                heappush(ready, (int(priority[other]), other))
        return np.array(found, np.int64)

    def take(self, priority: Int64, what: str) -> None:
        """Take an order for the best where its last message ends earlier, or as early with an earlier sum of ends."""
        order = self._ordered(priority)
        ends = slots_in(self.times, order) * self.times.slot + self.lasts
        cost = int(ends.max(initial=0)), int(ends.sum())
        if not self.what or cost < self.cost:
            self.best, self.ends, self.cost, self.what = order, ends, cost, what

    def improved(self) -> Int64:
        """The best order after the search: a transfer that ends late, or one on the way to it, is moved ahead of others."""
        chance, count = random.Random(self.request.seed), len(self.before)
        uses = max(1, len(self.times.reservations.row))
        for _ in range(min(MOST_TURNS, WORK // uses) * self.request.effort):
            if self.request.monitor.expired or not count:
                break
            places = np.empty(count, np.int64)
            places[self.best] = np.arange(count)
            late = np.argsort(-self.ends, kind="stable")[: max(1, count // 8)]
            row = int(late[chance.randrange(len(late))])
            moved = places.copy()
            ahead = chance.randint(1, max(1, count // 2))
            while row >= 0:
                moved[row] -= ahead
                row = self.before[row]
            self.take(moved, "order")
        return self.best


def _brought_by(schedule: Schedule) -> list[int]:
    """The row that brings its chunk to the source of each row; -1 where the chunk starts there."""
    arrives = {
        (node, chunk): row for row, (node, chunk) in enumerate(zip(schedule.dst.tolist(), schedule.chunk.tolist(), strict=True))
    }
    return [arrives.get((node, chunk), -1) for node, chunk in zip(schedule.src.tolist(), schedule.chunk.tolist(), strict=True)]
