"""A builder of schedules: transfers in the words of the field, checked as they are written."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from certree.api.api_errors import InvalidScheduleError
from certree.api.parsing import Network
from certree.api.parsing import collective as parsed_collective
from certree.api.parsing import topology as parsed_topology
from certree.extras.algorithms.make.written_rows import (
    Dependencies,
    Int64,
    Numbers,
    Written,
    WrittenRows,
    place_of_caller,
    whole_numbers,
)
from certree.models.common.errors import InputError, ScheduleFormatError, located
from certree.models.network.routing import DIRECT
from certree.models.schedule.collective import Collective
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.paths import links_along
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import MAX_BUFFERS, MAX_CHUNKS, MAX_STEPS, Op
from certree.synth.ranks.route_choice import spread_routes
from certree.synth.rounds import rounds_needed
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Verdict

_ROW = re.compile(r"\brow (\d+)\b")


class InvalidAlgorithmError(InvalidScheduleError):
    """An algorithm whose schedule is invalid. The message names the row and the line of Python that wrote it."""

    def __init__(self, schedule: Schedule, verdict: Verdict, rows: WrittenRows) -> None:
        super().__init__(schedule, verdict)
        first = verdict.violations[0]
        named = dict.fromkeys([*map(int, _ROW.findall(first.message)), *first.rows])
        lines = [f"row {row} was written at {rows.place(row)}" for row in list(named)[:4] if row < len(rows)]
        self.args = ("; ".join([str(self), *lines]),)


class Builder:
    """Writes a schedule transfer by transfer.

    Parameters
    ----------
    network
        As in `topology`: a Topology, a text such as "ring:8", a path or a networkx graph.
    collective
        Its name, or a Collective, which may have members. Demands are refused: chunks have one size here.
    chunks
        K, the chunks of the message of one iteration; None: one more than the largest that a transfer names.
    root
        Of a broadcast, reduce, gather or scatter.
    delay
        Steps from sending until what was sent can be used.
    period, repeats
        Iterations start every `period` steps, `repeats` times; None and 1: one iteration.
    roots, targets
        For each chunk where its data starts or its sum is due, and in an all-to-all, gather or scatter where it is due; None: in
        the conventional order (chunk c of an all-gather belongs to rank c mod N).

    Raises
    ------
    InputError
        For a network, collective or number that is out of range.

    Examples
    --------
    >>> import certree.api as ct
    >>> b = ct.Builder("ring:3", "all-reduce")
    >>> sums = [b.reduce(chunk=0, src=node, dst=0, step=0) for node in (1, 2)]
    >>> sent = b.copy(chunk=0, src=0, dst=[1, 2], after=sums)
    >>> b.schedule()
    <Schedule all-reduce on ring:3: chunks 1, steps 2, repeats 1, transfers 4>
    """

    def __init__(
        self,
        network: Network,
        collective: str | Collective = "all-reduce",
        *,
        chunks: int | None = None,
        root: int | None = None,
        delay: int = 1,
        period: int | None = None,
        repeats: int = 1,
        roots: Sequence[int] | None = None,
        targets: Sequence[int] | None = None,
    ) -> None:
        self.topology = parsed_topology(network)
        self.collective = parsed_collective(collective, root).fitted(self.topology)
        self.collective.require_equal_blocks("Builder")
        self.chunks = None if chunks is None else int(whole_numbers("chunks", chunks, 1, MAX_CHUNKS))
        self.delay = int(whole_numbers("delay", delay, 1, MAX_STEPS))
        self._repeats = {"period": period, "repeats": repeats}
        self._owners = (roots, targets)
        self._rows, self._before = WrittenRows(), Dependencies(self.delay)
        self._links: dict[tuple[int, int], int] | None = None
        self._routes: dict[tuple[int, ...], int] = {}

    @property
    def ranks(self) -> list[int]:
        """The node ids of the endpoints that take part, by rank."""
        found: list[int] = self.collective.members_of(self.topology).tolist()
        return found

    def reduce(self, chunk: Numbers, src: Numbers, dst: Numbers, **where: Any) -> Written:
        """Send a chunk, and add it to what the destination has. Arguments and result as of `copy`."""
        return self._write(Op.REDUCE, chunk, src, dst, **where)

    def copy(self, chunk: Numbers, src: Numbers, dst: Numbers, **where: Any) -> Written:
        """Send a chunk, which replaces what the destination has; or move it between two buffers of one node.

        `chunk`, `src` and `dst` (node ids) may be arrays, which are broadcast against each other. One of `step` (from 0; numbers),
        and `after`: what was written before, one `Written` or several; the transfer is sent when all of that has arrived. Without
        both it is sent as soon as the transfers written before it allow (as programs of MSCCL are read). `route`: the nodes from
        source to destination; None: the link between them, or a shortest route. `src_buffer`, `dst_buffer`: 0 has the data, others
        are scratch. Returns the step, which `after` takes. ScheduleFormatError for numbers that are out of range.
        """
        return self._write(Op.COPY, chunk, src, dst, **where)

    def send(self, chunk: Numbers, src: Numbers, dst: Numbers, **where: Any) -> Written:
        """Write a message from one node to another; another name of `copy`."""
        return self._write(Op.COPY, chunk, src, dst, **where)

    def schedule(self) -> Schedule:
        """The schedule, which the checker found valid. Steps last as long as their fullest links need.

        InvalidAlgorithmError names the violation, the row and the line that wrote it; ScheduleFormatError a builder without
        transfers. O(rows log rows + hops) and the time of `verify`.
        """
        made = self.unchecked()
        verdict = verify_schedule(made)
        if not verdict.valid:
            raise InvalidAlgorithmError(made, verdict, self._rows)
        return made

    def unchecked(self) -> Schedule:
        """The schedule, valid or not, for `verify`. Rows are in the order in which they were written."""
        if not len(self._rows):
            raise ScheduleFormatError("the builder has no transfers")
        columns = self._rows.columns
        columns["route"], routes = self._routed(columns)
        buffers = 1 + int(max(columns[name].max() for name in ("src_buffer", "dst_buffer")))
        if buffers == 1:
            del columns["src_buffer"], columns["dst_buffer"]
        root, target = self._roots_and_targets(int(columns["chunk"].max()) + 1)
        made = Schedule(
            topology=self.topology,
            collective=self.collective,
            chunk_root=root,
            chunk_target=target,
            rounds=np.ones(int(columns["step"].max()) + 1, np.int32),
            routes=routes,
            delay=self.delay,
            buffers=buffers,
            provenance={"method": "builder"},
            **self._repeats,  # type: ignore[arg-type]
            **{name: column.astype(np.int8 if name == "op" else np.int32) for name, column in columns.items()},  # type: ignore[arg-type]
        )
        return made if made.period is not None else replace(made, rounds=rounds_needed(made))

    def _write(
        self,
        op: Op,
        chunk: Numbers,
        src: Numbers,
        dst: Numbers,
        *,
        step: Numbers | None = None,
        after: Written | Iterable[Written] | None = None,
        route: Sequence[int] | None = None,
        src_buffer: Numbers = 0,
        dst_buffer: Numbers = 0,
    ) -> Written:
        place = place_of_caller()
        with located(f"row {len(self._rows)} ({place[0].rpartition('/')[2]}:{place[1]})", ScheduleFormatError):
            nodes = len(self.topology.kind) - 1
            given = {
                "chunk": whole_numbers("chunk", chunk, 0, (self.chunks or MAX_CHUNKS) - 1),
                "src": whole_numbers("src", src, 0, nodes),
                "dst": whole_numbers("dst", dst, 0, nodes),
                "src_buffer": whole_numbers("src_buffer", src_buffer, 0, MAX_BUFFERS - 1),
                "dst_buffer": whole_numbers("dst_buffer", dst_buffer, 0, MAX_BUFFERS - 1),
            }
            if step is not None and after is not None:
                raise ScheduleFormatError("both step and after; allowed: one of them, or none")
            if step is not None:
                given["step"] = whole_numbers("step", step, 0, MAX_STEPS - 1)
            try:
                block = {name: column.ravel() for name, column in zip(given, np.broadcast_arrays(*given.values()), strict=True)}
            except ValueError:
                sizes = ", ".join(f"{name} {column.shape}" for name, column in given.items() if column.ndim)
                raise ScheduleFormatError(f"arrays of different shapes: {sizes}") from None
            return self._take(op, block, after, route, place)

    def _take(
        self,
        op: Op,
        block: dict[str, Int64],
        after: Written | Iterable[Written] | None,
        route: Sequence[int] | None,
        place: tuple[str, int],
    ) -> Written:
        """Check what the numbers mean, find steps that are not given, and keep the rows."""
        rows = len(block["chunk"])
        if not rows:
            raise ScheduleFormatError("arrays without numbers")
        still = (block["src"] == block["dst"]) & (block["src_buffer"] == block["dst_buffer"])
        if still.any():
            raise ScheduleFormatError(f"src and dst are both node {block['src'][still][0]}, in one buffer; nothing would move")
        block["route"] = np.full(rows, DIRECT if route is None else self._route(route, block), np.int64)
        if after is not None:
            block["step"] = np.full(rows, self._ready(after), np.int64)
        cells = zip(*(block[name].tolist() for name in ("chunk", "src", "src_buffer", "dst", "dst_buffer")), strict=True)
        steps = block["step"].tolist() if "step" in block else [None] * rows
        sent = []
        for (chunk, src, src_buffer, dst, dst_buffer), at in zip(cells, steps, strict=True):
            source, target = (chunk, src, src_buffer), (chunk, dst, dst_buffer)
            sent.append(self._before.first_step(op, source, target) if at is None else at)
            self._before.note(op, source, target, sent[-1])
        block["step"], block["op"] = np.array(sent, np.int64), np.full(rows, int(op), np.int64)
        self._rows.add(block, place)
        return Written(max(sent), max(sent) + self.delay)

    @staticmethod
    def _ready(after: Written | Iterable[Written]) -> int:
        before = list(after) if isinstance(after, Iterable) else [after]
        if not before or not all(isinstance(one, Written) for one in before):
            raise ScheduleFormatError("after takes what reduce, copy and send have returned, one or several")
        return max(one.ready for one in before)

    def _route(self, route: Sequence[int], block: dict[str, Int64]) -> int:
        """The number of the route along these nodes; DIRECT for a single link."""
        nodes = whole_numbers("route", route, 0, len(self.topology.kind) - 1).tolist()
        ends = {*zip(block["src"].tolist(), block["dst"].tolist(), strict=True)}
        if not isinstance(nodes, list) or len(nodes) < 2 or ends != {(nodes[0], nodes[-1])}:
            raise ScheduleFormatError(f"route {route} does not lead from src to dst")
        if self._links is None:
            joined = zip(self.topology.src.tolist(), self.topology.dst.tolist(), strict=True)
            self._links = {pair: number for number, pair in reversed([*enumerate(joined)])}
        links = links_along(nodes, self._links, f"route {route}")
        return DIRECT if len(links) == 1 else self._routes.setdefault(links, len(self._routes))

    def _routed(self, columns: dict[str, Int64]) -> tuple[Int64, tuple[tuple[int, ...], ...]]:
        """The column of routes and the routes, with shortest ones for rows that have none and whose ends are not neighbours."""
        route = columns["route"].copy()
        open_rows = np.flatnonzero((route == DIRECT) & (columns["src"] != columns["dst"]))
        try:
            fresh, more = spread_routes(self.topology, {name: columns[name][open_rows] for name in ("step", "src", "dst")})
        except InputError as error:  # it counts the rows that have no route
            raise ScheduleFormatError(f"no route: {_ROW.sub('a transfer', str(error))}") from None
        route[open_rows] = np.where(fresh == DIRECT, DIRECT, fresh + len(self._routes))
        return self._numbered(route, (*self._routes, *more))

    def _numbered(self, route: Int64, routes: tuple[tuple[int, ...], ...]) -> tuple[Int64, tuple[tuple[int, ...], ...]]:
        """Routes by source and destination, as methods number them, each once, so that equal transfers have one digest."""
        ends = {links: (int(self.topology.src[links[0]]), int(self.topology.dst[links[-1]]), links) for links in routes}
        ordered = sorted(ends, key=ends.__getitem__)
        number = {links: place for place, links in enumerate(ordered)}
        renamed = np.array([*(number[links] for links in routes), DIRECT], np.int64)  # DIRECT is -1: the last place
        return renamed[route], tuple(ordered)

    def _roots_and_targets(self, used: int) -> tuple[Any, Any]:
        """Roots and targets of chunks: as given, or in the conventional order."""
        roots, targets = self._owners
        if roots is not None:
            return np.asarray(roots, np.int32), None if targets is None else np.asarray(targets, np.int32)
        return chunk_owners(self.topology, self.collective, self.chunks or used)
