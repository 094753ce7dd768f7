"""Initial contents and obligations of a schedule, cell by cell; a cell holds the contributions to one chunk at one node.

Nodes that hold data have *places*: first the endpoints, place = rank, then the reducing switches by id, then the scratch buffers of
the endpoints, buffer 1 of every rank before buffer 2. The accumulators of switches and the scratch buffers start empty and have no
obligations.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.models.network.topology import NodeKind
from certree.models.schedule.schedule import Schedule

EVERYONE = -1
WORD_BITS = 64

Int64 = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Promise:
    """Contents and obligations of cells. `ranks`: the number of endpoints. `node`: the node at each place of an endpoint's
    data or of a switch; `buffers`: the number of buffers of an endpoint.

    `holder` and `due`: for each chunk the rank that alone holds it at the start, and that alone must hold all of it at the end,
    or EVERYONE: all that take part, `members` by rank (M1 in docs/decisions/0007-schedule-version-2.md). `contributions`: the
    numbers that parts of a sum may have: a chunk that everyone holds at the start has one part per member, whose number is its
    rank; a chunk with one holder has a single part.
    """

    ranks: int
    node: Int64
    contributions: int
    holder: Int64
    due: Int64
    members: NDArray[np.bool_]
    buffers: int = 1

    @classmethod
    def of(cls, schedule: Schedule) -> "Promise":
        """The promise of a schedule's collective (see `models.schedule.collective`)."""
        endpoints, kind = schedule.topology.endpoints, schedule.topology.kind
        ranks = len(endpoints)
        node = np.concatenate((endpoints, np.flatnonzero(schedule.topology.holds & (kind == NodeKind.SWITCH)))).astype(np.int64)
        everyone, buffers = np.full(schedule.chunks, EVERYONE, np.int64), schedule.buffers
        members = np.isin(endpoints, schedule.collective.members_of(schedule.topology))
        if not schedule.collective.is_rooted:
            return cls(ranks, node, ranks, everyone, everyone, members, buffers)
        root = schedule.topology.rank[schedule.chunk_root].astype(np.int64)
        if schedule.chunk_target is not None:
            target = schedule.topology.rank[schedule.chunk_target].astype(np.int64)
            return cls(ranks, node, 1, root, target, members, buffers)
        if schedule.collective.reduces:
            return cls(ranks, node, ranks, everyone, root, members, buffers)
        return cls(ranks, node, 1, root, everyone, members, buffers)

    @property
    def places(self) -> int:
        """The number of places: of endpoints, of switches and of scratch buffers."""
        return len(self.node) + (self.buffers - 1) * self.ranks

    def place_of(self, nodes: int) -> Int64:
        """The place of each of the `nodes` ids, for an endpoint the place of its data; 0 for a node that holds nothing."""
        place = np.zeros(nodes, np.int64)
        place[self.node] = np.arange(len(self.node))
        return place

    def scratch(self, buffer: NDArray[np.int32]) -> Int64:
        """How many places each buffer of an endpoint lies behind the endpoint's data."""
        behind = len(self.node) + (buffer - np.int64(1)) * self.ranks
        return np.asarray(np.where(buffer == 0, 0, behind))

    def is_switch(self, place: Int64) -> NDArray[np.bool_]:
        """Which places are accumulators of switches."""
        return np.asarray((place >= self.ranks) & (place < len(self.node)))

    @property
    def words(self) -> int:
        """The number of words of one cell's set of contributions."""
        return -(-self.contributions // WORD_BITS)

    def initial(self, chunk: Int64, place: Int64) -> Words:
        """The sets (one row of words each) that cells hold before the first step."""
        state = np.zeros((len(chunk), self.words), np.uint64)
        holder = self.holder[chunk]
        own = np.where(holder == EVERYONE, place, 0)
        held = np.flatnonzero(((holder == EVERYONE) & self._of_member(place)) | (holder == place))
        state[held, own[held] // WORD_BITS] = np.uint64(1) << (own[held] % WORD_BITS).astype(np.uint64)
        return state

    @property
    def complete(self) -> Words:
        """The set of all contributions."""
        bits = np.zeros(self.words * WORD_BITS, np.bool_)
        bits[: self.contributions] = True
        if self.contributions > 1:
            bits[: self.ranks] &= self.members
        return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)

    @property
    def complete_number(self) -> int:
        """The complete set as a number with one bit for each contribution."""
        return int.from_bytes(self.complete.astype("<u8").tobytes(), "little")

    def _of_member(self, place: Int64) -> NDArray[np.bool_]:
        """Which places are the data of an endpoint that takes part."""
        inside = place < self.ranks
        return np.asarray(inside & self.members[np.where(inside, place, 0)])

    def is_due(self, chunk: Int64, place: Int64) -> NDArray[np.bool_]:
        """Flags of the cells that must be complete at the end."""
        due = self.due[chunk]
        return np.asarray(((due == EVERYONE) & self._of_member(place)) | (due == place))

    def complete_from_start(self) -> Int64:
        """The due cells that are complete from the start: a chunk with a single part cannot lose any of it."""
        if self.contributions > 1:
            return np.zeros(0, np.int64)
        chunk = np.flatnonzero(self.holder != EVERYONE)
        holder = self.holder[chunk]
        return np.asarray((chunk * self.places + holder)[self.is_due(chunk, holder)])

    def due_cells(self) -> Int64:
        """The number of cells of each chunk that must be complete at the end."""
        return np.where(self.due == EVERYONE, np.count_nonzero(self.members), 1)
