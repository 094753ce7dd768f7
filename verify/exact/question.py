"""The question that exact synthesis answers, and the machine that it is asked of.

Question (C, S, R): is there a schedule of S steps, of R rounds in all, that brings C chunks per node where the collective wants
them? Every step lasts a whole number of rounds, at least one, chosen freely (the (C, S, R) of SCCL, Cai et al., PPoPP 2021).

The machine, on which every impossibility depends:

- *Delay 1.* What is sent in a step can be used from the next one on; transfers read the state at the start of their step.
- *Cells.* Endpoints and reducing switches hold data, one accumulator for each chunk. Other nodes only forward.
- *Arcs.* A transfer goes from cell to cell along a simple path whose inner nodes are all switches; it passes the whole path within
  its step and loads every link of it once. Endpoints do not forward within a step. Links between the same two nodes count as one of
  their total capacity.
- *Memory*, optional and only where nothing is added up: when a step begins, and at the end, a cell stores at most so many chunks:
  those that start in it, those it is a target of once they are there for good, and those it will send on. Whatever else it had is
  forgotten.
- *Scratch*, optional: K buffers of one chunk each, beside those that a cell must have anyway. What it must have, and what the K
  buffers are then for:
  - all-gather, broadcast: an endpoint keeps every chunk and needs no scratch; reducing switches keep nothing, all is scratch there.
  - scatter, gather, all-to-all: an endpoint keeps what starts in it and what is due there; scratch is what is only passing.
  - reduce-scatter, reduce: an endpoint adds into its own part of each chunk and needs no scratch; with reducing switches a
    limit is refused (a switch that sent a sum and starts another cannot be said in a schedule).
  - all-reduce: an endpoint has its accumulator for each chunk. The machine above stops there; K slots beside them let it do more:
    keep apart what it could only have added up (`slots`).
  So scratch limits what copies (without the option there is room for everything) and gives an all-reduce what it lacks (without the
  option it has none). When a step begins, and at the end, no more is stored than there is room for.
- *Contention.* A step of r rounds puts at most capacity × r transfers on a link.

C counts, for each kind of collective: chunks that every endpoint roots (all-gather, reduce-scatter), that the message is cut into
(all-reduce, broadcast, reduce), chunks of every endpoint but the root (scatter, gather), of every ordered pair of endpoints
(all-to-all).

Monotone, so that one refutation serves many points: if (C, S, R) has a schedule, so has

- (C − 1, S, R) for C > 1: leave out one chunk of each kind; chunks share nothing but links;
- (C, S, R + 1): give any step one round more;
- (C, S + 1, R + 1): add an empty step at the end.
- (C, S + 1, R) where R > S, unless it is an all-reduce: split a step of r ≥ 2 rounds in two, one of 1 round and one of r − 1, the
  first `capacity` transfers of each link going first. Copies that were due after the whole step are there after both halves, and
  what a copy reads was there before the first. (Transfers along paths of several links may not split so evenly: see `splits`.)
"""

from dataclasses import dataclass
from functools import cached_property

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.verify.exact.arcs import MAX_ARCS, Arc, transfer_arcs
from certree.verify.exact.scratch import SlotNetwork

MAX_SLOTS = 16

#: (chunks, steps, rounds)
Point = tuple[int, int, int]


@dataclass(frozen=True)
class Demand:
    """C chunks that start at `source` and are due at every one of `targets`."""

    source: int
    targets: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Question:
    """Whether (C, S, R) can be done. InputError for numbers below 1 or fewer rounds than steps; UnsupportedError where a network
    has more than MAX_ARCS ways from cell to cell."""

    topology: Topology
    collective: Collective
    chunks: int
    steps: int
    rounds: int
    memory: int | None = None
    scratch: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("chunks", 1), ("steps", 1), ("memory", 1), ("scratch", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} is {value}; allowed: whole numbers from {least}")
        if self.memory is not None and self.collective.reduces:
            raise UnsupportedError(f"memory is limited for collectives that copy only, not for {self.collective.kind}")
        if self.scratch is not None and self.is_turned and self.topology.reducing.any():
            raise UnsupportedError(f"scratch of reducing switches is not limited for {self.collective.kind}")
        if self.scratch is not None and self.is_sum and self.scratch > MAX_SLOTS:
            raise UnsupportedError(f"scratch is {self.scratch}; an all-reduce is asked with up to {MAX_SLOTS} slots")
        if self.rounds < self.steps:
            raise InputError(f"{self.rounds} rounds for {self.steps} steps; a step has at least one round")

    @property
    def point(self) -> Point:
        """(C, S, R)."""
        return self.chunks, self.steps, self.rounds

    def at(self, point: Point) -> "Question":
        """The same question for another point."""
        other = Question(self.topology, self.collective, *point, self.memory, self.scratch)
        other.__dict__.update(
            {
                name: getattr(self, name)
                for name in ("slots", "cells", "arcs", "demands", "hops_to", "least_steps", "is_limited", "splits")
            }
        )
        return other

    @property
    def is_sum(self) -> bool:
        """Whether contributions of all must be added up for all: the all-reduce, which no direction of time makes a spreading."""
        return self.collective.kind is CollectiveKind.ALL_REDUCE

    @property
    def is_turned(self) -> bool:
        """Whether it is asked as a spreading backwards in time and along every link backwards.

        A reduce-scatter (a reduce) of S steps on a network exists exactly when an all-gather (a broadcast) of S steps exists on the
        network with all links turned round. Forward: each contribution reaches the root along transfers in ascending
        steps; backwards they are a way from the root, in ascending steps again. Backward: let every cell receive a chunk but once;
        then its transfers are a tree, and turned round each cell sends its partial sum once, after all that is added to it has
        landed. The loads of links are the same.
        """
        return self.collective.reduces and not self.is_sum

    @cached_property
    def splits(self) -> bool:
        """Whether a step of several rounds can be split in two: every way is a single link, nothing is summed up in place, memory
        has no limit (what leaves in the second half must be stored beside what came in the first).

        (For the turned kinds split the spreading and turn it back.)
        """
        return not self.is_sum and not self.is_limited and all(len(arc.pairs) == 1 for arc in self.arcs)

    @cached_property
    def is_limited(self) -> bool:
        """Whether cells of something that spreads may have to forget: they may lack room for what is only passing."""
        passing = any(len(self.passing(number)) for number in range(len(self.demands)))
        return self.memory is not None or (self.scratch is not None and passing)

    def passing(self, demand: int) -> tuple[int, ...]:
        """The cells where the chunks of a demand neither start nor are due: scratch is what holds them there."""
        kept = {self.demands[demand].source, *self.demands[demand].targets}
        return tuple(cell for cell in self.cells if cell not in kept)

    @cached_property
    def slots(self) -> SlotNetwork | None:
        """The scratch slots of an all-reduce; None where there are none."""
        return SlotNetwork(self.topology, self.scratch) if self.is_sum and self.scratch else None

    def implies(self, point: Point) -> bool:
        """Whether, there being no schedule for this point, there is none for `point` either (see the module's docstring)."""
        chunks, steps, rounds = point
        if chunks < self.chunks or steps > self.steps:
            return False
        if self.rounds >= self.enough_rounds:
            return True  # more rounds would not have helped, whatever their number
        return rounds + (0 if self.splits else self.steps - steps) <= self.rounds

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """Nodes that hold data, ascending; then the scratch slots of an all-reduce."""
        return self._nodes + (self.slots.ids if self.slots else ())

    @property
    def _nodes(self) -> tuple[int, ...]:
        topology = self.topology
        return tuple(
            node for node in range(len(topology.kind)) if topology.kind[node] == NodeKind.ENDPOINT or topology.reducing[node]
        )

    @cached_property
    def arcs(self) -> tuple[Arc, ...]:
        """All ways from cell to cell, in the direction of the spreading; sorted by (src, dst, pairs).

        With scratch slots: from each cell of a node to each of another, along the same links, and between cells of a node.
        """
        found = transfer_arcs(self.topology, self._nodes)
        if self.is_turned:
            found = [arc.turned for arc in found]
        if self.slots:
            places = self.slots.places
            found = [Arc(src, dst, arc.pairs) for arc in found for src in places(arc.src) for dst in places(arc.dst)]
            found += [Arc(src, dst, ()) for src, dst in self.slots.inside]
            if len(found) > MAX_ARCS:
                raise UnsupportedError(f"{self.topology.name} has more than {MAX_ARCS} ways between slots: too many to search")
        return tuple(sorted(found, key=lambda arc: (arc.src, arc.dst, arc.pairs)))

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """What has to be spread; C chunks of each. An all-reduce has none."""
        kind, root = self.collective.kind, self.collective.root
        ends = self.topology.endpoints.tolist()
        if self.is_sum:
            return ()
        if kind in (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER):
            return tuple(Demand(node, _without(ends, node)) for node in ends)
        if kind is CollectiveKind.ALL_TO_ALL:
            return tuple(Demand(node, (other,)) for node in ends for other in _without(ends, node))
        if root is None:
            raise InputError(f"no exact model of {kind} without a root")
        if kind is CollectiveKind.GATHER:
            return tuple(Demand(node, (root,)) for node in _without(ends, root))
        if kind is CollectiveKind.SCATTER:
            return tuple(Demand(root, (node,)) for node in _without(ends, root))
        return (Demand(root, _without(ends, root)),)  # broadcast, and reduce turned round

    @property
    def spread_chunks(self) -> int:
        """The number of chunks of the encoding: C of every demand."""
        return len(self.demands) * self.chunks

    @cached_property
    def sources(self) -> tuple[int, ...]:
        """The demand of every chunk of the encoding: chunk i is number i mod C of demand i div C."""
        return tuple(number for number in range(len(self.demands)) for _ in range(self.chunks))

    @property
    def message_chunks(self) -> int:
        """Chunks of the message of M bytes, whose time over a unit link is the unit of bandwidth bounds (`Collective`)."""
        kind, ends = self.collective.kind, len(self.topology.endpoints)
        whole = (CollectiveKind.ALL_REDUCE, CollectiveKind.BROADCAST, CollectiveKind.REDUCE)
        return self.chunks if kind in whole else self.chunks * ends

    @cached_property
    def enough_rounds(self) -> int:
        """Rounds with which no step can be too short: a chunk passes each arc at most once in a step, or for nothing."""
        chunks = self.chunks if self.is_sum else self.spread_chunks
        through = [0] * len(self.topology.pair_capacity)
        for arc in self.arcs:
            for pair in arc.pairs:
                through[pair] += 1
        capacity: list[int] = self.topology.pair_capacity.tolist()
        return self.steps * max(1, *(-(-chunks * arcs // size) for arcs, size in zip(through, capacity, strict=True)))

    @cached_property
    def pair_ends(self) -> tuple[tuple[int, int, int], ...]:
        """(tail, head, capacity) of every joined pair of nodes, in the direction of the spreading."""
        topology = self.topology
        tail, head = (topology.pair_dst, topology.pair_src) if self.is_turned else (topology.pair_src, topology.pair_dst)
        return tuple(zip(tail.tolist(), head.tolist(), topology.pair_capacity.tolist(), strict=True))

    @cached_property
    def hops_to(self) -> dict[int, dict[int, int]]:
        """For every cell: the fewest transfers that lead to it from each cell that can reach it."""
        entering: dict[int, list[int]] = {}
        for arc in self.arcs:
            entering.setdefault(arc.dst, []).append(arc.src)
        return {cell: _waves(cell, entering) for cell in self.cells}

    @cached_property
    def least_steps(self) -> tuple[int, int, int]:
        """(hops, from, to): transfers in a row that some chunk or contribution needs at least; the first pair of the farthest."""
        ends = self.topology.endpoints.tolist()
        needs = [(node, ends) for node in ends] if self.is_sum else [(each.source, list(each.targets)) for each in self.demands]
        best = (-1, -1, -1)
        for source, targets in needs:
            for target in targets:
                far = self.hops_to[target][source]
                if far > best[0]:
                    best = (far, source, target)
        return best

    @property
    def model(self) -> str:
        """The machine in words; recorded with every answer."""
        cells = "one accumulator per chunk and " + (
            "cell (endpoint or reducing switch)" if self.topology.reducing.any() else "endpoint"
        )
        when = "at the beginning of a step and at the end"
        limit = "" if self.memory is None else f", at most {self.memory} chunks stored in a cell {when}"
        if self.scratch is not None and self.is_sum:
            limit += f", {self.scratch} scratch slots of one partial sum beside them at every endpoint"
        elif self.scratch is not None:
            limit += f", at most {self.scratch} chunks in passing (neither starting nor due there) stored in a cell {when}"
        return f"{cells}, delay 1, steps of 1 round or more, endpoints do not forward within a step{limit}"


def _waves(start: int, onward: dict[int, list[int]]) -> dict[int, int]:
    """Hops from `start` to everything that can be reached."""
    hops, wave = {start: 0}, [start]
    while wave:
        far = hops[wave[0]] + 1
        wave = sorted({head for node in wave for head in onward.get(node, []) if head not in hops})
        hops.update(dict.fromkeys(wave, far))
    return hops


def _without(nodes: list[int], one: int) -> tuple[int, ...]:
    return tuple(node for node in nodes if node != one)
