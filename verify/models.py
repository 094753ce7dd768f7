"""The TLA+ models of `specs/`: run them and compare with what the manifest expects."""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from certree.models.errors import InputError
from certree.verify.counterexample import explain, table_of_slots
from certree.verify.tlc import Result, TlcRun, end_runs, run_tlc

T = TypeVar("T")

# TLC runs at once; each has one worker, so that its state counts are the same every time.
PARALLEL = 2
# Seconds a model may take before it counts as undecided, by the runtime class of the manifest.
TIME_LIMITS = {"small": 300.0, "full": 3600.0}


@dataclass(frozen=True)
class ModelResult:
    """How a model check ended. `mode`: `exhaustive`, all states, or `simulation`, random runs (then no distinct states).

    `as_expected`: result and, where the manifest states them, the numbers of states are the expected ones. `message` says in a
    line what is refuted or unexpected, or what a success covers; `trace` is the counterexample as a table of slots, `picture`,
    for the tables of a schedule, an SVG of its place in the network.
    """

    name: str
    expected: str
    result: str
    distinct_states: int | None
    total_states: int
    seconds: float
    mode: str
    trace: str
    message: str
    as_expected: bool
    picture: str = ""


def specs_folder() -> Path:
    """The folder of the TLA+ modules, configurations and manifest."""
    return Path(str(resources.files("certree.specs")))


def load_manifest() -> list[Mapping[str, Any]]:
    """The entries of `specs/manifest.json`, in its order."""
    models: list[Mapping[str, Any]] = json.loads((specs_folder() / "manifest.json").read_text())["models"]
    return models


def model_check(
    names: Sequence[str] | None = None, full: bool = False, report: Callable[[ModelResult], None] | None = None
) -> list[ModelResult]:
    """Check the named models (all small ones by default, all there are when `full`), two at a time, in manifest order.

    `report` is told each result as it comes, in that order. Raises InputError for an unknown name, ToolMissingError without
    Java or TLC, TlcError when a model is broken.
    """
    known = {str(model["name"]): model for model in load_manifest()}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise InputError(f"unknown model {unknown[0]!r}; known: {', '.join(known)}")
    chosen = [m for m in known.values() if (m["name"] in names if names else full or m["runtime"] == "small")]
    return in_parallel(_check, chosen, report)


def in_parallel(
    work: Callable[[Mapping[str, Any]], T], models: Sequence[Mapping[str, Any]], report: Callable[[T], None] | None
) -> list[T]:
    """The results of `work` on each model, two at a time; `report` is told each, in order. Whatever is raised ends all runs."""
    results = []
    pool = ThreadPoolExecutor(PARALLEL)
    try:
        for result in pool.map(work, models):
            results.append(result)
            if report is not None:
                report(result)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        end_runs()
        raise
    finally:
        pool.shutdown()
    return results


def _check(model: Mapping[str, Any]) -> ModelResult:
    folder = specs_folder()
    run = run_tlc(
        folder / f"{model['module']}.tla",
        folder / "models" / f"{model['name']}.cfg",
        folder,
        time_limit=TIME_LIMITS[model["runtime"]],
    )
    return compare(model, run)


def compare(model: Mapping[str, Any], run: TlcRun) -> ModelResult:
    """The result of a run beside its manifest entry; an unexpected pass is as wrong as an unexpected failure."""
    message = explain(run)
    problems = []
    if run.result != model["expected"]:
        problems.append(f"{run.result} where {model['expected']} is expected")
    elif (run.distinct_states, run.total_states) != (model["distinct_states"], model["total_states"]):
        problems.append(
            f"{run.distinct_states} distinct of {run.total_states} states, where the manifest says "
            f"{model['distinct_states']} of {model['total_states']}"
        )
    if run.result is Result.SAFETY and model["violates"] not in (None, run.broken) and not problems:
        problems.append(f"{run.broken} is violated where {model['violates']} should be")
    return ModelResult(
        name=model["name"],
        expected=model["expected"],
        result=run.result,
        distinct_states=run.distinct_states,
        total_states=run.total_states,
        seconds=run.seconds,
        mode=model["mode"],
        trace=table_of_slots(run),
        message="; ".join([*problems, message] if message else problems),
        as_expected=not problems,
    )
