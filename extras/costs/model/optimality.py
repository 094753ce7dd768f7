"""Optimality in memory access and in incast: GenTree's Theorems 1 and 2 as bounds with witnesses.

Theorem 1. Every share of the vector is summed up from N terms by operations that read f terms and write one. h of them access
memory N - 1 + 2h times, so the busiest of N servers accesses (N + 1)/N times the vector or more, and h = 1 throughout is optimal.

Theorem 2, with numbers. An operation adds the terms that arrive in its step. Where at most w_t communicators may share a link and a
server has L links, it gets at most L (w_t - 1) terms in addition to its own, so h >= (N - 1) / (L (w_t - 1)): without incast the
accesses are at least (N - 1 + 2h)/N. So both optima exclude each other where N - 1 > L (w_t - 1); with one link per server, as the
theorem tacitly assumes, where N > w_t. (A server with memory for N - 1 shares could store terms that arrive one after the other and
add them later; the theorem does not cover this.)
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from certree.extras.costs.model.counting import count, link_flows
from certree.extras.costs.model.distinct_rows import distinct
from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import NodeKind
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

KINDS = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER)


@dataclass(frozen=True)
class Operation:
    """One reduction: `server` reads `terms` values of a share in `step` and writes their sum."""

    step: int
    server: int
    terms: int


@dataclass(frozen=True)
class MemoryAccess:
    """D, in vectors, against its bound. `chunk`: one with the most `operations`; `busiest`: (server, accesses in vectors)."""

    accesses: Fraction
    bound: Fraction
    chunk: int
    operations: tuple[Operation, ...]
    busiest: tuple[int, Fraction]

    @property
    def optimal(self) -> bool:
        """Whether it is delta-optimal: D meets the bound of Theorem 1."""
        return self.accesses == self.bound


@dataclass(frozen=True)
class Incast:
    """The most `communicators` that share a link, from `src` to `dst` in `step`, against the threshold w_t."""

    communicators: int
    threshold: int
    step: int
    src: int
    dst: int

    @property
    def optimal(self) -> bool:
        """Whether it is epsilon-optimal: no link has more communicators than the threshold."""
        return self.communicators <= self.threshold


@dataclass(frozen=True)
class Optimality:
    """Both verdicts on a schedule, and the bounds of Theorem 2 for its network: `endpoints` N, `links` L that lead into a server.

    `least_operations`: h of every share without incast; `least_accesses`: D for that h.
    """

    memory: MemoryAccess
    incast: Incast
    endpoints: int
    links: int

    @property
    def least_operations(self) -> int:
        """ceil((N - 1) / (L (w_t - 1)))."""
        return -(-(self.endpoints - 1) // (self.links * (self.incast.threshold - 1)))

    @property
    def least_accesses(self) -> Fraction:
        """(N - 1 + 2h)/N vectors: a lower bound on memory accesses of a schedule without incast."""
        return Fraction(self.endpoints - 1 + 2 * self.least_operations, self.endpoints)

    @property
    def both_possible(self) -> bool:
        """Whether Theorem 2 allows a schedule that is optimal in both."""
        return self.least_operations == 1


def optimality(schedule: Schedule, incast_threshold: int) -> Optimality:
    """Optimality of an all-reduce or reduce-scatter in which servers add; UnsupportedError for others, where switches reduce, and
    where some servers do not take part.

    The schedule must be valid (`certree.verify` checks this). O(hops log hops).
    """
    if schedule.collective.kind not in KINDS:
        raise UnsupportedError(f"Theorems 1 and 2 are about {' and '.join(KINDS)}, not {schedule.collective.kind}")
    if schedule.collective.members is not None:
        raise UnsupportedError("Theorems 1 and 2 are about all servers of a network; in this schedule some take part")
    if schedule.buffers > 1:
        raise UnsupportedError(
            "Theorems 1 and 2 are about servers with one place for each share; in this schedule they have several"
        )
    topology = schedule.topology
    reduces = schedule.op == Op.REDUCE
    if (topology.kind[schedule.dst[reduces]] == NodeKind.SWITCH).any():
        raise UnsupportedError("Theorems 1 and 2 are about servers that add up; in this schedule switches do")
    flows = link_flows(schedule)
    worst = int(flows.communicators.argmax())
    pair = int(flows.pair[worst])
    ends = len(topology.endpoints)
    links = int(np.bincount(topology.pair_dst, minlength=len(topology.kind))[topology.endpoints].max())
    return Optimality(
        _memory_access(schedule),
        Incast(
            int(flows.communicators[worst]),
            incast_threshold,
            int(flows.step[worst]),
            int(topology.pair_src[pair]),
            int(topology.pair_dst[pair]),
        ),
        ends,
        links,
    )


def _memory_access(schedule: Schedule) -> MemoryAccess:
    reduces = schedule.op == Op.REDUCE
    (chunk, step, server), arrivals = distinct(schedule.chunk[reduces], schedule.step[reduces], schedule.dst[reduces])
    most = int(np.bincount(chunk, minlength=schedule.chunks).argmax())
    found = np.flatnonzero(chunk == most).tolist()
    accesses = np.zeros(len(schedule.topology.kind), np.int64)
    np.add.at(accesses, server, arrivals + 2)
    busiest, ends = int(accesses.argmax()), len(schedule.topology.endpoints)
    return MemoryAccess(
        count(schedule).profile().accesses,
        Fraction(ends + 1, ends),
        most,
        tuple(Operation(int(step[at]), int(server[at]), int(arrivals[at]) + 1) for at in found),
        (busiest, Fraction(int(accesses[busiest]), schedule.message_chunks)),
    )
