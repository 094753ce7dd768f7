"""One execution of the nodes of all ranks of Chakra traces, whatever their speeds."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from certree.extras.runtimes.check.execution import Arrival, cell_words
from certree.extras.runtimes.check.message_order import Place, message_edges
from certree.extras.runtimes.check.sums import Sums, Value
from certree.extras.runtimes.model.algorithm import Act, Algorithm
from certree.extras.runtimes.model.chakra import NodeType
from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.runtimes.model.program import Buffer
from certree.models.common.budget import PYTHON, hold, spend
from certree.verify.verdict import Findings


def predecessors(algorithm: Algorithm, edges: dict[Place, Place], by_id: list[dict[int, int]], place: Place) -> Iterator[Place]:
    """The nodes that a node waits for: others of its rank, and the sending of the message that it receives."""
    rank, at = place
    for other in algorithm.ranks[rank][at].waits:
        yield rank, by_id[rank][other]
    if place in edges:
        yield edges[place]


def executed(algorithm: Algorithm, edges: dict[Place, Place]) -> tuple[list[Place], set[Place]]:
    """(all nodes in an order in which they can be executed, those that never can). O(nodes + dependencies)."""
    by_id = [{act.id: at for at, act in enumerate(acts)} for acts in algorithm.ranks]
    missing: Counter[Place] = Counter()
    followers: defaultdict[Place, list[Place]] = defaultdict(list)
    places = [(rank, at) for rank, acts in enumerate(algorithm.ranks) for at in range(len(acts))]
    for place in places:
        for other in predecessors(algorithm, edges, by_id, place):
            missing[place] += 1
            followers[other].append(place)
    ready = deque(place for place in places if not missing[place])
    sequence = []
    while ready:
        place = ready.popleft()
        sequence.append(place)
        for other in followers[place]:
            missing[other] -= 1
            if not missing[other]:
                ready.append(other)
    return sequence, set(places) - set(sequence)


@dataclass
class AlgorithmRun:
    """One execution of an algorithm whose traces state their data; `arrivals` as in `Execution`. O(nodes + dependencies)."""

    algorithm: Algorithm
    layout: Layout
    in_place: bool = False
    arrivals: list[Arrival] = field(default_factory=list)
    sums: Sums = field(default_factory=Sums)
    uses: dict[Cell, list[tuple[Place, bool]]] = field(default_factory=dict)
    overwritten_inputs: dict[Cell, str] = field(default_factory=dict)
    #: the bytes of each contribution to an alltoallv, and the nodes that send others
    sizes: dict[Part, int] = field(default_factory=dict)
    other_sizes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        chunks = sum(self.layout.sizes(rank)[0] for rank in range(self.layout.ranks))
        spend(10 * PYTHON * chunks, f"an execution with {chunks:,} chunks")
        hold(500 * chunks, f"an execution with {chunks:,} chunks")
        self.values: dict[Cell, Value] = {}
        for rank in range(self.layout.ranks):
            for offset in range(self.layout.sizes(rank)[0]):
                self.values[rank, Buffer.INPUT, offset] = Value(frozenset({(rank, offset)}), rank)
        self._edges = message_edges(self.algorithm, Findings())
        self._sent: dict[Place, tuple[Value, int, int]] = {}
        self._levels: dict[Place, int] = {}
        self._by_id = [{act.id: at for at, act in enumerate(acts)} for acts in self.algorithm.ranks]
        self._position = 0
        for place in executed(self.algorithm, self._edges)[0]:
            self._execute(place, self.algorithm.ranks[place[0]][place[1]])

    def held(self, cell: Cell) -> Value:
        """The contents of a place at the end."""
        return self.values.get(cell, Value(fault="nothing was ever written there"))

    def _execute(self, place: Place, act: Act) -> None:
        where = act_words(self.algorithm, place)
        self._position += 1
        before = [(place[0], self._by_id[place[0]][other]) for other in act.waits]
        level = max((self._levels[one] + (self.algorithm.ranks[one[0]][one[1]].type is NodeType.SEND) for one in before), default=0)
        if act.type is NodeType.SEND:
            (src,) = act.reads
            self._use(src, place, writes=False)
            self._sent[place] = (self._value(src, where), self._position, level)
        elif act.type is NodeType.RECEIVE:
            assert act.writes is not None
            sender = self._edges[place]
            value, read, left = self._sent[sender]
            for part in value.parts if self.layout.roles.blocks else ():
                if self.sizes.setdefault(part, act.bytes) != act.bytes:
                    words = f"{act.bytes} bytes of chunk {part[1]} of rank {part[0]}, which are {self.sizes[part]} elsewhere"
                    self.other_sizes.append(f"{where} receives {words}")
            level = max(level, left + 1)
            src = self.algorithm.ranks[sender[0]][sender[1]].reads[0]
            self._write(place, act.writes, value, where)
            self.arrivals.append(Arrival(src, act.writes, False, value, read, self._position, left))
        else:
            self._compute(place, act, level, where)
        self._levels[place] = level

    def _compute(self, place: Place, act: Act, level: int, where: str) -> None:
        assert act.writes is not None
        dst, reads = act.writes, [cell for cell in act.reads if cell != act.writes]
        for cell in reads:
            self._use(cell, place, writes=False)
        starts_with = dst in act.reads
        total = Value(frozenset()) if not starts_with else self._value(dst, where)
        for at, cell in enumerate(reads):
            is_copy = at == 0 and not starts_with
            value = self._value(cell, where)
            total = value if is_copy else self.sums.added(total, value, where)
            self._position += 1
            self.arrivals.append(Arrival(cell, dst, not is_copy, total, self._position, self._position, level))
        if len(act.reads) > len(reads) + starts_with:
            total = replace(total, fault=f"{where} adds {cell_words(dst)} twice")
        elif dst in act.reads[2:]:
            total = replace(total, sum=self.sums.in_order([self._value(cell, where) for cell in act.reads], where))
        self._write(place, dst, total, where)

    def _write(self, place: Place, cell: Cell, value: Value, where: str) -> None:
        self._use(cell, place, writes=True)
        if cell[1] is Buffer.INPUT and cell[2] < self.layout.sizes(cell[0])[0]:
            self.overwritten_inputs.setdefault(cell, where)
        self.values[cell] = value

    def _value(self, cell: Cell, where: str) -> Value:
        return self.values.get(cell, Value(fault=f"{where}: nothing is in {cell_words(cell)} yet"))

    def _use(self, cell: Cell, place: Place, *, writes: bool) -> None:
        self.uses.setdefault(cell, []).append((place, writes))


def act_words(algorithm: Algorithm, place: Place) -> str:
    """`rank 0, node 3 (send)`."""
    act = algorithm.ranks[place[0]][place[1]]
    return f"rank {place[0]}, node {act.id} ({act.type.name.lower()})"
