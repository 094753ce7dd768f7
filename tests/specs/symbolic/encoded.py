"""The symbolic interface on a table: the states that its formulas reach, to be compared with those of the TLA+ module.

A world whose sorts are the nodes, rows, kinds of messages and links of a table, and whose functions look the table up: each guard
and each action of `extras/tla/check/symbolic/interface.py` then simplifies to a value.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import z3

from certree.extras.tla.check.symbolic.interface import Machine, State
from certree.extras.tla.check.symbolic.world import World
from certree.extras.tla.check.table_constants import CheckedTables
from certree.models.network.routing import DIRECT
from certree.models.tables.table_columns import NIL, RowOp

Clock = tuple[int, int]  # when a node's clock starts, and by how much its slots are longer


class Reached(NamedTuple):
    """A state: the tick, the iterations of each row and kind that have fired and counted, and (kind, iteration, tick) of each
    message in flight with the tick at which it was sent."""

    now: int
    fired: tuple[int, ...]
    count: tuple[int, ...]
    sent: frozenset[tuple[int, int, int]]


class Kind(NamedTuple):
    """A kind of messages: those that a row sends to a node."""

    row: int
    reduces: bool
    flow: int
    src: int
    dst: int


class TableWorld(World):
    """The sorts and functions of a table that runs by the given clocks, of slots and reductions as long as given."""

    def __init__(self, plan: CheckedTables, clocks: dict[int, Clock], slot: int, reduction: tuple[int, int]) -> None:
        tables, moves = plan.tables, plan.tables.transfers()
        assert (moves["route"] == DIRECT).all()
        self.nodes, self.rows, self.repeats = tables.topology.endpoints.tolist(), len(tables.node), plan.repeats
        names = ("row", "op", "chunk", "src", "dst")
        self.kinds = [Kind(r, bool(r_op == 1), f, s, d) for r, r_op, f, s, d in _rows(moves, tables, names)]
        links = sorted({(kind.src, kind.dst) for kind in self.kinds})
        self.is_finite, self.context = True, z3.Context()
        sizes = {"Node": len(self.nodes), "Row": self.rows, "Kind": len(self.kinds), "Link": len(links)}
        self.sorts = {"Int": z3.IntSort(self.context), "Bool": z3.BoolSort(self.context)}
        self.values = {"Int": [z3.IntVal(k, self.context) for k in range(self.repeats)]}
        for name, size in sizes.items():
            self.sorts[name], self.values[name] = z3.EnumSort(name, [f"{name}{k}" for k in range(size)], self.context)
        self.members = {member.get_id(): number for name in sizes for number, member in enumerate(self.values[name])}
        self.node = tables.node.tolist()
        where = {node: index for index, node in enumerate(self.nodes)}
        needs = [[_waits(tables, r, kind) for kind in self.kinds] for r in range(self.rows)]
        step = tables.step.tolist()

        def opening(r: int, i: int) -> int:
            start, longer = clocks[self.node[r]]
            return start + (step[r] + i * plan.period) * (slot + longer)

        self.first_row, self.first_kind = [0] * len(self.nodes), [0] * len(self.nodes)  # of the state at hand
        self.looks_up: dict[str, Callable[..., int | bool]] = {
            "node": lambda r: where[self.node[r]],
            "row": lambda k: self.kinds[k].row,
            "link": lambda k: links.index((self.kinds[k].src, self.kinds[k].dst)),
            "target": lambda k: where[self.kinds[k].dst],
            "reduces": lambda k: self.kinds[k].reduces,
            "waits": lambda r, k: needs[r][k],
            "place": lambda r, i: (step[r] + i * plan.period) * self.rows + r,
            "opening": opening,
            "travel": lambda k: plan.travel[self.kinds[k].src, self.kinds[k].dst, DIRECT][0],
            "first_row": lambda n: self.first_row[n],
            "first_kind": lambda n: self.first_kind[n],
        }
        self.given = {"repeats": self.repeats, "ser": plan.timing.ser, "min_red": reduction[0], "max_red": reduction[1]}

    def function(self, name: str, sorts: str) -> Any:
        """The function of the table, of terms that simplify to members of the sorts."""
        return self.looking_up(sorts, self.looks_up.get(name, lambda *_: 0))

    def constant(self, name: str, sort: str) -> Any:
        """The number of the table."""
        return z3.IntVal(self.given.get(name, 0), self.context)

    def looking_up(self, sorts: str, look_up: Callable[..., int | bool]) -> Any:
        """A function of numbers as one of terms; the last of the sorts is that of its value."""
        sort = sorts.rsplit(maxsplit=1)[-1]

        def of_terms(*terms: Any) -> Any:
            value = look_up(*map(self.number, terms))
            return self.values[sort][value] if sort in ("Node", "Row", "Kind", "Link") else self.term(value)

        return of_terms

    def term(self, value: int | bool) -> Any:
        """A number or a truth value as a term."""
        return z3.BoolVal(value, self.context) if isinstance(value, bool) else z3.IntVal(value, self.context)

    def number(self, term: Any) -> int:
        """The number, or the number of the member, that a term simplifies to."""
        if (found := self.members.get(term.get_id())) is not None:
            return found
        value = term if z3.is_int_value(term) else z3.simplify(term)
        return int(value.as_long()) if z3.is_int_value(value) else self.members[value.get_id()]

    def truth(self, formula: Any) -> bool:
        """Whether a formula holds, which must simplify to a truth value."""
        value = z3.simplify(formula)
        assert z3.is_true(value) or z3.is_false(value), value
        return z3.is_true(value)


def _rows(moves: Any, tables: Any, names: Sequence[str]) -> Iterator[tuple[int, int, int, int, int]]:
    reduces = (tables.op[moves["row"]] == RowOp.REDUCE).tolist()
    for (row, _, flow, src, dst), is_sum in zip(zip(*(moves[name].tolist() for name in names), strict=True), reduces, strict=True):
        yield row, int(is_sum), flow, src, dst


def _waits(tables: Any, row: int, kind: Kind) -> bool:
    """Whether a row waits for a kind of messages, as rows of tables say it."""
    if kind.dst != tables.node[row] or kind.flow != tables.flow[row]:
        return False
    if tables.op[row] == RowOp.REDUCE:
        return kind.reduces and kind.src in tables.children[row].tolist()
    if tables.parent[row] != NIL:
        return not kind.reduces and kind.src == int(tables.parent[row])
    return kind.reduces


class Explorer:
    """The states that a machine reaches, with a part left out or not; `most`: it stops when it has that many."""

    def __init__(self, world: TableWorld, without: str, most: int) -> None:
        self.world, self.machine, self.most = world, Machine(world, without), most

    def states(self) -> set[Reached]:
        """All states from the start on."""
        first = Reached(0, (0,) * self.world.rows, (0,) * len(self.world.kinds), frozenset())
        found, edge = {first}, [first]
        while edge and len(found) < self.most:
            for after in self.following(edge.pop()):
                if after not in found:
                    found.add(after)
                    edge.append(after)
        return found

    def following(self, at: Reached) -> Iterator[Reached]:
        """The states after this one."""
        world, machine, state = self.world, self.machine, self.state(at)
        for row in world.values["Row"]:
            if world.truth(machine.can_fire(state, row)):
                yield self.reached(machine.fire(state, row))
        for kind in world.values["Kind"]:
            if world.truth(machine.can_count(state, kind)):
                yield self.reached(machine.counted(state, kind))
        for later in range(at.now + 1, self.last_event(at) + 1):
            if not world.truth(machine.may_tick(state, world.term(later))):
                break
            yield self.reached(machine.at(state, world.term(later)))

    def holds(self, at: Reached) -> bool:
        """Whether the axiom of finiteness and the invariant hold in a state."""
        state = self.state(at)
        return self.world.truth(self.machine.finiteness(state)) and self.world.truth(self.machine.invariant(state))

    def last_event(self, at: Reached) -> int:
        """The last tick at which something happens by itself: time need not go on behind it."""
        opening, machine, state = self.world.looks_up["opening"], self.machine, self.state(at)
        ticks = [at.now]
        ticks += [opening(row, fired) for row, fired in enumerate(at.fired) if fired < self.world.repeats]
        kinds = self.world.values["Kind"]
        ticks += [self.world.number(machine.latest(state, kinds[kind], self.world.term(i))) for kind, i, _ in at.sent]
        return int(max(ticks))

    def state(self, at: Reached) -> State:
        """The state as the machine has it; the first row of each node and the first sum to it are chosen as its axiom says. What
        has counted was sent when it was due: no guard reads it."""
        world, place, opening = self.world, self.world.looks_up["place"], self.world.looks_up["opening"]
        sent = {(kind, i): tick for kind, i, tick in at.sent}
        for number, node in enumerate(world.nodes):
            left = [row for row in range(world.rows) if world.node[row] == node and at.fired[row] < world.repeats]
            world.first_row[number] = min(left, key=lambda row: place(row, at.fired[row]), default=0)
            sums = [(tick + world.looks_up["travel"](kind), kind) for (kind, _), tick in sent.items() if self.is_sum(kind, node)]
            world.first_kind[number] = min(sums, default=(0, 0))[1]
        return State(
            world.term(at.now),
            world.looking_up("Row Int", lambda row: at.fired[row]),
            world.looking_up("Kind Int", lambda kind: at.count[kind]),
            world.looking_up("Kind Int Int", lambda kind, i: sent.get((kind, i), opening(world.kinds[kind].row, i))),
        )

    def is_sum(self, kind: int, node: int) -> bool:
        """Whether the kind is of sums for the node."""
        return self.world.kinds[kind].reduces and self.world.kinds[kind].dst == node

    def reached(self, state: State) -> Reached:
        """The state in numbers."""
        world = self.world
        fired = tuple(world.number(state.fired(row)) for row in world.values["Row"])
        count = tuple(world.number(state.count(kind)) for kind in world.values["Kind"])
        flying = [(kind, i) for kind, told in enumerate(world.kinds) for i in range(max(0, count[kind]), fired[told.row])]
        ticks = frozenset((kind, i, world.number(state.sent(world.values["Kind"][kind], world.term(i)))) for kind, i in flying)
        return Reached(world.number(state.now), fired, count, ticks)


def all_clocks(nodes: Sequence[int], skew: int, drift: int) -> list[dict[int, Clock]]:
    """The clocks of all nodes that start at most `skew` apart and drift by at most `drift`."""
    starts = [start for start in product(range(skew + 1), repeat=len(nodes)) if 0 in start]
    drifts = list(product(range(-drift, drift + 1), repeat=len(nodes)))
    return [dict(zip(nodes, zip(start, by, strict=True), strict=True)) for start in starts for by in drifts]
