"""Checks by `certree.api.model_check` with their progress; their results for people and as JSON; exit codes."""

from pathlib import Path
from typing import Any

from certree.cli.words.progress_bar import working
from certree.cli.words.terminal import note, show
from certree.extras.tla.check.model_runs import NOT_CHECKED, SYMBOLIC, ModelResult
from certree.extras.tla.check.tlc import Result
from certree.extras.tla.run.model_checks import model_check
from certree.models.common.files import check_writable, write_atomically
from certree.models.common.progress import Counted

REFUTED, UNDECIDED = 1, 3


def checked(*, as_json: bool, picture: Path | None = None, force: bool = False, **asked: Any) -> int:
    """Check what is asked, in the words of `certree.api.model_check`, and show the results; the exit code.

    `picture`: a file for an SVG of the counterexample, which `force` overwrites.
    """
    if picture is not None:
        check_writable(picture, force=force)
    with working("model checking") as report:

        def tell(result: ModelResult, done: int, total: int) -> None:
            report(Counted(result_words(result_report(result)), done, total))

        results = model_check(**asked, progress=tell, tell=note)
    if picture is not None and results[0].picture:
        write_atomically(picture, results[0].picture.encode(), force=force)
    document = {"models": [result_report(result) for result in results]}
    show(document, model_check_words, as_json=as_json, kind="model-check")
    return exit_code(results)


def exit_code(results: list[ModelResult]) -> int:
    """The exit code: 1 for an unexpected result, else 3 for an unfinished one, else 0."""
    unexpected = [result for result in results if not result.as_expected]
    if any(result.result != Result.UNKNOWN for result in unexpected):
        return REFUTED
    return UNDECIDED if unexpected else 0


def result_report(result: ModelResult) -> dict[str, Any]:
    """One entry of the JSON document."""
    return {
        "name": result.name,
        "expected": str(result.expected),
        "result": str(result.result),
        "as_expected": None if result.mode == NOT_CHECKED else result.as_expected,
        "mode": result.mode,
        "distinct_states": result.distinct_states,
        "total_states": result.total_states,
        "seconds": round(result.seconds, 3),
        "message": result.message,
        "trace": result.trace,
    }


def result_words(report: dict[str, Any]) -> str:
    """One result in a line."""
    if report["mode"] == NOT_CHECKED:
        return f"{report['name']}: not checked: {report['message']}"
    if report["mode"] == SYMBOLIC:
        found = "as expected" if report["as_expected"] else f"NOT as expected ({report['expected']})"
        return f"{report['name']}: {report['result']}, {found}"
    states = report["total_states"] if report["distinct_states"] is None else report["distinct_states"]
    kind = "states visited" if report["distinct_states"] is None else "distinct states"
    found = f"{report['result']}, as expected" if report["as_expected"] else f"{report['result']}, NOT as expected"
    return f"{report['name']}: {found}; {report['mode']}, {states:,} {kind}, {report['seconds']:.1f} s"


def model_check_words(report: dict[str, Any]) -> str:
    """The report as text: one line per model, then unexpected results with their counterexamples."""
    lines = [result_words(entry) for entry in report["models"]]
    checked = [entry for entry in report["models"] if entry["mode"] != NOT_CHECKED]
    for entry in checked:
        if entry["message"] and (len(report["models"]) == 1 or not entry["as_expected"]):
            lines += [f"  {line}" for line in entry["message"].splitlines()]
        if entry["trace"] and (len(report["models"]) == 1 or not entry["as_expected"]):
            lines += [f"  {line}" for line in entry["trace"].splitlines()]
    if len(report["models"]) > 1:
        left = len(report["models"]) - len(checked)
        expected = f"{sum(entry['as_expected'] for entry in checked)} of {len(checked)} as expected"
        lines.append(expected + f", {left} not checked" * (left > 0))
    return "\n".join(lines)
