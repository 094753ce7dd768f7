"""`verify_algorithm`: a collective as Chakra traces in, a verdict out.

Where the traces state their data, these are executed. Where they do not, messages and dependencies are checked, and that every
rank that needs a contribution can have it: over a chain of messages, each sent after the one before was received.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from certree.extras.runtimes.check.checker import possible_layouts, wrong_places
from certree.extras.runtimes.check.execution import Arrival, Value, added, cell_words
from certree.extras.runtimes.model.algorithm import Act, Algorithm
from certree.extras.runtimes.model.chakra import NodeType
from certree.extras.runtimes.model.layout import Cell, Layout
from certree.extras.runtimes.model.program import Buffer
from certree.models.common.budget import PYTHON, budgeted, hold, spend
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.verify.rule import Subject, rule
from certree.verify.verdict import Findings, Verdict

#: (rank, place of the node in its file)
Place = tuple[int, int]
MOST_NODES = 1 << 16  # whose order is checked: their predecessors are sets of bits
_EXAMPLE = "tests/extras/runtimes/check/test_algorithms.py"


@dataclass(frozen=True)
class AlgorithmVerdict:
    """The verdict on an algorithm, and its layout; where the traces do not state their data, that of one chunk for each block."""

    algorithm: Algorithm
    layout: Layout
    verdict: Verdict

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return self.verdict.valid

    def run(self) -> "AlgorithmRun":
        """One execution, for what it moves. UnsupportedError where the traces do not state their data."""
        if self.algorithm.layout is None:
            raise UnsupportedError("the traces do not say which data their messages have; no schedule is made of them")
        return AlgorithmRun(self.algorithm, self.algorithm.layout)


@budgeted()
def verify_algorithm(algorithm: Algorithm, kind: CollectiveKind | None = None, root: int | None = None) -> AlgorithmVerdict:
    """The verdict on an algorithm. `kind`, `root`: required where the traces do not state them.

    Rules: `unmatched`, `deadlock-in-program`, `no-chain`; with data also `race`, `input-changed`, `wrong-data`. InputError where
    the collective is neither stated nor given, or another one. O(nodes²) bits.
    """
    stated = algorithm.layout
    if stated is None:
        if kind is None:
            raise InputError("the traces do not state their collective; give it with --collective")
        count = len(algorithm.ranks)
        (layout, *others) = possible_layouts(kind, count, count, root)
        if others:
            raise InputError(f"{kind} needs a root; give it with --root")
    else:
        layout = stated
        if root is not None and root != stated.root:
            raise InputError(f"root is {stated.root}, not {root}")
    findings = Findings()
    edges = _message_edges(algorithm, findings)
    if not findings.rules:
        order = _Order(algorithm, edges)
        if order.waiting:
            findings.add("deadlock-in-program", 0, (), "; ".join(order.circle()))
        elif stated is None:
            _check_chains(algorithm, layout, order, findings)
        else:
            _check_data(AlgorithmRun(algorithm, stated), order, findings)
    return AlgorithmVerdict(algorithm, layout, findings.verdict())


def _message_edges(algorithm: Algorithm, findings: Findings) -> dict[Place, Place]:
    """Of each receiving node the sending one. Rule `unmatched` for messages that only one side knows, or whose sizes differ."""
    sent: defaultdict[tuple[int, int, int], list[Place]] = defaultdict(list)
    received: defaultdict[tuple[int, int, int], list[Place]] = defaultdict(list)
    for rank, acts in enumerate(algorithm.ranks):
        for at, act in enumerate(acts):
            if act.type is NodeType.SEND:
                sent[rank, act.peer, act.tag].append((rank, at))
            elif act.type is NodeType.RECEIVE:
                received[act.peer, rank, act.tag].append((rank, at))
    found: dict[Place, Place] = {}
    for key in sorted({*sent, *received}):
        words = f"from rank {key[0]} to rank {key[1]} with tag {key[2]}"
        out, into = sent[key], received[key]
        if len(out) != len(into):
            findings.add("unmatched", 0, (), f"{words}: {len(out)} sent, {len(into)} received")
        elif len(out) > 1:
            findings.add("unmatched", 0, (), f"{words}: {len(out)} messages with one tag; which is which is open")
        else:
            sizes = [algorithm.ranks[rank][at].bytes for (rank, at) in (out[0], into[0])]
            if sizes[0] != sizes[1]:
                findings.add("unmatched", 0, (), f"{words}: {sizes[0]} bytes sent, {sizes[1]} received")
            found[into[0]] = out[0]
    return found


class _Order:
    """What is over before each node: sets of bits, by the number of the node in an order of execution."""

    def __init__(self, algorithm: Algorithm, edges: dict[Place, Place]) -> None:
        self.algorithm, self.edges = algorithm, edges
        self.sequence, self.waiting = executed(algorithm, edges)
        self.number = {place: at for at, place in enumerate(self.sequence)}
        self._before: list[int] = []
        if len(self.sequence) > MOST_NODES:
            raise UnsupportedError(f"{len(self.sequence)} nodes; verified are up to {MOST_NODES}")
        count = len(self.sequence)
        spend(PYTHON * count + count * count, f"the order of {count:,} nodes of all ranks")
        self.by_id = [{act.id: at for at, act in enumerate(acts)} for acts in algorithm.ranks]
        for place in self.sequence:
            bits = 0
            for other in predecessors(algorithm, edges, self.by_id, place):
                bits |= self._before[self.number[other]] | 1 << self.number[other]
            self._before.append(bits)

    def precedes(self, first: Place, second: Place) -> bool:
        """Whether the first node is over before the second starts, whatever the speeds."""
        return bool(self._before[self.number[second]] >> self.number[first] & 1)

    def ranks_before(self, place: Place) -> set[int]:
        """The ranks of which something is over before a node, its own included."""
        bits, found = self._before[self.number[place]], {place[0]}
        for at, (rank, _) in enumerate(self.sequence[: bits.bit_length()]):
            if bits >> at & 1:
                found.add(rank)
        return found

    def circle(self) -> list[str]:
        """Nodes that wait for each other."""
        at = min(self.waiting)
        seen: list[Place] = []
        while at not in seen:
            seen.append(at)
            open_ones = [other for other in predecessors(self.algorithm, self.edges, self.by_id, at) if other in self.waiting]
            at = min(open_ones)
        members = seen[seen.index(at) :]
        following = [*members[1:], members[0]]
        words = [tuple(act_words(self.algorithm, place) for place in pair) for pair in zip(members, following, strict=True)]
        return [f"{one} waits for {two}" for one, two in words[:8]]


def predecessors(algorithm: Algorithm, edges: dict[Place, Place], by_id: list[dict[int, int]], place: Place) -> Iterator[Place]:
    """What a node waits for: other nodes of its rank, and the sending of the message that it receives."""
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


@rule(
    "no-chain",
    "no chain of messages, each sent after the one before was received, goes from a rank to one that needs its data",
    _EXAMPLE,
    Subject.PROGRAMS,
)
def _check_chains(algorithm: Algorithm, layout: Layout, order: _Order, findings: Findings) -> None:
    count = len(order.sequence)
    spend(PYTHON // 2 * count * count, f"the chains of messages among {count:,} nodes of all ranks")
    for rank, acts in enumerate(algorithm.ranks):
        having = {rank}.union(*(order.ranks_before((rank, at)) for at in range(len(acts))))
        needed = {part[0] for parts in layout.due(rank) for part in parts}
        missing = sorted(needed - having)
        if missing:
            named = ", ".join(map(str, missing[:8]))
            findings.add("no-chain", 0, (), f"rank {rank} needs data of ranks {named}; no chain of messages comes from there")


def _check_data(run: "AlgorithmRun", order: _Order, findings: Findings) -> None:
    for cell, uses in run.uses.items():
        writer: Place | None = None
        readers: list[Place] = []
        for place, writes in uses:
            earlier = [*([writer] if writer is not None else []), *(readers if writes else [])]
            for other in earlier:
                if other != place and not order.precedes(other, place):
                    words = f"{act_words(run.algorithm, other)} and {act_words(run.algorithm, place)} are not ordered"
                    findings.add("race", 0, (), f"{cell_words(cell)}: {words}")
            if writes:
                writer, readers = place, []
            else:
                readers.append(place)
    for cell, where in run.overwritten_inputs.items():
        findings.add("input-changed", 0, (), f"{where} writes {cell_words(cell)}")
    for sentence in wrong_places(run):
        findings.add("wrong-data", 0, (), sentence)


@dataclass
class AlgorithmRun:
    """One execution of an algorithm whose traces state their data; `arrivals` as in `Execution`. O(nodes + dependencies)."""

    algorithm: Algorithm
    layout: Layout
    in_place: bool = False
    arrivals: list[Arrival] = field(default_factory=list)
    uses: dict[Cell, list[tuple[Place, bool]]] = field(default_factory=dict)
    overwritten_inputs: dict[Cell, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chunks = sum(self.layout.sizes(rank)[0] for rank in range(self.layout.ranks))
        spend(10 * PYTHON * chunks, f"an execution with {chunks:,} chunks")
        hold(500 * chunks, f"an execution with {chunks:,} chunks")
        self.values: dict[Cell, Value] = {}
        for rank in range(self.layout.ranks):
            for offset in range(self.layout.sizes(rank)[0]):
                self.values[rank, Buffer.INPUT, offset] = Value(frozenset({(rank, offset)}))
        self._edges = _message_edges(self.algorithm, Findings())
        self._sent: dict[Place, tuple[Value, int, int]] = {}
        self._levels: dict[Place, int] = {}
        self._by_id = [{act.id: at for at, act in enumerate(acts)} for acts in self.algorithm.ranks]
        self._position = 0
        for place in executed(self.algorithm, self._edges)[0]:
            self._execute(place, self.algorithm.ranks[place[0]][place[1]])

    def held(self, cell: Cell) -> Value:
        """What a place holds at the end."""
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
            total = value if is_copy else added(total, value, where)
            self._position += 1
            self.arrivals.append(Arrival(cell, dst, not is_copy, total, self._position, self._position, level))
        if len(act.reads) > len(reads) + starts_with:
            total = Value(total.parts, f"{where} adds {cell_words(dst)} twice")
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
