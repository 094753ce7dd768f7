"""The proof that slotted tables are safe at any size: an inductive invariant, proved by z3 for any nodes, rows and iterations.

z3 gets the negation of each obligation: `unsat` proves it; any other answer, including `unknown`, does not. Mutants leave out a
rule, a guard or a conjunct, and must have a counterexample over a few members of each sort, with each quantifier written out;
otherwise that part would be superfluous.

Layers: `arithmetic` derives from the checker's rules and the slot formula when slots open; `inductive` shows that every
action keeps the invariant; `safe` and `live` show that a state of the invariant has no late row, no busy port and, with the axiom
of finiteness, an enabled action until all is done; `ranking` shows that each action brings the end nearer. The proof does not cover
sums: that messages which count in time carry the right data follows from the refinement of `Schedule`, which the checker verifies.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import z3

from certree.extras.tla.check.model_runs import SYMBOLIC, ModelResult
from certree.extras.tla.check.symbolic.interface import Machine
from certree.extras.tla.check.symbolic.paced_invariant import paced_questions
from certree.extras.tla.check.symbolic.ranking import ends
from certree.extras.tla.check.symbolic.world import MEMBERS, Formula, World

MILLISECONDS = 60_000  # a proof takes a small fraction of it; beyond it z3 answers `unknown`

# The part that a mutant leaves out, and the obligation that must then fail.
MUTANTS = (
    ("rule InTime", "Tick keeps FiredInTime"),
    ("rule ContentionFree", "no busy port"),
    ("rule RowsInOrder", "Tick keeps FiredInTime"),
    ("guard SlotIsOpen", "Fire keeps NotTooEarly"),
    ("guard Dependencies", "Fire keeps NothingMissing"),
    ("guard Counter", "Fire keeps NothingMissing"),
    ("guard NothingFires", "Tick keeps FiredInTime"),
    ("guard NothingIsLeft", "Tick keeps NotOverdue"),
    ("guard NextEvent", "Tick keeps FiredInTime"),
    ("counter off by one", "Count keeps CountedOrFlying"),
    ("conjunct CountedOrFlying", "Tick keeps FiredInTime"),
    ("conjunct FiredInTime", "no late row"),
    ("conjunct NotTooEarly", "no busy port"),
    ("conjunct SentWhenDue", "no busy port"),
    ("conjunct NotOverdue", "no deadlock"),
    ("rule SlotIsLongEnough", "slots: InTime"),
    ("rule SlotHoldsMessage", "slots: ContentionFree"),
    ("rule Causality", "slots: InTime"),
    ("rule OneMessageASlot", "slots: ContentionFree"),
    ("rule Drift", "slots: InTime"),
    ("rule RoundedUp", "slots: InTime"),
    ("rule RoundedUp", "slots: ContentionFree"),
    ("row stands still", "Fire brings the end nearer"),
    ("counter stands still", "Count brings the end nearer"),
    ("clock stands still", "Tick brings an event nearer"),
    ("time never goes on", "Tick is possible"),
    ("counter is taken back", "Fire brings the end nearer"),
)


def check_invariant(report: Callable[[ModelResult, int, int], None] | None = None, run: str = "slotted") -> list[ModelResult]:
    """Prove every obligation about slotted or paced tables, then refute every mutant; takes some seconds.

    `expected` and `result` are `proved` or `refuted`; `result` may also be `unknown`, which is a failure. `report` is called with
    each result, the number of results and the number of all questions.
    """
    results, questions = [], list(paced_questions() if run == "paced" else _questions())
    for name, expected, claim in questions:
        started = time.monotonic()
        result = _ask(claim)
        results.append(_result(name, expected, result, time.monotonic() - started))
        if report is not None:
            report(results[-1], len(results), len(questions))
    return results


def _questions() -> Iterator[tuple[str, str, Formula]]:
    """Name, expected answer and formula."""
    for name, claim in obligations(None, "").items():
        yield name, "proved", claim
    yield "not vacuous", "refuted", _vacuous(Machine(World(MEMBERS)))
    for without, name in MUTANTS:
        yield f"{name}, without {without}", "refuted", obligations(MEMBERS, without)[name]


def _result(name: str, expected: str, result: str, seconds: float) -> ModelResult:
    return ModelResult(
        name=name,
        expected=expected,
        result=result,
        distinct_states=None,
        total_states=0,
        seconds=seconds,
        mode=SYMBOLIC,
        trace="",
        message="" if result == expected else f"{result} where {expected} is expected",
        as_expected=result == expected,
    )


def _ask(claim: Formula) -> str:
    """A z3 solver that instantiates quantifiers but does not search for models of them, which a symbolic world does not have."""
    solver = z3.Solver(ctx=claim.ctx)
    solver.set("timeout", MILLISECONDS)
    solver.set("smt.mbqi", False)
    solver.add(z3.Not(claim))
    return {"unsat": "proved", "sat": "refuted"}.get(str(solver.check()), "unknown")


def obligations(members: int | None, without: str) -> dict[str, Formula]:
    """The formulas that must be valid, by name; `members` of each sort (None: any number), `without`: what a mutant leaves out."""
    machine = Machine(World(members), without)
    return _arithmetic(without) | _inductive(machine) | _safe(machine) | _live(machine) | ends(machine)


def _arithmetic(without: str) -> dict[str, Formula]:
    """The checker's rules about slots, and what the slot formula derives from them in ticks, also for clocks that drift.

    Slots of a clock that drifts last `lasting`, which differs from `ticks` by at most `drift`; both need not be whole. Slot k opens
    `opening` after the clock's start: k times that, rounded up. All other numbers are whole.
    """
    context = z3.Context()
    names = (
        "ticks delay need skew last ser period i j step_a step_b start_a start_b opening_a opening_b opening_c other turns "
        "rest_a rest_c"
    )
    ticks, delay, need, skew, last, ser, period, i, j, *numbers = z3.Ints(names, ctx=context)
    step_a, step_b, start_a, start_b, opening_a, opening_b, opening_c, other, turns, rest_a, rest_c = numbers
    drift, lasting_a, lasting_b = z3.Reals("drift lasting_a lasting_b", ctx=context)

    def unless(part: str, formula: Formula) -> Formula:
        return z3.BoolVal(True, context) if part == without else formula

    def rounded(opening: Any, exact: Any) -> Formula:
        return z3.And(opening >= exact, unless("rule RoundedUp", opening < exact + 1))

    a, b = step_a + i * period, step_b + i * period
    sane = z3.And(
        drift >= 0, drift < ticks, delay >= 1, need >= 1, skew >= 0, ser >= 1, period >= 1, i >= 0, j >= 0, step_a >= 0, step_b >= 0
    )
    clocks = [z3.And(start >= 0, start <= skew) for start in (start_a, start_b)]
    clocks += [
        unless("rule Drift", z3.And(lasting >= ticks - drift, lasting <= ticks + drift)) for lasting in (lasting_a, lasting_b)
    ]
    enough = unless("rule SlotIsLongEnough", delay * (ticks - drift) >= need + skew + 2 * drift * last)
    causal = unless("rule Causality", step_a + delay <= step_b)
    opened = z3.And(rounded(opening_a, a * lasting_a), rounded(opening_b, b * lasting_b))
    in_time = start_a + opening_a + need <= start_b + opening_b
    # products that z3 need not find by itself: both sides are linear in them
    hints = z3.And(
        z3.Implies(z3.And(a >= 0, lasting_a <= ticks + drift), a * lasting_a <= a * (ticks + drift)),
        z3.Implies(z3.And(b >= 0, lasting_b >= ticks - drift), b * lasting_b >= b * (ticks - drift)),
        z3.Implies(z3.And(a + delay <= b, ticks >= drift), (b - a - delay) * (ticks - drift) >= 0),
        z3.Implies(z3.And(a <= last, drift >= 0), (last - a) * drift >= 0),
    )
    # the same row in another iteration, or another row whose step is not the same modulo the period
    c = other + j * period
    fits = unless("rule SlotHoldsMessage", lasting_a >= ser)
    once = unless("rule OneMessageASlot", a != c)
    both = z3.And(rounded(opening_a, a * lasting_a), rounded(opening_c, c * lasting_a))
    apart = z3.Or(opening_a - opening_c >= ser, opening_c - opening_a >= ser)
    return {
        "slots: products": hints,
        "slots: InTime": z3.Implies(z3.And(sane, *clocks, enough, causal, a <= last, hints, opened), in_time),
        "slots: ContentionFree": z3.Implies(z3.And(sane, clocks[2], fits, once, _at_least_once(a - c, lasting_a), both), apart),
        "slots: products of one clock": _at_least_once(a - c, lasting_a),
        "slots: OneMessageASlot, same row": z3.Implies(z3.And(sane, i != j), i * period != j * period),
        # steps a and c of two rows, as whole periods and rest
        "slots: OneMessageASlot, other row": z3.Implies(
            z3.And(
                sane, rest_a >= 0, rest_a < period, rest_c >= 0, rest_c < period, rest_a != rest_c, _at_least_once(turns, period)
            ),
            turns * period != rest_a - rest_c,
        ),
        "slots: products of periods": _at_least_once(turns, period),
    }


def _at_least_once(times: Any, length: Any) -> Formula:
    """A non-zero multiple of a length is at least the length."""
    return z3.And(
        z3.Implies(z3.And(times >= 1, length >= 0), times * length >= length),
        z3.Implies(z3.And(times <= -1, length >= 0), -(times * length) >= length),
    )


def _inductive(machine: Machine) -> dict[str, Formula]:
    """The invariant holds at the start, and every action keeps it."""
    world, state = machine.world, machine.state
    row, kind, later = world.constant("row", "Row"), world.constant("kind", "Kind"), world.constant("later", "Int")
    known = z3.And(machine.sizes(), machine.finiteness(state), machine.invariant(state))
    start = z3.And(
        state.now == 0, world.all("Row", lambda r: state.fired(r) == 0), world.all("Kind", lambda k: state.count(k) == 0)
    )
    steps = {
        "Init": (z3.And(machine.sizes(), machine.rules(), start), state),
        "Fire": (z3.And(known, machine.can_fire(state, row)), machine.fire(state, row)),
        "Count": (z3.And(known, machine.can_count(state, kind)), machine.counted(state, kind)),
        "Tick": (z3.And(known, machine.rules(), machine.may_tick(state, later)), machine.at(state, later)),
    }
    return {
        f"{action} keeps {name}": z3.Implies(given, conjunct)
        for action, (given, after) in steps.items()
        for name, conjunct in machine.conjuncts(after).items()
        if f"conjunct {name}" != machine.without
    }


def _safe(machine: Machine) -> dict[str, Formula]:
    """No row is late, and no row finds a link of its messages busy."""
    world, state = machine.world, machine.state
    row, kind, other, j = (
        world.constant("row", "Row"),
        world.constant("kind", "Kind"),
        world.constant("other", "Kind"),
        world.constant("j", "Int"),
    )
    known = z3.And(
        machine.sizes(), machine.rules(), machine.finiteness(state), machine.invariant(state), machine.can_fire(state, row)
    )
    sending = z3.And(machine.row_of(kind) == row, machine.link(other) == machine.link(kind))
    on_link = z3.And(j >= 0, j < state.fired(machine.row_of(other)), state.now < state.sent(other, j) + machine.ser)
    if world.is_finite:
        on_link = z3.And(on_link, j < MEMBERS)
    at_once = z3.And(machine.row_of(other) == row, other != kind)
    return {
        "no late row": z3.Implies(known, state.now == machine.opening(row, state.fired(row))),
        "no busy port": z3.Implies(z3.And(known, sending), z3.Not(z3.Or(on_link, at_once))),
    }


def _vacuous(machine: Machine) -> Formula:
    """The hypotheses contradict each other, or hold only where nothing is in flight and nothing can fire: must be false."""
    world, state = machine.world, machine.state
    row, kind = world.constant("row", "Row"), world.constant("kind", "Kind")
    known = z3.And(machine.sizes(), machine.rules(), machine.finiteness(state), machine.invariant(state))
    return z3.Not(
        z3.And(known, machine.can_fire(state, row), machine.waits(row, kind), machine.is_flying(state, kind, state.count(kind)))
    )


def _live(machine: Machine) -> dict[str, Formula]:
    """No deadlock: as long as a row has to fire or a message to count, a row can fire, a message can count, or time can go on."""
    world, state = machine.world, machine.state
    known = z3.And(machine.sizes(), machine.rules(), machine.finiteness(state), machine.invariant(state))
    row, kind = world.constant("row", "Row"), world.constant("kind", "Kind")
    unfinished = z3.Or(state.fired(row) < machine.repeats, machine.is_flying(state, kind, state.count(kind)))
    nothing = z3.And(
        world.all("Row", lambda r: z3.Not(machine.can_fire(state, r))),
        world.all("Kind", lambda k: z3.Not(machine.can_count(state, k))),
        z3.Not(machine.has_tick(state)),
    )
    return {"no deadlock": z3.Implies(z3.And(known, unfinished), z3.Not(nothing))}
