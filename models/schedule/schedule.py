"""Schedules: transfers (chunk, source, destination, step) as numpy columns."""

import hashlib
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import is_sorted, json_pieces
from certree.models.common.errors import UnsupportedError
from certree.models.common.extras import provided
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32, Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule_columns import BUFFER_COLUMNS, TRANSFER_COLUMNS, ScheduleColumns, Slots


@dataclass(frozen=True, eq=False, repr=False)
class Schedule(ScheduleColumns):
    """Transfers of one iteration, one row each: `chunk`, `op`, `step`, `src`, `dst` (int32; op int8) and `route`.

    `chunk_root`: the root of each of the K chunks (NO_ROOT in an all-reduce): where its data starts alone, or its sum is due.
    `chunk_target`: in an all-to-all, gather or scatter the one endpoint where each chunk is due; None in the other collectives.
    `delay`: data sent in step s can be used from step s + delay on. `rounds`: length of each step, in rounds
    (the serialization time of one chunk on a unit link).
    `period`: steps from one iteration to the next, None when nothing repeats; iteration i runs i·period steps later, on its own
    K chunks, for i < `repeats`. `routes`: link numbers of each multi-hop route; `route` is DIRECT or an index into it.
    `made_for`: the message size and the machine that it was made for; None where that is not known.

    Fields of version 2 (docs/decisions/0007-schedule-version-2.md). `buffers`: B, the buffers of each node and chunk; buffer 0
    holds the data, the others are scratch. `src_buffer`, `dst_buffer` (int32): which one each transfer reads and which it writes;
    None exactly when B is 1 (None given with a larger B means 0 in every row). A transfer from a node to itself moves data between
    two of its buffers. `virtual_channel`: of each entry of `routes`; None where all are 0. `collective.members`: the endpoints
    that take part; None where all do. `collective.demand`, and `chunk_granules` with it: the size of each chunk. A round is then
    the time of a granule on a unit link, and a step of r rounds takes messages of up to r granules, of c·r in all over a link of
    capacity c. None where chunks have one size. `slot_cycles`: with fine slots the cycles of a step on the machine and at the size
    that `made_for` then states (docs/decisions/0009-fine-slots.md); what is sent can be used when it has landed there, whatever
    `delay` says, which is 1. None elsewhere: steps are as long as a message needs. `waits`: with fine slots, of each entry of
    `routes` the cycles that a head waits at each router between its links; None where it never does.

    The constructor checks shapes and ranges (ScheduleFormatError names column and row); `certree.verify` checks whether the
    transfers are *valid*. O(rows) time and memory.
    """

    shown: ClassVar = {"chunks": "chunks", "steps": "steps", "period": "period", "repeats": "repeats", "transfers": "transfers"}
    notebook: ClassVar = "table of a schedule"

    @cached_property
    def pair(self) -> Int32:
        """For each row the joined pair of nodes (`Topology.pair_index`) from its source to its destination; -1 where no link leads.
        O(rows · log links)."""
        return self.topology.narrow_pair_index(self.src, self.dst)

    @property
    def slots(self) -> Slots:
        """The form of its steps."""
        if self.slot_cycles is not None:
            return Slots.FINE
        return Slots.EQUAL if self.chunk_granules is None else Slots.SIZED

    @property
    def has_fine_slots(self) -> bool:
        """Whether its steps are fine slots, for one message size and one machine."""
        return self.slots is Slots.FINE

    @cached_property
    def granules(self) -> NDArray[np.int64]:
        """The size of each chunk in the granules of a round; 1 where chunks have one size."""
        if self.chunk_granules is None:
            return np.broadcast_to(np.int64(1), self.chunks)
        return self.chunk_granules.astype(np.int64)

    @property
    def has_sizes(self) -> bool:
        """Whether chunks have sizes, as with a demand."""
        return self.collective.demand is not None

    @property
    def is_repeating(self) -> bool:
        """Whether it has several iterations."""
        return self.repeats > 1

    @cached_property
    def wait_cycles(self) -> NDArray[np.int64]:
        """The cycles that a head waits by plan behind each link of the routes (`flat_routes`); 0 behind the last."""
        links, _ = self.flat_routes
        if self.waits is None:
            return np.zeros(len(links), np.int64)
        return np.fromiter((one for entry in self.waits for one in (*entry, 0)), np.int64, len(links))

    @property
    def plans_waits(self) -> bool:
        """Whether a message waits at a router by plan."""
        return self.waits is not None

    @property
    def message_chunks(self) -> int:
        """The number of chunks that the message of one iteration is cut into (`Collective.message_chunks`)."""
        return self.collective.message_chunks(self.topology, self.chunks)

    @property
    def bandwidth_time(self) -> Fraction:
        """Coefficient of M/B: rounds per period, or all without one, per chunk of the message. UnsupportedError with fine slots."""
        if self.has_fine_slots:
            raise UnsupportedError("fine slots are not rounds: ct.verify(schedule).quality has the bandwidth time")
        return Fraction(self.period_rounds, self.message_chunks)

    @property
    def period_rounds(self) -> int:
        """The number of rounds from one iteration to the next; all of them where it has no period."""
        return int(self.rounds.sum(dtype=np.int64)) if self.period is None else self.period

    @property
    def run_rounds(self) -> int:
        """The number of rounds from the start of the first iteration to the end of the last."""
        return self.total_steps - self.steps + int(self.rounds.sum(dtype=np.int64))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that its transfers have: those of the buffers only where there are several."""
        return TRANSFER_COLUMNS if self.buffers == 1 else TRANSFER_COLUMNS + BUFFER_COLUMNS

    @property
    def version_2_fields(self) -> tuple[str, ...]:
        """The names of the fields of version 2 that it uses; none in a schedule of version 1."""
        used = {
            "buffers": self.buffers > 1,
            "virtual_channel": self.virtual_channel is not None,
            "members": self.collective.members is not None,
            "demand": self.collective.demand is not None,
            "slot_cycles": self.slot_cycles is not None,
        }
        return tuple(name for name, flag in used.items() if flag)

    def require_equal_slots(self, what: str) -> None:
        """Raise UnsupportedError, naming the field, where `what` (a few words) needs steps that all have a slot of one length."""
        for name in ("demand", "slot_cycles"):
            if name in self.version_2_fields:
                raise UnsupportedError(f"{what}: not supported for schedules that use {name} (version 2)")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything but certificate, provenance and, without fine slots, made_for, with rows in canonical order. Fields
        of version 2 count where they are used, so that a schedule of version 1 keeps its digest."""
        keys = [getattr(self, name) for name in ("step", "op", *(name for name in self.columns if name not in ("step", "op")))]
        order = slice(None) if is_sorted(keys) else np.lexsort(keys[::-1])
        document = {
            "topology": self.topology.digest,
            "collective": self.collective.kind,
            **({} if self.collective.members is None else {"members": list(self.collective.members)}),
            "root": self.chunk_root,
            **({} if self.chunk_target is None else {"target": self.chunk_target}),
            "delay": self.delay,
            "period": self.period,
            "repeats": self.repeats,
            "rounds": self.rounds,
            "routes": [list(route) for route in self.routes],
            **({"buffers": self.buffers} if self.buffers > 1 else {}),
            **({} if self.collective.demand is None else {"demand": self.collective.demand.named_columns()}),
            **({} if self.chunk_granules is None else {"granules": self.chunk_granules}),
            **self._fine_document(),
            **({} if self.virtual_channel is None else {"virtual_channel": self.virtual_channel}),
            **{name: getattr(self, name)[order] for name in self.columns},
        }
        digest = hashlib.sha256()
        for piece in json_pieces(document):
            digest.update(piece)
        digest.update(b"\n")
        return digest.hexdigest()

    def _fine_document(self) -> dict[str, Any]:
        """The part of the digest that fine slots add: with them the transfers are for one machine and one size only."""
        if self.slot_cycles is None or self.made_for is None:
            return {}
        waits = {} if self.waits is None else {"waits": [list(entry) for entry in self.waits]}
        return {"slot_cycles": self.slot_cycles, "made_for": self.made_for.document(), **waits}

    @cached_property
    def uses_switches(self) -> bool:
        """Whether a transfer starts or ends at a switch."""
        rank = self.topology.rank
        return bool((rank[self.src] < 0).any() or (rank[self.dst] < 0).any())

    @classmethod
    def from_dataframe(cls, frame: Any, network: Any, collective: Any = "all-reduce", **fields: Any) -> "Schedule":
        """The checked schedule of a data frame, as `certree.api.from_dataframe` describes it."""
        made: Schedule = provided("schedules of data frames")(frame, network, collective, **fields)
        return made

    def to_dataframe(self, library: str = "pandas") -> Any:
        """The transfers as a data frame of pandas or polars (`certree.api.to_dataframe`)."""
        return provided("data frames")(self, library)

    def with_certificate(self, certificate: Mapping[str, Any] | None) -> "Schedule":
        """The schedule with another certificate; what has been computed of it stays known."""
        made = copy(self)
        object.__setattr__(made, "certificate", certificate)
        return made


def make_schedule(
    topology: Topology,
    collective: Collective,
    chunk_root: Sequence[int] | NDArray[Any],
    columns: Mapping[str, NDArray[Any]],
    chunk_target: Sequence[int] | NDArray[Any] | None = None,
    *,
    routes: Sequence[Sequence[int]] = (),
    rounds: Sequence[int] | NDArray[Any] | None = None,
    **fields: Any,
) -> Schedule:
    """A schedule in canonical row order (step, op, chunk, src, dst, route, buffers), for synthesis methods.

    `columns`: `chunk`, `op`, `step`, `src`, `dst` and, where transfers pass switches, `route`, and where there are several buffers
    `src_buffer` and `dst_buffer`, equally long; `routes`: the routes of that column; `rounds`: of every step, one each when left
    out; `fields`: delay, period, repeats, buffers, provenance, made_for, where they are not the default. O(rows log rows).
    """
    route = columns.get("route", np.full(len(columns["step"]), DIRECT, np.int32))
    moved: dict[str, Any] = {name: columns[name] for name in BUFFER_COLUMNS if name in columns}
    keys = (*reversed(moved.values()), route, *(columns[name] for name in ("dst", "src", "chunk", "op", "step")))
    order = np.arange(len(route)) if is_sorted(keys[::-1]) else np.lexsort(keys)
    steps = int(columns["step"].max()) + 1 if len(route) else 1
    return Schedule(
        topology=topology,
        collective=collective,
        chunk_root=np.asarray(chunk_root, np.int32),
        chunk_target=None if chunk_target is None else np.asarray(chunk_target, np.int32),
        rounds=np.ones(steps, np.int32) if rounds is None else np.asarray(rounds),
        route=route[order],
        routes=tuple(tuple(map(int, path)) for path in routes),
        chunk=columns["chunk"][order],
        op=columns["op"][order],
        step=columns["step"][order],
        src=columns["src"][order],
        dst=columns["dst"][order],
        **{name: column[order] for name, column in moved.items()},
        **fields,
    )
