"""Model checks of tables: `specs/NILockstep.tla`, the TLA+ model of the NIs, with generated constants; results in words."""

from collections.abc import Iterator

from certree.extras.tla.check.counterexample import explain, picture, table_of_slots
from certree.extras.tla.check.generated import Generated, function, sequence
from certree.extras.tla.check.model_runs import ModelResult, run_result
from certree.extras.tla.check.table_constants import CheckedTables, plan_of, values, written
from certree.extras.tla.check.tlc import Result, Simulation, TlcRun
from certree.models.tables.tables import Tables

# All states are checked when messages × counters in a state is at most this (the number of states is a small multiple of the
# messages); random runs beyond. mesh:3x3 with 9 trees is at 105,000.
EXHAUSTIVE_WORK = 1 << 21
SIMULATION_RUNS = 2
# TLC makes the set of all beginnings of a collective, 2^chunks of one with roots, where these are at most this many.
MOST_ROOTS = 16
_BEGINS_AS_PROMISED = (
    "BeginsAsPromised == \\A due \\in DueHere :\n"
    "  Shown[due] = <<>> \\/ (Collective!IsAlone(due) /\\ Shown[due] = Collective!Outcome(due))"
)
# In this order: of several violations in one state, the first is reported.
_INVARIANTS = (
    "TypeOK", "ExactlyOnce", "LinksExist", "OnlyExpected", "EveryArrivalAwaited", "NoBusyPort", "NoLateRow", "RightSum",
    "SlotIsLongEnough",
)  # fmt: skip
_PROPERTIES = ("EveryRunEnds", "BeginsWithThePromise", "NeverBreaksThePromise")
#: of trees: where two nodes exchange sums, what a transfer moves is no longer there when it counts, as `Schedule` has it
_AS_SCHEDULED = ("BeginsAsScheduled", "StepsAsScheduled")


def model_check_tables(tables: Tables, time_limit: float = 300.0, seed: int = 0) -> ModelResult:
    """Model-check the tables in the TLA+ model of the NIs: all behaviours or, for larger tables, random ones.

    `mode` is `exhaustive` or `simulation`. For a repeating table the check covers as many iterations as can overlap, and one more;
    the message has their number: later ones find the same rows, links and counters in the same slots. The `message` of a failure
    names property, node, row (counted from 0 within the node) and slot; `trace` is the table of slots. The result is `unknown` when
    `time_limit` seconds do not suffice. Raises the errors of `plan_of`, and ToolMissingError without Java or TLC.
    """
    plan = plan_of(tables)
    simulation = None if is_small(plan) else Simulation(SIMULATION_RUNS, _longest_run(plan), seed)
    run = _model(plan).run(time_limit=time_limit, simulation=simulation)
    name = f"tables of {tables.topology.name} {tables.collective.kind}"
    return run_result(name, run, mode_of(plan), _message(plan, run, seed), table_of_slots(run), picture(run, tables.topology))


def table_model_files(tables: Tables) -> dict[str, str]:
    """The generated module and configuration of that check, by file name. They extend modules of `specs/`. Errors as `plan_of`."""
    model = _model(plan_of(tables))
    return {f"{model.name}{suffix}": text for suffix, text in zip((".tla", ".cfg"), model.texts(), strict=True)}


def extent_of_success(tables: Tables, seed: int = 0) -> tuple[str, str]:
    """Mode and message of a check that finds no error. Errors as `plan_of`."""
    plan = plan_of(tables)
    return mode_of(plan), _extent(plan, seed)


def is_small(plan: CheckedTables) -> bool:
    """Whether all states are checked."""
    return plan.messages * plan.counters <= EXHAUSTIVE_WORK


def _model(plan: CheckedTables) -> Generated:
    """The model of the tables."""
    return Generated(
        "CheckNILockstep",
        written(plan),
        values(plan),
        _INVARIANTS,
        # not for simulations, where each run has the greatest possible length: it ends or deadlocks
        properties=_whole_runs(plan) if is_small(plan) else (),
        chosen={"InTurn": "LowestFirst"} | _chosen(plan),
        definitions=(
            # at the end of a run: a row that is late because of the short slot is reported first, since it names the place
            f"SlotIsLongEnough == AllDone => SlotTicks >= {plan.timing.slot_cycles}",
            *_definitions(plan),
            *((_BEGINS_AS_PROMISED,) if _has_many_beginnings(plan) else ()),
        ),
    )


def _whole_runs(plan: CheckedTables) -> tuple[str, ...]:
    """`refined`, with a property in place of the one that makes the set of all beginnings, where these are too many."""
    if not _has_many_beginnings(plan):
        return refined(plan)
    return tuple("BeginsAsPromised" if name == "BeginsWithThePromise" else name for name in refined(plan))


def _has_many_beginnings(plan: CheckedTables) -> bool:
    """Whether the specification has very many beginnings: each root of a chunk may have finished it or not."""
    collective = plan.tables.collective
    return collective.gathers and not collective.reduces and plan.tables.chunks * plan.repeats > MOST_ROOTS


def _chosen(plan: CheckedTables) -> dict[str, str]:
    """The definitions of the specification that tables replace which have a time for each sum, or planned waits."""
    own = {"Earliest": "AfterOwnSum", "Latest": "AfterOwnSum"} if plan.sums else {}
    return own if plan.tables.waits is None else own | {"NoBusyPort": "OnlyPlannedWaits"}


def _definitions(plan: CheckedTables) -> Iterator[str]:
    """The definitions that replace those of the specification."""
    if plan.sums:
        yield f"OwnSums ==\n  {function((sequence(message), cycles) for message, cycles in plan.sums.items())}"
        yield 'AfterOwnSum(m) == ArrivesAt(m) + IF m.op = "REDUCE" THEN OwnSums[<<m.src, m.row, m.dst>>] ELSE 0'
    if plan.tables.waits is not None:
        yield f"OwnWaits ==\n  {function((route, sequence((0, *waits))) for route, waits in enumerate(plan.tables.waits))}"
        yield "OwnWait(m, k) == LET route == Table[m.src][m.row].route IN IF route = Nil THEN 0 ELSE OwnWaits[route][k]"
        waits_as_planned = "m.enters[k] = Came(m, k) + OwnWait(m, k)"
        yield f"OnlyPlannedWaits == \\A m \\in {{f \\in flying : f.src # f.dst}} : \\A k \\in 1..Hop(m) : {waits_as_planned}"


def refined(plan: CheckedTables) -> tuple[str, ...]:
    """The properties of whole runs: they end, keep the promise of the collective, and of trees refine the schedule."""
    return _PROPERTIES if plan.tables.is_counted else _PROPERTIES + _AS_SCHEDULED


def _message(plan: CheckedTables, run: TlcRun, seed: int) -> str:
    """The violation that was found, or the extent of a success."""
    if run.broken == "SlotIsLongEnough":
        return (
            f"{run.broken}: a slot of {plan.tables.slot_cycles} cycles; messages of {plan.timing.ser} cycles, latency "
            f"{plan.timing.lat} and reduction {plan.timing.red} need {plan.timing.slot_cycles} at delay {plan.tables.delay}"
        )
    if run.result is not Result.SUCCESS:
        return explain(run)
    return _extent(plan, seed)


def mode_of(plan: CheckedTables) -> str:
    """`mode` of its result."""
    return "exhaustive" if is_small(plan) else "simulation"


def states_looked_at(plan: CheckedTables, seed: int) -> str:
    """The states that were looked at, in words: all, or those of random runs."""
    return "all states" if is_small(plan) else f"{SIMULATION_RUNS} random runs, seed {seed}"


def _extent(plan: CheckedTables, seed: int) -> str:
    """The extent of a success."""
    how = states_looked_at(plan, seed)
    return how if plan.tables.repeats == 1 else f"{how}, {plan.repeats} of {plan.tables.repeats} iterations"


def _longest_run(plan: CheckedTables) -> int:
    """The number of states of the longest timely run: each row fires, each message counts, and time stops at slots and messages.

    Messages of one slot reach links, leave them, arrive and count at the same times, apart from differences between their paths.
    """
    longest = max(len(path) for path in plan.paths.values())
    stops_a_slot = 2 * sum(1 + len(travel) for travel in set(plan.travel.values()))
    return 1 + plan.repeats * len(plan.tables.node) + plan.messages * longest + plan.slots * stops_a_slot
