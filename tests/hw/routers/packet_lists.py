"""Packets for the router tests."""

import numpy as np

from certree.hw.routers.packets import Packets


def packets(*rows: tuple[int, int, int, int]) -> Packets:
    """Rows (src, dst, flits, start), numbered from 0."""
    src, dst, flits, start = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return Packets(np.arange(len(rows)), src, dst, flits, start)
