"""The messages of one thread block number of a plan, step by step, and the places where they land."""

from collections import defaultdict
from collections.abc import Iterator

from certree.extras.runtimes.make.moves import LAND, LEAVE, LOCAL, Move
from certree.extras.runtimes.model.layout import Cell
from certree.extras.runtimes.model.program import Buffer
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op


class Steps:
    """The moves of one thread block number by step. Times: three for each step, what lands, what leaves, and local moves."""

    def __init__(self, schedule: Schedule, moves: list[Move]) -> None:
        self.moves, self.delay = moves, schedule.delay
        self._of: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
        for at, move in enumerate(moves):
            src, dst = move.ends
            if src == dst:
                self._of[src, move.step, LOCAL].append(at)
            else:
                self._of[src, move.step, LEAVE].append(at)
                self._of[dst, move.step + self.delay, LAND].append(at)
        self.all = sorted({step for _, step, _ in self._of})

    def of(self, rank: int, step: int, phase: int) -> list[int]:
        """The numbers of the moves of a rank in one phase of a step."""
        return self._of.get((rank, step, phase), [])

    def landing_places(self, scratch: list[int]) -> dict[int, Cell]:
        """The place where each message lands: a copy in its own place, where its source knows that nothing there is in use any
        more; anything else in scratch, whose sizes grow."""
        uses: defaultdict[Cell, list[int]] = defaultdict(list)
        for at, move in enumerate(self.moves):
            for rank, phase, cell in self._uses(at):
                for place in cells_of(cell, move.count):
                    uses[place].append(3 * (move.step + (phase == LAND) * self.delay) + phase)
                    assert rank == place[0]
        for found in uses.values():
            found.sort()
        ranks = len(scratch)
        known = [[-1] * ranks for _ in range(ranks)]  # of each rank, until when it knows each other one to be ready
        told: dict[tuple[int, int], list[int]] = {}
        landing: dict[int, Cell] = {}
        for step in self.all:
            for rank in range(ranks):
                for at in self.of(rank, step, LAND):
                    news = told[self.moves[at].ends[0], self.moves[at].step]
                    known[rank] = [max(pair) for pair in zip(known[rank], news, strict=True)]
            for rank in range(ranks):
                leaves = self.of(rank, step, LEAVE)
                known[rank][rank] = 3 * step + LEAVE
                for at in leaves:
                    move = self.moves[at]
                    end = 3 * (step + self.delay) + LAND
                    is_free = move.op == Op.COPY and all(
                        time <= known[rank][move.dst[0]]
                        for place in cells_of(move.dst, move.count)
                        for time in uses[place]
                        if time < end
                    )
                    landing[at] = move.dst if is_free else (move.dst[0], Buffer.SCRATCH, scratch[move.dst[0]])
                    scratch[move.dst[0]] += 0 if is_free else move.count
                if leaves:
                    told[rank, step] = list(known[rank])
        return landing

    def _uses(self, at: int) -> Iterator[tuple[int, int, Cell]]:
        """(rank, phase, first place) of what a move reads and writes."""
        move = self.moves[at]
        src, dst = move.ends
        yield src, (LOCAL if src == dst else LEAVE), move.src
        yield dst, (LOCAL if src == dst else LAND), move.dst


def cells_of(cell: Cell, count: int) -> list[Cell]:
    """`count` places from `cell` on."""
    rank, buffer, offset = cell
    return [(rank, buffer, offset + at) for at in range(count)]
