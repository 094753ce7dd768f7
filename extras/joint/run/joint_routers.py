"""The rows of all collectives on the routers of the machine, flit by flit: which lanes and virtual channels each message takes.

A message has one lane of each link that it passes. Where the lanes of a link are enough for what the schedules put there, no two
messages are on one at a time, of whichever collectives; where they are not, a message takes the lane that is free first.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.run.joint_rows import JointRows
from certree.hw import _core
from certree.hw.core_calls import narrowed
from certree.hw.engines.flit import traffic_classes
from certree.hw.engines.table_framing import packet_lengths
from certree.hw.routers.network import RouterNetwork
from certree.hw.routers.packet_injection import packet_columns
from certree.hw.routers.packets import NO_PACKETS
from certree.models.fine.slots import fine_times
from certree.models.network.routing import DIRECT
from certree.models.routers.lanes import reserved
from certree.models.routers.virtual_channels import layer_count
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]


class RouterProgram:
    """The `core` of a run through routers, on initial data that it changes in place, and its `network`.

    UnsupportedError for what the router model does not cover. O(hops of all messages · log) time and memory.
    """

    def __init__(
        self, joint: JointSchedule, rows: JointRows, tables: Sequence[Tables], cells: NDArray[np.uint64], *, traced: bool = False
    ) -> None:
        machine = joint.machine
        layers = max(layer_count(part.schedule.virtual_channel) for part in joint.parts)
        longest = max(max(packet_lengths(one, "message")) for one in tables)
        classes = traffic_classes(machine, layers, [longest], NO_PACKETS, is_whole=True)
        self.network = RouterNetwork(joint.topology, machine, classes, issue_cycles=machine.ni_issue_cycles)
        hops, plan = self._plan(joint, rows)
        others, _ = packet_columns(self.network, NO_PACKETS, np.zeros(0, np.int64))
        plan |= {"message_flits": rows.flits.astype(np.uint32), "packet_flits": np.zeros(1, np.uint32)}
        columns = self.network.core_columns(hops)
        self.core: Any = _core.FlitRun(
            rows.scalars, rows.rows, self.network.scalars, columns, plan, others, "slotted", cells, traced, None
        )

    def _plan(self, joint: JointSchedule, rows: JointRows) -> tuple[list[Int64], dict[str, NDArray[np.integer]]]:
        """The hops of each message to another node as codes, and the columns that say which messages take them."""
        first, lanes = self.network.lanes_of_pair()
        found: list[tuple[Int64, int | None]] = []
        for part, of, lane in zip(joint.parts, rows.parts, lanes_of_uses(joint), strict=True):
            stated, route = part.schedule.virtual_channel, of.sent["route"][of.sent["src"] != of.sent["dst"]]
            layers = [None if stated is None or number == DIRECT else int(stated[number]) for number in route.tolist()]
            taken = [lanes[first[pairs] + number] for pairs, number in reserved(part.schedule, of.sent, lane)]
            found += zip(taken, layers, strict=True)
        far = np.concatenate([of.sent["src"] != of.sent["dst"] for of in rows.parts])
        number = (np.cumsum(far) - 1)[rows.place_of_message][far[rows.place_of_message]]
        ordered = [found[one] for one in number.tolist()]
        starts = np.array([taken[0] for taken, _ in ordered], np.int64)
        plan: dict[str, NDArray[np.integer]] = {
            "routes_begin": narrowed("routes_begin", np.concatenate(([0], np.cumsum(far[rows.place_of_message])))),
            "routes": narrowed("routes", np.arange(len(ordered))),
            "route_injector": np.maximum(self.network.injector_of_lane[starts], 0).astype(np.uint32),
        }
        return [self.network.hops_of(taken, layer) for taken, layer in ordered], plan


def lanes_of_uses(joint: JointSchedule) -> list[Int64]:
    """The number of the lane of each use of a link (`FineTimes.reservations`), by collective: the lane that is free first. O(uses
    of wide links · lanes)."""
    capacity, begin = joint.topology.pair_capacity, 0
    pairs, entries, lengths, ends = [], [], [], []
    for part in joint.parts:
        times = fine_times(part.schedule)
        uses = times.reservations
        pairs.append(uses.pair)
        entries.append(part.begin + uses.entry)
        lengths.append(times.length[uses.row])
        ends.append(begin := begin + len(uses.row))
    pair, entry, length = (np.concatenate(one).astype(np.int64) for one in (pairs, entries, lengths))
    lane = np.zeros(len(pair), np.int64)
    wide = np.flatnonzero(capacity[pair] > 1)
    free: dict[int, list[int]] = {}
    for use in wide[np.lexsort((wide, entry[wide]))].tolist():
        until = free.setdefault(int(pair[use]), [0] * int(capacity[pair[use]]))
        lane[use] = chosen = min(range(len(until)), key=until.__getitem__)
        until[chosen] = max(until[chosen], int(entry[use])) + int(length[use])
    return np.split(lane, ends[:-1])
