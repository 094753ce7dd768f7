"""Collective operations and their required results."""

from dataclasses import dataclass
from enum import StrEnum

from certree.models.common.errors import InputError, located, unknown_name
from certree.models.common.fields import Fields
from certree.models.network.topology import Topology


class CollectiveKind(StrEnum):
    """The operations certree schedules."""

    ALL_REDUCE = "all-reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_GATHER = "all-gather"
    ALL_TO_ALL = "all-to-all"
    BROADCAST = "broadcast"
    REDUCE = "reduce"
    GATHER = "gather"
    SCATTER = "scatter"


#: the kinds that are an all-gather, its reversal, or the two of them one after the other
SYMMETRIC_KINDS = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER)
#: the kinds with one endpoint at the centre
WITH_ONE_ROOT = (CollectiveKind.BROADCAST, CollectiveKind.REDUCE, CollectiveKind.GATHER, CollectiveKind.SCATTER)
#: the kinds in which every chunk goes from one endpoint to one other
WITH_TARGETS = (CollectiveKind.ALL_TO_ALL, CollectiveKind.GATHER, CollectiveKind.SCATTER)


@dataclass(frozen=True)
class Collective:
    """A kind of collective operation, and the one endpoint at its centre where it has one (`root`, a node id).

    | kind | at the start | at the end | the message of M bytes is | chunks of it |
    |---|---|---|---|---|
    | all-reduce | each endpoint has its contribution to every chunk | each has every sum | the vector | K |
    | reduce-scatter | the same | the chunk's root has its sum | the vector before | K |
    | all-gather | the chunk's root has it | each has every chunk | the vector after | K |
    | broadcast | `root` has every chunk | each has every chunk | the vector of the root | K |
    | reduce | as all-reduce | `root` has every sum | the vector | K |
    | gather | the chunk's root has it | its target, `root`, has it | the buffer of the root | kN, K = k(N − 1) |
    | scatter | `root` has it | the chunk's target has it | the buffer of the root | kN, K = k(N − 1) |
    | all-to-all | the chunk's root has it | its target has it | the buffer of one endpoint | kN, K = kN(N − 1) |

    K is the number of chunks in a schedule. In the last three each endpoint (all-to-all: each ordered pair of different endpoints)
    has the same number k of chunks. The buffer holds a block of k chunks for each of the N endpoints, including the owner's own,
    which never moves and is not a chunk of the schedule.

    The constructor raises InputError when `root` is missing or must not be given.
    """

    kind: CollectiveKind
    root: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", parse_kind(self.kind))  # a plain string would not be identical to the member it equals
        if self.has_one_root and self.root is None:
            raise InputError(f"{self.kind} needs a root: the id of an endpoint")
        if not self.has_one_root and self.root is not None:
            raise InputError(f"{self.kind} has no single root; root {self.root} does not apply")
        if self.root is not None and (type(self.root) is not int or self.root < 0):
            raise InputError(f"root {self.root!r} of {self.kind}: expected the id of an endpoint")

    @property
    def has_one_root(self) -> bool:
        """Whether one endpoint has a special role in the whole operation: `root`."""
        return self.kind in WITH_ONE_ROOT

    @property
    def has_targets(self) -> bool:
        """Whether every chunk is for one endpoint, its target, and comes from another one, its root."""
        return self.kind in WITH_TARGETS

    @property
    def is_rooted(self) -> bool:
        """Whether every chunk has a root: the only endpoint where it starts, or where its sum is due."""
        return self.kind is not CollectiveKind.ALL_REDUCE

    @property
    def reduces(self) -> bool:
        """Whether contributions are added up."""
        return self.kind in (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.REDUCE)

    @property
    def gathers(self) -> bool:
        """Whether finished chunks are copied to every endpoint."""
        return self.kind in (CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_GATHER, CollectiveKind.BROADCAST)

    @property
    def words(self) -> str:
        """`broadcast from node 3`, or just the kind."""
        if self.root is None:
            return str(self.kind)
        outward = self.kind in (CollectiveKind.BROADCAST, CollectiveKind.SCATTER)
        return f"{self.kind} {'from' if outward else 'to'} node {self.root}"

    def require_fits(self, topology: Topology) -> None:
        """Raise InputError unless the root, if there is one, is an endpoint of this topology."""
        if self.root is not None and (self.root >= len(topology.kind) or topology.rank[self.root] < 0):
            first, last = int(topology.endpoints[0]), int(topology.endpoints[-1])
            raise InputError(f"root {self.root} is not an endpoint of {topology.name}; endpoints are in {first} to {last}")


def read_collective(fields: Fields) -> Collective:
    """The collective in the fields `kind` and `root` of a document."""
    fields.only("kind", "root")
    kind, root = fields.text("kind"), fields.whole_or_none("root")
    with located(fields.where, fields.error):
        return parse_collective(kind, root)


def parse_collective(name: str, root: int | None = None) -> Collective:
    """The collective of that name; InputError lists the known ones, or says that it needs a root or has none."""
    return Collective(parse_kind(name), root)


def parse_kind(name: str) -> CollectiveKind:
    """The kind of that name; InputError lists the known ones."""
    try:
        return CollectiveKind(name)
    except ValueError:
        raise InputError(unknown_name("collective", name, CollectiveKind)) from None
