"""Checks of a module under a generated configuration, their results, and parallel checks."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TypeVar

from certree.extras.tla.check.tlc import Result, Simulation, TlcRun, end_runs, run_tlc

T = TypeVar("T")
U = TypeVar("U")

# TLC runs at once; each has one worker, so that its state counts are the same every time.
PARALLEL = 2
SYMBOLIC = "symbolic"  # the mode of results that are proofs
NOT_CHECKED = "not checked"  # mode and result of a part of a trace that no specification covers


@dataclass(frozen=True)
class Configuration:
    """The configuration of TLC for a module. `constants`: name -> `= value` or `<- definition`."""

    spec: str = "Spec"
    constants: Mapping[str, str] = field(default_factory=dict)
    symmetry: str = ""
    constraint: str = ""
    check_deadlock: bool = True
    invariants: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The .cfg file."""
        lines = [f"SPECIFICATION {self.spec}"]
        lines += ["CONSTANTS", *(f"  {name} {value}" for name, value in self.constants.items())] if self.constants else []
        lines += [f"SYMMETRY {self.symmetry}"] if self.symmetry else []
        lines += [f"CONSTRAINT {self.constraint}"] if self.constraint else []
        lines += [] if self.check_deadlock else ["CHECK_DEADLOCK FALSE"]
        lines += [f"INVARIANTS {' '.join(self.invariants)}"] if self.invariants else []
        lines += [f"PROPERTIES {' '.join(self.properties)}"] if self.properties else []
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class ModelResult:
    """The result of a model check. `mode`: `exhaustive`, all states; `simulation`, random runs (without distinct states);
    `symbolic`, a proof; or NOT_CHECKED, with the reason in `message`, and nothing unexpected.

    `as_expected`: whether result and, where `specs/models.toml` states them, numbers of states are the expected ones. `message` is
    one line on the violation or difference, or on the extent of a success; `trace` is the counterexample as a table of slots;
    `picture`, for the tables of a schedule, is an SVG of the counterexample in the network.
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


def not_checked(name: str, reason: str) -> ModelResult:
    """The entry of a part of a trace that was not checked, so that nobody takes the others for all of it."""
    return ModelResult(name, NOT_CHECKED, NOT_CHECKED, None, 0, 0.0, NOT_CHECKED, "", reason, as_expected=True)


def specs_folder() -> Path:
    """The folder of the TLA+ modules and of `models.toml`."""
    return Path(str(resources.files("certree.specs")))


def run_generated(
    name: str,
    module: str,
    config: str,
    *,
    time_limit: float,
    simulation: Simulation | None = None,
    heap: str = "2g",
    lasting: bool = False,
    others: Mapping[str, str] | None = None,
) -> TlcRun:
    """Check the text of a module called `name` under a configuration text; it may extend modules of `specs/`. See `run_tlc`.

    `others`: texts of modules that take the place of those of `specs/` with the same names.
    """
    with tempfile.TemporaryDirectory(prefix="certree-model-") as folder:
        paths = Path(folder) / f"{name}.tla", Path(folder) / f"{name}.cfg"
        for path, text in zip(paths, (module, config), strict=True):
            path.write_text(text)
        for other, text in (others or {}).items():
            (Path(folder) / f"{other}.tla").write_text(text)
        return run_tlc(*paths, specs_folder(), time_limit=time_limit, simulation=simulation, heap=heap, lasting=lasting)


def run_result(name: str, run: TlcRun, mode: str, message: str, trace: str = "", picture: str = "") -> ModelResult:
    """The result of a run that should find nothing; `mode` as of `ModelResult`, or `trace`."""
    return ModelResult(
        name=name,
        expected=Result.SUCCESS,
        result=run.result,
        distinct_states=run.distinct_states,
        total_states=run.total_states,
        seconds=run.seconds,
        mode=mode,
        trace=trace,
        message=message,
        as_expected=run.result is Result.SUCCESS,
        picture=picture,
    )


def in_parallel(work: Callable[[U], T], models: Sequence[U], report: Callable[[T, int, int], None] | None) -> list[T]:
    """The results of `work` on each model, two at a time; `report` gets each, in order, with the number reported and the total.

    Any exception ends all runs.
    """
    results = []
    pool = ThreadPoolExecutor(PARALLEL)
    try:
        for result in pool.map(work, models):
            results.append(result)
            if report is not None:
                report(result, len(results), len(models))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        end_runs()
        raise
    finally:
        pool.shutdown()
    return results
