"""How many chunks of a lane can wait for the reduction unit of a paced node, by the chains of waits, at any timing."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from certree.extras.tla.check.paced.chains import Entry, Program, are_few, chains_of
from certree.extras.tla.check.paced.paced_model import in_order
from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.table_columns import RowOp
from certree.models.tables.tables import Tables


def most_waiting(tables: Tables) -> int:
    """The most chunks of one incoming lane that can have been sent and not be added yet, in any run of paced tables.

    Counters of neighbours are never so far apart that it is more (`sums_behind`). Of demands, or where chains of waits are too
    many, it is all that a lane brings in the run. A lane of several is taken to bring what all of them do; one from a switch brings
    what all nodes send over it. O(entries · (nodes + waits) + sums²) time for the sums between two nodes, or O(transfers).
    """
    topology, sent = tables.topology, tables.transfers()
    last = np.array([topology.src[route[-1]] for route in tables.routes] or [0])
    sums = np.flatnonzero(sent["op"] == Op.REDUCE)
    route = sent["route"][sums]
    via = np.where(route == DIRECT, sent["src"][sums], last[np.where(route == DIRECT, 0, route)])
    lines, brought = np.unique(np.stack([sent["dst"][sums], via, sent["src"][sums]], axis=1), axis=0, return_counts=True)
    most = brought * tables.repeats
    if not tables.has_sizes and are_few(tables):
        ordered = in_order(tables)
        behind = sums_behind(Program.of(ordered, ordered.period or 1, ordered.repeats))
        most = np.minimum(most, [behind[src, dst] for dst, _, src in lines.tolist()])
    lane = np.unique(lines[:, :2], axis=0, return_inverse=True)[1].reshape(-1)
    of_lane = np.zeros(len(lines), np.int64)
    np.add.at(of_lane, lane, most)
    return int(of_lane.max(initial=0))


def sums_behind(program: Program) -> Mapping[tuple[int, int], int]:
    """For each two nodes, the most sums that the first can have sent to the second and that are not added there.

    When the first has sent the last of them, all rows of the second have fired to which chains of waits lead from that row: what
    these wait for has been added.
    """
    past, awaited = chains_of(program)
    place = {node: index for index, node in enumerate(program.entries)}
    needed: dict[tuple[Entry, int], int] = {}  # of a message to a node: the first entry there that waits for it
    for (node, k), waited in awaited.items():
        for sender in waited:
            needed[sender, node] = min(k, needed.get((sender, node), k))
    sent: dict[tuple[int, int], list[Entry]] = defaultdict(list)
    for cell, senders in program.senders().items():
        for sender, op in senders:
            if op == RowOp.REDUCE:
                sent[sender[0], cell[0]].append(sender)
    most = {}
    for (src, dst), entries in sent.items():
        open_until: list[int] = []
        most[src, dst] = 0
        for entry in sorted(entries):
            insort(open_until, needed.get((entry, dst), len(program.entries[dst])))
            added = bisect_left(open_until, int(past[entry][place[dst]]))
            most[src, dst] = max(most[src, dst], len(open_until) - added)
    return most
