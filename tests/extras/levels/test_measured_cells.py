"""Cells of tables of times: a process that fails is not reported as out of time."""

import os
import signal
from typing import Any

import pytest

from tests.bench.race import rivals
from tests.bench.small import priced
from tests.bench.small.priced import in_own_process, timed_within
from tests.refused import assert_refused
from tests.synth.execution import ask


def _killed(code: int) -> dict[str, Any]:
    os.kill(os.getpid(), code)
    return {}


def _wrong() -> dict[str, Any]:
    os._exit(3)


@pytest.mark.parametrize("code", [signal.SIGXCPU, signal.SIGKILL])
def test_out_of_time(code: int) -> None:
    assert in_own_process(_killed, code) == {"error": "no answer within 120 s"}


def test_failure_of_its_own() -> None:
    assert in_own_process(_wrong) == {"error": "failed without an answer, exit code 3"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("--size 1KiB", "unrecognized arguments: --size"),
        ("--smoke --sizes 1KiB", "--smoke takes no networks, --collectives and --sizes"),
        ("--smoke --growth", "argument --growth: not allowed with argument --smoke"),
        ("--growth --sizes=4KiB,8KiB ring:4", "--growth takes networks, one collective and one size"),
        ("--growth", "--growth takes networks, one collective and one size"),
        ("--sizes 1Kb ring:4", "argument --sizes: size '1Kb'"),
        ("--collectives all-sum ring:4", "argument --collectives: 'all-sum' is no collective"),
        ("ring", "NETWORK: "),
    ],
)
def test_arguments_that_are_not_known(arguments: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert_refused(priced, arguments, told, capsys)


def test_arguments_of_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(priced, "growth", lambda *given: asked.extend(given))
    priced.main(["--growth", "--sizes=4KiB", "ring:4", "--collectives", "all-gather", "ring:8"])
    assert asked == [("ring:4", "ring:8"), "all-gather", 1 << 12]


@pytest.mark.parametrize(
    ("arguments", "told"), [("--count 61", "--count 61; allowed: 1 to 60"), ("--size 1", "unrecognized arguments")]
)
def test_draws_that_are_not_known(arguments: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert_refused(rivals, arguments, told, capsys)


def test_cells_whose_rivals_were_not_all_run_are_listed_and_not_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"picked": "ring", "ratio": 1.5, "seconds": 4.0, "alone": 1.0, "best": "", "run": 3}
    done = [row | {"not_run": 0, "aims": (True, True)}, row | {"not_run": 1, "aims": (False, True)}, {"error": "no answer"}]
    monkeypatch.setattr(rivals, "in_own_process", lambda _function, network, *_: done[int(network)])
    rivals.rows([(str(number), "all-gather", 1024) for number in range(3)])
    said = capsys.readouterr().out.splitlines()
    assert said[2] == "| `0` | all-gather | 1 KiB | ring | 1.500 | 4.0 | 1.0 | 3.0 |  | 3 | 0 |"
    assert said[6] == "Time: 1 of 2 cells. Rivals: 1 of 1 cells."
    assert said[7].endswith("in time: `1`, all-gather, 1 KiB; `2`, all-gather, 1 KiB")


def test_a_cell_runs_what_auto_did_not_time() -> None:
    row = rivals.cell("ring:3", "all-gather", 1 << 12)
    assert row["not_run"] == 0
    assert row["run"] > 0
    assert row["aims"][1]


def test_what_comes_behind_its_time_does_not_count() -> None:
    """A method that catches errors of its candidates does not catch the end of its time, and no worse schedule comes of it."""
    request = ask("torus:4x4", "broadcast", 1 << 16, root=0)
    assert timed_within(0.001, request, ("chain", {})) == (None, False)
    cycles, ended = timed_within(60, request, ("ring", {}))
    assert ended
    assert cycles is None or cycles > 0
