"""Permute programs on numbers, written apart from the checker and from the code of the modules: one device after the other."""

import numpy as np
from numpy.typing import NDArray

from certree.extras.xla.model.permute_program import PermuteProgram


def outputs(program: PermuteProgram, inputs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The outputs of all devices; `inputs`: by device and chunk. Sums are those of whole numbers."""
    state = np.where(program.load >= 0, np.take_along_axis(inputs, np.maximum(program.load, 0), 1), 0)
    past: list[NDArray[np.int64]] = []
    for one in program.stretches:
        for send, take, put in zip(one.send, one.take, one.put, strict=True):
            leaving = np.take_along_axis(state, send, 1)
            came = np.zeros((program.ranks, program.width), np.int64)
            at = 0
            for permute in one.permutes:
                for source, target in permute.pairs:
                    came[target, at : at + permute.rows] = leaving[source, at : at + permute.rows]
                at += permute.rows
            came[:, at : at + one.own] = leaving[:, at:]
            past = [came, *past][: program.depth]
            inbox = np.concatenate(past, axis=1)
            for rank in range(program.ranks):
                for taken, entry in zip(take[rank], put[rank], strict=True):
                    row, mode = divmod(int(entry), 3)
                    if mode:
                        state[rank, row] = inbox[rank, taken] + (state[rank, row] if mode == 1 else 0)
    return np.where(program.store >= 0, np.take_along_axis(state, np.maximum(program.store, 0), 1), 0)
