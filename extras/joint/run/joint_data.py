"""Data of runs of several collectives: which ones there are at first, and whether the results are right.

The data of each collective are multiplied by a number of its own, so that those of another one are wrong. Sums and copies keep the
number, which is taken out again modulo 2^64.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.run.joint_rows import JointRows
from certree.hw.engines.core_program import first_cells, first_wrong
from certree.models.tables.tables import Tables

Cells = NDArray[np.uint64]


def first_data(rows: JointRows, tables: Sequence[Tables]) -> Cells:
    """The initial data, shape (interfaces, cells of one). O(their number)."""
    cells = np.zeros((rows.scalars["nodes"], rows.scalars["cells"]), np.uint64)
    for number, (one, mine) in enumerate(zip(tables, _parts(rows, cells), strict=True)):
        mine[...] = first_cells(one) * _factor(number)
    return cells


def wrong_data(rows: JointRows, tables: Sequence[Tables], cells: Cells) -> str | None:
    """The first wrong result in words; None where all are right. O(cells)."""
    for number, (one, mine) in enumerate(zip(tables, _parts(rows, cells), strict=True)):
        undone = np.uint64(pow(int(_factor(number)), -1, 1 << 64))
        wrong = first_wrong(one, np.ascontiguousarray(mine) * undone)
        if wrong is not None:
            return f"{rows.joint.parts[number].name}: rank {wrong[0]} has a wrong value for chunk {wrong[1]}"
    return None


def _factor(number: int) -> np.uint64:
    """The factor of the data of a collective: odd, so that it can be undone, and another one for each collective."""
    return np.uint64(2 * number + 3)


def _parts(rows: JointRows, cells: Cells) -> Iterator[Cells]:
    """The cells of each collective at all of its interfaces."""
    nodes = len(rows.joint.topology.kind)
    for part, first, node in zip(rows.parts, rows.base.tolist(), rows.first_interface.tolist(), strict=True):
        yield cells[node : node + nodes, first : first + part.scalars["cells"]]
