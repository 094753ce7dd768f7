"""A set of tables as constants of the TLA+ modules: the iterations that are model-checked, their times, and their text.

Ticks are cycles: time in the models jumps from event to event, so nothing has to be scaled down and nothing is rounded. Slot
length and arrivals come from the tables; serialization, travel and the worst case of the reduction unit are recomputed
(`certree.models.schedule.timing`) from message size and machine, so that the check detects slots that are too short.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from certree.extras.tla.check.generated import function, members, record, sequence, string
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import FineTimes, fine_times
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.schedule.collective import CollectiveKind, parse_collective
from certree.models.schedule.paths import link_cycles, path_latency
from certree.models.schedule.schedule import make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.schedule.timing import SlotTiming, ceil_div, slot_timing
from certree.models.tables.table_columns import NIL, RowOp
from certree.models.tables.table_form import require_rows
from certree.models.tables.tables import Tables

# A state has the number of times that each node's contribution was added, by node, chunk and iteration: nodes² counters per chunk
# and iteration. TLC can handle about this many.
MAX_COUNTERS = 1 << 18
MAX_TICKS = (1 << 31) - 1  # TLC's integers have 32 bits

Pair = tuple[int, int]
FlowText = Callable[[int], str]
Connection = tuple[int, int, int]  # source, destination, and the route between them: DIRECT or an index into the tables' routes


@dataclass(frozen=True)
class CheckedTables:
    """The part of the tables that is checked: the first `repeats` iterations, with times in cycles.

    `paths`: the links of each connection that a message can take, each link as a pair of nodes; `travel`: for each of these links,
    the cycles from entering it until the whole message has arrived. `sums`: where they differ, of each message of an iteration
    that is added, by (node, number of its row, destination), the cycles from its arrival until it is.
    """

    tables: Tables
    timing: SlotTiming
    paths: Mapping[Connection, Sequence[Pair]]
    travel: Mapping[Connection, Sequence[int]]
    period: int
    repeats: int
    sums: Mapping[tuple[int, int, int], int] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        """The number of slots from the first to the last that is used."""
        return (self.repeats - 1) * self.period + int(self.tables.step.max(initial=0)) + 1

    @property
    def counters(self) -> int:
        """The number of numbers in the memory of a state."""
        return len(self.tables.topology.endpoints) ** 2 * self.tables.chunks * self.tables.buffers * self.repeats

    @property
    def messages(self) -> int:
        """The number of messages of all iterations checked."""
        return self.repeats * len(self.tables.transfers()["row"])


def plan_of(tables: Tables, *, whole: bool = False) -> CheckedTables:
    """The plan of the tables; of all iterations when `whole`, otherwise of as many as can overlap and one more.

    Later iterations find the same rows, links and counters in the same slots. Raises UnsupportedError for tables that are too
    large for TLC, TableFormatError for rows that command nothing, have a child twice or data
    of another chunk, and when a chunk of a rooted collective does not have exactly one root.
    """
    require_rows(tables)  # the model has chunks, not addresses, and would ignore NOPs
    period, repeats = _iterations(tables, whole=whole)
    timing, paths = _linked_timing(tables), _paths(tables)
    plan = CheckedTables(tables, timing, paths, _travel(tables, paths, timing.ser), period, repeats, _sums(tables))
    _require_few_counters(plan)
    last = plan.slots * tables.slot_cycles + max(travel[0] for travel in plan.travel.values()) + timing.red
    if last > MAX_TICKS:
        raise UnsupportedError(f"the run lasts {last} cycles, more than TLC can count; take a smaller message")
    return plan


def untimed_plan_of(tables: Tables, *, whole: bool = False) -> CheckedTables:
    """`plan_of` without times: a message takes a tick for each link of its path, and a sum none. For models at any timing."""
    require_rows(tables)
    period, repeats = _iterations(tables, whole=whole)
    timing = SlotTiming(
        message_bytes=tables.message_bytes, padded_bytes=tables.message_bytes, chunk_bytes=tables.chunk_bytes, ser=1, lat=0,
        uneven=0, red=0, work=0, stagger=0, slot_cycles=1,
    )  # fmt: skip
    paths = _paths(tables)
    travel = {connection: tuple(range(len(links), 0, -1)) for connection, links in paths.items()}
    plan = CheckedTables(tables, timing, paths, travel, period, repeats)
    _require_few_counters(plan)
    return plan


def _iterations(tables: Tables, *, whole: bool) -> tuple[int, int]:
    """The period, and the number of iterations that are checked."""
    steps = int(tables.step.max()) + 1 if len(tables.step) else 1
    period = tables.period or steps
    # iterations that share slots, and those whose messages are still in flight then; one more for the steady state
    meeting = ceil_div(steps, period) + ceil_div(tables.delay, period) + 1
    return period, tables.repeats if whole else min(tables.repeats, meeting)


def _require_few_counters(plan: CheckedTables) -> None:
    if plan.counters > MAX_COUNTERS:
        raise UnsupportedError(
            f"{len(plan.tables.topology.endpoints)} nodes, {plan.tables.chunks} chunks and {plan.repeats} iterations are too many "
            f"for TLC: {plan.counters} counters in a state; allowed: {MAX_COUNTERS}"
        )


def _paths(tables: Tables) -> dict[Connection, tuple[Pair, ...]]:
    """The link of every pair of neighbours, those of the routes that rows take, and the copy unit of a node as a link to itself."""
    topology = tables.topology
    pairs: list[Pair] = list(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True))
    ends = set(topology.endpoints.tolist())
    paths: dict[Connection, tuple[Pair, ...]] = {(*pair, DIRECT): (pair,) for pair in pairs if ends.issuperset(pair)}
    moves = tables.transfers()
    for src, dst, route in sorted(set(zip(*(moves[name].tolist() for name in ("src", "dst", "route")), strict=True))):
        if src == dst and tables.buffers > 1:
            paths[src, dst, route] = ((src, dst),)
        elif route != DIRECT:
            paths[src, dst, route] = tuple(pairs[topology.pair_of_link[link]] for link in tables.routes[route])
    return paths


def _travel(tables: Tables, paths: Mapping[Connection, Sequence[Pair]], ser: int) -> dict[Connection, tuple[int, ...]]:
    """Serialization and latency of the rest of each connection's path, from each of its links on; none within a node."""
    connections = sorted(connection for connection in paths if connection[0] != connection[1])
    columns = {"chunk": np.zeros(len(connections), np.int32), "op": np.full(len(connections), Op.COPY, np.int32)}
    columns |= {"step": np.arange(len(connections), dtype=np.int32)}
    columns |= {
        name: np.array(column, np.int32)
        for name, column in zip(("src", "dst", "route"), zip(*connections, strict=True), strict=True)
    }
    everyone = parse_collective(CollectiveKind.ALL_REDUCE)
    probe = make_schedule(tables.topology, everyone, [NO_ROOT], columns, routes=tables.routes)
    latency = path_latency(probe, tables.machine).tolist()
    topology, machine = tables.topology, tables.machine
    pairs = zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), strict=True)
    crossing = dict(zip(pairs, (link_cycles(topology, machine) + machine.router_cycles).tolist(), strict=True))
    travel: dict[Connection, tuple[int, ...]] = {connection: (ser,) for connection in paths if connection[0] == connection[1]}
    for src, dst, route, cycles in zip(*(getattr(probe, name).tolist() for name in ("src", "dst", "route")), latency, strict=True):
        left = [ser + cycles]
        for link in paths[src, dst, route][:-1]:
            left.append(left[-1] - crossing[link])
        travel[src, dst, route] = tuple(left)
    return travel


def _linked_timing(tables: Tables) -> SlotTiming:
    """Slot timing of the rows that send over links; the model finds rows that send where there is no link."""
    if tables.fine_slots:
        return _fine_timing(tables)
    moves = tables.transfers()
    linked = (tables.topology.pair_index(moves["src"], moves["dst"]) >= 0) | (moves["route"] != DIRECT)
    linked |= (moves["src"] == moves["dst"]) & (tables.buffers > 1)
    schedule = make_schedule(
        tables.topology,
        parse_collective(CollectiveKind.ALL_REDUCE),
        np.full(tables.chunks, NO_ROOT, np.int32),
        {name: column[linked] for name, column in moves.items()},
        routes=tables.routes,
        buffers=tables.buffers,
        delay=tables.delay,
        period=tables.period,
        repeats=tables.repeats,
    )
    return slot_timing(schedule, tables.chunk_bytes * tables.chunks * tables.repeats, tables.machine)  # chunks of their size


def _fine_timing(tables: Tables) -> SlotTiming:
    """The timing where slots are fine: the longest time that a sum takes from its arrival on, by closed form, and slots as they
    are.

    UnsupportedError for messages of several sizes."""
    times = fine_times(tables.schedule)
    if int(times.length.min(initial=times.ser)) < times.ser:
        raise UnsupportedError("model checks: not supported for messages of several sizes; the model has one for all")
    red = int(_added(times).max(initial=0))
    lat, padded = int(times.latency.max(initial=0)), tables.chunk_bytes * tables.chunks * tables.repeats
    return SlotTiming(
        message_bytes=tables.message_bytes, padded_bytes=padded, chunk_bytes=tables.chunk_bytes, ser=times.ser, lat=lat, uneven=0,
        red=red, work=0, stagger=0, slot_cycles=tables.slot_cycles,
    )  # fmt: skip


def _added(times: FineTimes) -> NDArray[np.int64]:
    """The cycles from the arrival of the message of each row that adds until its sum is there."""
    added: NDArray[np.int64] = (times.landing - times.fire - times.latency - times.ser)[times.schedule.op == Op.REDUCE]
    return added


def _sums(tables: Tables) -> dict[tuple[int, int, int], int]:
    """`CheckedTables.sums`; nothing where slots are not fine, or all sums take the same time."""
    if not tables.fine_slots:
        return {}
    schedule, sent = tables.schedule, tables.transfers()
    added = _added(fine_times(schedule))
    if not len(added) or added.min() == added.max():
        return {}
    names = [name for name in ("dst_buffer", "src_buffer", "route", "dst", "src", "chunk", "step") if name in schedule.columns]
    of_schedule, of_tables = np.flatnonzero(schedule.op == Op.REDUCE), np.flatnonzero(sent["op"] == Op.REDUCE)
    by_cell = np.lexsort([getattr(schedule, name)[of_schedule] for name in names])
    messages = of_tables[np.lexsort([sent[name][of_tables] for name in names])]
    number = np.zeros(len(tables.node), np.int64)
    for node in np.unique(tables.node).tolist():
        number[tables.node == node] = np.arange(1, 1 + int((tables.node == node).sum()))
    keys = zip(sent["src"][messages].tolist(), number[sent["row"][messages]].tolist(), sent["dst"][messages].tolist(), strict=True)
    return dict(zip(keys, added[by_cell].tolist(), strict=True))


def row_text(tables: Tables, row: int, flow: FlowText = str, *, first_step: int = 0, first_route: int = 0) -> str:
    """A row as a record; `flow`: the name of a flow. Steps and routes are counted from these on."""
    op, name = string(RowOp(int(tables.op[row])).name), flow(int(tables.flow[row]))
    step, route = int(tables.step[row]) + first_step, int(tables.route[row])
    place = {"step": step, "route": route if route == NIL else route + first_route}
    children = members(child for child in tables.children[row].tolist() if child != NIL)
    if tables.is_counted:
        buffers = {"wait": tables.wait[row], "from": tables.src_buffer[row], "into": tables.dst_buffer[row]}
        return record(op=op, flow=name, **buffers, children=children, **place)
    return record(op=op, flow=name, step=place["step"], parent=tables.parent[row], children=children, route=place["route"])


def _table_text(tables: Tables, node: int) -> str:
    """The node's rows in order."""
    return sequence((row_text(tables, row) for row in np.flatnonzero(tables.node == node).tolist()), ",\n    ")


def arrivals_of(tables: Tables, node: int, flow: FlowText = str) -> list[str]:
    """The arrivals that a node expects; `flow`: the name of a flow."""
    mine = np.flatnonzero(tables.arrival_node == node)
    if tables.is_counted:
        lines = (tables.arrival_flow[mine], tables.arrival_buffer[mine], tables.arrival_count[mine])
        counted = zip(*(column.tolist() for column in lines), strict=True)
        return [sequence((flow(of), buffer, number)) for of, buffer, number in counted]
    columns = (tables.arrival_op[mine], tables.arrival_flow[mine], tables.arrival_peer[mine])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [sequence((string(RowOp(op).name), flow(of), peer)) for op, of, peer in rows]


def promises(tables: Tables, flow: FlowText = str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """For every flow the nodes that contribute to it, and those at which it is due; `flow`: the name of a flow."""
    flows = [flow(number) for number in range(tables.chunks)]
    roots = tables.schedule.chunk_root.tolist() if tables.collective.is_rooted else []
    everyone = [(name, members(tables.members.tolist())) for name in flows]
    at_root = [(name, members([root])) for name, root in zip(flows, roots, strict=False)]
    due = everyone if tables.collective.gathers else at_root
    if tables.chunk_target is not None:
        due = [(name, members([target])) for name, target in zip(flows, tables.chunk_target.tolist(), strict=True)]
    return everyone if tables.collective.reduces else at_root, due


def capacities(topology: Topology, paths: Iterable[Connection]) -> str:
    """For every link, and the copy unit of each node that uses it: how many messages it carries at once."""
    pairs = list(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), topology.pair_capacity.tolist(), strict=True))
    pairs += [(src, dst, 1) for src, dst, _ in sorted(paths) if src == dst]
    return function([(sequence((src, dst)), str(capacity)) for src, dst, capacity in pairs])


def written(plan: CheckedTables) -> dict[str, str]:
    """The tables as constants, in TLA+."""
    tables, topology = plan.tables, plan.tables.topology
    nodes = topology.endpoints.tolist()
    contributors, promised = promises(tables)
    return {
        "Contributors": function(contributors),
        "Promised": function(promised),
        "Table": function([(node, _table_text(tables, node)) for node in nodes]),
        "Arrivals": function([(node, members(arrivals_of(tables, node))) for node in nodes]),
        "Path": function(
            [(sequence(connection), sequence(map(sequence, links))) for connection, links in sorted(plan.paths.items())]
        ),
        "Capacity": capacities(topology, plan.paths),
        "TravelTicks": function([(sequence(connection), sequence(cycles)) for connection, cycles in sorted(plan.travel.items())]),
    }


def values(plan: CheckedTables) -> dict[str, object]:
    """The other constants, for a slotted run without skew."""
    tables = plan.tables
    return {
        "Nodes": members(tables.topology.endpoints.tolist()),
        "Flows": members(range(tables.chunks)),
        "Profile": string(tables.profile),
        "Buffers": members(range(tables.buffers)),
        "InFlight": tables.in_flight,
        "Period": plan.period,
        "Repeats": plan.repeats,
        "Delay": tables.delay,
        "Run": string("slotted"),
        "SlotTicks": tables.slot_cycles,
        "SerTicks": plan.timing.ser,
        "MinReduceTicks": plan.timing.red,
        "MaxReduceTicks": plan.timing.red,
        "MaxSkewTicks": 0,
        "MaxDriftTicks": 0,
        "BufferTicks": 0,
        "StepTicks": 0,
        "MaxStepsApart": 0,
    }
