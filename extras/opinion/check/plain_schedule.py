"""Schedules as plain numbers: lists, dictionaries, integers and fractions, with every transfer a row of its own."""

from dataclasses import dataclass
from typing import NamedTuple

from certree.models.network.topology import NodeKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule

MOST_ROWS = 200_000  # transfers, and links of their routes, in all iterations


class WrongError(Exception):
    """The schedule breaks a sentence of the contract. `rule`: as the checker names it; `step`: where that is known."""

    def __init__(self, rule: str, reason: str, step: int | None = None) -> None:
        super().__init__(reason)
        self.rule, self.reason, self.step = rule, reason, step


class NotCoveredError(Exception):
    """The second opinion says nothing about such a schedule."""


class Row(NamedTuple):
    """One transfer. `links`: of its route; None where it takes any link from its source to its destination. `waits`: cycles that it
    waits behind each of these links."""

    number: int
    chunk: int
    is_copy: bool
    step: int
    src: int
    dst: int
    links: tuple[int, ...] | None
    waits: tuple[int, ...]
    layer: int
    reads: int  # buffers
    writes: int

    @property
    def is_local(self) -> bool:
        """Whether it stays in its node."""
        return self.src == self.dst

    def __str__(self) -> str:
        return f"row {self.number} ({'copy' if self.is_copy else 'reduce'} of chunk {self.chunk}, {self.src}>{self.dst})"


@dataclass(frozen=True)
class Plain:
    """A schedule in plain numbers. `iterations`: as many as can be under way at once, and no more: others repeat what these do."""

    rows: list[Row]
    is_endpoint: list[bool]
    holds: list[bool]  # whether transfers may start and end there
    forwards: list[bool]  # whether routes may lead through it
    links: list[tuple[int, int, int, int]]  # source, destination, capacity, cycles of the wire or -1
    members: list[int]
    root: list[int]  # of each chunk; -1 where it has none
    target: list[int] | None
    granules: list[int]  # of each chunk
    rounds: list[int]
    delay: int
    period: int | None
    iterations: int
    repeats: int
    buffers: int
    slot_cycles: int | None
    made_for: MadeFor | None
    schedule: AnySchedule  # its collective, and the scale of its network

    @property
    def is_fine(self) -> bool:
        """Whether its steps are fine slots."""
        return self.slot_cycles is not None


def plain(schedule: AnySchedule) -> Plain:
    """The schedule in plain numbers. NotCoveredError where it is too large."""
    base = schedule.base if isinstance(schedule, SymmetricSchedule) else schedule
    topology, steps = schedule.topology, base.step.tolist()
    stages = 1 + max(steps, default=0) // (base.period or len(base.rounds))
    iterations = min(base.repeats, stages) if base.period else 1
    hops = [len(route) for route in base.routes]
    work = iterations * sum(max(1, hops[one]) if one >= 0 else 1 for one in base.route.tolist())
    if isinstance(schedule, SymmetricSchedule):
        work = schedule.nodes * (base.transfers + schedule.nodes)
    if work > MOST_ROWS:
        raise NotCoveredError(f"{work:,} transfers and links of routes in the iterations to look at; allowed: {MOST_ROWS:,}")
    rows, root = _rows(base), base.chunk_root.tolist()
    target = None if base.chunk_target is None else base.chunk_target.tolist()
    if isinstance(schedule, SymmetricSchedule):
        rows, root, target = _images(schedule, rows, root, target)
    kinds = topology.kind.tolist()
    names = ("src", "dst", "capacity", "latency")
    return Plain(
        rows, [kind == NodeKind.ENDPOINT for kind in kinds], topology.holds.tolist(), topology.forwards.tolist(),
        list(zip(*(getattr(topology, name).tolist() for name in names), strict=True)),
        schedule.collective.members_of(topology).tolist(), root, target,
        [1] * len(root) if base.chunk_granules is None else base.chunk_granules.tolist(), base.rounds.tolist(), base.delay,
        base.period, iterations, base.repeats, base.buffers, base.slot_cycles, schedule.made_for, schedule,
    )  # fmt: skip


def _rows(base: AnySchedule) -> list[Row]:
    """The transfers of a schedule."""
    assert not isinstance(base, SymmetricSchedule)
    count = base.transfers
    names = ("chunk", "op", "step", "src", "dst", "route")
    columns = [getattr(base, name).tolist() for name in names]
    buffers = [[0] * count if one is None else one.tolist() for one in (base.src_buffer, base.dst_buffer)]
    layers = [0] * len(base.routes) if base.virtual_channel is None else base.virtual_channel.tolist()
    rows = []
    for number, (chunk, op, step, src, dst, route, reads, writes) in enumerate(zip(*columns, *buffers, strict=True)):
        links = None if route < 0 else tuple(base.routes[route])
        waits = (0,) if links is None else (0,) * len(links)
        if links is not None and base.waits is not None:
            waits = (*base.waits[route], 0)
        layer = 0 if route < 0 else layers[route]
        rows.append(Row(number, chunk, op == 1, step, src, dst, links, waits, layer, reads, writes))
    return rows


def _images(
    schedule: SymmetricSchedule, rows: list[Row], root: list[int], target: list[int] | None
) -> tuple[list[Row], list[int], list[int] | None]:
    """All transfers, roots and targets: those of the base, moved by each element of the group."""
    nodes, topology = schedule.nodes, schedule.topology
    moves = [tuple(move) for move in schedule.action.moves.tolist()]
    names = ("src", "dst", "capacity", "latency")
    links = list(zip(*(getattr(topology, name).tolist() for name in names), strict=True))
    for number, move in enumerate(moves):
        if sorted((move[src], move[dst], *kind) for src, dst, *kind in links) != sorted(links):
            raise WrongError("automorphism", f"generator {number} does not take links to links of the same kind")
    elements = [tuple(range(nodes))]
    known = set(elements)
    for element in elements:  # grows while it is read
        for move in moves:
            made = tuple(move[node] for node in element)
            if made not in known and len(known) <= nodes:
                known.add(made)
                elements.append(made)
    by_image = {element[0]: element for element in elements}
    if len(elements) != nodes or len(by_image) != nodes:
        raise WrongError("regular", f"the group has not just one element that takes node 0 to each of the {nodes} nodes")
    found = [
        row._replace(
            number=row.number * nodes + node, chunk=row.chunk * nodes + node,
            src=by_image[node][row.src], dst=by_image[node][row.dst],
        )
        for row in rows
        for node in range(nodes)
    ]  # fmt: skip
    roots = [-1 if one < 0 else node for one in root for node in range(nodes)]
    targets = None if target is None else [by_image[node][one] for one in target for node in range(nodes)]
    return found, roots, targets
