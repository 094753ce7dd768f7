"""Programs of exchanges in one order: all chunks pass the dimensions of a grid of ranks in one sequence.

Along a dimension a chunk is scattered or exchanged, as in `certree.synth.fine.levels`. Everyone in a group then has, or would have,
the sum of the same ranks, and `arranged` adds it in the same order everywhere. Dimensions are those of the network, its switches or
cliques, or halves of these, so that exchanges are between two.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import islice
from math import prod

import numpy as np

from certree.extras.orders.make.arranged import KEEPS, arranged
from certree.extras.orders.make.gathering import Gathering
from certree.models.common.errors import UnsupportedError
from certree.synth.fine.booking import booked_end, least_cycles
from certree.synth.fine.fine_routes import even_routes
from certree.synth.fine.fine_schedule import costs_of
from certree.synth.fine.levels import Levels, Piece
from certree.synth.fine.program import Program
from certree.synth.fine.shots import has_rings
from certree.synth.method import Request
from certree.synth.ranks.cliques import cliques_of
from certree.synth.ranks.layout import Layout, layout_of
from certree.verify.order.expressions import Expression

PIECES = (1, 2, 4, 8, 16, 32)
MOST_ROWS = 1 << 13  # of a program before its sums are arranged
MOST_GROUP = 64  # endpoints that all send to each other
BOUNDED, BOOKED, FINAL = 8, 3, 6  # programs: of a grid by their bounds, of these by a booking, and of all by another one

MOST_CUT = 1 << 17  # rows of a program that is cut into more pieces, as nothing has to be arranged
_EVENLY = "so that links are evenly loaded"
GATHERS = ("", "in the same order", _EVENLY)  # "": in reverse
_IN_TURN = "one after the other"  # how a group adds


@dataclass(frozen=True)
class _Choice:
    """A grid, the pieces that pass it, and how what is scattered is gathered, one of GATHERS."""

    grid: Gathering
    pieces: tuple[Piece, ...]
    gathers: str

    @staticmethod
    def of(grid: Gathering, order: tuple[int, ...], scattered: int, gathers: str, number: int) -> "_Choice":
        """The choice with a number of pieces, in turn mirrored. UnsupportedError where the network has no routes."""
        back: list[tuple[int, ...]] = [order[:scattered] if gathers else ()] * number
        if gathers == _EVENLY:
            back = grid.evenly(order[:scattered], number)
        pieces = (Piece(order, scattered, mirrored=bool(at % 2), gathered=back[at]) for at in range(number))
        return _Choice(grid, tuple(pieces), gathers)

    @property
    def layout(self) -> Layout:
        """The grid."""
        return self.grid.layout

    def cut(self) -> "_Choice":
        """The choice with twice as many pieces."""
        return _Choice.of(self.grid, self.pieces[0].order, self.pieces[0].scattered, self.gathers, 2 * len(self.pieces))

    def program(self, request: Request) -> Program:
        """The program, whose sums come in any order."""
        collective, layout = request.collective, self.layout
        levels = Levels(layout.sizes, layout.nodes, self.pieces, collective.reduces, collective.gathers, turns=self.is_paired)
        stages, roots = levels.rows()
        return stages.program(request.topology, collective, roots, even_routes(request.topology))

    def rows(self, request: Request) -> int:
        """How many transfers the program has."""
        piece, found, holders, routes = self.pieces[0], 0, len(self.layout.nodes), 1 + request.collective.gathers
        chunks = prod(self.layout.sizes[dimension] for dimension in piece.order[: piece.scattered])
        for number, dimension in enumerate(piece.order):
            size = self.layout.sizes[dimension]
            if number < piece.scattered:
                found += routes * (holders - holders // size)
                holders //= size
            else:
                found += holders * size
        return found * chunks * len(self.pieces)

    @property
    def is_paired(self) -> bool:
        """Whether two are a group in all dimensions, so that what one node does all may do, turned."""
        return max(self.layout.sizes) == 2

    def __str__(self) -> str:
        piece = self.pieces[0]
        shape, order = "x".join(map(str, self.layout.sizes)), " ".join(map(str, piece.order))
        back = f", gathered {self.gathers}" if self.gathers else ""
        return f"{len(self.pieces)} piece(s) over {shape}, dimensions {order}, {piece.scattered} scattered{back}"


def exchanges(request: Request) -> Iterator[tuple[str, Program]]:
    """The programs that are the fastest in one booking, the best first; within no time the first one. UnsupportedError where none
    has the order."""
    found: list[tuple[int, str, Program]] = []
    for layout in _layouts(request):
        programs = _programs(request, layout)
        if request.monitor.expired:
            made = (one for choice, program in programs for one in _arrangements(request, choice, program))
            found += [(0, *one) for one in islice(made, 1)]
            if found:
                break
            continue
        bounded = nsmallest(BOUNDED, programs, key=lambda one: least_cycles(one[1], costs_of(request, one[1])))
        booked = [(_end(request, program), choice, program) for choice, program in bounded]
        for end, choice, program in nsmallest(BOOKED, booked, key=lambda one: one[0]):
            found += [(_end(request, one), label, one) for label, one in _arrangements(request, choice, program)]
            found += _in_more_pieces(request, choice, end)
    if not found:
        chunks = "" if request.chunks is None else f" and {request.chunks} chunks"
        raise UnsupportedError(f"no exchange along dimensions of {request.topology.name} has this order{chunks}")
    yield from ((label, program) for _, label, program in nsmallest(FINAL, found, key=lambda one: one[0]))


def _programs(request: Request, layout: Layout) -> Iterator[tuple[_Choice, Program]]:
    """The programs on a grid that are not too large, as far as there are routes."""
    with suppress(UnsupportedError):
        for choice in _choices(request, layout):
            if choice.rows(request) <= MOST_ROWS:
                yield choice, choice.program(request)


def _in_more_pieces(request: Request, choice: _Choice, end: int) -> list[tuple[int, str, Program]]:
    """(end, label, program) of a choice, which ends in `end`, in twice as many pieces, again and again, as long as it ends earlier
    then: of exchanges between two, in the order that they have by themselves. Empty where more pieces than these do not."""
    found: list[tuple[int, str, Program]] = []
    if request.chunks is not None or not choice.is_paired or not _is_free(request):
        return found
    while (choice := choice.cut()).rows(request) <= MOST_CUT and not request.monitor.expired:
        program = choice.program(request)
        before, end = end, _end(request, program)
        if end >= before:
            break
        if len(choice.pieces) > PIECES[-1] or choice.rows(request) > MOST_ROWS:
            found = [(end, str(choice), replace(program, in_order=True))]
    return found


def _is_free(request: Request) -> bool:
    """Whether a method chooses the expression."""
    return request.order is None or request.order.expression is None


def _arrangements(request: Request, choice: _Choice, program: Program) -> Iterator[tuple[str, Program]]:
    """(label, program) with its sums in each order that they may have."""
    place = {node: number for number, node in enumerate(request.members.tolist())}
    for shape, expression in _expressions(request, choice):
        if choice.is_paired and _is_free(request):
            yield str(choice), replace(program, in_order=True)
            continue
        for keeps in KEEPS[:1] if choice.is_paired or shape == _IN_TURN else KEEPS:
            made = arranged(program, expression, place, keeps)
            if made is not None:
                yield f"{choice}, {shape}, {keeps}", made


def _end(request: Request, program: Program) -> int:
    """The cycle in which a program ends that is booked in the order of its rows."""
    return booked_end(program, costs_of(request, program))


def _layouts(request: Request) -> list[Layout]:
    """The grids: all endpoints as one group, the network's own, and these in halves."""
    topology, members = request.topology, request.members
    found = [Layout((len(members),), members)] if len(members) <= MOST_GROUP else []
    if request.collective.members is None:
        with suppress(UnsupportedError):
            grids = [cliques_of(topology), layout_of(topology, None)]
            found += [one for one in grids if one is not None]
    found += [_halved(one, is_ring=request.collective.members is None and has_rings(topology, one)) for one in found]
    return list({(one.sizes, one.nodes.tobytes()): one for one in found}.values())


def _halved(layout: Layout, *, is_ring: bool) -> Layout:
    """The grid with each dimension in factors of 2; along rings of 4 and more neighbours are exchanged at both levels."""
    grid, sizes = layout.nodes.reshape(layout.sizes[::-1]), list[int]()
    for axis, size in zip(range(grid.ndim - 1, -1, -1), layout.sizes, strict=True):
        number = np.arange(size)
        if is_ring and size % 4 == 0:  # Gray code: places 0 and 3 of each four are neighbours' neighbours
            number = number ^ (number >> 1 & 1)
        grid = np.take(grid, number, axis=axis)
        twos = (size & -size).bit_length() - 1
        sizes += [2] * twos + [size >> twos] * (size >> twos > 1)
    return Layout(tuple(sizes), grid.ravel())


def _choices(request: Request, layout: Layout) -> Iterator[_Choice]:
    """Sequences of the dimensions, how many are scattered, and numbers of pieces."""
    count, grid = len(layout.sizes), Gathering(request.topology, layout)
    first = tuple(range(count))
    is_paired = max(layout.sizes) == 2
    turns = [first, grid.nearest_first()] if is_paired else [first[one:] + first[:one] for one in range(count)]
    for order in dict.fromkeys([*turns, first[::-1]]):
        for scattered in range(count + 1) if request.collective.gathers else (count,):
            for gathers in GATHERS[: 2 + is_paired] if scattered > 1 and request.collective.gathers else GATHERS[:1]:
                for number in PIECES:
                    if request.chunks in (None, number * prod(layout.sizes[one] for one in order[:scattered])):
                        yield _Choice.of(grid, order, scattered, gathers, number)


def _expressions(request: Request, choice: _Choice) -> Iterator[tuple[str, Expression]]:
    """The orders in which groups may add: that which is asked for, or sums in halves and one after the other."""
    wanted = request.order
    if wanted is not None and wanted.expression is not None:
        yield wanted.name, wanted.expression
        return
    for shape in ("in halves", _IN_TURN) if not choice.is_paired else ("in halves",):
        expression = _expression(request, choice, is_halved=shape != _IN_TURN)
        if wanted is None or not wanted.nested or expression.is_nested:
            yield shape, expression


def _expression(request: Request, choice: _Choice, *, is_halved: bool) -> Expression:
    """The sums of the groups along one dimension after the other."""
    members, sums = request.members, list[tuple[int, int]]()
    number = np.full(int(members.max()) + 1, -1, np.int64)
    number[members] = np.arange(len(members))
    grid = number[choice.layout.nodes].reshape(choice.layout.sizes[::-1])

    def added(first: int, second: int) -> int:
        sums.append((first, second))
        return len(members) + len(sums) - 1

    def total(values: Sequence[int]) -> int:
        while is_halved and len(values) > 1:
            rest = values[len(values) - len(values) % 2 :]
            values = [*(added(values[at], values[at + 1]) for at in range(0, len(values) - 1, 2)), *rest]
        whole = values[0]
        for one in values[1:]:
            whole = added(whole, one)
        return whole

    for dimension in choice.pieces[0].order:
        axis = grid.ndim - 1 - dimension
        grid = np.expand_dims(np.apply_along_axis(lambda line: total(line.tolist()), axis, grid), axis)
    return Expression.of(request.collective.ranks_of(request.topology), sums)
