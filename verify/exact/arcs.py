"""Arcs, the paths of single transfers: simple paths from cell to cell through switches."""

from dataclasses import dataclass

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import NodeKind, Topology

MAX_ARCS = 20_000
MAX_PATHS = 1_000_000  # examined to find the arcs


@dataclass(frozen=True)
class Arc:
    """The path of one transfer: from cell `src` to cell `dst` over the pairs of neighbours `pairs` (`Topology.pair_index`).

    The pairs are in the order in which the transfer passes them, also in a reversed arc: data is never sent along the reverse.
    """

    src: int
    dst: int
    pairs: tuple[int, ...]

    @property
    def turned(self) -> "Arc":
        """The path backwards; its pairs keep their numbers and their order."""
        return Arc(self.dst, self.src, self.pairs)


def transfer_arcs(topology: Topology, cells: tuple[int, ...]) -> list[Arc]:
    """Every simple path from cell to cell whose inner nodes are switches. Time and memory grow with their number and length."""
    leaving: dict[int, list[tuple[int, int]]] = {}
    for pair, (tail, head) in enumerate(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True)):
        leaving.setdefault(tail, []).append((pair, head))
    ends = set(cells)
    forwards = (topology.kind == NodeKind.SWITCH).tolist()
    found: list[Arc] = []
    paths = 0
    for start in cells:
        stack: list[tuple[int, tuple[int, ...], frozenset[int]]] = [(start, (), frozenset((start,)))]
        while stack:
            node, pairs, seen = stack.pop()
            if (paths := paths + 1) > MAX_PATHS:
                raise UnsupportedError(f"{topology.name} has more than {MAX_PATHS} paths through switches: too many to search")
            for pair, head in leaving.get(node, []):
                if head in seen:
                    continue
                if head in ends:
                    found.append(Arc(start, head, (*pairs, pair)))
                    if len(found) > MAX_ARCS:
                        raise UnsupportedError(
                            f"{topology.name} has more than {MAX_ARCS} paths between endpoints: too many to search"
                        )
                if forwards[head]:
                    stack.append((head, (*pairs, pair), seen | {head}))
    return found
