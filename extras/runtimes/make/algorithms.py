"""Lowering of a schedule to Chakra traces of a collective, with the files that ASTRA-sim needs besides them to run it."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain

from certree.extras.runtimes.make.cells import Cells
from certree.extras.runtimes.make.lowering import expressible
from certree.extras.runtimes.make.moves import Move, moves_of
from certree.extras.runtimes.model.algorithm import NAME, Act, Algorithm
from certree.extras.runtimes.model.chakra import MAX_NODES, SUFFIX, CollectiveType, Node, NodeType, Trace, written_chakra
from certree.extras.runtimes.model.layout import Cell
from certree.extras.runtimes.model.program import Buffer
from certree.models.common.errors import UnsupportedError
from certree.models.common.files import canonical_json
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

WHAT = "as Chakra traces"
WORKLOAD = "workload"  # of the files that run the collective once: workload/all.RANK.et
_LANDS, _LEAVES, _STAYS = 0, 1, 2
_COLLECTIVES = {
    CollectiveKind.ALL_REDUCE: CollectiveType.ALL_REDUCE,
    CollectiveKind.ALL_GATHER: CollectiveType.ALL_GATHER,
    CollectiveKind.REDUCE_SCATTER: CollectiveType.REDUCE_SCATTER,
    CollectiveKind.ALL_TO_ALL: CollectiveType.ALL_TO_ALL,
}
_SHAPES = {"ring": "Ring", "torus": "Ring", "switch": "Switch", "full": "FullyConnected"}


def lower_to_algorithm(schedule: Schedule, message_bytes: int) -> Algorithm:
    """The algorithm of a schedule, for a message of `message_bytes`: each transfer of each iteration is a message with its own tag.

    A node waits for what it needs and for what it overwrites, not for the steps of the schedule. What is to be added lands in
    scratch. A chunk has its part of the message, rounded up. UnsupportedError as `lower_to_program`, and
    for more than MAX_NODES nodes of a rank. O(transfers · iterations).
    """
    schedule = expressible(schedule, WHAT)
    return _Builder(schedule, message_bytes).algorithm()


@dataclass
class _Rank:
    """The nodes of a rank so far; who wrote each place last, and who read it since."""

    acts: list[Act] = field(default_factory=list)
    writer: dict[Cell, int] = field(default_factory=dict)
    readers: defaultdict[Cell, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, kind: NodeType, reads: tuple[Cell, ...], writes: Cell | None, **message: int) -> None:
        """Append a node after those whose data it needs, and that use what it overwrites."""
        number = len(self.acts)
        if number >= MAX_NODES:
            raise UnsupportedError(f"{WHAT}: more than {MAX_NODES} nodes of a rank")
        touched = (*reads, *(() if writes is None else (writes,)))
        waits = {self.writer[cell] for cell in touched if cell in self.writer}
        if writes is not None:
            waits |= set(self.readers.pop(writes, []))
            self.writer[writes] = number
        for cell in reads:
            if cell != writes:
                self.readers[cell].append(number)
        sent = reads if kind is not NodeType.RECEIVE else ()
        self.acts.append(Act(number, kind, tuple(sorted(waits)), reads=sent, writes=writes, **message))


class _Builder:
    def __init__(self, schedule: Schedule, message_bytes: int) -> None:
        self.schedule, self.repeats = schedule, schedule.repeats
        self.cells = Cells(schedule, is_cut=False)
        self.moves = moves_of(schedule, self.cells)
        base = self.cells.layout
        self.layout = base.times(self.repeats)
        whole = schedule.message_chunks * self.repeats
        granules = [1] * schedule.chunks if schedule.chunk_granules is None else schedule.chunk_granules.tolist()
        self.bytes = [-(-message_bytes * granules[chunk] // whole) for chunk in schedule.chunk.tolist()]
        self.ranks = [_Rank() for _ in range(base.ranks)]
        self.scratch = list(self.cells.scratch)

    def algorithm(self) -> Algorithm:
        """The algorithm."""
        for turn in range(self.repeats):
            for src, dst in sorted(chain(self.cells.kept, self.cells.untouched())):
                self._compute(src[0], (self._at(src, turn),), self._at(dst, turn))
        events = []
        for row, move in enumerate(self.moves):
            for turn in range(self.repeats):
                start = move.step + turn * (self.schedule.period or 0)
                if move.ends[0] == move.ends[1]:
                    events.append((start, _STAYS, turn, row))
                else:
                    events += [(start, _LEAVES, turn, row), (start + self.schedule.delay, _LANDS, turn, row)]
        for _, phase, turn, row in sorted(events):
            self._add(phase, turn, row, self.moves[row])
        return Algorithm(tuple(tuple(rank.acts) for rank in self.ranks), self.layout)

    def _add(self, phase: int, turn: int, row: int, move: Move) -> None:
        src, dst, (here, there) = self._at(move.src, turn), self._at(move.dst, turn), move.ends
        tag = turn * len(self.moves) + row
        own = tuple(self._at(one, turn) for one, _ in move.fresh)
        if phase == _LEAVES:
            self.ranks[here].add(NodeType.SEND, (src,), None, peer=there, tag=tag, bytes=self.bytes[row])
        elif phase == _STAYS:
            self._compute(here, (*(own or (dst,)), src) if move.op == Op.REDUCE else (src,), dst)
        elif move.op == Op.COPY:
            self.ranks[there].add(NodeType.RECEIVE, (), dst, peer=here, tag=tag, bytes=self.bytes[row])
        else:
            landing = self._at((there, Buffer.SCRATCH, self.scratch[there]), turn)
            self.scratch[there] += turn == self.repeats - 1
            self.ranks[there].add(NodeType.RECEIVE, (), landing, peer=here, tag=tag, bytes=self.bytes[row])
            self._compute(there, (*(own or (dst,)), landing), dst)

    def _compute(self, rank: int, reads: tuple[Cell, ...], dst: Cell) -> None:
        self.ranks[rank].add(NodeType.COMPUTE, reads, dst)

    def _at(self, cell: Cell, turn: int) -> Cell:
        """The place of an iteration: its part of a chunk."""
        rank, buffer, offset = cell
        return rank, buffer, offset * self.repeats + turn


def simulator_files(schedule: Schedule, message_bytes: int, machine: Machine, path: str) -> dict[str, bytes]:
    """The files that ASTRA-sim needs to run the collective once: a workload for each rank, its system configuration, and, for
    rings, tori, single switches and full networks, that of its analytical network backend. `path`: of the traces, as ASTRA-sim will
    find them.

    Nothing for the collectives for which ASTRA-sim takes no algorithm of the user.
    """
    kind = schedule.collective.kind
    if kind not in _COLLECTIVES:
        return {}
    system = {
        "scheduling-policy": "FIFO",
        "preferred-dataset-splits": 1,
        f"{kind}-implementation-custom": [f"{path}/{NAME}"],
        "local-mem-bw": 1600,
    }
    node = Node(
        0,
        str(kind),
        NodeType.COLLECTIVE,
        attributes={"is_cpu_op": False, "comm_type": int(_COLLECTIVES[kind]), "comm_size": message_bytes},
    )
    workload = written_chakra(Trace([node]))
    files = {f"{WORKLOAD}/all.{rank}{SUFFIX}": workload for rank in range(len(schedule.topology.endpoints))}
    files["system.json"] = canonical_json(system)
    shape = _SHAPES.get(schedule.topology.name.split(":")[0])
    sizes = re.fullmatch(r"[a-z]+:(\d+(?:x\d+)*)", schedule.topology.name)
    if shape is not None and sizes is not None:
        dimensions = [int(one) for one in reversed(sizes[1].split("x"))]  # the first one changes first in ASTRA-sim
        cycles = machine.link_latency_cycles + machine.router_cycles
        network = {
            "topology": [shape] * len(dimensions),
            "npus_count": dimensions,
            "bandwidth": [machine.clock_hz * machine.flit_bytes / 10**9] * len(dimensions),  # GB/s
            "latency": [cycles / machine.clock_hz * 10**9] * len(dimensions),  # ns
        }
        files["network.yml"] = canonical_json(network)
    return files
