"""A joint schedule as constants of `specs/NIJoint.tla`, the interfaces that execute rows of several collectives.

Ticks are cycles. A flow is a pair of the number of its collective and the chunk, and each row has the number of its collective as a
tag. Lengths of messages, latencies and times of sums are recomputed from the machine, as for the tables of one collective.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.tla.check.generated import Generated, function, members, record, sequence, string
from certree.extras.tla.check.table_constants import (
    MAX_COUNTERS,
    MAX_TICKS,
    CheckedTables,
    FlowText,
    arrivals_of,
    capacities,
    plan_of,
    promises,
    row_text,
)
from certree.hw.tables.counted import lower_counted
from certree.models.common.errors import UnsupportedError
from certree.models.network.routing import DIRECT
from certree.models.tables.table_columns import NIL, Profile, RowOp
from certree.models.tables.tables import Tables

# All that is promised is looked at in each state when messages × counters in a state is at most this (the states of 36 messages and
# 864 counters take 7 s); beyond, results at the end only.
PROMISES_WORK = 1 << 15
# In this order: of several violations in one state, the first is reported.
_INVARIANTS = (
    "LinksExist", "OnlyExpected", "EveryArrivalAwaited", "NothingMeets", "UnitsApart", "NoBusyPort", "NoLateRow",
    "SendsAfterOthers", "RightAtTheEnd",
)  # fmt: skip
_STEPS = ("KeptApart", "AddedOnce")
_PROMISES = ("EveryRunEnds", "BeginsWithAllPromises", "NeverBreaksAnyPromise")
#: definitions of the specification that these replace
_CHOSEN = {
    "InTurn": "LowestFirst",
    "Leaves": "LeavesByTag",
    "Landed": "LandedByTimes",
    "UnderWay": "OwnUnderWay",
    "Earliest": "AfterOwnSum",
    "Latest": "AfterOwnSum",
}
#: the fields of tables that are not columns, in any profile
_HEADER = (
    "topology", "collective", "chunks", "delay", "period", "repeats", "routes", "virtual_channel", "waits", "chunk_granules",
    "machine", "message_bytes", "chunk_bytes", "slot_cycles", "fine_slots", "schedule_digest",
)  # fmt: skip


class JointModel:
    """The tables of a joint schedule, `given` for each collective, as constants of `NIJoint`. `plans`: of each collective alone.
    UnsupportedError for what is too large for TLC. O(rows of all)."""

    def __init__(self, joint: JointSchedule, given: Sequence[Tables]) -> None:
        self.joint = joint
        self.plans = [_plan(part.name, one) for part, one in zip(joint.parts, _in_one_profile(given), strict=True)]
        tables = [plan.tables for plan in self.plans]
        self.is_counted, self.buffers = tables[0].is_counted, max(one.buffers for one in tables)
        self.ser = min(plan.timing.ser for plan in self.plans)
        self.first_route = np.cumsum([0, *(len(one.routes) for one in tables)]).tolist()
        self.messages = sum(plan.messages for plan in self.plans)
        self.counters = len(joint.topology.endpoints) ** 2 * self.buffers * sum(one.chunks for one in tables)
        self._check_size()

    def _check_size(self) -> None:
        if self.counters > MAX_COUNTERS:
            raise UnsupportedError(
                f"{len(self.joint.topology.endpoints)} nodes and {sum(plan.tables.chunks for plan in self.plans)} chunks in "
                f"{self.buffers} buffers are too many for TLC: {self.counters} counters in a state; allowed: {MAX_COUNTERS}"
            )
        if self.joint.cycles > MAX_TICKS:
            raise UnsupportedError(f"the run lasts {self.joint.cycles} cycles, more than TLC can count")

    @property
    def size_words(self) -> str:
        """How large it is."""
        rows = sum(len(plan.tables.node) for plan in self.plans)
        return f"{rows:,} rows, {self.messages:,} messages, {self.counters:,} counters in a state"

    @property
    def shows_promises(self) -> bool:
        """Whether what is promised is looked at in each state."""
        return self.messages * self.counters <= PROMISES_WORK

    @property
    def extent(self) -> str:
        """The subject of a success, in words."""
        return "all states" if self.shows_promises else "all states, results at the end of runs"

    @property
    def generated(self) -> Generated:
        """The model."""
        return Generated(
            "CheckNIJoint",
            self._written(),
            self._values(),
            (*_INVARIANTS, *(("TaggedTypes", "RightSums") if self.shows_promises else ())),
            properties=(*_STEPS, *(_PROMISES if self.shows_promises else ())),
            spec="JointSpec",
            chosen=_CHOSEN,
            definitions=tuple(self._definitions()),
            apart=True,
            used={"Sums": function(self._sums(self._rows()))},
        )

    def _flow(self, tag: int) -> FlowText:
        return lambda chunk: sequence((tag, chunk))

    def _rows(self) -> Mapping[int, Sequence[tuple[int, int, int]]]:
        """The rows of each node in order: the cycle of each, its tag, and its number in the tables of that collective."""
        columns = []
        for tag, (part, plan) in enumerate(zip(self.joint.parts, self.plans, strict=True)):
            step = plan.tables.step.astype(np.int64) * plan.tables.slot_cycles + part.begin
            columns.append(np.stack([plan.tables.node, step, np.full(len(step), tag), np.arange(len(step))]))
        node, step, tag_of, row = np.concatenate(columns, axis=1)
        order = np.lexsort((row, tag_of, step, node))
        found: dict[int, list[tuple[int, int, int]]] = {n: [] for n in self.joint.topology.endpoints.tolist()}
        for at, *rest in zip(*(column[order].tolist() for column in (node, step, tag_of, row)), strict=True):
            found[at].append(tuple(rest))
        return found

    def _row(self, step: int, tag: int, row: int) -> str:
        tables = self.plans[tag].tables
        first = step - int(tables.step[row])
        return row_text(tables, row, self._flow(tag), first_step=first, first_route=self.first_route[tag])

    def _written(self) -> dict[str, str]:
        """The tables as constants, in TLA+."""
        nodes, rows = self.joint.topology.endpoints.tolist(), self._rows()
        kept = [promises(plan.tables, self._flow(tag)) for tag, plan in enumerate(self.plans)]
        arrivals = [
            (node, members(one for tag, plan in enumerate(self.plans) for one in arrivals_of(plan.tables, node, self._flow(tag))))
            for node in nodes
        ]
        paths, travel = self._routes()
        place = {part.name: tag for tag, part in enumerate(self.joint.parts)}
        after = [members(place[name] for name in part.entry.after) for part in self.joint.parts]
        return {
            "Flows": members(self._flow(tag)(chunk) for tag, plan in enumerate(self.plans) for chunk in range(plan.tables.chunks)),
            "Contributors": function(pair for contributors, _ in kept for pair in contributors),
            "Promised": function(pair for _, promised in kept for pair in promised),
            "Table": function((node, sequence((self._row(*row) for row in rows[node]), ",\n    ")) for node in nodes),
            "RowTag": function((node, sequence(tag for _, tag, _ in rows[node])) for node in nodes),
            "Arrivals": function(arrivals),
            "Program": function((node, self._program(rows[node])) for node in nodes),
            "ArrivalsOfFlow": function((node, self._arrivals_of_flow(node)) for node in nodes),
            "Path": function((sequence(connection), sequence(map(sequence, links))) for connection, links in sorted(paths.items())),
            "Capacity": capacities(self.joint.topology, paths),
            "TravelTicks": function((sequence(connection), sequence(cycles)) for connection, cycles in sorted(travel.items())),
            "Length": function((tag, plan.timing.ser) for tag, plan in enumerate(self.plans)),
            "After": function(enumerate(after)),
        }

    def _program(self, rows: Sequence[tuple[int, int, int]]) -> str:
        """The entries of a node, as `ProgramIsOfTheRows` asks for them."""
        entries = []
        for number, (step, tag, row) in enumerate(rows, 1):
            tables, flow = self.plans[tag].tables, self._flow(tag)(int(self.plans[tag].tables.flow[row]))
            op = string(RowOp(int(tables.op[row])).name)
            children = [child for child in tables.children[row].tolist() if child != NIL]
            awaits, to = _awaits(tables, row, flow, children)
            route = int(tables.route[row])
            entries.append(
                record(
                    row=number, slot=step, item=sequence((flow, 0)), op=op, awaits=members(awaits), to=members(to),
                    route=route if route == NIL else route + self.first_route[tag],
                )
            )  # fmt: skip
        return sequence(entries, ",\n    ")

    def _arrivals_of_flow(self, node: int) -> str:
        pairs = []
        for tag, plan in enumerate(self.plans):
            of = plan.tables.arrival_flow[plan.tables.arrival_node == node]
            lines = arrivals_of(plan.tables, node, self._flow(tag))
            for chunk in range(plan.tables.chunks):
                pairs.append((self._flow(tag)(chunk), members(lines[at] for at in np.flatnonzero(of == chunk).tolist())))
        return f"({function(pairs)})"

    def _routes(self) -> tuple[dict[tuple[int, int, int], Sequence[tuple[int, int]]], dict[tuple[int, int, int], Sequence[int]]]:
        """The links of every connection, and for each of them the ticks from entering it until a message that is as short as the
        shortest has arrived. Routes of all collectives are numbered on."""
        paths: dict[tuple[int, int, int], Sequence[tuple[int, int]]] = {}
        travel: dict[tuple[int, int, int], Sequence[int]] = {}
        for first, plan in zip(self.first_route, self.plans, strict=False):
            for (src, dst, route), links in plan.paths.items():
                connection = (src, dst, route if route == DIRECT else route + first)
                paths[connection] = links
                travel[connection] = [cycles - plan.timing.ser + self.ser for cycles in plan.travel[src, dst, route]]
        return paths, travel

    def _values(self) -> dict[str, object]:
        """The other constants."""
        return {
            "Nodes": members(self.joint.topology.endpoints.tolist()),
            "Tags": members(range(len(self.plans))),
            "Profile": string(Profile.BUFFERS if self.is_counted else Profile.TREES),
            "Buffers": members(range(self.buffers)),
            "Period": 1 + max((step for rows in self._rows().values() for step, _, _ in rows), default=0),
            "SerTicks": self.ser,
            "MaxReduceTicks": max(plan.timing.red for plan in self.plans),
            "MinReduceTicks": min(plan.timing.red for plan in self.plans),
            "Run": string("slotted"),
            "UnitStart": self.joint.machine.reduce_start_cycles,
            **dict.fromkeys(("InFlight", "Repeats", "Delay", "SlotTicks"), 1),
            **dict.fromkeys(("MaxSkewTicks", "MaxDriftTicks", "BufferTicks", "StepTicks", "MaxStepsApart"), 0),
        }

    def _sums(self, of_node: Mapping[int, Sequence[tuple[int, int, int]]]) -> Iterator[tuple[str, int]]:
        """The cycles from the arrival of each message that is added until it is, by node, number of its row and destination."""
        place = {(tag, row): at for rows in of_node.values() for at, (_, tag, row) in enumerate(rows, 1)}
        for tag, plan in enumerate(self.plans):
            node = plan.tables.node
            own = np.arange(len(node)) - np.searchsorted(node, node) + 1
            numbers = dict(zip(zip(node.tolist(), own.tolist(), strict=True), range(len(node)), strict=True))
            sent = plan.tables.transfers()
            for row, dst in zip(sent["row"].tolist(), sent["dst"].tolist(), strict=True):
                key = (int(node[row]), int(own[row]), dst)
                assert numbers[key[:2]] == row
                yield sequence((key[0], place[tag, row], dst)), plan.sums.get(key, plan.timing.red)

    def _definitions(self) -> Iterator[str]:
        """The definitions that replace others."""
        yield 'AfterOwnSum(m) == ArrivesAt(m) + IF m.op = "REDUCE" THEN GivenSums[<<m.src, m.row, m.dst>>] ELSE 0'
        yield (
            "OwnUnderWay(n, r, peer) ==\n  TravelTicks[<<n, peer, Rows[n][r].route>>][1] + Length[RowTag[n][r]] - SerTicks"
            ' + IF Rows[n][r].op = "REDUCE" THEN GivenSums[<<n, r, peer>>] ELSE 0'
        )


def _awaits(tables: Tables, row: int, flow: str, children: Sequence[int]) -> tuple[Sequence[str], Sequence[int]]:
    """The arrivals that a row waits for, and the nodes that it sends to."""
    if tables.is_counted:
        wait = int(tables.wait[row])
        return [sequence((flow, tables.src_buffer[row], wait))] if wait else [], children
    parent = int(tables.parent[row])
    if tables.op[row] == RowOp.REDUCE:
        return [sequence((string("REDUCE"), flow, peer)) for peer in children], [parent]
    if parent != NIL:
        return [sequence((string("GATHER"), flow, parent))], children
    mine = (tables.arrival_node == tables.node[row]) & (tables.arrival_flow == tables.flow[row])
    peers = tables.arrival_peer[mine & (tables.arrival_op == RowOp.REDUCE)].tolist()
    return [sequence((string("REDUCE"), flow, peer)) for peer in peers], children


def _plan(name: str, tables: Tables) -> CheckedTables:
    """The plan of the tables of one collective; errors name it."""
    if tables.repeats != 1 or tables.waits is not None:
        raise UnsupportedError(f"{name}: model checks: not supported for iterations and planned waits in a joint schedule")
    try:
        return plan_of(tables)
    except UnsupportedError as refused:
        raise UnsupportedError(f"{name}: {refused}") from None


def _in_one_profile(tables: Sequence[Tables]) -> Sequence[Tables]:
    """The tables of each collective: all name what they wait for, or all wait for numbers of arrivals, since a table has one
    profile."""
    if not any(one.is_counted for one in tables):
        return tables
    return [
        one if one.is_counted else lower_counted(one.schedule, {name: getattr(one, name) for name in _HEADER}) for one in tables
    ]
