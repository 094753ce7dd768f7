"""The slotted NI with a symbolic table: nodes, rows, kinds of messages (op, flow, peer) and links are sorts of any size.

About the table only the rules that the checker verifies are assumed. The same formulas can be written out over a few members of
each sort, for the counterexamples of mutants (`invariant`). The machine is `specs/NILockstep.tla`, and the conjuncts of the
invariant have the names of their counterparts in its `SlottedInvariant`, which TLC checks on small tables.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import z3

from certree.extras.tla.check.symbolic.world import MEMBERS, Formula, Term, World


@dataclass(frozen=True)
class State:
    """The state: the tick; the fired iterations of each row and the counted ones of each kind; when each message was sent."""

    now: Term
    fired: Callable[[Term], Term]
    count: Callable[[Term], Term]
    sent: Callable[[Term, Term], Term]


class Machine:
    """A symbolic table and the NIs that execute it; `without` names the part that a mutant leaves out."""

    def __init__(self, world: World, without: str = "") -> None:
        self.world, self.without = world, without
        function = world.function
        self.node, self.row_of, self.link = function("node", "Row Node"), function("row", "Kind Row"), function("link", "Kind Link")
        self.target, self.reduces = function("target", "Kind Node"), function("reduces", "Kind Bool")
        self.waits, self.place = function("waits", "Row Kind Bool"), function("place", "Row Int Int")
        self.opening, self.travel = function("opening", "Row Int Int"), function("travel", "Kind Int")
        self.first_row, self.first_kind = function("first_row", "Node Row"), function("first_kind", "Node Kind")
        self.repeats, self.ser = world.constant("repeats", "Int"), world.constant("ser", "Int")
        self.min_red, self.max_red = world.constant("min_red", "Int"), world.constant("max_red", "Int")
        fired, count = function("fired", "Row Int"), function("count", "Kind Int")
        self.state = State(world.constant("now", "Int"), fired, count, function("sent", "Kind Int Int"))

    def unless(self, part: str, formula: Formula) -> Formula:
        """The formula, or truth where the mutant leaves this part out."""
        return self.world.true if part == self.without else formula

    # -- the rules of a table --------------------------------------------------------------------------------------------------

    def opens(self, kind: Term, i: Term) -> Term:
        """The tick at which the slot opens in which iteration i of a kind of message is sent."""
        return self.opening(self.row_of(kind), i)

    def rules(self) -> Formula:
        """The rules that the checker and the slot formula give (`arithmetic` derives the first two), and facts of the hardware."""
        everyone, within = self.world.all, self.within

        def apart(a: Term, i: Term, b: Term, j: Term) -> Formula:
            first, second = self.opens(a, i), self.opens(b, j)
            return z3.Or(first + self.ser <= second, second + self.ser <= first)

        return z3.And(
            # the awaited messages have been reduced before the slot opens, for any offset of the two clocks
            self.unless(
                "rule InTime",
                everyone(
                    "Row Kind Int",
                    lambda r, k, i: z3.Implies(
                        z3.And(self.waits(r, k), within(i)),
                        self.opens(k, i) + self.travel(k) + z3.If(self.reduces(k), self.max_red, 0) <= self.opening(r, i),
                    ),
                ),
            ),
            # messages on one link are a serialization apart
            self.unless(
                "rule ContentionFree",
                everyone(
                    "Kind Int Kind Int",
                    lambda a, i, b, j: z3.Implies(
                        z3.And(self.link(a) == self.link(b), within(i), within(j), z3.Or(a != b, i != j)), apart(a, i, b, j)
                    ),
                ),
            ),
            # a row's iterations and a node's rows are executed in the order of their slots
            everyone("Row Int", lambda r, i: self.opening(r, i) >= 0),
            everyone("Row Int Int", lambda r, i, j: z3.Implies(i < j, self.opening(r, i) < self.opening(r, j))),
            self.unless(
                "rule RowsInOrder",
                everyone(
                    "Row Int Row Int",
                    lambda r, i, q, j: z3.Implies(
                        z3.And(self.node(r) == self.node(q), self.place(r, i) <= self.place(q, j)),
                        self.opening(r, i) <= self.opening(q, j),
                    ),
                ),
            ),
            everyone("Row Int Int", lambda r, i, j: z3.Implies(i < j, self.place(r, i) < self.place(r, j))),
        )

    def sizes(self) -> Formula:
        """Ranges of the times of messages and of the number of iterations."""
        return z3.And(
            self.ser >= 1,
            self.world.all("Kind", lambda k: self.travel(k) >= self.ser),
            self.min_red >= 0,
            self.min_red <= self.max_red,
            self.repeats >= 1,
            self.repeats <= MEMBERS if self.world.is_finite else self.world.true,
        )

    def within(self, i: Term) -> Formula:
        """Whether the iteration exists."""
        return z3.And(i >= 0, i < self.repeats)

    def finiteness(self, state: State) -> Formula:
        """The axiom of finiteness: one of a node's unfired rows comes first; one of the sums in flight to it arrives first."""
        first, oldest = self.first_row, self.first_kind

        def left(r: Term) -> Formula:
            return state.fired(r) < self.repeats

        def sums(k: Term, n: Term) -> Formula:
            return z3.And(self.reduces(k), self.target(k) == n)

        return z3.And(
            self.world.all(
                "Row",
                lambda r: z3.Implies(
                    left(r),
                    z3.And(
                        left(first(self.node(r))),
                        self.node(first(self.node(r))) == self.node(r),
                        self.place(first(self.node(r)), state.fired(first(self.node(r)))) <= self.place(r, state.fired(r)),
                    ),
                ),
            ),
            self.world.all(
                "Kind Int Node",
                lambda k, i, n: z3.Implies(
                    z3.And(self.is_flying(state, k, i), sums(k, n)),
                    z3.And(
                        sums(oldest(n), n),
                        self.is_flying(state, oldest(n), state.count(oldest(n))),
                        self.arrives(state, oldest(n), state.count(oldest(n))) <= self.arrives(state, k, i),
                    ),
                ),
            ),
        )

    # -- guards and actions ----------------------------------------------------------------------------------------------------

    def is_flying(self, state: State, k: Term, i: Term) -> Formula:
        """Iteration i of kind k has been fired and has not counted."""
        return z3.And(state.count(k) <= i, i < state.fired(self.row_of(k)), i >= 0)

    def arrives(self, state: State, k: Term, i: Term) -> Term:
        """The tick at which the whole message has arrived."""
        return state.sent(k, i) + self.travel(k)

    def earliest(self, state: State, k: Term, i: Term) -> Term:
        """The first tick at which the message can count."""
        return self.arrives(state, k, i) + z3.If(self.reduces(k), self.min_red, 0)

    def latest(self, state: State, k: Term, i: Term) -> Term:
        """The last tick at which the message can count."""
        return self.arrives(state, k, i) + z3.If(self.reduces(k), self.max_red, 0)

    def can_fire(self, state: State, r: Term) -> Formula:
        """The row's next iteration is due, is the first of its node, and has everything that it waits for."""
        i = state.fired(r)
        needed = z3.IntVal(1, self.world.context) if self.without == "guard Counter" else i + 1  # a bit instead of a counter
        return z3.And(
            i < self.repeats,
            self.unless("guard SlotIsOpen", self.opening(r, i) <= state.now),
            self.first_row(self.node(r)) == r,
            self.unless(
                "guard Dependencies",
                self.world.all("Kind", lambda k: z3.Implies(self.waits(r, k), state.count(k) >= needed)),
            ),
        )

    def can_count(self, state: State, k: Term) -> Formula:
        """The kind's oldest message is in its window, and first in its reduction unit."""
        i = state.count(k)
        return z3.And(
            self.is_flying(state, k, i),
            self.earliest(state, k, i) <= state.now,
            state.now <= self.latest(state, k, i),
            z3.Or(z3.Not(self.reduces(k)), self.arrives(state, k, i) <= self._first_arrival(state, self.target(k))),
        )

    def _first_arrival(self, state: State, n: Term) -> Term:
        return self.arrives(state, self.first_kind(n), state.count(self.first_kind(n)))

    def fire(self, state: State, r: Term) -> State:
        """Row r fires once; mutants do not note it, or forget what has counted."""
        by = 0 if self.without == "row stands still" else 1
        back = 1 if self.without == "counter is taken back" else 0
        return replace(
            state,
            fired=lambda q: z3.If(q == r, state.fired(q) + by, state.fired(q)),
            count=lambda k: state.count(k) - back,
            sent=lambda k, i: z3.If(z3.And(self.row_of(k) == r, i == state.fired(r)), state.now, state.sent(k, i)),
        )

    def counted(self, state: State, k: Term) -> State:
        """The oldest message of kind k counts; mutants count it twice or not at all."""
        by = {"counter off by one": 2, "counter stands still": 0}.get(self.without, 1)
        return replace(state, count=lambda c: z3.If(c == k, state.count(c) + by, state.count(c)))

    def may_tick(self, state: State, later: Term) -> Formula:
        """Nothing can fire or has to count any more, and time advances no further than the next event."""
        first = self.first_row
        if self.without == "time never goes on":
            return z3.Not(self.world.true)
        return z3.And(
            later > state.now,
            self.unless("guard NothingFires", self.world.all("Row", lambda r: z3.Not(self.can_fire(state, r)))),
            self.unless(
                "guard NothingIsLeft",
                self.world.all(
                    "Kind Int", lambda k, i: z3.Implies(self.is_flying(state, k, i), state.now < self.latest(state, k, i))
                ),
            ),
            self.unless(
                "guard NextEvent",
                z3.And(
                    self.world.all(
                        "Kind Int",
                        lambda k, i: z3.Implies(
                            self.is_flying(state, k, i),
                            z3.Or(self.latest(state, k, i) <= state.now, later <= self.latest(state, k, i)),
                        ),
                    ),
                    self.world.all(
                        "Row",
                        lambda r: z3.Implies(
                            z3.And(r == first(self.node(r)), state.fired(r) < self.repeats),
                            z3.Or(
                                self.opening(r, state.fired(r)) <= state.now,
                                later <= self.opening(r, state.fired(r)),
                            ),
                        ),
                    ),
                ),
            ),
        )

    def at(self, state: State, later: Term) -> State:
        """The state at another tick; a mutant stays where it is."""
        return state if self.without == "clock stands still" else replace(state, now=later)

    def has_tick(self, state: State) -> Formula:
        """Time can advance: nothing can fire or has to count, and there is a next event."""
        first = self.first_row
        nothing_left = z3.And(
            self.world.all("Row", lambda r: z3.Not(self.can_fire(state, r))),
            self.world.all("Kind Int", lambda k, i: z3.Implies(self.is_flying(state, k, i), state.now < self.latest(state, k, i))),
        )
        no_event = z3.And(
            self.world.all("Kind Int", lambda k, i: z3.Implies(self.is_flying(state, k, i), self.latest(state, k, i) <= state.now)),
            self.world.all(
                "Row",
                lambda r: z3.Implies(
                    z3.And(r == first(self.node(r)), state.fired(r) < self.repeats),
                    self.opening(r, state.fired(r)) <= state.now,
                ),
            ),
        )
        return z3.And(nothing_left, z3.Not(no_event))

    # -- the invariant ---------------------------------------------------------------------------------------------------------

    def conjuncts(self, state: State) -> dict[str, Formula]:
        """The conjuncts of the invariant, by their names in NIProof.tla."""
        everyone, opens = self.world.all, self.opening

        def fired_row(k: Term) -> Term:
            return state.fired(self.row_of(k))

        return {
            "CountedOrFlying": z3.And(
                everyone("Kind", lambda k: z3.And(state.count(k) >= 0, state.count(k) <= fired_row(k))),
                everyone("Row", lambda r: z3.And(state.fired(r) >= 0, state.fired(r) <= self.repeats)),
            ),
            "FiredInTime": everyone(
                "Row Int", lambda r, i: z3.Implies(z3.And(state.fired(r) <= i, self.within(i)), state.now <= opens(r, i))
            ),
            "NotTooEarly": everyone(
                "Row Int", lambda r, i: z3.Implies(z3.And(i >= 0, i < state.fired(r)), opens(r, i) <= state.now)
            ),
            "SentWhenDue": everyone(
                "Kind Int", lambda k, i: z3.Implies(z3.And(i >= 0, i < fired_row(k)), state.sent(k, i) == self.opens(k, i))
            ),
            "NotOverdue": everyone(
                "Kind Int", lambda k, i: z3.Implies(self.is_flying(state, k, i), state.now <= self.latest(state, k, i))
            ),
            "NothingMissing": everyone(
                "Row Kind Int",
                lambda r, k, i: z3.Implies(z3.And(self.waits(r, k), i >= 0, i < state.fired(r)), state.count(k) > i),
            ),
        }

    def invariant(self, state: State) -> Formula:
        """All conjuncts, except one that a mutant leaves out."""
        return z3.And([f for name, f in self.conjuncts(state).items() if f"conjunct {name}" != self.without])
