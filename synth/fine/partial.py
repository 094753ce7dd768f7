"""Programs in which partial sums go round rings, both ways."""

from collections.abc import Sequence

import numpy as np

from certree.models.network.topology import Int32
from certree.models.schedule.schedule import Op
from certree.synth.fine.program import Stages
from certree.synth.ranks.staged import every_place


class PassedSums:
    """A grid of `sizes` over `nodes`, the first dimension fastest, each dimension a ring."""

    def __init__(self, sizes: Sequence[int], nodes: Int32) -> None:
        self.stages, self._sizes, self._nodes, self._places = Stages(), sizes, nodes, every_place(sizes)

    def add(self, chunk: int, order: Sequence[int]) -> None:
        """The all-reduce of a chunk along all dimensions, in that order."""
        self.stages.stage = 0
        for dimension in order:
            self._ring(chunk, dimension)

    def _ring(self, chunk: int, dimension: int) -> None:
        """Each sum that is passed on is added to a copy of the node's own contribution, in a buffer of its own; the sums that come
        last are added to the data. The first sum is the contribution itself, which is read from one more buffer once the data have
        changed."""
        size, nodes = self._sizes[dimension], self._nodes
        digit, stride = self._places[:, dimension], int(np.prod(self._sizes[:dimension]))
        begin, buffer, ends = self.stages.stage, 0, []
        original = max(0, size // 2 - 1) + max(0, (size - 1) // 2 - 1) + 1
        self.stages.add(chunk, Op.COPY, nodes, nodes, 0, original, stage=begin)
        for step, hops in ((1, size // 2), (-1, (size - 1) // 2)):
            to = nodes[np.arange(len(digit)) + ((digit + step) % size - digit) * stride]
            own = original
            for hop in range(hops):
                is_last = hop == hops - 1
                target = 0 if is_last else buffer + 1
                if not is_last:
                    buffer += 1
                    self.stages.add(chunk, Op.COPY, nodes, nodes, 0, buffer, stage=begin)
                moment = begin + 1 + hop
                ends.append(moment)
                self.stages.add(chunk, Op.REDUCE, nodes, to, own, target, stage=moment)
                own = target
        self.stages.stage = max(ends, default=begin) + 1
