"""Inputs and results of an execution as arrays of all devices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.runtimes.make.cells import Cells
from certree.extras.runtimes.run.duties import Duties
from certree.extras.runtimes.run.numbers import TYPES, contribution
from certree.extras.runtimes.run.reference import digest
from certree.extras.xla.make.permutes import placed
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule


class Arrays:
    """The arrays of a schedule and its duties. Chunks of a buffer are parts of its iterations, one after the other."""

    def __init__(self, schedule: Schedule, duties: Duties, kind: str) -> None:
        self.duties, self.kind, self.repeats = duties, kind, schedule.repeats
        self.cells = Cells(placed(schedule))
        self.chunks = len(self.cells.sizes)
        self.unit = duties.counts[0] // self.cells.sizes[0]

    def inputs(self) -> NDArray[Any]:
        """The inputs of every rank, in the shape that the function of the module takes."""
        rows = max(self.cells.layout.sizes(rank)[0] for rank in range(self.cells.layout.ranks))
        found = np.zeros((self.cells.layout.ranks, rows, self.repeats, self.unit), TYPES[self.kind])
        for number, ranks in enumerate(self.duties.owners):
            turn, chunk = divmod(number, self.chunks)
            for rank in ranks:
                place = self.cells.source(rank, chunk)
                assert place is not None
                values = contribution(self.kind, rank, number, self.duties.counts[number])
                found[rank, place[2] : place[2] + self.cells.sizes[chunk], turn] = values.reshape(-1, self.unit)
        return found.reshape(self._shape(rows, with_blocks=self.cells.layout.kind in _TAKES_BLOCKS))

    def digests(self, results: NDArray[Any]) -> list[dict[int, bytes]]:
        """The digests of the chunks of each rank in what the function returned."""
        rows = max(self.cells.layout.sizes(rank)[1] for rank in range(self.cells.layout.ranks))
        parts = results.reshape(len(results), rows, self.repeats, self.unit)
        found: list[dict[int, bytes]] = [{} for _ in range(len(results))]
        for number, ranks in enumerate(self.duties.due):
            turn, chunk = divmod(number, self.chunks)
            for rank in ranks:
                place = self.cells.result(rank, chunk)
                assert place is not None
                found[rank][number] = digest(parts[rank, place[2] : place[2] + self.cells.sizes[chunk], turn].reshape(-1))
        return found

    def _shape(self, rows: int, *, with_blocks: bool) -> tuple[int, ...]:
        ranks, layout = self.cells.layout.ranks, self.cells.layout
        if layout.roles.blocks:
            return ranks, rows, self.repeats * self.unit
        blocks = (len(layout.members),) if with_blocks else ()
        return (ranks, *blocks, rows // (blocks[0] if blocks else 1) * self.repeats * self.unit)


_TAKES_BLOCKS = (CollectiveKind.REDUCE_SCATTER, CollectiveKind.SCATTER, CollectiveKind.ALL_TO_ALL)
