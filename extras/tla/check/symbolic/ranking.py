"""Why runs of a slotted table end: every step brings the end nearer, and until it is reached there is a step.

The rank of a state is a pair, compared from left to right:

1. the rows' iterations that have not fired, and the kinds' iterations that have not counted, added up;
2. the events that lie ahead: slots of next rows that have not opened, first and last ticks at which messages in flight can count.

Both are numbers of a table with finitely many rows and kinds. Here sorts have any size, so sums are compared term by term: no term
grows, and the one that a step is about gets smaller, but not below zero. `Fire` and `Count` lower the first, `Tick` leaves it and
lowers the second, as it goes to an event that lay ahead. Together with "no deadlock" and with "Tick is possible", which says that
time goes on as `may_tick` has it where nothing else can happen, every run ends.
"""

import z3

from certree.extras.tla.check.symbolic.interface import Machine, State
from certree.extras.tla.check.symbolic.world import Formula, Term


def ends(machine: Machine) -> dict[str, Formula]:
    """The obligations, by name."""
    world, state = machine.world, machine.state
    row, kind = world.constant("row", "Row"), world.constant("kind", "Kind")
    i, later = world.constant("i", "Int"), world.constant("later", "Int")
    known = z3.And(machine.sizes(), machine.rules(), machine.finiteness(state), machine.invariant(state))
    fired, counted, ticked = machine.fire(state, row), machine.counted(state, kind), machine.at(state, later)
    goes_to = z3.Or(
        z3.And(_opens_later(machine, state, row), later == machine.opening(row, state.fired(row))),
        *(z3.And(lies_ahead, later == tick) for tick, lies_ahead in _ticks(machine, state, kind, i)),
    )
    passes_one = z3.And(
        z3.Implies(later == machine.opening(row, state.fired(row)), z3.Not(_opens_later(machine, ticked, row))),
        *(z3.Implies(later == tick, z3.Not(lies_ahead)) for tick, lies_ahead in _ticks(machine, ticked, kind, i)),
    )
    return {
        "Fire brings the end nearer": z3.Implies(
            z3.And(known, machine.can_fire(state, row)),
            z3.And(_no_farther(machine, state, fired), fired.fired(row) > state.fired(row), fired.fired(row) <= machine.repeats),
        ),
        "Count brings the end nearer": z3.Implies(
            z3.And(known, machine.can_count(state, kind)),
            z3.And(
                _no_farther(machine, state, counted),
                counted.count(kind) > state.count(kind),
                counted.count(kind) <= machine.repeats,
            ),
        ),
        "Tick brings an event nearer": z3.Implies(
            z3.And(known, machine.may_tick(state, later), goes_to),
            z3.And(_no_farther(machine, state, ticked), _no_event_more(machine, state, ticked), passes_one),
        ),
        "Tick is possible": z3.Implies(
            z3.And(known, machine.has_tick(state), _is_next(machine, state, later)), machine.may_tick(state, later)
        ),
    }


def _no_farther(machine: Machine, before: State, after: State) -> Formula:
    """The statement that firings and counts are not taken back."""
    return z3.And(
        machine.world.all("Row", lambda r: after.fired(r) >= before.fired(r)),
        machine.world.all("Kind", lambda k: after.count(k) >= before.count(k)),
    )


def _opens_later(machine: Machine, state: State, r: Term) -> Formula:
    """Row r is the next of its node, and its slot has not opened."""
    left = z3.And(r == machine.first_row(machine.node(r)), state.fired(r) < machine.repeats)
    return z3.And(left, machine.opening(r, state.fired(r)) > state.now)


def _ticks(machine: Machine, state: State, k: Term, i: Term) -> list[tuple[Term, Formula]]:
    """The first and the last tick at which a message can count, each with whether the message is in flight and the tick ahead."""
    flying = machine.is_flying(state, k, i)
    return [(tick, z3.And(flying, tick > state.now)) for tick in (machine.earliest(state, k, i), machine.latest(state, k, i))]


def _no_event_more(machine: Machine, before: State, after: State) -> Formula:
    """Every event that lies ahead afterwards lay ahead before."""

    def of_message(k: Term, i: Term) -> Formula:
        pairs = zip(_ticks(machine, before, k, i), _ticks(machine, after, k, i), strict=True)
        return z3.And([z3.Implies(later, earlier) for (_, earlier), (_, later) in pairs])

    return z3.And(
        machine.world.all("Row", lambda r: z3.Implies(_opens_later(machine, after, r), _opens_later(machine, before, r))),
        machine.world.all("Kind Int", of_message),
    )


def _is_next(machine: Machine, state: State, later: Term) -> Formula:
    """The tick is the first of the slots that open and of the last ticks of messages; of finitely many, one is the first."""
    return z3.And(
        machine.world.all(
            "Kind Int",
            lambda k, i: z3.Implies(
                z3.And(machine.is_flying(state, k, i), machine.latest(state, k, i) > state.now),
                z3.And(state.now < later, later <= machine.latest(state, k, i)),
            ),
        ),
        machine.world.all(
            "Row",
            lambda r: z3.Implies(
                _opens_later(machine, state, r), z3.And(state.now < later, later <= machine.opening(r, state.fired(r)))
            ),
        ),
    )
