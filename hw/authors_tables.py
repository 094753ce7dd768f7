"""What the nodes of the MultiTree authors' simulator play: the transfers of a schedule as steps of each node, phase by phase."""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from certree.models.schedule import Op, Schedule

REDUCE, GATHER = 0, 1  # phases


@dataclass
class Entry:
    """One chunk that a node sends in a step: where to, and whose it still waits for."""

    flow: int
    step: int
    targets: list[int]
    waits: set[int]


Steps = list[list[Entry] | None]  # of one phase; None: nothing to do in a step


def clear(steps: Steps, flow: int, src: int) -> None:
    """What waits for the chunk from that node waits no longer."""
    for step in steps:
        for entry in step or ():
            if entry.flow == flow:
                entry.waits.discard(src)


class AuthorsTables:
    """The steps of all nodes, and the interfaces by which transfers enter them, of `interfaces` a node.

    `steps[node]` are those of the reduce phase, which ends with the node's own chunks, for which nothing is sent, and of the gather
    phase. `entry_interface[phase, flow, src, dst]`: the interfaces of a node take turns with what reaches it in a step.
    `link_interface[node, neighbour]`: the interface that the link to a neighbour would have. Routes of the schedule are not looked
    at: the network has ways of its own. O(rows log rows).
    """

    def __init__(self, schedule: Schedule, interfaces: int) -> None:
        nodes = len(schedule.topology.kind)
        place = _place_of_link(schedule)
        rows = _rows(schedule, place)
        self.link_interface = {ends: number % interfaces for ends, number in place.items()}
        self.entry_interface: dict[tuple[int, int, int, int], int] = {}
        opens = {phase: max((row.step for row in rows if row.phase == phase), default=-1) + 1 for phase in (REDUCE, GATHER)}
        waits: dict[tuple[int, int, int], set[int]] = defaultdict(set)  # (phase, flow, node): whom it hears from
        entries: dict[tuple[int, int, int], dict[int, Entry]] = defaultdict(dict)  # (phase, node, step): by flow
        turns: dict[tuple[int, int, int], int] = defaultdict(int)  # (phase, node, step): transfers that reach it
        for row in rows:
            waits[row.phase, row.flow, row.dst].add(row.src)
        for row in rows:
            step = row.step if row.phase == REDUCE else opens[REDUCE] + 1 + row.step
            first = Entry(row.flow, step, [], set(waits[row.phase, row.flow, row.src]))
            entries[row.phase, row.src, row.step].setdefault(row.flow, first).targets.append(row.dst)
            self.entry_interface[row.phase, row.flow, row.src, row.dst] = turns[row.phase, row.dst, row.step] % interfaces
            turns[row.phase, row.dst, row.step] += 1
        senders = {(row.flow, row.src) for row in rows if row.phase == REDUCE}
        self.steps: list[tuple[Steps, Steps]] = []
        for node in range(nodes):
            reduce, gather = (
                [list(entries[phase, node, step].values()) or None for step in range(opens[phase])] for phase in (REDUCE, GATHER)
            )
            own = sorted(flow for phase, flow, dst in waits if (phase, dst) == (REDUCE, node) and (flow, node) not in senders)
            reduce += [[Entry(flow, opens[REDUCE], [], set(waits[REDUCE, flow, node]))] for flow in own]
            while gather and gather[-1] is None:
                gather.pop()
            self.steps.append((reduce, gather))


class _Row(NamedTuple):
    phase: int
    step: int  # of the phase
    flow: int
    src: int
    dst: int


def _rows(schedule: Schedule, place: dict[tuple[int, int], int]) -> list[_Row]:
    """Every transfer, flow by flow, then by step, parent, and the place of the link to the child (without a link: the child)."""
    columns = (schedule.op, schedule.step, schedule.chunk, schedule.src, schedule.dst)
    transfers = list(zip(*(column.tolist() for column in columns), strict=True))
    opens = min((step for op, step, *_ in transfers if op == Op.COPY), default=0)
    rows = [_Row(GATHER, step - opens, *ends) if op == Op.COPY else _Row(REDUCE, step, *ends) for op, step, *ends in transfers]

    def order(row: _Row) -> tuple[int, ...]:
        parent, child = (row.dst, row.src) if row.phase == REDUCE else (row.src, row.dst)
        return row.flow, row.step, parent, place.get((parent, child), child)

    return sorted(rows, key=order)


def _place_of_link(schedule: Schedule) -> dict[tuple[int, int], int]:
    """The place of a neighbour among those of a node, in link order."""
    topology = schedule.topology
    found: dict[tuple[int, int], int] = {}
    count: dict[int, int] = defaultdict(int)
    for src, dst in zip(topology.src.tolist(), topology.dst.tolist(), strict=True):
        found[src, dst] = count[src]
        count[src] += 1
    return found
