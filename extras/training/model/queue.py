"""Collectives that share the network of a group: one after the other, or handed over together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

from certree.extras.training.model.workload import Communication
from certree.models.common.errors import UnsupportedError

Timer = Callable[[Communication], Fraction]  # seconds of a collective that has the network to itself
#: seconds from the first asking to the end of each of (seconds after the first asking, collective)
JointTimer = Callable[[Sequence[tuple[Fraction, Communication]]], Sequence[Fraction]]


class Order(StrEnum):
    """Which of several collectives goes first."""

    FIFO = "fifo"
    LIFO = "lifo"


@dataclass(eq=False)
class Asked:
    """A collective that was asked for; times in seconds, `served` the intervals in which the network works on it. `after`: the
    numbers of those whose results the accelerator has waited for before, without those that these are after themselves."""

    communication: Communication
    asked: Fraction
    priority: int
    number: int  # in the order of asking
    layer: int
    phase: str
    iteration: int
    after: tuple[int, ...] = ()
    ended: Fraction | None = None
    served: list[tuple[Fraction, Fraction]] = field(default_factory=list)


class Server(Protocol):
    """The network of a group."""

    def ask(self, entry: Asked) -> None:
        """Take a collective; times of asking never fall."""

    def end(self, entry: Asked) -> Fraction:
        """When a collective ends, if nothing else is asked for before that."""


class Queue:
    """Serves one collective at a time, each cut into `pieces` equal parts. Whenever the network is free, the next piece is of the
    collective of highest priority, among these of the one that was asked for first (FIFO) or last (LIFO)."""

    def __init__(self, timer: Timer, order: Order, pieces: int) -> None:
        self._timer, self._lifo, self._pieces = timer, order is Order.LIFO, pieces
        self._free = Fraction(0)
        self._waiting: list[tuple[Asked, list[Fraction]]] = []  # with the times of pieces still to be served

    def ask(self, entry: Asked) -> None:
        """See `Server`."""
        self._serve(until=entry.asked)
        pieces = entry.communication.pieces(self._pieces)
        self._waiting.append((entry, [self._timer(piece) for piece in reversed(pieces)]))

    def end(self, entry: Asked) -> Fraction:
        """See `Server`."""
        while entry.ended is None:
            self._serve_one()
        return entry.ended

    def _serve(self, until: Fraction) -> None:
        """Begin all pieces that begin before that time: what is asked for in that very moment may go before the next."""
        while self._waiting and self._free < until:
            self._serve_one()
        self._free = max(self._free, until)

    def _serve_one(self) -> None:
        entry, pieces = max(self._waiting, key=self._rank)
        begin = self._free
        self._free += pieces.pop()
        if entry.served and entry.served[-1][1] == begin:
            begin = entry.served.pop()[0]
        entry.served.append((begin, self._free))
        if not pieces:
            entry.ended = self._free
            self._waiting.remove((entry, pieces))

    def _rank(self, waiting: tuple[Asked, list[Fraction]]) -> tuple[int, int]:
        entry = waiting[0]
        return entry.priority, entry.number if self._lifo else -entry.number


class Together:
    """Hands all collectives that are asked for before one of them is waited for to a simulator that runs them together.

    UnsupportedError for a collective that is asked for while one of those before is under way: they do not meet in a simulation.
    """

    def __init__(self, timer: JointTimer) -> None:
        self._timer, self._waiting, self._busy_until = timer, list[Asked](), Fraction(0)

    def ask(self, entry: Asked) -> None:
        """See `Server`."""
        if entry.asked < self._busy_until:
            raise UnsupportedError(
                "a collective is asked for while others that were waited for are under way; collectives that run together need a "
                "loop that waits for all of them before it asks again"
            )
        self._waiting.append(entry)

    def end(self, entry: Asked) -> Fraction:
        """See `Server`."""
        if entry.ended is None:
            first = self._waiting[0].asked
            asked = [(one.asked - first, one.communication) for one in self._waiting]
            for one, seconds in zip(self._waiting, self._timer(asked), strict=True):
                one.ended = first + seconds
                one.served.append((one.asked, one.ended))
                self._busy_until = max(self._busy_until, one.ended)
            self._waiting.clear()
        assert entry.ended is not None
        return entry.ended
