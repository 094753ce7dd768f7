"""Model checks of paced tables at any timing: `specs/NIPaced.tla` with the tables as its constants; results in words."""

from dataclasses import replace

import numpy as np

from certree.api.reports.text import counted
from certree.extras.tla.check.counterexample import explain, picture, table_of_slots
from certree.extras.tla.check.generated import Generated
from certree.extras.tla.check.model_runs import ModelResult, run_result
from certree.extras.tla.check.paced.chains import MOST_ENTRIES, Program, steps_apart
from certree.extras.tla.check.table_constants import CheckedTables, untimed_plan_of, values, written
from certree.extras.tla.check.table_model import SIMULATION_RUNS, is_small, mode_of, refined, states_looked_at
from certree.extras.tla.check.tlc import Result, Simulation
from certree.models.common.errors import UnsupportedError
from certree.models.tables.tables import Tables
from certree.verify.order.agreement import race_of_tables

_INVARIANTS = (
    "TypeOK", "ExactlyOnce", "SendsOverLinks", "OnlyExpected", "EveryArrivalAwaited", "PacedInvariant", "CountersApart",
    "ChainsKeepTogether", "RightSum",
)  # fmt: skip


def model_check_paced(tables: Tables, time_limit: float = 300.0, seed: int = 0) -> ModelResult:
    """Model-check tables that are paced, whatever the times of messages, sums and counters: all behaviours or, for larger tables,
    random ones.

    Of events that can come in any order without a difference one order is taken (`specs/CheckNIPaced.tla`), so that tables which
    are right at any timing have about as many states as messages and rows. Of repeating tables the first iterations are checked, as
    many as in `model_check_tables`; the message says so, and by how many steps the counters of neighbours can be apart in all of
    them. Errors as `untimed_plan_of`; UnsupportedError for demands and where iterations share work cells; ToolMissingError without
    Java or TLC.
    """
    _require_modelled(tables)
    plan = untimed_plan_of(in_order(tables))
    whole = is_small(plan)
    simulation = None if whole else Simulation(SIMULATION_RUNS, 2 + plan.messages + plan.repeats * len(tables.node), seed)
    apart = counters_apart(plan)
    run = paced_model(plan, apart, whole=whole, in_slots=not tables.fine_slots).run(time_limit=time_limit, simulation=simulation)
    message = _extent(plan, tables, apart, seed) if run.result is Result.SUCCESS else explain(run)
    name = f"paced tables of {tables.topology.name} {tables.collective.kind}"
    return run_result(name, run, mode_of(plan), message, table_of_slots(run), picture(run, tables.topology))


def _extent(plan: CheckedTables, tables: Tables, apart: int, seed: int) -> str:
    """The extent of a success; `apart`: `counters_apart` of the plan."""
    extent = f"{states_looked_at(plan, seed)}, at any timing"
    if tables.repeats > 1:
        extent += f"; the first {plan.repeats} of {tables.repeats} iterations"
    if tables.fine_slots:  # each node numbers its own steps
        return extent
    over_all = apart if plan.repeats == tables.repeats else _over_all(plan)
    return extent if over_all is None else f"{extent}; counters of neighbours at most {counted(over_all, 'steps')} apart"


def _require_modelled(tables: Tables) -> None:
    """Raise UnsupportedError for messages of several sizes, and where iterations use a work cell in turn, which only slots keep
    apart: the model has a cell for each."""
    if tables.has_sizes:
        raise UnsupportedError("paced tables: not supported for messages of several sizes; the model has one for all")
    race = race_of_tables(tables) if tables.repeats > 1 else None
    if race is not None and race.first is None and race.second is None:
        raise UnsupportedError(
            f"paced tables: node {race.node} {race.what} of chunk {race.chunk}; only slots keep them apart (A12)"
        )


def counters_apart(plan: CheckedTables) -> int:
    """The most steps by which the counters of two nodes can be apart between which a message can travel (`steps_apart`)."""
    pairs = sorted({(src, dst) for src, dst, _ in plan.paths if src != dst})
    return steps_apart(Program.of(plan.tables, plan.period, plan.repeats), pairs)


def _over_all(plan: CheckedTables) -> int | None:
    """`counters_apart` of all iterations: a node that waits for nothing runs ahead of its neighbours through all of them. None for
    more than MOST_ENTRIES."""
    if len(plan.tables.node) * plan.tables.repeats > MOST_ENTRIES:
        return None
    return counters_apart(replace(plan, repeats=plan.tables.repeats))


def paced_model(plan: CheckedTables, apart: int, *, whole: bool, in_slots: bool = True) -> Generated:
    """The model of tables, with the bound on counters that it must keep; `whole`: with what must hold of whole runs; `in_slots`:
    steps are slots, and say with the delay what a row that counts arrivals must wait for."""
    chosen = {"NextUntimed": "NextAlone"}
    constants = values(plan) | {"Run": '"paced"', "MaxStepsApart": apart}
    properties = refined(plan) if whole else ()
    invariants = [name for name in _INVARIANTS if name != "EveryArrivalAwaited" or in_slots or not plan.tables.is_counted]
    return Generated("CheckNIPaced", written(plan), constants, tuple(invariants), properties, "UntimedSpec", chosen)


def in_order(tables: Tables) -> Tables:
    """Tables whose steps only say what comes first: with fine slots they are numbered, and iterations follow each other
    (`docs/reference/tables.md`, E9)."""
    if not tables.fine_slots:
        return tables
    times, number = np.unique(tables.step, return_inverse=True)
    return replace(tables, step=number.astype(np.int32), period=len(times), fine_slots=False, waits=None)
