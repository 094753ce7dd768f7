"""A schedule as the messages of one chunk at an endpoint: phases, dependencies, and the bytes that a node holds in each phase."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.paths import route_of
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

_RUN = takes("endpoints with engines", "virtual_channel")

Int64 = NDArray[np.int64]
MIXED = -1


@dataclass(frozen=True, eq=False)
class ChunkRows:
    """The messages of the endpoints for a chunk of a payload, which goes through the whole schedule: the chunks of `schedule` are
    its segments.

    `parts`: into how many parts the schedule is divided, of equally many segments; chunks run through the parts in turn (a
    ring forwards for the even chunks, backwards for the odd ones). A segment longer than `message_bytes` is cut into equal pieces,
    each with a separate integer; pieces of shorter segments that leave together share messages of at most that many bytes (None:
    one message per step). A row is a message. All columns are in the order (part, phase, source, step).

    O(rows log rows + dependencies) time and memory.
    """

    schedule: Schedule
    parts: int
    chunk_bytes: int
    message_bytes: int | None

    def __post_init__(self) -> None:
        _RUN.require(self.schedule)
        if self.schedule.uses_switches:
            raise UnsupportedError("switches of this schedule add or keep data; engines at the endpoints do all of that themselves")
        if self.schedule.chunks % self.parts:
            raise UnsupportedError(f"{self.schedule.chunks} segments cannot be divided into {self.parts} parts")

    # ---- sizes

    @property
    def segments(self) -> int:
        """The number of segments of one part, before they are cut."""
        return self.schedule.chunks // self.parts

    @cached_property
    def _segment_bytes(self) -> int:
        return -(-self.chunk_bytes * self.parts // self.schedule.message_chunks)

    @cached_property
    def pieces(self) -> int:
        """Into how many a segment is cut."""
        return 1 if self.message_bytes is None else max(1, -(-self._segment_bytes // self.message_bytes))

    @cached_property
    def piece_bytes(self) -> int:
        """The number of bytes of one piece, rounded up."""
        return -(-self._segment_bytes // self.pieces)

    @property
    def pieces_of_message(self) -> int:
        """How many a message has at most: those of all segments where a step is one message."""
        return self._pieces_of_part if self.message_bytes is None else max(1, self.message_bytes // self.piece_bytes)

    @property
    def padded_bytes(self) -> int:
        """The number of bytes of a chunk at each node, with padding."""
        return self.piece_bytes * self.pieces * self.schedule.message_chunks // self.parts

    # ---- phases

    @cached_property
    def phase_of_step(self) -> Int64:
        """Consecutive steps along one dimension of the network are a phase; one phase where a step has several, or there are
        none."""
        schedule, place = self.schedule, self.schedule.topology.coordinates
        if place is None or not len(schedule.chunk):
            return np.zeros(schedule.steps, np.int64)
        moved = place[schedule.src] != place[schedule.dst]
        if (moved.sum(axis=1) != 1).any():
            return np.zeros(schedule.steps, np.int64)
        axis = np.full(schedule.steps, MIXED)
        axis[schedule.step] = moved.argmax(axis=1)
        if (axis[schedule.step] != moved.argmax(axis=1)).any() or (axis == MIXED).any():
            return np.zeros(schedule.steps, np.int64)
        return np.concatenate(([0], np.cumsum(axis[1:] != axis[:-1])))

    @property
    def phases(self) -> int:
        """P."""
        return int(self.phase_of_step[-1]) + 1

    # ---- pieces in transit, and messages

    @cached_property
    def _moves(self) -> dict[str, Int64]:
        """A column each: `part`, `piece`, `adds`, `step`, `src`, `dst` (numbers of endpoints), `phase`, `row` of the schedule."""
        schedule, count = self.schedule, self.pieces
        number = np.full(len(schedule.topology.kind), -1, np.int64)
        number[schedule.topology.endpoints] = np.arange(len(schedule.topology.endpoints))
        row = np.repeat(np.arange(len(schedule.chunk)), count)
        part, segment = np.divmod(schedule.chunk[row].astype(np.int64), self.segments)
        moves = {
            "row": row,
            "part": part,
            "piece": segment * count + np.tile(np.arange(count), len(schedule.chunk)),
            "adds": (schedule.op[row] == Op.REDUCE).astype(np.int64),
            "step": schedule.step[row].astype(np.int64),
            "src": number[schedule.src[row]],
            "dst": number[schedule.dst[row]],
            "phase": self.phase_of_step[schedule.step[row]],
            "route": schedule.route[row].astype(np.int64),
        }
        keys = ("piece", "adds", "route", "dst", "step", "src", "phase", "part")  # the last counts first
        order = np.lexsort([moves[key] for key in keys])
        return {name: column[order] for name, column in moves.items()}

    @cached_property
    def message(self) -> Int64:
        """The number of the message of every move."""
        moves = self._moves
        together = np.stack([moves[key] for key in ("part", "phase", "src", "step", "dst", "route", "adds")])
        first = np.append(True, (together[:, 1:] != together[:, :-1]).any(axis=0))
        start = np.flatnonzero(first)
        place = np.arange(len(first)) - np.repeat(start, np.diff(np.append(start, len(first))))
        first |= place % self.pieces_of_message == 0
        return np.cumsum(first) - 1

    @cached_property
    def first_move(self) -> Int64:
        """The first move of every message, and the end."""
        return np.searchsorted(self.message, np.arange(int(self.message[-1]) + 2))

    def of_messages(self, name: str) -> Int64:
        """A column of the moves for messages."""
        return self._moves[name][self.first_move[:-1]]

    @cached_property
    def message_sizes(self) -> Int64:
        """Bytes of every message."""
        return np.diff(self.first_move) * self.piece_bytes

    def links(self) -> tuple[Int64, Int64]:
        """(begin, pair): the joined pairs of nodes that each message passes."""
        schedule, rows = self.schedule, self.of_messages("row")
        row, pair = route_of(schedule.topology, schedule.src[rows], schedule.dst[rows], schedule.route[rows], schedule.routes)
        if (pair < 0).any():
            lost = rows[row[np.argmax(pair < 0)]]
            raise UnsupportedError(f"node {schedule.src[lost]} sends to node {schedule.dst[lost]}, and no link joins them")
        return np.searchsorted(row, np.arange(len(rows) + 1)), pair

    def waits(self) -> tuple[Int64, Int64]:
        """(earlier, later) for all pairs of messages where the later one waits until the earlier one has been delivered, because
        that landed in its cell at least `delay` steps earlier."""
        moves = self._moves
        target, source = self._cell(moves["dst"]), self._cell(moves["src"])
        steps = self.schedule.steps + self.schedule.delay
        order = np.argsort(target * steps + moves["step"], kind="stable")
        landed = (target * steps + moves["step"])[order]
        low = np.searchsorted(landed, source * steps)
        last = moves["step"] - self.schedule.delay
        high = np.where(last < 0, low, np.searchsorted(landed, source * steps + last, side="right"))
        count = high - low
        later = np.repeat(np.arange(len(count)), count)
        earlier = order[np.repeat(low - (np.cumsum(count) - count), count) + np.arange(len(later))]
        rows = int(self.message[-1]) + 1
        return tuple(np.divmod(np.unique(self.message[earlier] * rows + self.message[later]), rows))  # type: ignore[return-value]

    # ---- cells

    @property
    def _pieces_of_part(self) -> int:
        return self.segments * self.pieces

    def _cell(self, node: Int64) -> Int64:
        """A number for (part, node, piece)."""
        nodes = len(self.schedule.topology.endpoints)
        return (self._moves["part"] * nodes + node) * self._pieces_of_part + self._moves["piece"]

    @cached_property
    def _touched(self) -> Int64:
        moves = self._moves
        return np.unique(np.concatenate((self._cell(moves["src"]), self._cell(moves["dst"]))))

    @cached_property
    def cells_of_part(self) -> tuple[tuple[Int64, Int64], ...]:
        """For every part (number of the endpoint, piece) of its cells: the cells that some message reads or writes."""
        per_part = len(self.schedule.topology.endpoints) * self._pieces_of_part
        edges = np.searchsorted(self._touched, np.arange(self.parts + 1) * per_part)
        cells = [self._touched[low:high] % per_part for low, high in pairwise(edges)]
        return tuple(tuple(np.divmod(of_part, self._pieces_of_part)) for of_part in cells)  # type: ignore[misc]

    def cells(self, end: str) -> Int64:
        """The cell of every move at `src` or `dst`, counted within its part."""
        per_part = len(self.schedule.topology.endpoints) * self._pieces_of_part
        first = np.searchsorted(self._touched, np.arange(self.parts) * per_part)
        return np.searchsorted(self._touched, self._cell(self._moves[end])) - first[self._moves["part"]]

    def due(self, part: int) -> NDArray[np.bool_]:
        """Whether the collective promises something in each cell of a part."""
        schedule = self.schedule
        node, piece = self.cells_of_part[part]
        if schedule.collective.gathers:
            return np.ones(len(node), bool)
        place = schedule.chunk_root if schedule.chunk_target is None else schedule.chunk_target
        wanted: NDArray[np.bool_] = schedule.topology.endpoints[node] == place[part * self.segments + piece // self.pieces]
        return wanted

    @cached_property
    def live_bytes(self) -> Int64:
        """The most bytes of a chunk that a node holds when it enters each phase, and at the end: data that it will send or add to,
        and results."""
        moves = self._moves
        cell = np.searchsorted(self._touched, np.concatenate((self._cell(moves["src"]), self._cell(moves["dst"]))))
        step, phase = np.tile(moves["step"], 2), np.tile(moves["phase"], 2)
        overwritten = np.concatenate((np.zeros(len(moves["src"]), np.int64), 1 - moves["adds"]))
        order = np.lexsort((overwritten, step, cell))
        cell, phase, overwritten = cell[order], phase[order], overwritten[order]
        result = np.concatenate([self.due(part) for part in range(self.parts)])
        place = self._touched // self._pieces_of_part  # part and node
        found = []
        for start in range(self.phases + 1):
            live = result.copy()
            rest = np.flatnonzero(phase >= start)
            first = rest[np.append(True, cell[rest][1:] != cell[rest][:-1])[: len(rest)]]
            live[cell[first]] = overwritten[first] == 0
            found.append(int(np.bincount(place[live], minlength=1).max(initial=0)) * self.piece_bytes)
        return np.array(found, np.int64)
