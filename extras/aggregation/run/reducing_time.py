"""Closed-form time of an all-reduce by reducing switches with windows: exact integer cycles, for a tree that looks the same from
every host and a network without loss (NetReduce, Appendix A, with packets, levels and a window).

Notation: ser = cycles in which a packet passes a unit link; a switch adds a packet of all of its children in P · work cycles, P
being the number of children that share an adder. A packet's *round trip* is the time from its first flit leaving the hosts until
they have the whole result:

    trip = sum over levels of (ser + up + start + P · work + ser + down)

and results follow each other `pace` = max(ser, the largest P · work) cycles apart, as long as the window lets them: a host sends
packet q + window when it has result q. With p packets, the last result arrives after

    trip + floor((p - 1) / window) · max(trip, window · pace) + ((p - 1) mod window) · pace

cycles. For p large and a window of trip / pace packets or more this is alpha + M / B, alpha being `trip` minus one packet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from certree.models.machine.machine import Machine
from certree.models.schedule.timing import ceil_div, reduction_cycles, serialization_cycles


@dataclass(frozen=True)
class Level:
    """One level of a tree: cycles of a head flit from a child to the switch above and back, and the number of its children."""

    up_cycles: int
    down_cycles: int
    children: int


@dataclass(frozen=True)
class AggregationTime:
    """The terms of the closed form, in cycles."""

    ser: int
    trip: int
    pace: int

    @property
    def least_window(self) -> int:
        """The smallest window with which no host ever waits for a result."""
        return -(-self.trip // self.pace)

    def cycles(self, packets: int, window: int) -> int:
        """The number of cycles until the last of `packets` results arrives."""
        rounds, rest = divmod(packets - 1, window)
        return self.trip + rounds * max(self.trip, window * self.pace) + rest * self.pace


def aggregation_time(
    levels: Sequence[Level], payload_bytes: int, machine: Machine, adders: int = 1, scale: int | Fraction = 1
) -> AggregationTime:
    """The closed form for packets of `payload_bytes`, levels in any order, each switch with `adders` adders. O(levels)."""
    ser, work = serialization_cycles(payload_bytes, machine, scale), reduction_cycles(payload_bytes, machine)
    sums = [ceil_div(level.children, adders) * work for level in levels]
    levels_cycles = sum(2 * ser + level.up_cycles + level.down_cycles + machine.reduce_start_cycles for level in levels)
    return AggregationTime(ser, levels_cycles + sum(sums), max(ser, *sums))
