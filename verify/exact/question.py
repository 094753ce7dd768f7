"""The question that exact synthesis answers, and its machine model.

Question (C, S, R): is there a schedule of S steps and R rounds in total that performs the collective with C chunks per node?
Every step lasts a whole number of rounds, at least one, chosen freely (the (C, S, R) of SCCL, Cai et al., PPoPP 2021).

The machine, on which every impossibility depends:

- *Delay 1.* Data sent in a step can be used from the next step on; transfers read the state at the start of their step.
- *Cells.* Endpoints and reducing switches hold data, one accumulator per chunk. Other nodes only forward.
- *Arcs.* A transfer goes from cell to cell along a simple path whose inner nodes are all switches; it passes the whole path within
  its step and loads every link of it once. Endpoints do not forward within a step. Links between the same two nodes count as one of
  their total capacity.
- *Memory*, optional and only where nothing is added up: when a step begins, and at the end, a cell stores at most N chunks: those
  that start in it, those due at it that have arrived to stay, and those it will send on. All other chunks are lost to it.
- *Scratch*, optional: K buffers of one chunk each, in addition to the required buffers. By collective:
  - all-gather, broadcast: an endpoint keeps every chunk and needs no scratch; reducing switches keep nothing and store all chunks
    in scratch.
  - scatter, gather, all-to-all: an endpoint keeps the chunks that start or are due there; scratch is for the chunks in passing.
  - reduce-scatter, reduce: an endpoint adds into its own part of each chunk and needs no scratch; with reducing switches a
    limit is refused (a schedule cannot express a switch that has sent a sum and starts another).
  - all-reduce: an endpoint has one accumulator per chunk; K additional slots let it keep partial sums apart that it could
    otherwise only add up (`slots`).
  So scratch limits the collectives that copy (without the option memory is unlimited) and extends an all-reduce (without the
  option it has no slots). The limit holds when a step begins, and at the end.
- *Contention.* A step of r rounds puts at most capacity × r transfers on a link.

C counts the chunks per endpoint (all-gather, reduce-scatter), of the message (all-reduce, broadcast, reduce), per endpoint other
than the root (scatter, gather), or per ordered pair of endpoints (all-to-all).

The question is monotone, so that one refutation serves many points: if (C, S, R) has a schedule, so has

- (C − 1, S, R) for C > 1: leave out one chunk of each kind; chunks share nothing but links;
- (C, S, R + 1): give any step one more round;
- (C, S + 1, R + 1): add an empty step at the end.
- (C, S + 1, R) where R > S, unless it is an all-reduce: split a step of r ≥ 2 rounds into a step of 1 round, with the first
  `capacity` transfers of each link, and a step of r − 1 rounds. Copies that landed after the whole step have landed after both
  parts, and the data that a copy reads was there before the first. (Paths of several links may not split evenly: see `splits`.)
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
    """The question whether (C, S, R) has a schedule. InputError for numbers below 1 or fewer rounds than steps; UnsupportedError
    where a network has more than MAX_ARCS paths from cell to cell."""

    topology: Topology
    collective: Collective
    chunks: int
    steps: int
    rounds: int
    memory: int | None = None
    scratch: int | None = None

    def __post_init__(self) -> None:
        self.collective.require_everyone("exact search")
        for name, least in (("chunks", 1), ("steps", 1), ("memory", 1), ("scratch", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} is {value}; allowed: whole numbers from {least}")
        if self.memory is not None and self.collective.reduces:
            raise UnsupportedError(f"memory can be limited only for collectives that only copy, not for {self.collective.kind}")
        if self.scratch is not None and self.is_turned and self.topology.reducing.any():
            raise UnsupportedError(f"scratch of reducing switches cannot be limited for {self.collective.kind}")
        if self.scratch is not None and self.is_sum and self.scratch > MAX_SLOTS:
            raise UnsupportedError(f"scratch is {self.scratch}; allowed for an all-reduce: at most {MAX_SLOTS} slots")
        if self.rounds < self.steps:
            raise InputError(f"{self.rounds} rounds for {self.steps} steps; a step has at least one round")

    @property
    def point(self) -> Point:
        """(C, S, R)."""
        return self.chunks, self.steps, self.rounds

    def at(self, point: Point) -> "Question":
        """The question for another point."""
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
        """Whether all endpoints need the sum of all contributions: the all-reduce, which is not a spreading in either direction."""
        return self.collective.kind is CollectiveKind.ALL_REDUCE

    @property
    def is_turned(self) -> bool:
        """Whether the question is posed as a spreading backwards in time and along reversed links.

        A reduce-scatter (a reduce) of S steps on a network exists exactly when an all-gather (a broadcast) of S steps exists on the
        network with all links reversed. Forward: each contribution reaches the root along transfers in ascending steps;
        reversed, they are a path from the root, again in ascending steps. Backward: let every cell receive a chunk only once;
        then its transfers are a tree, and reversed each cell sends its partial sum once, after all summands have landed. The
        loads of links are the same.
        """
        return self.collective.reduces and not self.is_sum

    @cached_property
    def splits(self) -> bool:
        """Whether a step of several rounds can be split in two: every path is a single link, nothing is summed in place, and
        memory is unlimited (chunks that leave in the second part must be stored together with those that came in the first).

        (For reversed kinds, split the spreading and reverse it again.)
        """
        return not self.is_sum and not self.is_limited and all(len(arc.pairs) == 1 for arc in self.arcs)

    @cached_property
    def is_limited(self) -> bool:
        """Whether cells may have to drop chunks of a spreading for lack of memory."""
        passing = any(len(self.passing(number)) for number in range(len(self.demands)))
        return self.memory is not None or (self.scratch is not None and passing)

    def passing(self, demand: int) -> tuple[int, ...]:
        """The cells where the chunks of a demand neither start nor are due: they hold them in scratch."""
        kept = {self.demands[demand].source, *self.demands[demand].targets}
        return tuple(cell for cell in self.cells if cell not in kept)

    @cached_property
    def slots(self) -> SlotNetwork | None:
        """The scratch slots of an all-reduce, or None."""
        return SlotNetwork(self.topology, self.scratch) if self.is_sum and self.scratch else None

    def implies(self, point: Point) -> bool:
        """Whether a refutation of this point also refutes `point` (see the module's docstring)."""
        chunks, steps, rounds = point
        if chunks < self.chunks or steps > self.steps:
            return False
        if self.rounds >= self.enough_rounds:
            return True  # no number of additional rounds would have helped
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
        """All paths from cell to cell, in the direction of the spreading; sorted by (src, dst, pairs).

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
                raise UnsupportedError(f"{self.topology.name} has more than {MAX_ARCS} paths between slots: too many to search")
        return tuple(sorted(found, key=lambda arc: (arc.src, arc.dst, arc.pairs)))

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """The demands to be spread, C chunks each. An all-reduce has none."""
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
        """A number of rounds that suffices for every step: a chunk needs each arc at most once per step."""
        chunks = self.chunks if self.is_sum else self.spread_chunks
        through = [0] * len(self.topology.pair_capacity)
        for arc in self.arcs:
            for pair in arc.pairs:
                through[pair] += 1
        capacity: list[int] = self.topology.pair_capacity.tolist()
        return self.steps * max(1, *(-(-chunks * arcs // size) for arcs, size in zip(through, capacity, strict=True)))

    @cached_property
    def pair_ends(self) -> tuple[tuple[int, int, int], ...]:
        """(tail, head, capacity) of every pair of neighbours, in the direction of the spreading."""
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
        """(hops, from, to): the largest number of consecutive transfers that a chunk or contribution needs; the first such pair."""
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
        """Description of the machine; recorded with every answer."""
        cells = "one accumulator per chunk and " + (
            "cell (endpoint or reducing switch)" if self.topology.reducing.any() else "endpoint"
        )
        when = "at the beginning of a step and at the end"
        limit = "" if self.memory is None else f", at most {self.memory} chunks stored in a cell {when}"
        if self.scratch is not None and self.is_sum:
            limit += f", and {self.scratch} scratch slots of one partial sum at every endpoint"
        elif self.scratch is not None:
            limit += f", at most {self.scratch} chunks in passing (neither starting nor due there) stored in a cell {when}"
        return f"{cells}, delay 1, steps of 1 round or more, endpoints do not forward within a step{limit}"


def _waves(start: int, onward: dict[int, list[int]]) -> dict[int, int]:
    """Hops from `start` to every reachable cell."""
    hops, wave = {start: 0}, [start]
    while wave:
        far = hops[wave[0]] + 1
        wave = sorted({head for node in wave for head in onward.get(node, []) if head not in hops})
        hops.update(dict.fromkeys(wave, far))
    return hops


def _without(nodes: list[int], one: int) -> tuple[int, ...]:
    return tuple(node for node in nodes if node != one)
