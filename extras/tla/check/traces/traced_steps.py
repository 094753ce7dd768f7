"""Traces whose lines are steps: each must be a step of the specification, in order, with the effects that the trace states."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from certree.extras.tla.check.generated import Generated, sequence
from certree.extras.tla.check.model_runs import ModelResult, run_result
from certree.extras.tla.check.tlc import Result, TlcRun

Step = Mapping[str, Any]
Steps = Sequence[tuple[int, Step]]  # with the numbers of their lines


def log_text(steps: Steps, text: Callable[[Step], str]) -> str:
    """The steps as a TLA+ sequence, each as `text` writes it."""
    return sequence(("\n  " + text(step) for _, step in steps), ",")


def check_steps(
    name: str,
    model: Generated,
    steps: Steps,
    words: Callable[[Step], str],
    lacks: Mapping[str, str],
    field_of: Mapping[str, str] | None = None,
    *,
    wrong: Mapping[str, str] | None = None,
    believed: str,
    time_limit: float,
) -> ModelResult:
    """Check that the steps are a behaviour of the model, whose variable `line` counts them; a failure names the first difference.

    `words`: describes a step; `lacks`: what is missing if a trace ends too early, by violated property; `field_of`: the field that
    another property is about, where the last line violates it; `wrong`: what is wrong with the line that comes next, by violated
    property; `believed`: statements taken from the trace alone.
    """
    run = model.run(time_limit=time_limit)

    def place(index: int) -> str:
        number, step = steps[index]
        return f"line {number}, cycle {step['cycle']}: {words(step)}"

    return run_result(name, run, "trace", _message(run, steps, place, lacks, field_of, wrong or {}, believed))


def _message(
    run: TlcRun,
    steps: Steps,
    place: Callable[[int], str],
    lacks: Mapping[str, str],
    field_of: Mapping[str, str] | None,
    wrong: Mapping[str, str],
    believed: str,
) -> str:
    """The result in words: the first line for which specification and trace differ."""
    if run.result is Result.SUCCESS:
        return f"{len(steps)} steps, all as in the specification{believed}"
    if not run.trace:
        return f"{run.broken}: no state to show" if run.broken else ""
    done = run.trace[-1]["line"]
    if run.result is Result.DEADLOCK:
        return f"{place(done)}: the specification does not allow this step"
    if run.broken in wrong:
        return f"{run.broken}: {place(done)}: {wrong[run.broken]}"
    if run.broken in lacks:
        return f"{run.broken}: the trace ends after {done} steps, and {lacks[run.broken]}"
    if field_of is None:
        return f"{run.broken}: after {done} steps"
    field, told = field_of.get(run.broken), ""
    if field is not None:
        told = f": {field} is {steps[done - 1][1][field]!r} in the trace, and has another value in the specification"
    return f"{run.broken}: {place(done - 1)}{told}"
