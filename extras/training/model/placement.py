"""Ranks at endpoints: which endpoints form the groups of a workload that is cut in several ways."""

from collections.abc import Sequence

import numpy as np

from certree.extras.training.model.workload import Workload

Groups = tuple[tuple[int, ...], ...]


def placements(workload: Workload, endpoints: Sequence[int]) -> dict[str, Groups]:
    """All groups of ranks of a transformer by name, in the usual order: ranks of a tensor group are at endpoints that follow each
    other, then those of an expert group, of data, and of the stages of a pipeline.

    Empty where tensor · data · stages is not the number of endpoints. O(endpoints).
    """
    sizes = workload.groups
    tensor, data, expert, stages = (*(sizes.get(name, 1) for name in ("tensor", "data", "expert")), workload.stages)
    if not sizes or tensor * data * stages != len(endpoints) or data % expert:
        return {}
    grid = np.array(endpoints).reshape(stages, data // expert, expert, tensor)
    found = {
        "tensor": grid,
        "expert": np.moveaxis(grid, 2, 3),
        "data": np.moveaxis(grid.reshape(stages, data, tensor), 1, 2),
        "expert data": np.moveaxis(grid, 1, 3),
        "pipeline": np.moveaxis(np.stack((grid[:-1], grid[1:])), 0, -1),
    }
    return {name: tuple(map(tuple, found[name].reshape(-1, found[name].shape[-1]).tolist())) for name in sizes if name in found}
