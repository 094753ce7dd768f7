"""The lanes of wide links that messages take through routers: chosen before a run, for each message and link.

Messages of a schedule with routes have fixed lanes. To a neighbour, where no message of the schedule goes further, each takes the
lane with the fewest flits left to send, which only the run knows.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from certree.models.fine.slots import fine_times, reserved_lanes
from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]
Columns = Mapping[str, NDArray[np.integer]]


def messages_of_tables(tables: Tables) -> tuple[Int64, dict[str, NDArray[np.integer]]]:
    """(order, columns): the messages that rows command, row by row and by destination: `Tables.transfers` in that order."""
    sent = tables.transfers()
    order = np.lexsort((sent["dst"], sent["row"]))
    return order, {name: column[order] for name, column in sent.items()}


def fixed_lanes(schedule: Schedule, sent: Columns, period: int) -> list[tuple[Int64, Int64]] | None:
    """For each message to another node, in the order of `sent`: the joined pairs that it passes (`pair_index`), and the number of
    its lane on each, in every iteration. None where no message goes further than to a neighbour: those take any lane.

    `sent`: columns of all messages of an iteration of the schedule, among them `src`, `dst`, `route` and `step`; with fine slots
    also `op`, `chunk` and buffers. `period`: slots from one iteration to the next. UnsupportedError for fine slots without such
    lanes. O(hops of all messages, log).
    """
    if (sent["route"] == DIRECT).all():
        return None
    if schedule.has_fine_slots:
        return reserved(schedule, sent)
    return _in_turn(schedule, sent, period)


def _in_turn(schedule: Schedule, sent: Columns, period: int) -> list[tuple[Int64, Int64]]:
    """Messages of one slot that share a link take its lanes in turn."""
    topology = schedule.topology
    direct = topology.pair_index(sent["src"], sent["dst"]).tolist()
    slots = (sent["step"].astype(np.int64) % period).tolist()
    local = (sent["src"] == sent["dst"]).tolist()
    taken: dict[tuple[int, int], int] = {}
    found = []
    for route, neighbours, slot, stays in zip(sent["route"].tolist(), direct, slots, local, strict=True):
        if stays:
            continue
        pairs = [neighbours] if route == DIRECT else topology.pair_of_link[list(schedule.routes[route])].tolist()
        numbers = []
        for pair in pairs:
            number = taken.get((pair, slot), 0)
            taken[pair, slot] = number + 1
            numbers.append(number % int(topology.pair_capacity[pair]))
        found.append((np.array(pairs, np.int64), np.array(numbers, np.int64)))
    return found


def reserved(schedule: Schedule, sent: Columns, number: Int64 | None = None) -> list[tuple[Int64, Int64]]:
    """The lane of each link that a message in fine slots can have in each iteration from its entry on; `number`: by use."""
    columns = ("dst_buffer", "src_buffer", "route", "dst", "src", "chunk", "op", "step")
    names = [name for name in columns if name in schedule.columns]
    message_of_row = np.empty(schedule.transfers, np.int64)
    message_of_row[np.lexsort([getattr(schedule, name) for name in names])] = np.lexsort([sent[name] for name in names])
    times = fine_times(schedule)
    uses, number = times.reservations, reserved_lanes(times) if number is None else number
    found: dict[int, list[tuple[int, int]]] = {}
    for message, pair, lane in zip(message_of_row[uses.row].tolist(), uses.pair.tolist(), number.tolist(), strict=True):
        found.setdefault(message, []).append((pair, lane))
    passed = [np.array(found[message], np.int64) for message in sorted(found)]
    return [(hops[:, 0], hops[:, 1]) for hops in passed]
