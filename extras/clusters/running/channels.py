"""Channels of NCCL: in each of them a ring of all ranks, or a tree."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from certree.models.common.errors import InputError
from certree.models.network.topology import Int32
from certree.synth.methods.trees.double_binary_tree import ROOT, nccl_trees

MAX_CHANNELS = 128
RING, TREE = "ring", "tree"
#: places in a box's chain of the ranks that receive from the first and from the second box below, by NCCL's pattern of trees
CHILDREN = {1: (1, 0), 2: (1, 1), 3: (0, 0)}


@dataclass(frozen=True)
class Channels:
    """The channels of one communicator. `rings`: of each channel all ranks, in order; `trees`: of each channel the parent of each
    rank, or ROOT. `missing`: why there are no rings or no trees, by kind. `told`: what else of the file was left out."""

    rings: tuple[tuple[int, ...], ...]
    trees: tuple[tuple[int, ...], ...]
    missing: dict[str, str] = field(default_factory=dict)
    told: tuple[str, ...] = field(default=(), compare=False)

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return len((self.rings or self.trees)[0])

    @property
    def kinds(self) -> list[str]:
        """Which of RING and TREE there are."""
        return [kind for kind, found in ((RING, self.rings), (TREE, self.trees)) if found]


def require_ring(order: Sequence[int], ranks: int, at: str) -> tuple[int, ...]:
    """A ring that has every rank once; InputError for any other."""
    if sorted(order) != list(range(ranks)):
        wrong = sorted({one for one in order if order.count(one) > 1 or one >= ranks} or {*range(ranks)} - {*order})
        raise InputError(f"{at}: a ring of {len(order)} ranks; each of ranks 0 to {ranks - 1} is in it once, unlike {wrong[0]}")
    return tuple(order)


def require_tree(parents: Sequence[int], at: str) -> tuple[int, ...]:
    """A tree with one root to which all ranks lead; InputError for any other."""
    above = np.array(parents)
    if (roots := int((above == ROOT).sum())) != 1:
        raise InputError(f"{at}: a tree with {roots} roots; expected 1")
    if (depths(above) < 0).any():
        raise InputError(f"{at}: rank {int(np.flatnonzero(depths(above) < 0)[0])} does not lead to the root of its tree")
    return tuple(parents)


def depths(parents: Int32) -> Int32:
    """Edges from each rank to the root; -1 where it is not reached."""
    depth = np.where(parents == ROOT, 0, -1).astype(np.int32)
    for _ in range(len(parents)):
        reached = (depth < 0) & (depth[parents] >= 0)
        if not reached.any():
            break
        depth[reached] = depth[parents[reached]] + 1
    return depth


def through_boxes(chain: Sequence[int], boxes: int) -> tuple[int, ...]:
    """The ring that goes through the chain of one box after the other, as NCCL joins them."""
    return tuple(box * len(chain) + place for box in range(boxes) for place in chain)


def trees_through_boxes(chain: Sequence[int], pattern: int, boxes: int) -> list[tuple[int, ...]]:
    """The trees for the chain of each box: in a box the chain, its first rank on top, between boxes the two trees of NCCL, whose
    children hang below the ranks that the pattern names."""
    size, found = len(chain), []
    for number, above in enumerate(nccl_trees(boxes) if boxes > 1 else np.array([[ROOT]])):
        parents = [ROOT] * (size * boxes)
        for box, upper in enumerate(above.tolist()):
            for first, second in pairwise(chain):
                parents[box * size + second] = box * size + first
            if upper != ROOT:
                child = _place(box, boxes, number) > _place(upper, boxes, number)  # the second one
                parents[box * size + chain[0]] = upper * size + chain[min(CHILDREN[pattern][child], size - 1)]
        found.append(tuple(parents))
    return found


def _place(box: int, boxes: int, tree: int) -> int:
    """The place of a box in a tree of NCCL."""
    return box if tree == 0 else (box - 1) % boxes if boxes % 2 else boxes - 1 - box
