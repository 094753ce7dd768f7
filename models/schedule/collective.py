"""Collective operations and their required results."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

import numpy as np

from certree.models.common.columns import first_repeated
from certree.models.common.errors import InputError, UnsupportedError, located, short, unknown_name
from certree.models.common.fields import Fields
from certree.models.demand import Demand, read_demand
from certree.models.network.topology import MAX_NODES, Int32, Topology

NAMED_MEMBERS = 8  # that `words` lists


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


#: the name of an all-to-all with a demand of its own
ALLTOALLV = "alltoallv"
#: the kinds that are an all-gather, its reversal, or the two of them one after the other
SYMMETRIC_KINDS = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER)
#: the kinds with one endpoint at the centre
WITH_ONE_ROOT = (CollectiveKind.BROADCAST, CollectiveKind.REDUCE, CollectiveKind.GATHER, CollectiveKind.SCATTER)
#: the kinds in which every chunk goes from one endpoint to one other
WITH_TARGETS = (CollectiveKind.ALL_TO_ALL, CollectiveKind.GATHER, CollectiveKind.SCATTER)


@dataclass(frozen=True)
class Collective:
    """A kind of collective operation, and the one endpoint at its centre where it has one (`root`, a node id).

    `members`: the ids, ascending, of the endpoints that take part; None for all of them. Other endpoints contribute nothing and
    need nothing, and start empty; they may hold and forward. In the table endpoints are members, N of them.

    `demand`: of an all-to-all, which is then an *alltoallv*: how much each endpoint has for each other one, where that differs. The
    message is all of it, and chunks have sizes (`Schedule.chunk_granules`).

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

    The constructor raises InputError when `root` is missing or must not be given, and for `members` that are fewer than two, that
    come twice, or do not have the root among them.
    """

    kind: CollectiveKind
    root: int | None = None
    members: tuple[int, ...] | None = None
    demand: Demand | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", parse_kind(self.kind))  # a plain string would not be identical to the member it equals
        if self.has_one_root and self.root is None:
            raise InputError(f"{self.kind} needs a root: the id of an endpoint")
        if not self.has_one_root and self.root is not None:
            raise InputError(f"{self.kind} has no single root; root {self.root} does not apply")
        if self.root is not None and (type(self.root) is not int or self.root < 0):
            raise InputError(f"root {self.root!r} of {self.kind}: expected the id of an endpoint")
        if self.demand is not None and (self.kind is not CollectiveKind.ALL_TO_ALL or self.members is not None):
            what = f"{self.kind} has none" if self.members is None else "members follow from it"
            raise InputError(f"a demand is for an {CollectiveKind.ALL_TO_ALL} of all endpoints: {what}")
        if self.members is not None:
            object.__setattr__(self, "members", _read_members(self.members))
            if self.root is not None and self.root not in self.members:
                raise InputError(f"root {self.root} is not a member; members are {_listed(self.members)}")

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

    def bus_share(self, endpoints: int) -> Fraction | None:
        """Bytes over the busiest port of one of `endpoints` members, per byte of the message, as nccl-tests counts them for its
        bus bandwidth; None with a demand, for which nccl-tests has no rule."""
        if self.demand is not None:
            return None
        if self.kind in (CollectiveKind.BROADCAST, CollectiveKind.REDUCE):
            return Fraction(1)
        return Fraction(endpoints - 1, endpoints) * (2 if self.kind is CollectiveKind.ALL_REDUCE else 1)

    @property
    def name(self) -> str:
        """The kind, or `alltoallv`."""
        return str(self.kind) if self.demand is None else ALLTOALLV

    @property
    def words(self) -> str:
        """The collective in words: `broadcast from node 3`, or just the name; with members `all-reduce among nodes 0, 2, 5`."""
        words = self.name
        if self.demand is not None:
            words += f" of {blocks_text(len(self.demand.blocks))}"
        if self.root is not None:
            outward = self.kind in (CollectiveKind.BROADCAST, CollectiveKind.SCATTER)
            words += f" {'from' if outward else 'to'} node {self.root}"
        return words if self.members is None else f"{words} among {_listed(self.members)}"

    def message_chunks(self, topology: Topology, chunks: int) -> int:
        """Chunks that the message of one iteration is cut into, of `chunks` in all: these, or with targets the N blocks of one
        endpoint's buffer, one for each of the N endpoints that take part; with a demand its granules."""
        if self.demand is not None:
            return self.demand.granules
        if not self.has_targets:
            return chunks
        members = len(self.members_of(topology))
        moving = members - 1 if self.has_one_root else members * (members - 1)
        return members * -(-chunks // moving)

    def members_of(self, topology: Topology) -> Int32:
        """The ids of the endpoints that take part, ascending: those of the network where none are named."""
        return topology.endpoints if self.members is None else np.array(self.members, np.int32)

    def ranks_of(self, topology: Topology) -> list[int]:
        """The ranks of the endpoints that take part, ascending."""
        ranks: list[int] = topology.rank[self.members_of(topology)].tolist()
        return ranks

    def require_fits(self, topology: Topology) -> None:
        """Raise InputError unless the root and the members, as far as there are any, are endpoints of this topology."""
        named = [("root", self.root), *(("member", member) for member in self.members or ())]
        for what, node in named:
            if node is not None and (node >= len(topology.kind) or topology.rank[node] < 0):
                first, last = int(topology.endpoints[0]), int(topology.endpoints[-1])
                raise InputError(f"{what} {node} is not an endpoint of {topology.name}; endpoints are in {first} to {last}")
        if self.demand is not None:
            self.demand.require_fits(topology)

    def fitted(self, topology: Topology) -> "Collective":
        """The collective without `members` where these are all endpoints of the network. Errors as `require_fits`."""
        self.require_fits(topology)
        everyone = self.members is not None and len(self.members) == len(topology.endpoints)
        return replace(self, members=None) if everyone else self

    def require_everyone(self, what: str) -> None:
        """Raise UnsupportedError where `what` (a few words) would get a collective of some endpoints only, or with a demand."""
        self.require_no_members(what)
        self.require_equal_blocks(what)

    def require_no_members(self, what: str) -> None:
        """Raise UnsupportedError where `what` (a few words) would get a collective of some endpoints only."""
        if self.members is not None:
            raise UnsupportedError(f"{what}: not supported for collectives of some endpoints only (members)")

    def require_equal_blocks(self, what: str) -> None:
        """Raise UnsupportedError where `what` (a few words) would get a collective with a demand."""
        if self.demand is not None:
            raise UnsupportedError(f"{what}: not supported for {ALLTOALLV}, whose blocks differ in size")


def _read_members(members: Iterable[int]) -> tuple[int, ...]:
    """The ids in ascending order; InputError where they are not at least two different ids."""
    given = tuple(members)
    for member in given:
        if type(member) is not int or not 0 <= member < MAX_NODES:
            raise InputError(f"member {short(member)}: expected the id of an endpoint")
    found = tuple(sorted(set(given)))
    if len(found) < len(given):
        raise InputError(f"member {first_repeated(sorted(given))} is named twice")
    if len(found) < 2:
        raise InputError(f"{len(found)} member(s); allowed: 2 or more")
    return found


def blocks_text(count: int) -> str:
    """A number of blocks in words: `1 block`, `12 blocks`."""
    return f"{count:,} block{'s' * (count != 1)}"


def _listed(members: tuple[int, ...]) -> str:
    if len(members) > NAMED_MEMBERS:
        return f"{len(members)} members"
    return f"nodes {', '.join(map(str, members))}"


def read_collective(fields: Fields, *, version_2: bool = False) -> Collective:
    """The collective in the fields `kind` and `root` of a document; of version 2 also `members` and `demand`, if present."""
    fields.only("kind", "root", optional=["members", "demand"] if version_2 else [])
    kind, root = fields.text("kind"), fields.whole_or_none("root")
    named = fields.entries("members", empty=True) if "members" in fields else None
    demand = read_demand(fields.table_of("demand")) if "demand" in fields else None
    with located(fields.where, fields.error):
        return parse_collective(kind, root, named, demand)


def parse_collective(
    name: str, root: int | None = None, members: Iterable[int] | None = None, demand: Demand | None = None
) -> Collective:
    """The collective of that name; InputError lists the known ones, or says that it needs a root or a demand, or has none."""
    if (name == ALLTOALLV) != (demand is not None):
        raise InputError(f"{ALLTOALLV} needs a demand" if demand is None else f"a demand is for {ALLTOALLV}, not for {name}")
    kind = CollectiveKind.ALL_TO_ALL if name == ALLTOALLV else parse_kind(name)
    return Collective(kind, root, None if members is None else tuple(members), demand)


def parse_members(text: str) -> tuple[int, ...]:
    """Ids in a list such as `0,2,4-7`; InputError names the part that is neither an id nor a range.

    >>> parse_members("0,2,4-7")
    (0, 2, 4, 5, 6, 7)
    """
    found: list[int] = []
    for part in text.split(","):
        ends = [end.strip() for end in part.split("-")]
        if len(ends) > 2 or not all(end.isascii() and end.isdigit() and len(end) < 8 for end in ends):
            raise InputError(f"members {short(text)}: {short(part)}; allowed: ids and ranges of ids, such as 0,2,4-7")
        first, last = int(ends[0]), int(ends[-1])
        if not first <= last < MAX_NODES:
            raise InputError(f"members {short(text)}: {short(part)}; allowed: ids below {MAX_NODES}, the smaller first")
        found += range(first, last + 1)
    return tuple(found)


def parse_kind(name: str) -> CollectiveKind:
    """The kind of that name; InputError lists the known ones."""
    try:
        return CollectiveKind(name)
    except ValueError:
        raise InputError(unknown_name("collective", name, CollectiveKind)) from None
