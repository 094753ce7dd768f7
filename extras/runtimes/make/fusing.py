"""Moves of a rank that go on with what has just come: one fused step of a thread block that receives from one rank and sends to
another."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from certree.extras.runtimes.make.moves import LAND, LEAVE, Move, after
from certree.extras.runtimes.model.layout import Cell
from certree.extras.runtimes.model.program import Buffer
from certree.models.schedule.schedule_columns import Op

#: (step, phase, number, move), in the order in which they happen
Event = tuple[int, int, int, Move]


@dataclass(frozen=True)
class Fusions:
    """`leaving`: of a move that lands the number of the one that leaves with it. `passing`: those that land and are not stored.
    `receives`: by (rank, rank that it sends to, channel) of a thread block the rank that it receives from."""

    leaving: dict[int, int]
    passing: set[int]
    receives: dict[tuple[int, int, int], int]


def fusions(moves: Sequence[Move], events: Sequence[Event], place: Callable[[Cell], Cell], delay: int) -> Fusions:
    """The moves that can be fused. A move leaves with one that lands where nothing else touches their places in between, and in the
    same step, so that the order of events stays. A thread block is shared where it fuses half of what it sends, or more.

    A fused step needs room for what it sends before it receives, and a connection has room for two messages. So what is in flight
    must be one message: with a longer delay, or several messages of a connection in one step, nothing is fused.
    """
    if delay > 1:
        return Fusions({}, set(), {})
    following = _following(events, place)
    leaving = {}
    for number, found in following.items():
        phase, other = found[0][0] if found[0] else (LAND, -1)
        move, next_move = moves[number], moves[other]
        if phase == LEAVE and all(one[:1] == found[0][:1] for one in found) and _continues(move, next_move, delay):
            leaving[number] = other
    leaving, receives = _in_shared_blocks(moves, leaving)
    passing = {
        number
        for number in leaving
        if moves[number].op == Op.REDUCE
        and all(_is_over(after(moves[number].dst, at), one[1:], moves) for at, one in enumerate(following[number]))
    }
    return Fusions(leaving, passing, receives)


def _following(events: Sequence[Event], place: Callable[[Cell], Cell]) -> dict[int, list[list[tuple[int, int]]]]:
    """The two next accesses of each place of each move that lands, as (phase, number of the move)."""
    accesses: defaultdict[Cell, list[tuple[int, int]]] = defaultdict(list)
    for _, phase, number, move in events:
        for cell in {move.dst} if phase == LAND else {move.src} if phase == LEAVE else {move.src, move.dst}:
            for at in range(move.count):
                accesses[place(after(cell, at))].append((phase, number))
    index = {(cell, entry): at for cell, found in accesses.items() for at, entry in enumerate(found)}
    following = {}
    for _, phase, number, move in events:
        if phase == LAND:
            cells = [place(after(move.dst, at)) for at in range(move.count)]
            starts = [index[cell, (phase, number)] + 1 for cell in cells]
            following[number] = [accesses[cell][start : start + 2] for cell, start in zip(cells, starts, strict=True)]
    return following


def _continues(move: Move, other: Move, delay: int) -> bool:
    """Whether a move goes on with all that another one brings, when it comes."""
    return (other.src, other.count, other.channel) == (move.dst, move.count, move.channel) and other.step == move.step + delay


def _is_over(cell: Cell, later: list[tuple[int, int]], moves: Sequence[Move]) -> bool:
    """Whether what a place holds is not used again: something is copied over it, or it is scratch that nobody uses."""
    if not later:
        return cell[1] is Buffer.SCRATCH
    phase, number = later[0]
    return phase == LAND and moves[number].op == Op.COPY


def _in_shared_blocks(moves: Sequence[Move], leaving: dict[int, int]) -> tuple[dict[int, int], dict[tuple[int, int, int], int]]:
    """The fusions inside thread blocks that are shared, and these."""
    sent = Counter((*move.ends, move.channel) for move in moves)
    at_once = Counter((*move.ends, move.channel, move.step) for move in moves)
    crowded = {key[:3] for key, count in at_once.items() if count > 1}
    shared = Counter((moves[other].ends, move.ends[0], move.channel) for move, other in ((moves[a], b) for a, b in leaving.items()))
    receives: dict[tuple[int, int, int], int] = {}
    taken: set[tuple[int, int, int]] = set()
    for ((rank, to), source, channel), count in sorted(shared.items(), key=lambda entry: (-entry[1], entry[0])):
        ends, incoming = (rank, to, channel), (rank, source, channel)
        is_free = ends not in receives and incoming not in taken and not crowded & {ends, (source, rank, channel)}
        if 2 * count >= sent[ends] and is_free:
            receives[ends] = source
            taken.add(incoming)
    kept = {
        number: other
        for number, other in leaving.items()
        if receives.get((*moves[other].ends, moves[other].channel)) == moves[number].src[0]
    }
    return kept, receives
