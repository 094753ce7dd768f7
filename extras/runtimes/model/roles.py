"""The members of the collective of a program, and their amounts where these differ."""

from dataclasses import dataclass

from certree.models.common.errors import InputError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind


@dataclass(frozen=True)
class Roles:
    """The part that each rank has in a collective. `members`: those that take part, ascending; None: all. `blocks`: of an
    alltoallv,
    the chunks that each rank has for each other one."""

    members: tuple[int, ...] | None = None
    blocks: tuple[tuple[int, ...], ...] = ()

    def require_fit(self, kind: CollectiveKind, ranks: int) -> None:
        """Raise InputError where they are not those of a collective among N ranks."""
        if self.members is not None and (
            len(self.members) < 2
            or sorted({*self.members}) != [*self.members]
            or not 0 <= self.members[0] <= self.members[-1] < ranks
        ):
            raise InputError(f"members are {list(self.members)}; expected 2 or more of the ranks 0 to {ranks - 1}, ascending")
        if not self.blocks:
            return
        if kind is not CollectiveKind.ALL_TO_ALL or self.members is not None:
            raise InputError(
                f"blocks are for an alltoallv of all ranks, not for {kind}{' with members' * (self.members is not None)}"
            )
        if [len(row) for row in self.blocks] != [ranks] * ranks or any(row[rank] for rank, row in enumerate(self.blocks)):
            raise InputError(f"blocks are not {ranks} rows of {ranks} numbers of chunks, 0 for oneself")


EVERYONE = Roles()


def members_of_ranks(collective: Collective, topology: Topology) -> tuple[int, ...] | None:
    """The members of a collective as ranks: the endpoints in the order of their ids."""
    return None if collective.members is None else tuple(topology.rank[list(collective.members)].tolist())
