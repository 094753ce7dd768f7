"""All-reduce, both halves at once, as a constraint problem."""

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule_columns import Op
from certree.synth.exact.encodings.encoding import Columns, Encoding


class AllReduceEncoding(Encoding):
    """Each chunk is summed up along an in-tree to a centre of its own choice and spreads from there along an out-tree.

    Every node but the centre sends one partial sum and receives one copy; chunks need not wait for each other between the two
    halves. Rows of tables can express this: each waits for the data that it forwards.

    Families: `reduce[chunk, pair, step]` and `copy[chunk, pair, step]`, transfers; `centre[chunk, node, step]`, the centre holds
    the sum from that step on; `sent[chunk, node, step]` and `done[chunk, node, step]`, the node has sent its partial sum, or
    holds the sum, when the step begins; `swap[chunk, pair, step]`, see ExchangeEncoding.
    """

    kinds = (CollectiveKind.ALL_REDUCE,)
    model = (
        "all-reduce, per chunk an in-tree and an out-tree around a free centre, one accumulator per node and chunk, "
        "steps of one round, delay 1"
    )
    exchanges: ClassVar[bool] = False  # whether two neighbours may be the centre together

    def __init__(self, topology: Topology, collective: Collective, chunk_root: Sequence[int], steps: int) -> None:
        super().__init__(topology, collective, chunk_root, steps)
        number = {ends: pair for pair, ends in enumerate(self.pairs)}
        #: where sums may be exchanged, pair u -> v with u < v : pair v -> u
        self._back = {pair: number[v, u] for (u, v), pair in number.items() if self.exchanges and u < v and (v, u) in number}
        every_pair, edges = range(len(self.pairs)), list(self._back)
        self._swaps_at = {node: [edge for edge in edges if node in self.pairs[edge]] for node in self.nodes}
        self._reduce = self.family("reduce", self.chunks, every_pair, self.times)
        self._copy = self.family("copy", self.chunks, every_pair, self.times)
        self._swap = self.family("swap", self.chunks, edges, self.times)
        self._centre = self.family("centre", self.chunks, self.nodes, range(1, steps))
        self._sent = self.family("sent", self.chunks, self.nodes, range(steps + 1))
        self._done = self.family("done", self.chunks, self.nodes, range(steps + 1))

    def encode(self) -> None:
        """Add every constraint."""
        self._one_centre()
        self._reduction()
        self._spreading()
        self._causality()
        self._bandwidth()
        self._symmetry()

    def _one_centre(self) -> None:
        """A chunk has one centre, alone or a pair; a lone one is done in the step after a partial sum reached it."""
        for chunk in self.chunks:
            alone = [self._centre[chunk, node, step] for node in self.nodes for step in range(1, self.steps)]
            self.problem.add_exactly_one(alone + [self._swap[chunk, edge, step] for edge in self._back for step in self.times])
        for (chunk, node, step), chosen in self._centre.items():
            self.problem.add_bool_or([~chosen, *(self._reduce[chunk, pair, step - 1] for pair in self.into[node])])

    def _reduction(self) -> None:
        """A node sends its partial sum once, to one node; only a lone centre never does."""
        for chunk in self.chunks:
            for node in self.nodes:
                self.problem.add(self._sent[chunk, node, 0] == 0)
                for step in self.times:
                    leaving = sum(self._reduce[chunk, pair, step] for pair in self.out_of[node]) + self._swapping(chunk, node, step)
                    self.problem.add(self._sent[chunk, node, step + 1] == self._sent[chunk, node, step] + leaving)
                alone = [self._centre[chunk, node, step] for step in range(1, self.steps)]
                self.problem.add_exactly_one([self._sent[chunk, node, self.steps], *alone])

    def _spreading(self) -> None:
        """Each node gets the sum just once: as lone centre, by an exchange, or by one copy; in the end all nodes hold it."""
        for chunk in self.chunks:
            for node in self.nodes:
                self.problem.add(self._done[chunk, node, 0] == 0)
                self.problem.add(self._done[chunk, node, self.steps] == 1)
                for step in self.times:
                    gained = sum(self._copy[chunk, pair, step] for pair in self.into[node]) + self._swapping(chunk, node, step)
                    if step + 1 < self.steps:
                        gained += self._centre[chunk, node, step + 1]
                    self.problem.add(self._done[chunk, node, step + 1] == self._done[chunk, node, step] + gained)

    def _causality(self) -> None:
        """A partial sum must arrive before its receiver sends its own or counts as done; the source of a copy must hold the sum."""
        for (chunk, pair, step), reduced in self._reduce.items():
            receiver = self.pairs[pair][1]
            self.problem.add_implication(reduced, ~self._sent[chunk, receiver, step + 1])
            self.problem.add_implication(reduced, ~self._done[chunk, receiver, step])
        for (chunk, pair, step), copied in self._copy.items():
            self.problem.add_implication(copied, self._done[chunk, self.pairs[pair][0], step])

    def _bandwidth(self) -> None:
        """A pair carries no more chunks in a step than its capacity; an exchange uses both directions."""
        swap_of = {pair: edge for edge, back in self._back.items() for pair in (edge, back)}
        for pair, capacity in enumerate(self.capacity):
            for step in self.times:
                load = sum(self._reduce[chunk, pair, step] + self._copy[chunk, pair, step] for chunk in self.chunks)
                if pair in swap_of:
                    load += sum(self._swap[chunk, swap_of[pair], step] for chunk in self.chunks)
                self.problem.add(load <= capacity)

    def _symmetry(self) -> None:
        """Chunks have no names in an all-reduce: any schedule can be renumbered so that their centres ascend."""
        alone = [(at, node) for at, node in enumerate(self.nodes)]
        shared = [(at, edge) for at, edge in enumerate(self._back, start=len(alone))]
        centre = [
            sum(at * self._centre[chunk, node, step] for at, node in alone for step in range(1, self.steps))
            + sum(at * self._swap[chunk, edge, step] for at, edge in shared for step in self.times)
            for chunk in self.chunks
        ]
        for before, after in pairwise(centre):
            self.problem.add(before <= after)

    def _swapping(self, chunk: int, node: int, step: int) -> object:
        """1 when the node exchanges sums in that step."""
        return sum(self._swap[chunk, edge, step] for edge in self._swaps_at[node])

    def decode(self) -> Columns:
        """Reduces and copies, one row each; an exchange is two reduces."""
        rows = [(int(Op.REDUCE), *key) for key in self.chosen(self._reduce)]
        rows += [(int(Op.COPY), *key) for key in self.chosen(self._copy)]
        for chunk, edge, step in self.chosen(self._swap):
            rows += [(int(Op.REDUCE), chunk, pair, step) for pair in (edge, self._back[edge])]
        return self.columns(rows)


class ExchangeEncoding(AllReduceEncoding):
    """An AllReduceEncoding in which two neighbours may be the centre together: they exchange their partial sums, and both hold the
    sum one step sooner than one of them alone could.

    `swap[chunk, pair, step]`, with src < dst, is an exchange, a reduce in both directions. It is correct only in lockstep: if one
    of the two were late, it would send back data that it had just received. Tables express it by counting arrivals (profile
    `buffers`).
    """

    model = (
        "all-reduce, per chunk an in-tree and an out-tree around a free centre (a node, or two neighbours that exchange sums), "
        "one accumulator per node and chunk, steps of one round, delay 1"
    )
    exchanges = True
