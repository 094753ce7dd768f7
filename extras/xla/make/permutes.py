"""Lowering of a schedule to a permute program: rows of data of every device, and what it sends and applies in each step."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from certree.extras.runtimes.make.cells import Cells
from certree.extras.runtimes.model.layout import Cell
from certree.extras.runtimes.run.duties import coming_cycles, holders, reducing_switches
from certree.extras.xla.make.levels import Moves, levelled
from certree.extras.xla.make.stretches import FEW, Outline, outlines
from certree.extras.xla.model.permute_program import ADD, COPY, MODES, Int64, PermuteProgram, Stretch
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import landing_steps
from certree.models.forms.lowering_chain import takes
from certree.models.schedule.collective import ALLTOALLV
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op

WHAT = "as a program for JAX"
MOST_RANKS = 4096
MOST_NUMBERS = 1 << 26  # of all tables
_TAKES = takes(WHAT, "buffers", "virtual_channel", "members", "demand", "slot_cycles", "waits")


def lower_to_permutes(schedule: Schedule) -> PermuteProgram:
    """The permute program of one iteration of a schedule: every transfer one row, or with a demand as many as its size.

    A transfer is sent in the step of the schedule, and applied when it has landed there, in the order in which the schedule adds:
    additions have the order of the schedule. Every step has the fewest permutes. Devices are the endpoints in the order of their
    ids. UnsupportedError names what no permute says (switches that reduce) and limits that are exceeded.
    O(transfers · log transfers), and as `outlines`.
    """
    schedule = placed(schedule)
    if len(switches := reducing_switches(schedule)):
        raise UnsupportedError(f"{WHAT}: node {switches[0]} is a switch that reduces; only devices add")
    if len(schedule.topology.endpoints) > MOST_RANKS:
        raise UnsupportedError(f"{WHAT}: {len(schedule.topology.endpoints)} devices; allowed: up to {MOST_RANKS}")
    return _Builder(schedule).program()


def placed(schedule: Schedule) -> Schedule:
    """The schedule in the form of which a permute program is made."""
    return _TAKES.lowered(schedule)


class _Builder:
    """Numbers the rows of every device, then fills the tables step by step."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule, self.cells = schedule, Cells(schedule)
        self.ranks = self.cells.layout.ranks
        self._numbers = 0  # in tables so far
        owners, due = holders(schedule)
        #: by (rank, chunk, buffer) the first row
        self.first: dict[tuple[int, int, int], int] = {}
        self.rows = [0] * self.ranks
        loads = [((rank, chunk, 0), self.cells.source(rank, chunk)) for chunk, ranks in enumerate(owners) for rank in ranks]
        self.loads = [(self._row(*key), key[0], source[2], self.cells.sizes[key[1]]) for key, source in loads if source is not None]
        self.loaded = set(self.first)
        moves = self._cut(self._ordered())
        self.moves = levelled(moves) if schedule.has_fine_slots else moves
        stores = [((rank, chunk, 0), self.cells.result(rank, chunk)) for chunk, ranks in enumerate(due) for rank in ranks]
        self.stores = [
            (self._row(*key), key[0], result[2], self.cells.sizes[key[1]]) for key, result in stores if result is not None
        ]
        for source, result in self.cells.untouched():
            self._keep(source, result)

    def program(self) -> PermuteProgram:
        """The program."""
        sizes = [self.cells.layout.sizes(rank) for rank in range(self.ranks)]
        load = np.full((self.ranks, max(self.rows)), -1, np.int64)
        store = np.full((self.ranks, max(outputs for _, outputs in sizes)), -1, np.int64)
        for row, rank, offset, count in self.loads:
            load[rank, row : row + count] = np.arange(offset, offset + count)
        for row, rank, offset, count in self.stores:
            store[rank, offset : offset + count] = np.arange(row, row + count)
        moves = self.moves
        depth = 1 + int((moves.applied - moves.sent).max(initial=0))
        pairs = [Counter[tuple[int, int]]() for _ in range(moves.steps)]
        own = [Counter[int]() for _ in range(moves.steps)]
        for step, src, dst in zip(moves.sent.tolist(), moves.src.tolist(), moves.dst.tolist(), strict=True):
            if src == dst:
                own[step][src] += 1
            else:
                pairs[step][src, dst] += 1
        found = list(outlines(pairs))
        kept = [max((max(own[step].values(), default=0) for step in range(one.first, one.end)), default=0) for one in found]
        if len(found) > FEW:  # stretches that share permutes keep equally many rows, and are one branch of a module
            most = {one.permutes: 0 for one in found}
            for one, own_rows in zip(found, kept, strict=True):
                most[one.permutes] = max(most[one.permutes], own_rows)
            kept = [most[one.permutes] for one in found]
        width = max((sum(p.rows for p in one.permutes) + more for one, more in zip(found, kept, strict=True)), default=0)
        return PermuteProgram(
            layout=self.cells.layout,
            repeats=self.schedule.repeats,
            about=_about(self.schedule),
            width=width,
            depth=depth,
            load=load,
            store=store,
            stretches=tuple(self._stretches(found, kept, width)),
        )

    def _row(self, rank: int, chunk: int, buffer: int) -> int:
        """The first row of a device for a buffer of a chunk."""
        key = (rank, chunk, buffer)
        if key not in self.first:
            self.first[key] = self.rows[rank]
            self.rows[rank] += self.cells.sizes[chunk]
        return self.first[key]

    def _keep(self, source: Cell, result: Cell) -> None:
        """A row of the input that goes to the output as it is."""
        rank = source[0]
        self.loads.append((self.rows[rank], rank, source[2], 1))
        self.stores.append((self.rows[rank], rank, result[2], 1))
        self.rows[rank] += 1

    def _ordered(self) -> list[tuple[int, ...]]:
        """(sent, applied, source, target, chunk, buffers, adds) of every transfer, in the order in which they are applied: those
        that land first; of those that land together local ones, then as they come, then as the schedule lists them."""
        schedule = self.schedule
        src, dst = schedule.topology.rank[schedule.src].astype(np.int64), schedule.topology.rank[schedule.dst].astype(np.int64)
        step, local = schedule.step.astype(np.int64), (src == dst) & (not schedule.has_fine_slots)
        lands = np.where(local, step + 1, landing_steps(schedule))
        times = np.unique(step)
        columns = [np.searchsorted(times, step), np.searchsorted(times, lands) - 1, src, dst, schedule.chunk]
        none = np.zeros(schedule.transfers, np.int64)
        columns += [none if one is None else one for one in (schedule.src_buffer, schedule.dst_buffer)]
        columns.append(schedule.op == Op.REDUCE)
        order = np.lexsort((np.arange(len(step)), coming_cycles(schedule), ~local, lands))
        table = np.stack([np.asarray(one, np.int64) for one in columns], axis=1)[order]
        rows: list[tuple[int, ...]] = list(map(tuple, table.tolist()))
        return rows

    def _cut(self, transfers: list[tuple[int, ...]]) -> Moves:
        """The transfers with their rows. The first sum that comes to a device without a contribution is a copy."""
        written = set(self.loaded)
        found: list[tuple[int, ...]] = []
        for sent, applied, src, dst, chunk, read, target, adds in transfers:
            reads, writes = self._row(src, chunk, read), self._row(dst, chunk, target)
            is_sum = bool(adds) and (dst, chunk, target) in written
            written.add((dst, chunk, target))
            found += [(sent, applied, src, dst, reads + one, writes + one, is_sum) for one in range(self.cells.sizes[chunk])]
        table = np.array(found, np.int64).reshape(-1, 7)
        return Moves(*table.T)

    def _stretches(self, found: list[Outline], kept: list[int], width: int) -> Iterator[Stretch]:
        """The tables of every stretch; rows of the inbox that a transfer uses are found when it is sent."""
        moves, place = self.moves, np.zeros(len(self.moves.sent), np.int64)
        for one, own in zip(found, kept, strict=True):
            rows = sum(permute.rows for permute in one.permutes)
            send = np.zeros((one.end - one.first, self.ranks, rows + own), np.int64)
            self._require_room(send.size)
            sending = np.flatnonzero((moves.sent >= one.first) & (moves.sent < one.end))
            used: defaultdict[tuple[int, int, int], int] = defaultdict(int)
            for number in sending.tolist():
                step, src, dst = int(moves.sent[number]), int(moves.src[number]), int(moves.dst[number])
                turn = used[step, src, dst]
                used[step, src, dst] += 1
                place[number] = rows + turn if src == dst else one.rows[src, dst][turn]
            send[moves.sent[sending] - one.first, moves.src[sending], place[sending]] = moves.read[sending]
            yield Stretch(one.permutes, own, send, *self._applied(one, place, width))

    def _applied(self, one: Outline, place: Int64, width: int) -> tuple[Int64, Int64]:
        """The rows that devices take after the steps of a stretch, and the places where they put them."""
        moves = self.moves
        coming = np.flatnonzero((moves.applied >= one.first) & (moves.applied < one.end))
        step, dst = moves.applied[coming] - one.first, moves.dst[coming]
        turn = _turns(step * self.ranks + dst)
        shape = one.end - one.first, self.ranks, 1 + int(turn.max(initial=-1))
        self._require_room(2 * int(np.prod(shape)))
        take, put = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        age = moves.applied[coming] - moves.sent[coming]
        take[step, dst, turn] = age * width + place[coming]
        put[step, dst, turn] = MODES * moves.written[coming] + np.where(moves.adds[coming] == 1, ADD, COPY)
        return take, put

    def _require_room(self, numbers: int) -> None:
        self._numbers += numbers
        if self._numbers > MOST_NUMBERS:
            raise UnsupportedError(f"{WHAT}: tables of more than {MOST_NUMBERS} numbers")


def _turns(keys: Int64) -> Int64:
    """For each key how many equal ones stand before it."""
    order = np.argsort(keys, kind="stable")
    grouped = keys[order]
    starts = np.flatnonzero(np.r_[True, grouped[1:] != grouped[:-1]]) if len(keys) else np.zeros(0, np.int64)
    found = np.empty(len(keys), np.int64)
    found[order] = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    return found


def _about(schedule: Schedule) -> str:
    """The schedule in a few words, in ASCII."""
    made: Any = schedule.provenance.get("method", "unknown")
    name = ALLTOALLV if schedule.collective.demand is not None else schedule.collective.name
    text = f"{name} on {schedule.topology.name}, made by {made}"
    return "".join(letter if letter.isascii() and letter.isprintable() and letter not in '\\"' else "_" for letter in text)[:100]
