"""Programs of the nodes in the MultiTree authors' simulator: the sends of each step, phase by phase."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from certree.models.forms.lowering_chain import takes
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

_TABLES = takes("tables of the authors' simulator")

REDUCE, GATHER = 0, 1  # phases


@dataclass
class Entry:
    """One flow that a node sends in a step: its destination (None: the node only waits), the (flow, node) parts it still waits for,
    and its length in chunks."""

    flow: int
    step: int
    targets: list[int]
    waits: set[tuple[int, int]]
    length: Fraction = Fraction(1)


Steps = list[list[Entry] | None]  # of one phase; None: nothing to do in a step


def clear(steps: Steps, flow: int, src: int) -> None:
    """Mark that flow from that node as arrived."""
    for step in steps:
        for entry in step or ():
            entry.waits.discard((flow, src))


@dataclass(frozen=True)
class AuthorsTables:
    """The programs of all nodes, with `interfaces` per node, for data that is cut into `chunks`.

    `steps[node]` are those of the reduce phase, which ends with an entry that waits for the sums at the node and sends nothing, and
    of the gather phase. `members[flow]`: the nodes whose data it sums up. `entry_interface[phase, flow, src, dst]`:
    the interface by which a transfer enters its node; 0 for those not listed. `link_interface[node, neighbour]`: the interface that
    the link to a neighbour would have; None where transfers go further than to neighbours. `is_strict`: a step of a node begins
    when all of its interfaces are free; otherwise one is enough. `counted`: how many times the reported totals count the time of
    the run.
    """

    topology: Topology
    interfaces: int
    chunks: int
    steps: list[tuple[Steps, Steps]]
    members: list[frozenset[int]]
    entry_interface: dict[tuple[int, int, int, int], int]
    link_interface: dict[tuple[int, int], int] | None
    is_strict: bool = True
    counted: int = 1


def tables_of(schedule: Schedule, interfaces: int) -> AuthorsTables:
    """The transfers of an all-reduce along trees; the interfaces of a node take turns with the transfers that reach it in a step.

    Routes of the schedule are ignored: the network has its own routing. O(rows log rows).
    """
    schedule = _TABLES.lowered(schedule)
    nodes = len(schedule.topology.kind)
    place = _place_of_link(schedule.topology)
    rows = _rows(schedule, place)
    opens = {phase: max((row.step for row in rows if row.phase == phase), default=-1) + 1 for phase in (REDUCE, GATHER)}
    waits: dict[tuple[int, int, int], set[tuple[int, int]]] = defaultdict(set)  # (phase, flow, node): what it receives
    entries: dict[tuple[int, int, int], dict[int, Entry]] = defaultdict(dict)  # (phase, node, step): by flow
    for row in rows:
        waits[row.phase, row.flow, row.dst].add((row.flow, row.src))
    for row in rows:
        step = row.step if row.phase == REDUCE else opens[REDUCE] + 1 + row.step
        first = Entry(row.flow, step, [], set(waits[row.phase, row.flow, row.src]))
        entries[row.phase, row.src, row.step].setdefault(row.flow, first).targets.append(row.dst)
    senders = {(row.flow, row.src) for row in rows if row.phase == REDUCE}
    steps: list[tuple[Steps, Steps]] = []
    for node in range(nodes):
        reduce, gather = (
            [list(entries[phase, node, step].values()) or None for step in range(opens[phase])] for phase in (REDUCE, GATHER)
        )
        own = sorted(flow for phase, flow, dst in waits if (phase, dst) == (REDUCE, node) and (flow, node) not in senders)
        reduce += [[Entry(flow, opens[REDUCE], [], set(waits[REDUCE, flow, node]))] for flow in own]
        steps.append((reduce, without_end(gather)))
    return AuthorsTables(
        schedule.topology,
        interfaces,
        schedule.chunks,
        steps,
        [frozenset(range(nodes))] * schedule.chunks,
        in_turns((((row.phase, row.flow, row.src, row.dst), row.step) for row in rows), interfaces),
        None if (schedule.route != DIRECT).any() else {ends: number % interfaces for ends, number in place.items()},
    )


def in_turns(transfers: Iterable[tuple[tuple[int, int, int, int], int]], interfaces: int) -> dict[tuple[int, int, int, int], int]:
    """The interfaces by which transfers (phase, flow, source, destination) of a step enter their nodes: each in turn."""
    turns: dict[tuple[int, int, int], int] = defaultdict(int)  # (phase, node, step): transfers that reach it
    found = {}
    for transfer, step in transfers:
        phase, _, _, dst = transfer
        found[transfer] = turns[phase, dst, step] % interfaces
        turns[phase, dst, step] += 1
    return found


def without_end(gather: Steps) -> Steps:
    """The steps without the empty ones at the end."""
    while gather and gather[-1] is None:
        gather.pop()
    return gather


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


def _place_of_link(topology: Topology) -> dict[tuple[int, int], int]:
    """The place of a neighbour among those of a node, in link order."""
    found: dict[tuple[int, int], int] = {}
    count: dict[int, int] = defaultdict(int)
    for src, dst in zip(topology.src.tolist(), topology.dst.tolist(), strict=True):
        found[src, dst] = count[src]
        count[src] += 1
    return found
