"""Schedules stored as a few base chunks and a group: transfers of every other chunk are images of theirs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import ScheduleFormatError, UnsupportedError
from certree.models.common.files import canonical_json, sha256
from certree.models.common.shown import Shown
from certree.models.network.action import Action
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import BUFFER_COLUMNS, MAX_CHUNKS, NO_ROOT, Slots

#: collective of the base chunks -> collective of all chunks
WHOLE = {
    CollectiveKind.BROADCAST: CollectiveKind.ALL_GATHER,
    CollectiveKind.REDUCE: CollectiveKind.REDUCE_SCATTER,
    CollectiveKind.ALL_REDUCE: CollectiveKind.ALL_REDUCE,
    CollectiveKind.SCATTER: CollectiveKind.ALL_TO_ALL,
}
#: why a field of version 2 is not in symmetric schedules
LEFT_OUT = {
    "virtual_channel": "their transfers are between neighbours and take no route",
    "members": "the group takes every endpoint to every other one, so that all take part",
    "demand": "all chunks are images of those of the base, and the blocks of a demand differ",
    "waits": "their transfers are between neighbours and pass no router in between",
}
#: rows of the largest schedule that is written out; 8.4 million take about a gigabyte
MAX_TRANSFERS = 1 << 23


@dataclass(frozen=True, eq=False, repr=False)
class SymmetricSchedule(Shown):
    """`base`: a schedule of C chunks with root 0 (a broadcast, a reduce, a scatter, or an all-reduce). `action`: a group with one
    element g for each node v, which takes node 0 to v. Chunk c·N + v is chunk c of `base` with every transfer moved by g, and its
    root is v: an all-gather, a reduce-scatter, an all-to-all or an all-reduce of C·N chunks. Chunk c of a scatter is for node
    1 + c mod (N - 1), so that of an all-to-all chunk c·N + v is for the image of that node.

    The constructor checks forms (ScheduleFormatError): a direct network without removed nodes, steps of one round between
    neighbours, no repeats. `certree.verify` checks whether the group fits the network and the transfers are valid.
    `made_for` as in `Schedule`; that of `base` does not count, but with fine slots both are the same. Of version 2 the base may
    have several buffers, whose transfers within a node move to the image of the node, and fine slots.
    """

    shown: ClassVar = {"chunks": "chunks", "steps": "steps", "transfers": "transfers"}
    notebook: ClassVar = "table of a schedule"

    base: Schedule
    action: Action
    certificate: Mapping[str, Any] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    made_for: MadeFor | None = None

    def __post_init__(self) -> None:
        base = self.base
        if base.collective.kind not in WHOLE or base.collective.root not in (None, 0):
            raise ScheduleFormatError(f"base is a {base.collective.words}; allowed: all-reduce, or {', '.join(WHOLE)} with root 0")
        if not base.topology.is_direct or len(base.topology.endpoints) != len(base.topology.kind):
            raise ScheduleFormatError("a symmetric schedule is for direct networks without removed nodes")
        if base.period is not None or base.routes or (base.rounds != 1).any():
            raise ScheduleFormatError("a symmetric schedule has steps of one round, transfers between neighbours, and no period")
        for name in (name for name in base.version_2_fields if name in LEFT_OUT):
            raise ScheduleFormatError(f"base uses {name} (version 2); symmetric schedules have none: {LEFT_OUT[name]}")
        if base.slot_cycles is not None and base.made_for != self.made_for:
            raise ScheduleFormatError("made_for is not that of the base, for which its fine slots are")
        if self.action.nodes != len(base.topology.kind):
            raise ScheduleFormatError(f"the action is on {self.action.nodes} nodes; the network has {len(base.topology.kind)}")
        if base.chunk_target is not None:
            self._check_targets(base.chunk_target)
        if self.chunks > MAX_CHUNKS:
            raise ScheduleFormatError(f"{base.chunks} chunks per node are {self.chunks} in total; allowed: 1 to {MAX_CHUNKS}")

    def _check_targets(self, target: Int32) -> None:
        """Base chunks of an all-to-all are for the nodes from 1 on in turn."""
        wrong = np.flatnonzero(target != base_targets(self.nodes, len(target)))
        if len(wrong) or self.nodes == 1 or len(target) % (self.nodes - 1):
            row = int(wrong[0]) if len(wrong) else len(target) - 1
            raise ScheduleFormatError(
                f"base chunk {row} of {len(target)} is for node {target[row]}; allowed: chunks for nodes 1 to {self.nodes - 1} in"
                " turn, equally many for each"
            )

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.base.topology

    @cached_property
    def collective(self) -> Collective:
        """The collective of all chunks."""
        return Collective(WHOLE[self.base.collective.kind])

    @property
    def nodes(self) -> int:
        """N, the order of the group."""
        return self.action.nodes

    @property
    def chunks(self) -> int:
        """The number of chunks, C·N."""
        return self.base.chunks * self.nodes

    @property
    def message_chunks(self) -> int:
        """Chunks that the message is cut into: all of them, or in an all-to-all the N blocks of one endpoint's buffer."""
        return self.chunks if self.base.chunk_target is None else self.chunks // (self.nodes - 1)

    @property
    def chunk_root(self) -> Int32:
        """The root of every chunk."""
        if not self.collective.is_rooted:
            return np.full(self.chunks, NO_ROOT, np.int32)
        return np.tile(np.arange(self.nodes, dtype=np.int32), self.base.chunks)

    @cached_property
    def chunk_target(self) -> Int32 | None:
        """The target of every chunk; None where the collective has none. O(chunks)."""
        target = self.base.chunk_target
        return None if target is None else np.ascontiguousarray(self.action.carried(target).T).ravel()

    @property
    def rounds(self) -> Int32:
        """The rounds of every step: one."""
        return self.base.rounds

    @property
    def buffers(self) -> int:
        """The number of buffers of each node and chunk."""
        return self.base.buffers

    @property
    def slot_cycles(self) -> int | None:
        """The number of cycles of fine slots; None where slots have one length."""
        return self.base.slot_cycles

    @property
    def slots(self) -> Slots:
        """The form of its steps."""
        return self.base.slots

    @property
    def has_fine_slots(self) -> bool:
        """Whether its steps are fine slots."""
        return self.base.has_fine_slots

    @property
    def steps(self) -> int:
        """The number of steps, which is that of rounds."""
        return self.base.steps

    @property
    def total_steps(self) -> int:
        """The number of steps, as `steps`."""
        return self.base.steps

    @property
    def delay(self) -> int:
        """The number of steps from a send to the use of what was sent."""
        return self.base.delay

    @property
    def period(self) -> None:
        """The period: None, since nothing repeats."""
        return None

    @property
    def run_rounds(self) -> int:
        """The number of rounds: each step has one."""
        return self.base.steps

    @property
    def repeats(self) -> int:
        """The number of iterations: 1."""
        return 1

    @property
    def routes(self) -> tuple[tuple[int, ...], ...]:
        """The routes: none, since all transfers run between neighbours."""
        return ()

    @property
    def transfers(self) -> int:
        """The number of transfers of all images."""
        return self.base.transfers * self.nodes

    @property
    def bandwidth_time(self) -> Fraction:
        """Coefficient of M/B: rounds over chunks of the message. UnsupportedError with fine slots, which are not rounds."""
        return self.base.bandwidth_time * self.base.message_chunks / self.message_chunks

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything but certificate, provenance and made_for."""
        return sha256(canonical_json({"base": self.base.digest, "action": self.action.document}))

    def with_certificate(self, certificate: Mapping[str, Any] | None) -> "SymmetricSchedule":
        """The schedule with another certificate."""
        return replace(self, certificate=certificate)

    @cached_property
    def heads(self) -> Int32:
        """Shape (N, d): the neighbours of each node v in the order of the neighbours of node 0 whose images they are."""
        topology = self.topology
        return self.action.carried(topology.pair_dst[topology.pair_src == 0])

    @cached_property
    def label(self) -> NDArray[np.int64]:
        """For each base row the neighbour of node 0, by its position among them, that its destination is an image of when its
        source is one of node 0; -1 where there is none. Of a regular group no link has two. O(rows + links · log links)."""
        topology, degree = self.topology, self.heads.shape[1]
        of_pair = np.full(len(topology.pair_capacity) + 1, -1)
        of_pair[topology.pair_index(np.repeat(np.arange(self.nodes), degree), self.heads.ravel())] = np.tile(
            np.arange(degree), self.nodes
        )
        of_pair[-1] = -1  # not a link
        return of_pair[self.base.pair]

    @cached_property
    def timed(self) -> Schedule:
        """The arrivals at node 0, local ones included: one image of every base row, by its step and link. As all nodes look the
        same, closed forms of this are those of the whole. Not a valid schedule by itself. O(rows)."""
        before = np.empty(self.heads.shape[1], np.int32)  # which neighbour leads to node 0 by each label
        place, label = np.nonzero(self.heads == 0)
        before[label] = place
        base = self.base
        return Schedule(
            topology=self.topology,
            collective=self.collective,
            chunk_root=self.chunk_root,
            rounds=base.rounds,
            chunk=base.chunk * np.int32(self.nodes),
            op=base.op,
            step=base.step,
            src=np.where(base.src == base.dst, np.int32(0), before[self.label]),
            dst=np.zeros(base.transfers, np.int32),
            route=base.route,
            delay=base.delay,
            chunk_target=self.chunk_target,
            made_for=self.made_for,
            **self._version_2,
        )

    @property
    def _version_2(self) -> dict[str, Any]:
        """The fields of version 2 that all transfers have in common with those of the base, and the buffers of its rows."""
        base = self.base
        return {name: getattr(base, name) for name in ("buffers", "src_buffer", "dst_buffer", "slot_cycles")}

    def written_out(self) -> Schedule:
        """All transfers, in canonical order; UnsupportedError for more than MAX_TRANSFERS. O(transfers log transfers)."""
        if self.transfers > MAX_TRANSFERS:
            raise UnsupportedError(
                f"{self.transfers} transfers, stored as {self.base.transfers} and images; at most {MAX_TRANSFERS} are written out"
            )
        images = np.ascontiguousarray(self.action.carried(np.arange(self.nodes)).T)
        base, elements = self.base, np.arange(self.nodes, dtype=np.int32)
        return make_schedule(
            self.topology,
            self.collective,
            self.chunk_root,
            {
                "chunk": (base.chunk[:, None] * np.int32(self.nodes) + elements).ravel(),
                "op": np.repeat(base.op, self.nodes),
                "step": np.repeat(base.step, self.nodes),
                "src": images[base.src].ravel(),
                "dst": images[base.dst].ravel(),
                "route": np.full(self.transfers, DIRECT, np.int32),
                **{name: np.repeat(getattr(base, name), self.nodes) for name in BUFFER_COLUMNS if base.buffers > 1},
            },
            self.chunk_target,
            rounds=base.rounds,
            delay=base.delay,
            buffers=base.buffers,
            slot_cycles=base.slot_cycles,
            provenance=self.provenance,
            made_for=self.made_for,
        )


def base_targets(nodes: int, chunks: int) -> Int32:
    """The target of each base chunk of an all-to-all: nodes 1 to N - 1 in turn."""
    return (1 + np.arange(chunks) % max(1, nodes - 1)).astype(np.int32)


AnySchedule = Schedule | SymmetricSchedule


def written_out(schedule: AnySchedule) -> Schedule:
    """A schedule with all its transfers; UnsupportedError where there are too many to write out."""
    return schedule.written_out() if isinstance(schedule, SymmetricSchedule) else schedule
