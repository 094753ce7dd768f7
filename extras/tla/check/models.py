"""The TLA+ models and tables that `specs/models.toml` lists: check them and compare with what it expects."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from certree.extras.tla.check.counterexample import explain, table_of_slots
from certree.extras.tla.check.model_file import TIME_LIMITS, Expected, ListedTables, Model, listed, unknown_model
from certree.extras.tla.check.model_runs import ModelResult, in_parallel, run_generated, specs_folder
from certree.extras.tla.check.step_table import table_of_changes
from certree.extras.tla.check.table_model import model_check_tables
from certree.extras.tla.check.tlc import Result, TlcRun
from certree.models.common.errors import InputError
from certree.models.tables.tables import Tables

MakeTables = Callable[[ListedTables], Tables]


def model_check(
    names: Sequence[str] | None = None,
    full: bool = False,
    report: Callable[[ModelResult, int, int], None] | None = None,
    make_tables: MakeTables | None = None,
) -> list[ModelResult]:
    """Check the named models and tables (by default the small ones; all with `full`), two at a time, in the order of the file.

    `make_tables` makes the tables of an entry; without it only models are checked. `report` is called with each result as it
    comes, in that order, with the number of results and of all models. Raises InputError for an unknown name, ToolMissingError
    without Java or TLC, TlcError when TLC cannot evaluate a model.
    """
    entries: dict[str, Model | ListedTables] = {**listed().models, **(listed().tables if make_tables else {})}
    for name in names or ():
        if name not in entries:
            raise InputError(unknown_model(name, entries))
    chosen = [entry for name, entry in entries.items() if (name in names if names else full or entry.runtime == "small")]
    return in_parallel(lambda entry: _check(entry, make_tables), chosen, report)


def configuration_file(name: str) -> str:
    """The text of a model's .cfg file, for the TLA+ Toolbox. Raises InputError for an unknown name.

    >>> print(configuration_file("MCAllReduceUnfair").splitlines()[0])
    \\* MCAllReduceUnfair, a model of MCAllReduce.tla that must fail (liveness, Ends): Without fairness a collective need not end.
    """
    models = listed().models
    if name not in models:
        raise InputError(unknown_model(name, models))
    model, expected = models[name], models[name].expected
    how = ", ".join(filter(None, (expected.result, expected.breaks)))
    fails = "" if expected.result is Result.SUCCESS else f" that must fail ({how})"
    return f"\\* {name}, a model of {model.module}.tla{fails}: {model.about}\n{model.configuration.text}"


def _check(entry: Model | ListedTables, make_tables: MakeTables | None) -> ModelResult:
    limit = TIME_LIMITS[entry.runtime]
    if isinstance(entry, ListedTables):
        assert make_tables is not None
        return compare_tables(entry, model_check_tables(make_tables(entry), limit, entry.seed))
    run = run_generated(
        entry.module,
        (specs_folder() / f"{entry.module}.tla").read_text(),
        entry.configuration.text,
        time_limit=limit,
        simulation=entry.simulation,
        lasting=entry.runtime == "full",
    )
    return compare(entry.name, entry.expected, run)


def compare(name: str, expected: Expected, run: TlcRun) -> ModelResult:
    """The result of a run compared with the expected one; an unexpected success is as wrong as an unexpected failure."""
    problems = _problems(expected, run.result, run.distinct_states, run.total_states)
    if run.result is Result.SAFETY and run.broken != expected.told_as and not problems:
        problems.append(f"{run.broken} is violated where {expected.told_as} should be")
    message = explain(run)
    return ModelResult(
        name=name,
        expected=expected.result,
        result=run.result,
        distinct_states=run.distinct_states,
        total_states=run.total_states,
        seconds=run.seconds,
        mode=expected.mode,
        trace=table_of_slots(run) or table_of_changes(run.trace),
        message="; ".join([*problems, message] if message else problems),
        as_expected=not problems,
    )


def compare_tables(entry: ListedTables, result: ModelResult) -> ModelResult:
    """The result of a check of tables compared with the expected one."""
    expected = entry.expected
    problems = [] if result.mode == expected.mode else [f"{result.mode} where {expected.mode} is expected"]
    problems += _problems(expected, result.result, result.distinct_states, result.total_states)
    message = "; ".join([*problems, result.message])
    return replace(result, name=entry.name, expected=expected.result, message=message, as_expected=not problems)


def _problems(expected: Expected, result: str, distinct: int | None, total: int) -> list[str]:
    """The differences between a result and the expected one."""
    if result != expected.result:
        return [f"{result} where {expected.result} is expected"]
    if (distinct, total) == (expected.distinct_states, expected.total_states):
        return []
    due = f"{expected.distinct_states} of {expected.total_states}"
    return [f"{distinct} distinct of {total} states, where models.toml says {due}"]
