"""The TLA+ models of `specs/`, and the tables listed there: check them and compare with what the manifest expects."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from certree.models.common.errors import InputError
from certree.models.tables import Tables
from certree.verify.tla.counterexample import explain, table_of_slots
from certree.verify.tla.model_list import TIME_LIMITS, Entry, ModelResult, in_parallel, load_manifest, specs_folder
from certree.verify.tla.table_model import model_check_tables
from certree.verify.tla.tlc import Result, Simulation, TlcRun, run_tlc
from certree.verify.tla.variable_changes import table_of_changes

Maker = Callable[[Entry], Tables]


def model_check(
    names: Sequence[str] | None = None,
    full: bool = False,
    report: Callable[[ModelResult], None] | None = None,
    make_tables: Maker | None = None,
) -> list[ModelResult]:
    """Check what is named (all that is small by default, all there is when `full`), two at a time, models first, in manifest order.

    `make_tables` makes the tables of an entry; without it only models are checked. `report` is told each result as it comes, in
    that order. Raises InputError for an unknown name, ToolMissingError without Java or TLC, TlcError when a model is broken.
    """
    entries = load_manifest("models") + (load_manifest("tables") if make_tables else [])
    known = {str(entry["name"]): entry for entry in entries}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise InputError(f"unknown model {unknown[0]!r}; known: {', '.join(known)}")
    chosen = [entry for entry in entries if (entry["name"] in names if names else full or entry["runtime"] == "small")]
    return in_parallel(lambda entry: _check(entry, make_tables), chosen, report)


def _check(entry: Entry, make_tables: Maker | None) -> ModelResult:
    limit = TIME_LIMITS[entry["runtime"]]
    if "module" not in entry:
        assert make_tables is not None
        return compare_tables(entry, model_check_tables(make_tables(entry), limit, entry["seed"]))
    folder = specs_folder()
    run = run_tlc(
        folder / f"{entry['module']}.tla",
        folder / "models" / f"{entry['name']}.cfg",
        folder,
        time_limit=limit,
        simulation=Simulation(**entry["simulation"]) if entry["mode"] == "simulation" else None,
        lasting=entry["runtime"] == "full",
    )
    return compare(entry, run)


def compare(model: Entry, run: TlcRun) -> ModelResult:
    """The result of a run beside its manifest entry; an unexpected pass is as wrong as an unexpected failure."""
    problems = _problems(model, run.result, run.distinct_states, run.total_states)
    if run.result is Result.SAFETY and model["violates"] not in (None, run.broken) and not problems:
        problems.append(f"{run.broken} is violated where {model['violates']} should be")
    message = explain(run)
    return ModelResult(
        name=model["name"],
        expected=model["expected"],
        result=run.result,
        distinct_states=run.distinct_states,
        total_states=run.total_states,
        seconds=run.seconds,
        mode=model["mode"],
        trace=table_of_slots(run) or table_of_changes(run.trace),
        message="; ".join([*problems, message] if message else problems),
        as_expected=not problems,
    )


def compare_tables(entry: Entry, result: ModelResult) -> ModelResult:
    """The result of a check of tables beside the manifest entry of these."""
    problems = [] if result.mode == entry["mode"] else [f"{result.mode} where {entry['mode']} is expected"]
    problems += _problems(entry, result.result, result.distinct_states, result.total_states)
    message = "; ".join([*problems, result.message])
    return replace(result, name=entry["name"], expected=entry["expected"], message=message, as_expected=not problems)


def _problems(entry: Entry, result: str, distinct: int | None, total: int) -> list[str]:
    """In what an end differs from the expected one."""
    if result != entry["expected"]:
        return [f"{result} where {entry['expected']} is expected"]
    if (distinct, total) == (entry["distinct_states"], entry["total_states"]):
        return []
    return [f"{distinct} distinct of {total} states, where the manifest says {entry['distinct_states']} of {entry['total_states']}"]
