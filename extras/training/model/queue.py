"""Collectives that share the network of a group: one after the other, handed over together, or at once with those of others."""

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
        """The second in which a collective ends, if nothing else is asked for before that."""


class Queue:
    """Serves one collective at a time, each cut into `pieces` equal parts. Whenever the network is free, the next piece is of the
    collective of highest priority, among these of the one that was asked for first (FIFO) or last (LIFO)."""

    def __init__(self, timer: Timer, order: Order, pieces: int) -> None:
        self._timer, self._lifo, self._pieces = timer, order is Order.LIFO, pieces
        self._free = Fraction(0)
        self._waiting: list[tuple[Asked, list[Fraction]]] = []  # with the times of pieces still to be served

    def ask(self, entry: Asked) -> None:
        """Take a collective; see `Server.ask`."""
        self._serve(until=entry.asked)
        pieces = entry.communication.pieces(self._pieces)
        self._waiting.append((entry, [self._timer(piece) for piece in reversed(pieces)]))

    def end(self, entry: Asked) -> Fraction:
        """The second in which a collective ends; see `Server.end`."""
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
        """Take a collective; see `Server.ask`."""
        if entry.asked < self._busy_until:
            raise UnsupportedError(
                "a collective is asked for while others that were waited for are under way; collectives that run together need a "
                "loop that waits for all of them before it asks again"
            )
        self._waiting.append(entry)

    def end(self, entry: Asked) -> Fraction:
        """The second in which a collective ends; see `Server.end`."""
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


class Shared:
    """Serves one collective of each group at a time, all at once: as in a joint schedule of them.

    `timer` gives for some collectives, one of each group, the seconds until each ends when all start together. While several are
    under way, the one that ends first there goes on as fast as there, and each other one so that it ends as there if it started
    with it; alone, each goes on as if alone. So the times are those of joint schedules where two collectives start together. Else
    they are an estimate: whenever what is under way changes, shares are those of a common start, whatever was done before.
    `estimated` says whether collectives were under way that did not start together, or one did not end as in the joint
    schedule. What is left of a collective is rounded up to whole ticks of `tick` seconds. In each group that of highest priority is
    served first, among these the one that was asked for first, or last.
    """

    def __init__(self, timer: Callable[[Sequence[Communication]], Sequence[Fraction]], order: Order, tick: Fraction) -> None:
        self._timer, self._lifo, self._tick = timer, order is Order.LIFO, tick
        self._now = Fraction(0)
        self._waiting: dict[str, list[Asked]] = {}
        self._left: dict[str, tuple[Asked, Fraction]] = {}  # by group what is served, and the seconds that it would take alone
        self._planned: dict[str, Fraction] = {}  # when what is served ends in a joint schedule
        self.estimated = False

    def ask(self, entry: Asked) -> None:
        """Take a collective; see `Server.ask`."""
        while self._now < entry.asked and self._goes_on(entry.asked):
            pass
        self._now = max(self._now, entry.asked)
        self._waiting.setdefault(entry.communication.group, []).append(entry)

    def end(self, entry: Asked) -> Fraction:
        """The second in which a collective ends; see `Server.end`."""
        while entry.ended is None:
            self._goes_on(None)
        return entry.ended

    def _goes_on(self, until: Fraction | None) -> bool:
        """Whether there was something to serve; it is served until then, or until something ends."""
        self._begin()
        if not self._left:
            return False
        speeds = self._speeds()
        step = min(self._whole(left / speeds[group]) for group, (_, left) in self._left.items() if speeds[group])
        step = step if until is None else min(step, until - self._now)
        begin, self._now = self._now, self._now + step
        for group, (entry, left) in list(self._left.items()):
            if entry.served and entry.served[-1][1] == begin:
                entry.served[-1] = entry.served[-1][0], self._now
            else:
                entry.served.append((begin, self._now))
            rest = self._whole(left - step * speeds[group])
            self._left[group] = entry, rest
            if rest <= 0:
                entry.ended = self._now
                self.estimated |= self._planned.get(group) != self._now
                del self._left[group]
        return True

    def _whole(self, seconds: Fraction) -> Fraction:
        return -(-seconds // self._tick) * self._tick

    def _begin(self) -> None:
        before = set(self._left)
        for group, waiting in self._waiting.items():
            if waiting and group not in self._left:
                first = max(waiting, key=lambda one: (one.priority, one.number if self._lifo else -one.number))
                waiting.remove(first)
                self._left[group] = first, self._timer([first.communication])[0]
        if before and set(self._left) > before:
            self.estimated = True
        elif not before and self._left:
            groups = sorted(self._left)
            seconds = self._timer([self._left[group][0].communication for group in groups])
            self._planned = {group: self._now + one for group, one in zip(groups, seconds, strict=True)}

    def _speeds(self) -> dict[str, Fraction]:
        """The speed of each group, as a share of its speed alone; that of the group that ends first is above 0."""
        groups = sorted(self._left)
        served = [self._left[group][0].communication for group in groups]
        if len(served) == 1:
            return dict.fromkeys(self._left, Fraction(1))
        alone, ends = [self._timer([one])[0] for one in served], self._timer(served)
        first = min(ends)
        speeds = [
            min(Fraction(1), max(Fraction(0), (time - end + first) / first)) if first else Fraction(1)
            for time, end in zip(alone, ends, strict=True)
        ]
        return dict(zip(groups, speeds, strict=True))
