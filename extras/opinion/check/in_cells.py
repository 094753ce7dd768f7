"""Contents of cells: the transfers executed one after the other, and what the collective promises."""

from heapq import heappop, heappush
from itertools import groupby
from operator import itemgetter

from certree.extras.opinion.check.plain_schedule import Plain, Row, WrongError

#: node, chunk, buffer
Cell = tuple[int, int, int]
#: when a transfer leaves, when what it carries has landed, and the transfer
Flight = tuple[int, int, Row]
#: when something lands, the number of its row, the row, what it carries
Landing = tuple[int, int, Row, int]


def check_cells(plain: Plain, flights: list[Flight]) -> None:
    """Execute the transfers of an iteration; its cells are its own, and other iterations do the same in theirs.

    A cell holds a set of contributions, a whole number with a bit for each member; 0 where it is empty. With several buffers or
    fine slots nothing may leave a cell into which something sent before is in flight, and only sums are in flight together
    (`in-flight`).
    """
    bit = {node: 1 << rank for rank, node in enumerate(plain.members)}
    starts = [plain.members if plain.schedule.collective.reduces else [root] for root in plain.root]
    cells = {(node, chunk, 0): bit[node] for chunk, nodes in enumerate(starts) for node in nodes}
    is_strict = plain.base.buffers > 1 or plain.base.slot_cycles is not None
    landing: list[Landing] = []
    in_flight: dict[Cell, list[Flight]] = {}
    for now, together in groupby(sorted(flights, key=lambda one: (one[0], one[2].number)), key=itemgetter(0)):
        sent = list(together)
        _land(plain, cells, landing, now)
        for _, land, row in sent:
            heappush(landing, (land, row.number, row, _read(row, now, cells, in_flight if is_strict else {})))
        _send(sent, in_flight, now, is_strict=is_strict)
    _land(plain, cells, landing, None)
    _check_promise(plain, cells, bit)


def _read(row: Row, now: int, cells: dict[Cell, int], in_flight: dict[Cell, list[Flight]]) -> int:
    """The contributions that a transfer takes along."""
    cell = (row.src, row.chunk, row.reads)
    for _, land, other in in_flight.get(cell, ()):
        if land > now:
            raise WrongError("in-flight", f"{row} leaves node {row.src} while {other} is in flight there", row.step)
    if not cells.get(cell):
        raise WrongError("not-held", f"{row}: node {row.src} holds nothing to send", row.step)
    return cells[cell]


def _send(sent: list[Flight], in_flight: dict[Cell, list[Flight]], now: int, *, is_strict: bool) -> None:
    """Note what is in flight from now on. What is sent in one step into one cell is one copy, or reduces (`write-conflict`)."""
    into: dict[Cell, list[Flight]] = {}
    for flight in sent:
        row = flight[2]
        into.setdefault((row.dst, row.chunk, row.writes), []).append(flight)
    for cell, flights in into.items():
        rows = [row for _, _, row in flights]
        has_copy = any(row.is_copy for row in rows)
        if has_copy and len(rows) > 1:
            raise WrongError("write-conflict", f"{rows[0]} and {rows[1]} reach one cell together", rows[0].step)
        before = [flight for flight in in_flight.get(cell, ()) if flight[1] > now]
        for _, _, other in before:
            if is_strict and (has_copy or other.is_copy):
                raise WrongError("in-flight", f"{rows[0]} and {other} are in flight to one cell, and not both add", rows[0].step)
        in_flight[cell] = before + flights


def _land(plain: Plain, cells: dict[Cell, int], landing: list[Landing], now: int | None) -> None:
    """Let land what does so by `now`, or all of it."""
    while landing and (now is None or landing[0][0] <= now):
        _, _, row, carried = heappop(landing)
        cell = (row.dst, row.chunk, row.writes)
        held = cells.get(cell, 0)
        if not row.is_copy and not held and plain.is_endpoint[row.dst]:
            raise WrongError("not-held", f"{row}: node {row.dst} holds nothing to add to", row.step)
        if not row.is_copy and held & carried:
            node = _first(plain, held & carried)
            raise WrongError("duplicate", f"{row} counts the contribution of node {node} a second time", row.step)
        cells[cell] = carried if row.is_copy else held | carried


def _first(plain: Plain, contributions: int) -> int:
    """The first member that contributes."""
    return plain.members[(contributions & -contributions).bit_length() - 1]


def _check_promise(plain: Plain, cells: dict[Cell, int], bit: dict[int, int]) -> None:
    """At the end every member, or the target or root of each chunk, has all contributions, or the chunk of its root (`missing`)."""
    collective, everything = plain.schedule.collective, sum(bit.values())
    for chunk, root in enumerate(plain.root):
        due = everything if collective.reduces else bit[root]
        nodes = plain.members if collective.gathers else [root if plain.target is None else plain.target[chunk]]
        for node in nodes:
            lacks = due & ~cells.get((node, chunk, 0), 0)
            if lacks:
                lost = f"the contribution of node {_first(plain, lacks)} to chunk {chunk}"
                raise WrongError("missing", f"at the end node {node} lacks {lost}")
