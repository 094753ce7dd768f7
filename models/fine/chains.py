"""The list scheduler for messages that differ in length, each of which carries what the one before it in its chain has brought."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from certree.models._lists import FineJobs
from certree.models.fine.list_jobs import NONE, Int32, Int64, Places, Reserved, Turns


@dataclass(frozen=True, eq=False)
class Chains:
    """Messages between nodes, one row each, in chains of rows that follow each other.

    `src`, `dst`: by row; `link`: the links of all rows in turn, of which row r has those from `begin[r]` on; `length`: by row the
    cycles on a lane; `is_last`: whether the row is the last of its chain. `lanes`, `hop`: by link, its lanes and the cycles from
    the entry into it to the entry into the next one; `ends`: cycles at the ends of a route; `nodes`: of the network.
    """

    src: Int32
    dst: Int32
    link: Int32
    begin: Int32
    length: Int64
    is_last: NDArray[np.bool_]
    lanes: Int32
    hop: Int64
    ends: int
    nodes: int

    @cached_property
    def _jobs(self) -> FineJobs:
        rows, links = len(self.src), len(self.lanes)
        follows = np.flatnonzero(~self.is_last)  # each opens a gate for the row behind it
        gates, none = np.arange(len(follows)), np.full(rows, NONE, np.int32)
        return FineJobs(
            self.src,
            self.dst,
            np.zeros(rows, np.uint8),
            np.ones(len(follows), np.int32),
            none,
            none,
            self.lanes,
            self.nodes,
            [
                _columns(self.begin, self.link),
                _columns(np.zeros(rows + 1), gates[:0]),
                _columns(np.concatenate(([0], np.cumsum(~self.is_last))), gates),
                _columns(np.arange(len(follows) + 1), follows + 1),
                _columns(np.zeros(1), gates[:0]),
                _columns(np.arange(links + 1), np.arange(links)),
            ],
            none,
            Places.none().columns(rows),
            Reserved.none().columns,
            self.length,
        )

    def run(self, turns: Turns, slot: int) -> Int64:
        """The cycle in which each row fires, a multiple of `slot`. O(hops · (log rows + bookings passed over))."""
        times = [int(self.length.max(initial=1)), 0, self.ends, 0, slot]
        _, fire, _, _, _ = self._jobs.book(times, self.hop, turns.priority, turns.release, turns.patient, turns.apart)
        return fire


def _columns(begin: NDArray[np.number], values: NDArray[np.integer]) -> tuple[Int32, Int32]:
    return begin.astype(np.int32), values.astype(np.int32)
