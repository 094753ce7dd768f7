"""Uses of links by all collectives of a joint schedule, in cycles of the run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.fine.slots import fine_times

Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinkUses:
    """Times for which messages are on links, ordered by (pair, entry, part, row).

    `part`: the number of the collective; `row`: of its schedule; `pair`: of nodes (`Topology.pair_index`); `entry`: the cycle from
    the opening of the first slot in which the first flit enters; `length`: the cycles until the last one has."""

    part: Int64
    row: Int64
    pair: Int64
    entry: Int64
    length: Int64

    @property
    def end(self) -> int:
        """The cycle in which the last use ends."""
        return int((self.entry + self.length).max(initial=0))

    def busy(self, joint: JointSchedule) -> Int64:
        """The cycles for which messages of each collective are on the links of each pair."""
        found = np.zeros((len(joint.topology.pair_src), len(joint.parts)), np.int64)
        np.add.at(found, (self.pair, self.part), self.length)
        return found


def link_uses_of(joint: JointSchedule) -> LinkUses:
    """The uses of links by all collectives. Transfers between buffers of one node use none. O(uses · log uses)."""
    columns = []
    for number, part in enumerate(joint.parts):
        times = fine_times(part.schedule)
        found = times.reservations
        columns.append((np.full(len(found.row), number), found.row, found.pair, part.begin + found.entry, times.length[found.row]))
    part_of, row, pair, entry, length = (np.concatenate(one).astype(np.int64) for one in zip(*columns, strict=True))
    order = np.lexsort((row, part_of, entry, pair))
    return LinkUses(part_of[order], row[order], pair[order], entry[order], length[order])
