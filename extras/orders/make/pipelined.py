"""Programs of placings: many chunks, each with a tree of sums and one of copies, that share the links evenly.

As in `transfers`, but for fine slots: an operand need not wait at its sender until the one before it in its cell has landed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.orders.make.bounds import shares_of
from certree.extras.orders.make.columns import Column
from certree.extras.orders.make.exchanges import FINAL
from certree.extras.orders.make.hops import HopPricing
from certree.extras.orders.make.orders import candidates
from certree.extras.orders.make.rates import Rates
from certree.extras.orders.make.shares import whole_shares
from certree.extras.orders.make.transfers import PlacedChunk
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.synth.fine.booking import booked_end, least_cycles
from certree.synth.fine.fine_schedule import costs_of
from certree.synth.fine.program import COLUMNS, Program
from certree.synth.method import Request
from certree.verify.order.expressions import Expression
from certree.verify.order.wanted import WantedOrder

FIRST, MORE = 32, (64, 128, 256, 512)  # chunks with which orders are compared; of the best ones
LEAST = 512  # bytes of a chunk
HOPS = (1 << 15, 1 << 17)  # a link is longer by, where the fullest one is 1 << 18 long
KEPT = 2  # orders and hops that are gone on with
MOST_ROWS = 40_000  # of a program
MOVES = 300  # exchanges of placings
_ROOM = Fraction(7, 10)  # rounds per chunk below which links are not evened out further


@dataclass(frozen=True)
class _Choice:
    """An order, and what a link is longer by."""

    expression: Expression
    hop: int
    name: str


def pipelined(request: Request) -> Iterator[tuple[str, Program]]:
    """(label, program): those first that end first in one booking. UnsupportedError where none has few enough rows, or none can be
    faster than the best schedule so far."""
    shortest = FIRST * LEAST
    if request.monitor.best_cycles is not None and request.message_bytes < shortest:
        raise UnsupportedError(f"trees are for messages of {shortest} bytes and more where another method has the order")
    wanted = request.order or WantedOrder("one")
    # of four the last is a chain, which has as many additions one after the other as ranks
    orders = candidates(wanted, request.topology, request.collective)[:3]
    choices = [_Choice(one, hop, f"order {number}") for number, one in enumerate(orders) for hop in HOPS]
    found: list[tuple[int, str, Program, _Choice]] = []

    def book(choice: _Choice, chunks: int) -> None:
        program = _program(request, choice, chunks)
        if program is None:
            return
        bar, costs = request.monitor.best_cycles, costs_of(request, program)
        if bar is None or least_cycles(program, costs) < bar:
            found.append((booked_end(program, costs), f"{chunks} chunk(s), {choice.name}, hops {choice.hop}", program, choice))

    first = [request.chunks or FIRST]
    for choice in choices[:1] if request.monitor.expired else choices:
        book(choice, first[0])
    for _, _, _, choice in nsmallest(KEPT, found, key=lambda one: one[0]):
        for chunks in MORE if request.chunks is None else ():
            if chunks * LEAST <= request.message_bytes and not request.monitor.expired:
                book(choice, chunks)
    if not found:
        raise UnsupportedError(f"trees of {request.topology.name} are no faster here, or have more than {MOST_ROWS} transfers")
    yield from ((label, program) for _, label, program, _ in nsmallest(FINAL, found, key=lambda one: one[0]))


def _program(request: Request, choice: _Choice, chunks: int) -> Program | None:
    """Placings that load links evenly, as a program; None where it has too many rows, by the fewest that it can have."""
    topology, collective = request.topology, request.collective
    shares = shares_of(topology, collective)
    chunks = -(-chunks // max(1, len(shares))) * max(1, len(shares))
    each = (1 + collective.gathers) * (len(request.members) - 1)
    if chunks * each > MOST_ROWS:
        return None
    pricing = HopPricing(topology, collective, choice.expression, choice.hop)
    even = (np.arange(len(pricing.capacity)) < len(topology.src)).astype(np.int64)
    first = [column for _, column in pricing.cheapest(even, list(shares))]
    rates = Rates(first, np.zeros(len(first)), 1, 1, even)
    columns = whole_shares(pricing, rates, shares, chunks, max(1, ceil(chunks * _ROOM)), request.seed, MOVES)
    return _of_placings(request, choice.expression, _mixed(columns, pricing.capacity))


def _mixed(placings: Sequence[Column], capacity: NDArray[np.int64]) -> list[Column]:
    """Placings in a sequence in which all links are used evenly from the first on. O(placings² · links)."""
    uses = np.array([np.bincount(one.uses, minlength=len(capacity)) / capacity for one in placings])
    load, left, found = np.zeros(len(capacity)), np.arange(len(placings)), list[Column]()
    while len(left):
        at = int(np.argmin(uses[left] @ load))
        found.append(placings[left[at]])
        load += uses[left[at]]
        left = np.delete(left, at)
    return found


def _of_placings(request: Request, expression: Expression, placings: Sequence[Column]) -> Program:
    """A chunk of each placing. A row reads once its cell is complete, and its destination changes after what comes before it."""
    known: dict[Column, tuple[PlacedChunk, list[tuple[int, int]]]] = {}
    rows: list[tuple[int, ...]] = []
    routes: list[tuple[int, ...]] = []
    for number, column in enumerate(placings):
        if column not in known:
            known[column] = _staged(PlacedChunk(request.topology, expression, column, gathers=request.collective.gathers))
        chunk, stages = known[column]
        for (op, src, src_buffer, dst, dst_buffer, links), (reads, writes) in zip(chunk.rows, stages, strict=True):
            rows.append((number, op, src, dst, src_buffer, dst_buffer, reads, writes, len(routes), reads, number))
            routes.append(links)
    table = np.array(rows, np.int32)
    columns: dict[str, NDArray[Any]] = {name: table[:, at] for at, name in enumerate(COLUMNS)}
    columns["op"] = columns["op"].astype(np.int8)
    rooted = request.collective.is_rooted
    roots = np.array([column.root if rooted else NO_ROOT for column in placings], np.int32)
    return Program(request.topology, request.collective, roots, **columns, routes=tuple(routes), in_order=True)


def _staged(chunk: PlacedChunk) -> tuple[PlacedChunk, list[tuple[int, int]]]:
    """The stages in which its rows read and write."""
    stages: list[tuple[int, int]] = []
    for read, there in chunk.ready:
        reads = 1 + max((stages[row][1] for row in read), default=-1)
        stages.append((reads, max(reads, 1 + max((stages[row][1] for row in there), default=-1))))
    return chunk, stages
