"""The paced NI with a symbolic table, at any timing: nodes, rows and kinds of messages are sorts of any size.

The machine is that of `specs/NIPaced.tla` where rows name the messages that they wait for (tables of `trees`): a row fires once
those before it have and all that it waits for has counted, a message counts at any time. Rows that wait for a number of arrivals
wait here for those that are first by slot; that the number means these is not proved here, it follows from rules A11 and A12 of
`docs/reference/tables.md` (proof in `verify/order/races.py`). About the table the rules that the checker verifies are assumed:
waits go from lower to higher slots, and the table is right at any timing (A12); and of `apart` what `paced/chains.py` computes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import z3

from certree.extras.tla.check.symbolic.world import MEMBERS, Formula, Term, World


@dataclass(frozen=True)
class PacedState:
    """The state: the fired iterations of each row, and the counted ones of each kind of message."""

    fired: Callable[[Term], Term]
    count: Callable[[Term], Term]


class PacedMachine:
    """A symbolic table and the paced NIs that execute it; `without` names the part that a mutant leaves out.

    An entry is a row and an iteration. `leads(r, j, q, i)`: a chain of waits leads from entry (r, j) to (q, i).
    `before(r, j, k, i)`: entry (r, j) reads the cell into which message i of kind k goes, and must read it before. `joined`: nodes
    whose counters are compared.
    """

    def __init__(self, world: World, without: str = "") -> None:
        self.world, self.without = world, without
        function = world.function
        self.node, self.row_of = function("node", "Row Node"), function("row", "Kind Row")
        self.waits = function("waits", "Row Kind Bool")
        self.place, self.slot = function("place", "Row Int Int"), function("slot", "Row Int Int")
        self.first_row, self.least_row = function("first_row", "Node Row"), world.constant("least_row", "Row")
        self.leads, self.before = function("leads", "Row Int Row Int Bool"), function("before", "Row Int Kind Int Bool")
        # the last link of a chain: the kind that its end waits for, or the entry before it at its node
        self.by_kind = function("by_kind", "Row Int Row Int Kind")
        self.by_row, self.by_turn = function("by_row", "Row Int Row Int Row"), function("by_turn", "Row Int Row Int Int")
        self.joined, self.shown = function("joined", "Node Node Bool"), function("shown", "Node Int")
        self.apart = world.constant("apart", "Int")
        # of an entry and a joined node: the entry of that node which is behind it, and the entry of its own node before it
        self.behind_row, self.behind_turn = function("behind_row", "Row Int Node Row"), function("behind_turn", "Row Int Node Int")
        self.passed_row, self.passed_turn = function("passed_row", "Row Int Node Row"), function("passed_turn", "Row Int Node Int")
        self.repeats = world.constant("repeats", "Int")
        self.state = PacedState(function("fired", "Row Int"), function("count", "Kind Int"))

    def unless(self, part: str, formula: Formula) -> Formula:
        """The formula, or truth where the mutant leaves this part out."""
        return self.world.true if part == self.without else formula

    def within(self, i: Term) -> Formula:
        """Whether the iteration exists."""
        return z3.And(i >= 0, i < self.repeats)

    # -- the rules of a table --------------------------------------------------------------------------------------------------

    def rules(self, *names: str) -> Formula:
        """The statements on all rows, and the rules with these names: those that an obligation needs."""
        everyone, ruled = self.world.all, self._ruled()
        return z3.And(
            everyone("Row Int", lambda r, i: self.slot(r, i) >= 0),
            everyone("Row Int Int", lambda r, i, j: z3.Implies(i < j, self.place(r, i) < self.place(r, j))),
            everyone("Row Int Int", lambda r, i, j: z3.Implies(i < j, self.slot(r, i) < self.slot(r, j))),
            *(self.unless(f"rule {name}", ruled[name]) for name in names),
            self.repeats >= 1,
            self.apart >= 0,
            self.repeats <= MEMBERS if self.world.is_finite else self.world.true,
        )

    def _ruled(self) -> dict[str, Formula]:
        """The rules of a table by name."""
        everyone, slot = self.world.all, self.slot
        return {
            "RowsInOrder": everyone(
                "Row Int Row Int",
                lambda r, i, q, j: z3.Implies(
                    z3.And(self.node(r) == self.node(q), self.place(r, i) <= self.place(q, j)), slot(r, i) <= slot(q, j)
                ),
            ),
            "Causality": everyone(
                "Row Kind Int",
                lambda r, k, i: z3.Implies(z3.And(self.waits(r, k), self.within(i)), slot(self.row_of(k), i) < slot(r, i)),
            ),
            "Chains": everyone("Row Int Row Int", self._chained),
            "AtAnyTiming": everyone(
                "Row Int Kind Int", lambda r, j, k, i: z3.Implies(self.before(r, j, k, i), self.leads(r, j, self.row_of(k), i))
            ),
            "Apart": everyone("Row Int Node", self.kept_together),
        }

    def _chained(self, r: Term, j: Term, q: Term, i: Term) -> Formula:
        """A chain ends with a row that waits, or with one that comes behind another one at its node."""
        kind, row, turn = self.by_kind(r, j, q, i), self.by_row(r, j, q, i), self.by_turn(r, j, q, i)
        sender = self.row_of(kind)
        waits = z3.And(self.waits(q, kind), z3.Or(z3.And(sender == r, j == i), self.leads(r, j, sender, i)))
        follows = z3.And(
            self.node(row) == self.node(q),
            self.place(row, turn) < self.place(q, i),
            self.within(turn),
            z3.Or(z3.And(row == r, turn == j), self.leads(r, j, row, turn)),
        )
        return z3.Implies(self.leads(r, j, q, i), z3.And(self.within(j), z3.Or(waits, follows)))

    def kept_together(self, r: Term, i: Term, n: Term) -> Formula:
        """Behind an entry in a slot above `apart` there is one of each joined node that is at most so far below it, or all of that
        node's are."""
        row, turn = self.behind_row(r, i, n), self.behind_turn(r, i, n)
        passed, at = self.passed_row(r, i, n), self.passed_turn(r, i, n)
        is_before = z3.And(self.node(passed) == self.node(r), self.place(passed, at) < self.place(r, i), self.within(at))
        done = self.world.all(
            "Row Int", lambda q, t: z3.Implies(z3.And(self.node(q) == n, self.within(t)), self.leads(q, t, passed, at))
        )
        found = z3.And(
            self.node(row) == n,
            self.within(turn),
            self.slot(r, i) - self.slot(row, turn) <= self.apart,
            self.leads(row, turn, passed, at),
        )
        return z3.Implies(
            z3.And(self.joined(self.node(r), n), self.within(i)),
            z3.Or(self.slot(r, i) <= self.apart, z3.And(is_before, z3.Or(found, done))),
        )

    def finiteness(self, state: PacedState) -> Formula:
        """The axiom of finiteness: of a node's unfired entries one comes first, and of all one has the least slot."""
        first, least = self.first_row, self.least_row

        def left(r: Term) -> Formula:
            return state.fired(r) < self.repeats

        def is_first(r: Term) -> Formula:
            one = first(self.node(r))
            at = self.place(one, state.fired(one))
            return z3.And(left(one), self.node(one) == self.node(r), at <= self.place(r, state.fired(r)))

        def is_least(r: Term) -> Formula:
            return z3.And(left(least), self.slot(least, state.fired(least)) <= self.slot(r, state.fired(r)))

        return self.world.all("Row", lambda r: z3.Implies(left(r), z3.And(is_first(r), is_least(r))))

    # -- guards and actions ----------------------------------------------------------------------------------------------------

    def is_flying(self, state: PacedState, k: Term, i: Term) -> Formula:
        """Iteration i of kind k has been fired and has not counted."""
        return z3.And(state.count(k) <= i, i < state.fired(self.row_of(k)), i >= 0)

    def can_fire(self, state: PacedState, r: Term) -> Formula:
        """The row's next iteration is the first of its node, and has everything that it waits for."""
        i = state.fired(r)
        needed = z3.IntVal(1, self.world.context) if self.without == "guard Counter" else i + 1  # a bit instead of a counter
        return z3.And(
            i < self.repeats,
            self.unless("guard InTurn", self.first_row(self.node(r)) == r),
            self.unless(
                "guard Dependencies", self.world.all("Kind", lambda k: z3.Implies(self.waits(r, k), state.count(k) >= needed))
            ),
        )

    def can_count(self, state: PacedState, k: Term) -> Formula:
        """The kind's oldest message is in flight."""
        return self.unless("guard IsSent", self.is_flying(state, k, state.count(k)))

    def fire(self, state: PacedState, r: Term) -> PacedState:
        """Row r fires once; mutants do not note it, or forget what has counted."""
        by = 0 if self.without == "row stands still" else 1
        back = 1 if self.without == "counter is taken back" else 0
        return replace(
            state, fired=lambda q: z3.If(q == r, state.fired(q) + by, state.fired(q)), count=lambda k: state.count(k) - back
        )

    def counted(self, state: PacedState, k: Term) -> PacedState:
        """The oldest message of kind k counts; mutants count it twice or not at all."""
        by = {"counter off by one": 2, "counter stands still": 0}.get(self.without, 1)
        return replace(state, count=lambda c: z3.If(c == k, state.count(c) + by, state.count(c)))

    # -- the invariant ---------------------------------------------------------------------------------------------------------

    def conjuncts(self, state: PacedState) -> dict[str, Formula]:
        """The conjuncts of the invariant; `CountedOrFlying` and `NothingMissing` are those of `PacedInvariant` in NIPaced.tla."""
        everyone, fired = self.world.all, state.fired

        def has_fired(r: Term, i: Term) -> Formula:
            return z3.And(i >= 0, i < fired(r))

        return {
            "CountedOrFlying": z3.And(
                everyone("Kind", lambda k: z3.And(state.count(k) >= 0, state.count(k) <= fired(self.row_of(k)))),
                everyone("Row", lambda r: z3.And(fired(r) >= 0, fired(r) <= self.repeats)),
            ),
            "NothingMissing": everyone(
                "Row Kind Int",
                lambda r, k, i: z3.Implies(z3.And(self.waits(r, k), has_fired(r, i)), state.count(k) > i),
            ),
            "Led": everyone(
                "Row Int Row Int",
                lambda r, j, q, i: z3.Implies(z3.And(self.leads(r, j, q, i), has_fired(q, i)), j < fired(r)),
            ),
        }

    def invariant(self, state: PacedState) -> Formula:
        """All conjuncts, except one that a mutant leaves out."""
        return z3.And([f for name, f in self.conjuncts(state).items() if f"conjunct {name}" != self.without])
