"""The proof that paced tables are right at any timing and at any size: an inductive invariant, proved by z3.

`inductive`: every action keeps it. `safe`: a row has all its operands when it fires; a message goes on its way only when the rows
that must read its cell before it have fired; in the end each message has counted once; the counters of neighbours are never
further apart than the chains of waits allow. `live`: an action is possible until all is done, and each brings the end nearer. That
the operands of a row make the right sum then follows from the schedule, which the checker verifies; `paced_interface` says what is
supposed of rows that wait for numbers of arrivals. Mutants as in `invariant`.
"""

from collections.abc import Iterator

import z3

from certree.extras.tla.check.symbolic.paced_interface import PacedMachine, PacedState
from certree.extras.tla.check.symbolic.world import MEMBERS, Formula, World

# The part that a mutant leaves out, and the obligation that must then fail.
PACED_MUTANTS = (
    ("rule RowsInOrder", "no deadlock"),
    ("rule Causality", "no deadlock"),
    ("rule Chains", "Fire keeps Led"),
    ("rule AtAnyTiming", "no message comes too early"),
    ("rule Apart", "counters keep together"),
    ("guard InTurn", "Fire keeps Led"),
    ("guard Dependencies", "Fire keeps NothingMissing"),
    ("guard Counter", "Fire keeps NothingMissing"),
    ("guard IsSent", "Count keeps CountedOrFlying"),
    ("counter off by one", "Count keeps CountedOrFlying"),
    ("counter stands still", "Count brings the end nearer"),
    ("row stands still", "Fire brings the end nearer"),
    ("counter is taken back", "Fire keeps NothingMissing"),
    ("conjunct CountedOrFlying", "each message has counted"),
    ("conjunct NothingMissing", "rows have their operands"),
    ("conjunct Led", "no message comes too early"),
    ("conjunct Led", "counters keep together"),
)


def paced_questions() -> Iterator[tuple[str, str, Formula]]:
    """Name, expected answer and formula of each obligation and of each mutant."""
    for name, claim in paced_obligations(None, "").items():
        yield f"paced: {name}", "proved", claim
    yield "paced: not vacuous", "refuted", _vacuous(PacedMachine(World(MEMBERS + 1)))
    for without, name in PACED_MUTANTS:
        yield f"paced: {name}, without {without}", "refuted", paced_obligations(MEMBERS, without)[name]


def paced_obligations(members: int | None, without: str) -> dict[str, Formula]:
    """The formulas that must be valid, by name; `members` of each sort (None: any number), `without`: what a mutant leaves out."""
    machine = PacedMachine(World(members), without)
    return _inductive(machine) | _safe(machine) | _live(machine)


def _known(machine: PacedMachine, *rules: str) -> Formula:
    return z3.And(machine.rules(*rules), machine.finiteness(machine.state), machine.invariant(machine.state))


def _inductive(machine: PacedMachine) -> dict[str, Formula]:
    """The invariant holds at the start, and every action keeps it."""
    world, state = machine.world, machine.state
    row, kind = world.constant("row", "Row"), world.constant("kind", "Kind")
    start = z3.And(world.all("Row", lambda r: state.fired(r) == 0), world.all("Kind", lambda k: state.count(k) == 0))
    steps: dict[str, tuple[Formula, PacedState]] = {
        "Init": (z3.And(machine.rules(), start), state),
        "Fire": (z3.And(_known(machine, "Chains"), machine.can_fire(state, row)), machine.fire(state, row)),
        "Count": (z3.And(_known(machine), machine.can_count(state, kind)), machine.counted(state, kind)),
    }
    return {
        f"{action} keeps {name}": z3.Implies(given, conjunct)
        for action, (given, after) in steps.items()
        for name, conjunct in machine.conjuncts(after).items()
        if f"conjunct {name}" != machine.without
    }


def _safe(machine: PacedMachine) -> dict[str, Formula]:
    """Operands, cells, results and counters."""
    world, state = machine.world, machine.state
    row, kind, other = world.constant("row", "Row"), world.constant("kind", "Kind"), world.constant("other", "Node")
    i, j = world.constant("i", "Int"), world.constant("j", "Int")
    known = _known(machine)
    if world.is_finite:
        known = z3.And(known, i < MEMBERS, j < MEMBERS)
    timed = z3.And(known, machine.rules("AtAnyTiming"))
    # the rule of the next row alone: z3 would go on from the entries that it names to those that are behind them, without end
    apart = machine.unless("rule Apart", machine.kept_together(row, state.fired(row), other))
    kept = z3.And(known, apart)
    fired = z3.And(i >= 0, i < state.fired(row))
    sent = z3.And(i >= 0, i < state.fired(machine.row_of(kind)))
    over = z3.And(
        world.all("Row", lambda r: state.fired(r) == machine.repeats),
        world.all("Kind", lambda k: z3.Not(machine.is_flying(state, k, state.count(k)))),
    )
    # a counter shows at least the slot of each row that has fired
    shown = z3.And(
        machine.shown(other) >= 0,
        world.all(
            "Row Int",
            lambda r, t: z3.Implies(
                z3.And(machine.node(r) == other, t >= 0, t < state.fired(r)), machine.slot(r, t) <= machine.shown(other)
            ),
        ),
    )
    is_next = z3.And(state.fired(row) < machine.repeats, machine.first_row(machine.node(row)) == row)
    next_slot = machine.slot(row, state.fired(row))
    left = world.constant("left", "Row")
    has_left = z3.And(machine.node(left) == other, state.fired(left) >= 0, state.fired(left) < machine.repeats)
    near = z3.And(is_next, machine.joined(machine.node(row), other), shown, has_left)
    return {
        "rows have their operands": z3.Implies(z3.And(known, fired, machine.waits(row, kind)), state.count(kind) > i),
        "no message comes too early": z3.Implies(z3.And(timed, sent, machine.before(row, j, kind, i)), j < state.fired(row)),
        "each message has counted": z3.Implies(z3.And(known, over), state.count(kind) == machine.repeats),
        "counters keep together": z3.Implies(z3.And(kept, near), next_slot - machine.shown(other) <= machine.apart),
    }


def _live(machine: PacedMachine) -> dict[str, Formula]:
    """No deadlock, and no run for ever: each action adds one to numbers that the repeats bound."""
    world, state = machine.world, machine.state
    row, kind = world.constant("row", "Row"), world.constant("kind", "Kind")
    known, ordered = _known(machine), _known(machine, "RowsInOrder", "Causality")
    unfinished = z3.Or(state.fired(row) < machine.repeats, machine.is_flying(state, kind, state.count(kind)))
    nothing = z3.And(
        world.all("Row", lambda r: z3.Not(machine.can_fire(state, r))),
        world.all("Kind", lambda k: z3.Not(machine.can_count(state, k))),
    )
    fired, counted = machine.fire(state, row), machine.counted(state, kind)
    return {
        "no deadlock": z3.Implies(z3.And(ordered, unfinished), z3.Not(nothing)),
        "Fire brings the end nearer": z3.Implies(
            z3.And(known, machine.can_fire(state, row)),
            z3.And(
                fired.fired(row) == state.fired(row) + 1,
                fired.fired(row) <= machine.repeats,
                world.all("Kind", lambda k: fired.count(k) >= state.count(k)),
            ),
        ),
        "Count brings the end nearer": z3.Implies(
            z3.And(known, machine.can_count(state, kind)),
            z3.And(counted.count(kind) == state.count(kind) + 1, counted.count(kind) <= machine.repeats),
        ),
    }


def _vacuous(machine: PacedMachine) -> Formula:
    """The hypotheses contradict each other, or hold only where nothing is in flight or leads anywhere: must be false."""
    world, state = machine.world, machine.state
    row, kind, other = world.constant("row", "Row"), world.constant("kind", "Kind"), world.constant("other", "Kind")
    node, zero, every = (
        world.constant("node", "Node"),
        z3.IntVal(0, world.context),
        ("RowsInOrder", "Causality", "Chains", "AtAnyTiming", "Apart"),
    )
    return z3.Not(
        z3.And(
            _known(machine, *every), machine.can_fire(state, row), machine.waits(row, kind),
            machine.is_flying(state, kind, state.count(kind)), machine.before(row, zero, other, zero),
            machine.joined(machine.node(row), node), node != machine.node(row),
        )
    )  # fmt: skip
