"""What a collective operation promises."""

from dataclasses import dataclass
from enum import StrEnum

from certree.models.errors import InputError


class CollectiveKind(StrEnum):
    """The operations certree schedules."""

    ALL_REDUCE = "all-reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_GATHER = "all-gather"


@dataclass(frozen=True)
class Collective:
    """A kind of collective operation.

    all-reduce: every endpoint starts with its own contribution to every chunk and ends with the sum of all.
    reduce-scatter: the same start; the sum of chunk c is due at the chunk's root only.
    all-gather: chunk c starts at its root only and is due at every endpoint.
    """

    kind: CollectiveKind

    @property
    def is_rooted(self) -> bool:
        """Whether every chunk has a root that the promise speaks of."""
        return self.kind is not CollectiveKind.ALL_REDUCE

    @property
    def reduces(self) -> bool:
        """Whether contributions are added up."""
        return self.kind is not CollectiveKind.ALL_GATHER

    @property
    def gathers(self) -> bool:
        """Whether finished chunks are copied to every endpoint."""
        return self.kind is not CollectiveKind.REDUCE_SCATTER


def parse_collective(name: str) -> Collective:
    """The collective of that name; InputError lists the known ones."""
    try:
        return Collective(CollectiveKind(name))
    except ValueError:
        raise InputError(f"unknown collective {name!r}; known: {', '.join(CollectiveKind)}") from None
