"""All-gather as a constraint problem, and reduce-scatter as its reversal."""

from collections.abc import Sequence

import numpy as np

from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule_columns import Op
from certree.synth.exact.encodings.encoding import Columns, Encoding
from certree.synth.phases import turned_round


class GatherEncoding(Encoding):
    """Each chunk spreads from its root along a tree; for a reduce-scatter, on the network with all links reversed.

    Every node gets a chunk just once, without loss of generality: a second copy can be left out of any schedule.
    Families: `copy[chunk, pair, step]`, the pair carries the chunk in that step; `holds[chunk, node, step]`, the node has the
    chunk when the step begins.
    """

    kinds = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER)
    model = "all-gather, or reduce-scatter as its reversal; steps of one round, delay 1"

    def __init__(self, topology: Topology, collective: Collective, chunk_root: Sequence[int], steps: int) -> None:
        network = turned_round(topology) if collective.reduces else topology
        super().__init__(network, collective, chunk_root, steps)
        self._copy = self.family("copy", self.chunks, range(len(self.pairs)), self.times)
        self._holds = self.family("holds", self.chunks, self.nodes, range(steps + 1))

    def encode(self) -> None:
        """Add every constraint."""
        self._correctness()
        self._causality()
        self._bandwidth()

    def _correctness(self) -> None:
        """At first only its root holds a chunk; other nodes receive it once; at the end all nodes hold all chunks."""
        for chunk in self.chunks:
            for node in self.nodes:
                self.problem.add(self._holds[chunk, node, 0] == int(node == self.chunk_root[chunk]))
                self.problem.add(self._holds[chunk, node, self.steps] == 1)
                for step in self.times:
                    arriving = sum(self._copy[chunk, pair, step] for pair in self.into[node])
                    self.problem.add(self._holds[chunk, node, step + 1] == self._holds[chunk, node, step] + arriving)

    def _causality(self) -> None:
        """A node that sends a chunk must hold it when the step begins."""
        for (chunk, pair, step), copied in self._copy.items():
            self.problem.add_implication(copied, self._holds[chunk, self.pairs[pair][0], step])

    def _bandwidth(self) -> None:
        """A pair carries no more chunks in a step than its capacity."""
        for pair, capacity in enumerate(self.capacity):
            for step in self.times:
                self.problem.add(sum(self._copy[chunk, pair, step] for chunk in self.chunks) <= capacity)

    def decode(self) -> Columns:
        """The copies, one row each; for a reduce-scatter the reduces that undo them, last one first."""
        copies = self.columns([(int(Op.COPY), *key) for key in self.chosen(self._copy)])
        if not self.collective.reduces:
            return copies
        backwards = {"src": copies["dst"], "dst": copies["src"], "step": self.steps - 1 - copies["step"]}
        return {**copies, **backwards, "op": np.full_like(copies["op"], Op.REDUCE)}
