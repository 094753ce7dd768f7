"""Range checks for values passed to the core."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError

MAX_ENTRY = (1 << 32) - 1  # of the core's columns


def narrowed(name: str, column: NDArray[Any]) -> NDArray[np.uint32]:
    """The column in the type of the core. UnsupportedError where a number is too large, or negative. O(entries)."""
    check_fits(name, int(column.min(initial=0)))
    check_fits(name, int(column.max(initial=0)))
    return column.astype(np.uint32)


def check_fits(name: str, value: int, most: int = MAX_ENTRY) -> None:
    """UnsupportedError unless the value is from 0 to `most`."""
    if not 0 <= value <= most:
        raise UnsupportedError(
            f"{name} would be {value}; the simulator has numbers up to {most} (rates are bytes in whole cycles, in lowest terms; "
            "messages and packets are as long as their parameters make them)"
        )
