"""Schedules as plain numbers: lists, dictionaries, integers and fractions, with every transfer a row of its own."""

from typing import NamedTuple

from certree.models.common.errors import UndecidedError
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule

#: source, destination, capacity, cycles of the wire or -1
Link = tuple[int, int, int, int]
MOST_ROWS = 200_000  # transfers and links of their routes in all iterations; and cells that hold something at the start


class WrongError(Exception):
    """The schedule breaks a sentence of the contract. `rule`: as the checker names it; `step`: where that is known."""

    def __init__(self, rule: str, reason: str, step: int | None = None) -> None:
        super().__init__(reason)
        self.rule, self.reason, self.step = rule, reason, step


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


#: transfers, roots and targets
Parts = tuple[list[Row], list[int], list[int] | None]


class Plain(NamedTuple):
    """A schedule in plain numbers. `base` has those that are single, also of a symmetric one. `iterations`: as many as can be under
    route at once; others repeat what these do."""

    schedule: AnySchedule  # its collective and network
    base: Schedule
    rows: list[Row]
    links: list[Link]
    is_endpoint: list[bool]
    holds: list[bool]  # whether transfers may start and end there
    forwards: list[bool]  # whether routes may lead through it
    members: list[int]
    root: list[int]  # of each chunk; -1 where it has none
    target: list[int] | None
    granules: list[int]  # of each chunk
    rounds: list[int]
    iterations: int


def plain(schedule: AnySchedule) -> Plain:
    """The schedule in plain numbers. UndecidedError where it is too large."""
    base = schedule.base if isinstance(schedule, SymmetricSchedule) else schedule
    iterations = min(base.repeats, 1 + max(base.step.tolist(), default=0) // (base.period or base.steps))
    work = iterations * sum(1 if one < 0 else len(base.routes[one]) for one in base.route.tolist())
    if isinstance(schedule, SymmetricSchedule):
        work = schedule.nodes * (base.transfers + schedule.nodes)
    topology, members = schedule.topology, schedule.collective.members_of(schedule.topology).tolist()
    cells = schedule.chunks * len(members) * (1 + len(members) // 2048) if schedule.collective.reduces else schedule.chunks
    if max(work, cells) > MOST_ROWS:
        raise UndecidedError(f"{work:,} transfers and links of routes, {cells:,} cells; allowed: {MOST_ROWS:,} of each")
    rows, root = _rows(base), base.chunk_root.tolist()
    columns = [getattr(topology, name).tolist() for name in ("src", "dst", "capacity", "latency")]
    links: list[Link] = list(zip(*columns, strict=True))
    target = None if base.chunk_target is None else base.chunk_target.tolist()
    granules = [1] * schedule.chunks if base.chunk_granules is None else base.chunk_granules.tolist()
    if isinstance(schedule, SymmetricSchedule):
        rows, root, target = _images(schedule, links, (rows, root, target))
    kinds, holds, forwards, rounds = [one.tolist() for one in (topology.rank >= 0, topology.holds, topology.forwards, base.rounds)]
    return Plain(schedule, base, rows, links, kinds, holds, forwards, members, root, target, granules, rounds, iterations)


def _rows(base: Schedule) -> list[Row]:
    """The transfers of a schedule."""
    columns = [getattr(base, name).tolist() for name in ("chunk", "op", "step", "src", "dst", "route")]
    buffers = [[0] * base.transfers if one is None else one.tolist() for one in (base.src_buffer, base.dst_buffer)]
    layers = [0] * len(base.routes) if base.virtual_channel is None else base.virtual_channel.tolist()
    planned = base.waits or tuple((0,) * (len(route) - 1) for route in base.routes)
    rows = []
    for number, (chunk, op, step, src, dst, route, reads, writes) in enumerate(zip(*columns, *buffers, strict=True)):
        links, waits, layer = (None, (0,), 0) if route < 0 else (tuple(base.routes[route]), (*planned[route], 0), layers[route])
        rows.append(Row(number, chunk, op == 1, step, src, dst, links, waits, layer, reads, writes))
    return rows


def _images(schedule: SymmetricSchedule, links: list[Link], base: Parts) -> Parts:
    """All transfers, roots and targets: those of the base, moved by each element of the group."""
    nodes = range(schedule.nodes)
    moves = [tuple(move) for move in schedule.action.moves.tolist()]
    for number, move in enumerate(moves):
        if sorted((move[src], move[dst], *kind) for src, dst, *kind in links) != sorted(links):
            raise WrongError("automorphism", f"generator {number} does not take links to links of the same kind")
    elements = [tuple(nodes)]
    known = set(elements)
    for element in elements:  # grows while it is read
        made = {tuple(move[node] for node in element) for move in moves} - known
        if len(known) <= len(nodes):
            known |= made
            elements += sorted(made)
    to = {element[0]: element for element in elements}
    if len(elements) != len(nodes) or len(to) != len(nodes):
        raise WrongError("regular", f"the group has not just one element that takes node 0 to each of the {len(nodes)} nodes")
    (rows, root, target), found = base, []
    for row in rows:
        for node in nodes:
            number, chunk = row.number * len(nodes) + node, row.chunk * len(nodes) + node
            found.append(row._replace(number=number, chunk=chunk, src=to[node][row.src], dst=to[node][row.dst]))
    roots = [-1 if one < 0 else node for one in root for node in nodes]
    return found, roots, None if target is None else [to[node][one] for one in target for node in nodes]
