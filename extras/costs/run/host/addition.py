"""Benchmark of adding up several vectors at once, in threads: additions and memory accesses (GenTree, Section 3.1, Fig. 4)."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import CertreeError

Float32 = NDArray[np.float32]
BLOCK = 1 << 14  # floats that stay in the nearest cache while all vectors are added to them


def add_at_once(vectors: Sequence[Float32], total: Float32) -> None:
    """total = the sum of all vectors, every element read once and written once to memory: block by block. At least two vectors."""
    for low in range(0, len(total), BLOCK):
        block = slice(low, low + BLOCK)
        np.add(vectors[0][block], vectors[1][block], out=total[block])
        for vector in vectors[2:]:
            np.add(total[block], vector[block], out=total[block])


def timed_runs(run: Callable[[], None], repetitions: int) -> list[float]:
    """Seconds of each of the timed runs, after one warm-up run."""
    seconds = []
    for _ in range(repetitions + 1):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return seconds[1:]


def time_additions(vectors: int, floats: int, repetitions: int, threads: int) -> list[float]:
    """Seconds of each of the timed runs, after one warm-up run. Memory: (vectors + 1) · floats · 4 bytes.

    A single thread is the calling one.
    """
    data = [np.full(floats, index + 1, np.float32) for index in range(vectors)]
    total = np.zeros(floats, np.float32)
    bounds = np.linspace(0, floats, threads + 1).astype(int).tolist()
    parts = [([vector[low:high] for vector in data], total[low:high]) for low, high in pairwise(bounds)]
    with ThreadPoolExecutor(threads) as pool:
        each = map if threads == 1 else pool.map

        def run() -> None:
            for _ in each(add_at_once, *zip(*parts, strict=True)):
                pass

        seconds = timed_runs(run, repetitions)
    if not (total == vectors * (vectors + 1) // 2).all():
        raise CertreeError("the benchmark of additions ended with a wrong sum")
    return seconds
