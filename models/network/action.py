"""A group that moves the nodes of a network, given by generators: permutations, or shifts of a box that wraps around."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import int_column
from certree.models.common.errors import ScheduleFormatError, located
from certree.models.common.fields import Fields
from certree.models.network.topology import MAX_DIMENSIONS, MAX_NODES, Int32

MAX_GENERATORS = 64
#: a new node, the node it comes from, and the generator that takes one to the other; columns
Reached = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Action:
    """A group that moves nodes. `moves`, shape (generators, N): where each generator takes each node. `box`: sizes of `of_box`.

    The constructor checks that every generator is a permutation (ScheduleFormatError); `certree.verify` checks whether the group
    fits a network. O(generators · N) time and memory.
    """

    moves: Int32
    box: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        moves = np.ascontiguousarray(self.moves, np.int32)
        moves.setflags(write=False)
        object.__setattr__(self, "moves", moves)
        if moves.ndim != 2 or not 1 <= len(moves) <= MAX_GENERATORS or not moves.shape[1]:
            raise ScheduleFormatError(f"action has generators of shape {moves.shape}; allowed: 1 to {MAX_GENERATORS} of all nodes")
        for number, images in enumerate(moves):
            wrong = np.flatnonzero((images < 0) | (images >= self.nodes))
            if len(wrong):
                raise ScheduleFormatError(
                    f"action generator {number} row {wrong[0]}: {images[wrong[0]]}; allowed: 0 to {self.nodes - 1}"
                )
            twice = np.flatnonzero(np.bincount(images, minlength=self.nodes) > 1)
            if len(twice):
                raise ScheduleFormatError(f"action generator {number} takes several nodes to node {twice[0]}")

    @classmethod
    def of_box(cls, sizes: Sequence[int]) -> "Action":
        """The nodes are the cells of a box of these sizes, the last coordinate running fastest; a generator for each dimension
        moves all of them by one, around the end. O(nodes · dimensions)."""
        place = np.arange(math.prod(sizes)).reshape(sizes)
        moves = [np.roll(place, -1, axis=axis).ravel() for axis, size in enumerate(sizes) if size > 1]
        return cls(np.array(moves), tuple(sizes))

    @property
    def nodes(self) -> int:
        """The number of nodes, N."""
        return int(self.moves.shape[1])

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document of a file."""
        return {"permutations": self.moves.tolist()} if self.box is None else {"box": list(self.box)}

    @cached_property
    def _walk(self) -> tuple[Reached, ...]:
        """The nodes that products of generators map node 0 to, hop by hop, each once."""
        seen = np.zeros(self.nodes, np.bool_)
        seen[0], fresh = True, np.zeros(1, np.int64)
        levels: list[Reached] = []
        while len(fresh):
            images = self.moves[:, fresh].ravel().astype(np.int64)
            new, first = np.unique(images, return_index=True)
            keep = ~seen[new]
            new, first = new[keep], first[keep]
            if len(new):
                levels.append((new, fresh[first % len(fresh)], first // len(fresh)))
            seen[new] = True
            fresh = new
        return tuple(levels)

    @property
    def orbit(self) -> NDArray[np.bool_]:
        """Flags of the nodes that some element maps node 0 to."""
        reached = np.zeros(self.nodes, np.bool_)
        reached[0] = True
        for new, _, _ in self._walk:
            reached[new] = True
        return reached

    def carried(self, nodes: NDArray[Any]) -> Int32:
        """Shape (N, len(nodes)): row v is where an element that takes node 0 to v takes `nodes`; -1 beyond the orbit of node 0.

        There is one such element exactly when the action is regular; else it is one of several. O(N · len(nodes)).
        """
        images = np.full((self.nodes, len(nodes)), -1, np.int32)
        images[0] = nodes
        for new, source, generator in self._walk:
            images[new] = self.moves[generator[:, None], images[source]]
        return images


def generating(permutations: Iterator[Int32] | Sequence[Int32]) -> Action:
    """The group of these permutations, without those that follow others and take node 0 to no new node. O(permutations · N)."""
    kept: list[Int32] = []
    reach = 1
    for images in permutations:
        larger = int(Action(np.array([*kept, images])).orbit.sum())
        if larger > reach:
            kept, reach = [*kept, images], larger
        if reach == len(images):
            break
    return Action(np.array(kept))


def action_from_document(document: Any, nodes: int, where: str) -> Action:
    """The action in a parsed JSON document, {"box": sizes} or {"permutations": one for each generator}, on `nodes` nodes."""
    fields = Fields(document, where, ScheduleFormatError).only(optional=("box", "permutations"))
    if ("box" in fields) == ("permutations" in fields):
        fields.refuse("expected either box or permutations")
    if "box" in fields:
        sizes = fields.column("box", 1, MAX_NODES).tolist()
        if len(sizes) > MAX_DIMENSIONS:
            fields.refuse(f"box has {len(sizes)} sizes; allowed: 1 to {MAX_DIMENSIONS}")
        if math.prod(sizes) != nodes:
            fields.refuse(f"box has {math.prod(sizes)} cells; expected one for each of the {nodes} nodes")
        return Action.of_box(sizes)
    rows = fields.entries("permutations")
    if len(rows) > MAX_GENERATORS:
        fields.refuse(f"permutations has {len(rows)} lists; allowed: 1 to {MAX_GENERATORS}")
    columns = [
        int_column(row, f"{where}.permutations {number}", 0, nodes - 1, nodes, ScheduleFormatError)
        for number, row in enumerate(rows)
    ]
    with located(where, ScheduleFormatError):
        return Action(np.array(columns))
