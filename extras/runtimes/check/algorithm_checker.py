"""`verify_algorithm`: a collective as Chakra traces in, a verdict out.

Where the traces state their data, these are executed. Where they do not, messages and dependencies are checked, and that every
rank that needs a contribution can have it: over a chain of messages, each sent after the one before was received.
"""

from dataclasses import dataclass

from certree.extras.runtimes.check.algorithm_run import AlgorithmRun, act_words, executed, predecessors
from certree.extras.runtimes.check.checker import add_wrong_data, possible_layouts
from certree.extras.runtimes.check.execution import cell_words
from certree.extras.runtimes.check.message_order import Place, message_edges
from certree.extras.runtimes.check.sums import program_additions
from certree.extras.runtimes.model.algorithm import Algorithm
from certree.extras.runtimes.model.layout import Layout
from certree.models.common.budget import PYTHON, budgeted, spend
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.verify.order.additions import Additions
from certree.verify.rule import Subject, rule
from certree.verify.verdict import Findings, Verdict

MOST_NODES = 1 << 16  # whose order is checked: their predecessors are sets of bits
_EXAMPLE = "tests/extras/runtimes/check/test_algorithms.py"


@dataclass(frozen=True)
class AlgorithmVerdict:
    """The verdict on an algorithm, and its layout; where the traces do not state their data, that of one chunk for each block.
    `additions`: of a valid one that adds, in which order; None also where the traces do not state their data."""

    algorithm: Algorithm
    layout: Layout
    verdict: Verdict
    additions: Additions | None = None

    @property
    def valid(self) -> bool:
        """Whether no rule is broken."""
        return self.verdict.valid

    def run(self) -> AlgorithmRun:
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
    stated, kind = algorithm.layout, kind or algorithm.kind
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
    findings, run = Findings(), None
    edges = message_edges(algorithm, findings)
    if not findings.rules:
        order = _Order(algorithm, edges)
        if order.waiting:
            findings.add("deadlock-in-program", 0, (), "; ".join(order.circle()))
        elif stated is None:
            _check_chains(algorithm, layout, order, findings)
        else:
            run = AlgorithmRun(algorithm, stated)
            _check_data(run, order, findings)
    additions = None if run is None or findings.rules else program_additions([run])
    return AlgorithmVerdict(algorithm, layout, findings.verdict(), additions)


class _Order:
    """The nodes that are over before each node: sets of bits, by the number of the node in an order of execution."""

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


def _check_data(run: AlgorithmRun, order: _Order, findings: Findings) -> None:
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
    for sentence in run.other_sizes:
        findings.add("unmatched", 0, (), sentence)
    add_wrong_data(findings, run)
