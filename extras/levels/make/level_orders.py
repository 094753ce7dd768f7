"""Orders of levels: how consecutive endpoints form groups, groups of groups and so on, and about how long each order takes.

On a level of stride t and size s each endpoint meets the s - 1 others whose numbers differ from its own by multiples of t, within
blocks of t·s. Boxes of 8 GPUs are a level of stride 1 and size 8, their rails one of stride 8; routers, groups and leaves likewise.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import Costs
from certree.models.network.topology import Topology
from certree.models.schedule.timing import chunk_bytes_of
from certree.synth.fine.fine_routes import default_routes
from certree.synth.fine.levels import Piece
from certree.synth.method import Request

GROUPS = (64, 32, 16, 8, 4)  # the most endpoints of a group: the largest for which few enough pairs are looked at
MOST_PAIRS = 1 << 19  # of endpoints of a group, for effort 1
MOST_LEVELS = 6
UNLIKELY = 3  # times the best schedule so far, as an estimate: winners took 0.47 to 1.35 times theirs where measured
PIECES = (1, 2, 3, 4, 6, 8)  # into which a message is cut, each with its own shares

#: of a level, its stride and its size
_Level = tuple[int, int]


@dataclass(frozen=True)
class LevelOrder:
    """Levels from the nearest endpoints to the farthest; along the first `scattered` there are shares, along the others whole
    sums are exchanged. `turned`: pieces take the levels behind the first one in turn."""

    sizes: tuple[int, ...]
    scattered: int
    pieces: int
    turned: bool = False

    def parts(self) -> tuple[Piece, ...]:
        """The pieces of a message."""
        inner, outer = (0,), tuple(range(1, len(self.sizes)))
        turns = [number % len(outer) if self.turned else 0 for number in range(self.pieces)]
        return tuple(Piece((*inner, *outer[turn:], *outer[:turn]), self.scattered) for turn in turns)

    @cached_property
    def chunks_of_a_piece(self) -> int:
        """The fewest that can be shared out in each piece."""
        return lcm(*{prod(self.sizes[one] for one in part.order[: self.scattered]) for part in dict.fromkeys(self.parts())})

    def __str__(self) -> str:
        """Such as "levels 8x4x4, 2 in shares, 1 piece(s)"."""
        words = f"levels {_times(self.sizes)}, {self.scattered} in shares, {self.pieces} piece(s)"
        return words + " in turn" * self.turned


@dataclass(frozen=True, eq=False)
class Meeting:
    """A message from everyone to everyone of its group on a level: `load` between each two joined nodes, `most` of these on a lane,
    and `links` of the longest route."""

    load: NDArray[np.int64]
    most: Fraction
    links: int


class Meetings:
    """The messages that meet on each level of a network. O(pairs · hops) for each level that is asked for."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self._found: dict[_Level, Meeting | None] = {}

    def on(self, level: _Level) -> Meeting | None:
        """The meeting of a level; None where two of a group have no route between them."""
        if level not in self._found:
            self._found[level] = None
            with suppress(UnsupportedError):
                self._found[level] = self._meeting(*level)
        return self._found[level]

    def along(self, sizes: tuple[int, ...]) -> dict[_Level, Meeting] | None:
        """The meetings of all levels of an order; None where one of them has none."""
        levels = _levels(sizes)
        found = {level: meeting for level in levels if (meeting := self.on(level)) is not None}
        return found if len(found) == len(levels) else None

    def find_routes(self, shapes: Collection[tuple[int, ...]]) -> None:
        """Find the routes of all levels of some orders together: one search for each endpoint, instead of one on each level."""
        pairs = [self._pairs(*level) for level in {level for sizes in shapes for level in _levels(sizes)}]
        with suppress(UnsupportedError):
            default_routes(self.topology)(*np.unique(np.concatenate(pairs, axis=1), axis=1))

    def _pairs(self, stride: int, size: int) -> NDArray[np.int32]:
        """Source and destination of each message on a level, as two rows."""
        nodes = self.topology.endpoints
        place, ahead = (side.ravel() for side in np.indices((len(nodes), size - 1)))
        digit = place // stride % size
        pairs: NDArray[np.int32] = nodes[np.stack((place, place + ((digit + ahead + 1) % size - digit) * stride))]
        return pairs

    def _meeting(self, stride: int, size: int) -> Meeting:
        topology = self.topology
        link, begin = flat(default_routes(topology)(*self._pairs(stride, size)))
        load = np.bincount(topology.pair_of_link[link], minlength=len(topology.pair_capacity))
        return Meeting(load, fullest(topology, load), int(np.diff(begin).max()))


def _levels(sizes: tuple[int, ...]) -> list[_Level]:
    return [(prod(sizes[:number]), size) for number, size in enumerate(sizes)]


def fullest(topology: Topology, load: NDArray[np.int64]) -> Fraction:
    """The most messages on a lane. O(links) for each width of links."""
    lanes = topology.pair_capacity
    return max(Fraction(int(load[lanes == width].max()), width) for width in np.unique(lanes).tolist())


def level_orders(request: Request, sizes: tuple[int, ...] | None = None) -> list[LevelOrder]:
    """All orders of the endpoints' levels, or of levels of these `sizes`, those first that are likely to be fast.

    Those are left out whose estimate is UNLIKELY times the best schedule so far or more. This is no lower bound: an order that is
    left out may be faster, but none was where it was measured.
    UnsupportedError where none is left, where the number of endpoints has no divisors that leave groups small enough, where sizes
    have another product or too many pairs meet, or where routes join no groups. O(MOST_PAIRS · hops + orders · levels).
    """
    meetings, count, most = Meetings(request.topology), len(request.members), _most_in_a_group(request)
    if sizes is not None:
        _require_sizes(request, sizes)
    chosen = [*_sizes(count, most)] if sizes is None else [sizes]
    if chosen:
        meetings.find_routes(chosen)
    shapes = {shape: along for shape in chosen if (along := meetings.along(shape)) is not None}
    if not shapes and sizes is not None:
        raise UnsupportedError(f"{request.topology.name} has no levels of sizes {_times(sizes)} that routes join")
    if not shapes:
        raise UnsupportedError(f"levels: {count} endpoints do not form groups of up to {most} that routes join")
    bar = request.monitor.best_cycles
    both = request.collective.has_one_root or (request.collective.reduces and request.collective.gathers)
    found, estimates = [], Estimates(request)
    for shape, joined in shapes.items():
        for scattered in range(len(shape) + 1) if both else (len(shape),):
            for pieces in PIECES:
                orders = [LevelOrder(shape, scattered, pieces)]
                if len(shape) > 2 and not request.collective.has_one_root and pieces % (len(shape) - 1) == 0:
                    orders.append(LevelOrder(shape, scattered, pieces, turned=True))
                found += [(estimates.cycles(joined, order), number, order) for number, order in enumerate(orders)]
    if bar is not None:
        found = [one for one in found if one[0] < bar * UNLIKELY]
    if not found:
        raise UnsupportedError(f"levels is not likely to be faster than {bar} cycles here")
    found.sort(key=lambda one: (one[0], one[2].sizes, one[2].scattered, one[2].pieces, one[1]))
    return [order for *_, order in found]


def _require_sizes(request: Request, sizes: tuple[int, ...]) -> None:
    """Raise UnsupportedError for sizes with another product than the number of endpoints, or with too many pairs in groups."""
    count, most = len(request.members), MOST_PAIRS * request.effort
    if prod(sizes) != count:
        raise UnsupportedError(f"levels of sizes {_times(sizes)} are for {prod(sizes)} endpoints; there are {count}")
    pairs = count * sum(size - 1 for size in sizes)
    if pairs > most:
        raise UnsupportedError(f"levels looks at up to {most} pairs of endpoints; sizes {_times(sizes)} have {pairs}")


def _times(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))


def transfers_of(request: Request, order: LevelOrder) -> int:
    """The number of rows of an order's program, but for local copies."""
    rows = 0
    for part in order.parts():
        for (_, size), messages, _ in _stages(request, order, part, order.chunks_of_a_piece):
            rows += messages * (size - 1)
    return rows * len(request.members)


def _most_in_a_group(request: Request) -> int:
    """The largest of GROUPS for which all levels have at most MOST_PAIRS pairs; the smallest where there is none."""
    count = len(request.members)
    for most in GROUPS:
        sizes = [size for size in range(2, most + 1) if count % size == 0]
        strides = {size: sum(count // size % stride == 0 for stride in range(1, count // size + 1)) for size in sizes}
        if sum((size - 1) * strides[size] for size in sizes) * count <= MOST_PAIRS * request.effort:
            return most
    return GROUPS[-1]


def _sizes(count: int, most: int, levels: int = MOST_LEVELS) -> Iterator[tuple[int, ...]]:
    """Products of up to N sizes of 2 to `most` in every order."""
    if count <= most:
        yield (count,)
    if levels > 1:
        for size in range(2, min(most, count // 2) + 1):
            if count % size == 0:
                yield from ((size, *rest) for rest in _sizes(count // size, most, levels - 1))


class Estimates:
    """Estimates of the cycles that orders take: latencies, the time of the fullest resource on default routes, and half of all
    other work in sequence. They are not lower bounds: with even routes the fullest link has less to carry.

    O(links) for each sizes and `scattered`, of pieces in turn and not; then O(levels) for each order.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self._costs: dict[int, tuple[Costs, int]] = {}
        self._fullest: dict[tuple[tuple[int, ...], int, bool], Fraction] = {}

    def cycles(self, along: Mapping[_Level, Meeting], order: LevelOrder) -> int:
        """The estimate of one order, whose levels have the meetings `along` them."""
        parts, request, each = order.parts(), self.request, order.chunks_of_a_piece
        chunks = request.collective.message_chunks(request.topology, order.pieces * each)
        costs, hop = self._of(chunk_bytes_of(request.message_bytes, chunks, 1, request.machine))
        latency = first = _walk(request, along, order, costs, hop)
        serial = added = 0
        for part in dict.fromkeys(parts):
            late, work = first, 0
            for level, messages, sums in _stages(request, order, part, parts.count(part) * each):
                meeting, units = along[level], sums * costs.red
                late += meeting.links * hop + costs.ends + (costs.start + costs.red if sums else 0)
                work += max(_whole(meeting.most, messages * costs.ser), units)
                added += units
            latency, serial = max(latency, late), max(serial, work)
        most = max(added, _whole(self._most(along, order, parts), costs.ser))
        return latency + most + max(0, serial - most) // 2

    def _of(self, chunk: int) -> tuple[Costs, int]:
        """The costs of chunks of that many bytes, and the most cycles from one link into the next."""
        if chunk not in self._costs:
            costs = Costs.of(self.request.topology, chunk, self.request.machine)
            self._costs[chunk] = costs, max(costs.hop)
        return self._costs[chunk]

    def _most(self, along: Mapping[_Level, Meeting], order: LevelOrder, parts: tuple[Piece, ...]) -> Fraction:
        """The most messages on a lane: those of one piece of each kind, times the pieces of a kind, of which there are equally many
        (`level_orders` turns only numbers of pieces that the levels behind the first one divide)."""
        kinds, key = dict.fromkeys(parts), (order.sizes, order.scattered, order.turned)
        if key not in self._fullest:
            load = np.zeros(len(self.request.topology.pair_capacity), np.int64)
            for part in kinds:
                for level, messages, _ in _stages(self.request, order, part, order.chunks_of_a_piece):
                    load += along[level].load * messages
            self._fullest[key] = fullest(self.request.topology, load)
        return self._fullest[key] * (len(parts) // len(kinds))


def _whole(part: Fraction, times: int) -> int:
    """The whole part of a product."""
    return part.numerator * times // part.denominator


def _walk(request: Request, along: Mapping[_Level, Meeting], order: LevelOrder, costs: Costs, hop: int) -> int:
    """Cycles in which all shares leave the one root, on their way along the levels with shares, each link in `hop`; 0 where there
    is no root."""
    if not request.collective.has_one_root or not order.scattered:
        return 0
    size, meeting = order.sizes[0], along[1, order.sizes[0]]
    flights = sum(along[prod(order.sizes[:level]), order.sizes[level]].links for level in range(order.scattered))
    leaving = _whole(meeting.most / size, order.pieces * order.chunks_of_a_piece * costs.ser)
    return leaving + flights * hop + order.scattered * costs.ends


def _stages(request: Request, order: LevelOrder, part: Piece, chunks: int) -> Iterator[tuple[_Level, int, int]]:
    """Each stage of N chunks: its level, how many messages everyone sends to everyone of its group, and how many sums
    everyone makes."""
    held = chunks
    for number, one in enumerate(part.order):
        size, stride = order.sizes[one], prod(order.sizes[:one])
        is_scattered = number < order.scattered
        held //= size if is_scattered else 1
        collective = request.collective
        if collective.has_one_root:
            yield (stride, size), held, held * (size - 1) if collective.reduces else 0
        elif collective.reduces:
            yield (stride, size), held, held * (size - 1)
        if collective.gathers and is_scattered and not collective.has_one_root:
            yield (stride, size), held, 0
