"""Kernel plans: what devices do in one call of a kernel that moves data by DMAs, each device in a straight line of operations.

Every device has rows of data of one size, in three buffers: an input, which is read only, an output, and scratch. A remote DMA
copies rows of its own to another device. It counts up a semaphore of the device that started it when the rows were read, and one
of the other device when they are written there; when that is, nobody knows. A device waits on semaphores of its own only, until one
has at least the count that it asks for, and takes that count from it. Semaphore 0 is the barrier semaphore, which calls share; the
others are the own ones of a call: regular ones, then those of DMAs, which count rows.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from certree.extras.runtimes.model.layout import Layout
from certree.models.common.errors import InputError
from certree.models.schedule.collective import CollectiveKind

BARRIER = 0
BUFFERS = ("input", "output", "scratch")
INPUT, OUTPUT, SCRATCH = range(3)
MOST_RANKS = 4096
MOST_SEMAPHORES = 1 << 16
MOST_ROWS = 1 << 20  # of a buffer
MOST_OPERATIONS = 1 << 20  # of all devices
MOST_COUNT = 1 << 20
MOST_SUM = (1 << 31) - 1  # of all that counts a semaphore up in a call


class Kind(IntEnum):
    """The kind of an operation."""

    START = 1
    WAIT = 2
    SIGNAL = 3
    COPY = 4
    ADD = 5

    @property
    def moves(self) -> bool:
        """Whether it reads and writes rows."""
        return self in (Kind.START, Kind.COPY, Kind.ADD)


class Place(NamedTuple):
    """A row of a buffer."""

    buffer: int
    row: int

    def __str__(self) -> str:
        return f"{BUFFERS[self.buffer]} {self.row}"


class Operation(NamedTuple):
    """One operation of a device; what its kind does not have is -1, None or 1.

    `read`, `written`, `rows`: of a DMA, a copy and an addition. `device`: where a DMA writes, and whom a signal is for.
    `semaphore`: what a wait is for and a signal counts up, and what a DMA counts up where it writes; `send`: what it counts up when
    its rows were read, nothing where that is -1. `times`: of a wait and a signal.
    """

    kind: Kind
    read: Place | None = None
    written: Place | None = None
    rows: int = 1
    device: int = -1
    semaphore: int = -1
    send: int = -1
    times: int = 1


@dataclass(frozen=True)
class KernelPlan:
    """The plan of one call, which is one iteration of a collective. `repeats`: into how many parts a message is cut, a call for
    each. `about`: the schedule in a few words. `scratch`: rows of scratch of a device. `regular`, `dma`: how many semaphores a
    device has besides that of the barrier. `operations`: of each device. `lines`: by device and number of the operation the line
    of the file that has it, where that is known."""

    layout: Layout
    repeats: int
    about: str
    scratch: int
    regular: int
    dma: int
    operations: tuple[tuple[Operation, ...], ...]
    lines: Mapping[tuple[int, int], int] = field(default_factory=dict, compare=False)

    @property
    def kind(self) -> CollectiveKind:
        """The kind of the collective."""
        return self.layout.kind

    @property
    def ranks(self) -> int:
        """The devices."""
        return self.layout.ranks

    @property
    def semaphores(self) -> int:
        """How many semaphores a device has, that of the barrier among them."""
        return 1 + self.regular + self.dma

    @property
    def rows(self) -> tuple[int, int, int]:
        """The rows of each buffer of a device."""
        sizes = [self.layout.sizes(rank) for rank in range(self.ranks)]
        return max(one for one, _ in sizes), max(one for _, one in sizes), self.scratch

    def __iter__(self) -> Iterator[tuple[int, int, Operation]]:
        """(device, number, operation) of all operations."""
        for device, found in enumerate(self.operations):
            yield from ((device, number, one) for number, one in enumerate(found))

    def where(self, device: int, number: int) -> str:
        """`device 2, operation 14 (line 53)`; operations are counted from 0, as ranks and rows are."""
        line = self.lines.get((device, number))
        return f"device {device}, operation {number}" + ("" if line is None else f" (line {line})")

    def semaphore(self, number: int) -> str:
        """The name of a semaphore."""
        if number == BARRIER:
            return "barrier"
        return f"regular {number - 1}" if number <= self.regular else f"dma {number - 1 - self.regular}"

    def is_dma(self, number: int) -> bool:
        """Whether a semaphore counts rows of DMAs."""
        return number > self.regular

    def require_fits(self) -> None:
        """InputError, with the place, for an operation that no kernel can have: rows, devices and semaphores that are not there, a
        row of the input or output that the collective does not use on that device, a write to the input, a semaphore of another
        kind than the operation needs, one that is counted up by more than a number of 32 bits."""
        if len(self.operations) != self.ranks:
            raise InputError(f"there are operations for {len(self.operations)} devices; expected {self.ranks}")
        rows = [(*self.layout.sizes(rank), self.scratch) for rank in range(self.ranks)]
        sums: Counter[tuple[int, int]] = Counter()
        for device, number, one in self:
            if (wrong := self._fault(device, one, rows) or self._too_much(device, one, sums)) is not None:
                raise InputError(f"{self.where(device, number)}: {wrong}")

    def _fault(self, device: int, one: Operation, rows: list[tuple[int, int, int]]) -> str | None:
        if one.kind in (Kind.START, Kind.SIGNAL) and not 0 <= one.device < self.ranks:
            return f"device {one.device}; there are 0 to {self.ranks - 1}"
        target = one.device if one.kind is Kind.START else device
        for place, rank in ((one.read, device), (one.written, target)):
            if place is not None and not 0 <= place.row <= rows[rank][place.buffer] - one.rows:
                span = f"{place}" if one.rows == 1 else f"{one.rows} rows from {place} on"
                return f"{span}: {BUFFERS[place.buffer]} has {rows[rank][place.buffer]} rows on device {rank}"
        if one.written is not None and one.written.buffer == INPUT:
            return f"it writes {one.written}; the input is read only"
        for used in (one.semaphore, one.send):
            if used >= self.semaphores:
                return f"semaphore {used}; a device has {self.semaphores}"
        if one.kind is Kind.START:
            return self._fault_of_start(device, one)
        if one.kind is Kind.SIGNAL and self.is_dma(one.semaphore):
            return f"it signals {self.semaphore(one.semaphore)}; only DMAs do"
        return None

    def _too_much(self, device: int, one: Operation, sums: Counter[tuple[int, int]]) -> str | None:
        counts = [(one.device, one.semaphore, one.times if one.kind is Kind.SIGNAL else one.rows)]
        counts += [(device, one.send, one.rows)] if one.send >= 0 else []
        for target, semaphore, count in counts if one.kind in (Kind.SIGNAL, Kind.START) else ():
            sums[target, semaphore] += count
            if (found := sums[target, semaphore]) > MOST_SUM:
                name = f"{self.semaphore(semaphore)} of device {target}"
                return f"{name} is counted up {found:,} by then; allowed: up to {MOST_SUM:,} in a call"
        return None

    def _fault_of_start(self, device: int, one: Operation) -> str | None:
        for used in (one.semaphore, one.send):
            if used >= 0 and not self.is_dma(used):
                return f"its semaphore is {self.semaphore(used)}; a DMA counts up one of DMAs"
        if one.semaphore < 0 or (one.send < 0) != (one.device == device):
            return "a remote DMA has a semaphore for sending and one for receiving; a local one has the second alone"
        return None
