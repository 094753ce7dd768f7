"""Types of the kernels in `synth/native`."""

import numpy as np
from numpy.typing import NDArray

def pack_trees(
    nodes: int,
    u: NDArray[np.int32],
    v: NDArray[np.int32],
    capacity: NDArray[np.int64],
    roots: NDArray[np.int32],
    height: int,
    moves: int,
    seed: int,
) -> tuple[bool, NDArray[np.int32]]: ...
def pack_branchings(
    nodes: int,
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    capacity: NDArray[np.int64],
    roots: NDArray[np.int32],
) -> NDArray[np.int32]: ...
def schedule_jobs(
    link_offset: NDArray[np.int32],
    link: NDArray[np.int32],
    reducer: NDArray[np.int32],
    group: NDArray[np.int32],
    successor_offset: NDArray[np.int32],
    successor: NDArray[np.int32],
    capacity: NDArray[np.int64],
    reducers: int,
    delay: int,
    period: int,
    reductions: int,
    tries: int,
    work: int,
    stagger: int,
    seed: int,
    turn: NDArray[np.int32],
) -> tuple[NDArray[np.int32], int]: ...
def grow_trees(
    endpoint: NDArray[np.uint8],
    offset: NDArray[np.int32],
    pair: NDArray[np.int32],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    capacity: NDArray[np.int64],
    roots: NDArray[np.int32],
    turns: int,
    priority: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...

class SwitchSplitting:
    def __init__(
        self,
        endpoint: NDArray[np.uint8],
        u: NDArray[np.int32],
        v: NDArray[np.int32],
        capacity: NDArray[np.int64],
        period: int,
        seed: int,
    ) -> None: ...
    def grow(self, group: NDArray[np.int32]) -> None: ...
    def repair(self, parts: NDArray[np.int32], needs: NDArray[np.int64], moves: int) -> bool: ...
    def paths(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
