"""Counts of interfaces without slots: steps, and cycles of a step without rows (E8, E9)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def own_steps(node: NDArray[np.integer[Any]], step: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The number of the step of each row, a time, among those that its node has. `node` ascending. O(rows log rows)."""
    times = int(step.max(initial=0)) + 1
    found, number = np.unique(node.astype(np.int64) * times + step, return_inverse=True)
    return number.astype(np.int64) - np.searchsorted(found, node.astype(np.int64) * times)


def estimated_step_cycles(message_flits: int, ni_buffer_flits: int) -> int:
    """Estimated length of a paced step without rows (MultiTree, ISCA 2021, footnote 4): the flits of a message if an injection
    buffer holds them all, otherwise those that do not fit."""
    return message_flits if message_flits <= ni_buffer_flits else message_flits - ni_buffer_flits
