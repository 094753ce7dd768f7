"""Tasks in worker processes: kept, found again, done once, and what becomes of the rest when one fails."""

import json
import os
import signal

import pytest

from certree.api.papers import experiment
from certree.api.papers.experiment import Task
from certree.api.papers.workers import run_tasks
from certree.models.common.errors import InputError, UndecidedError


def double(arguments):
    return {"value": 2 * arguments["number"]}


def refuse(arguments):
    raise InputError(f"{arguments['number']} is too many")


def die(arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def tasks(*numbers, function=double):
    return [Task(f"task {number}", function, {"number": number}) for number in numbers]


def values(done):
    return [result["value"] for result in done.results]


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_tasks(tmp_path, workers):
    said = []
    done = run_tasks(tasks(3, 1, 3, 2), workers, tmp_path, said.append)
    assert values(done) == [6, 2, 6, 4]
    assert len(list(tmp_path.iterdir())) == 3
    assert [line.partition(":")[0] for line in said] == ["1 of 3", "2 of 3", "3 of 3"]
    assert done.cpu_seconds >= 0
    again = []
    assert values(run_tasks(tasks(2, 3, 4), workers, tmp_path, again.append)) == [4, 6, 8]
    assert again[0] == "2 of 3 cells are there already"
    assert len(again) == 2


def test_results_of_another_program_or_function_are_not_taken(tmp_path, monkeypatch):
    run_tasks(tasks(1), 1, tmp_path, print)
    kept = next(tmp_path.iterdir())
    document = json.loads(kept.read_text())
    kept.write_text(json.dumps(document | {"result": {"value": 77}}))
    assert values(run_tasks(tasks(1), 1, tmp_path, print)) == [77]
    monkeypatch.setattr(experiment, "program_digest", lambda: "another")
    assert values(run_tasks(tasks(1), 1, tmp_path, print)) == [2]
    assert tasks(1)[0].key != tasks(1, function=refuse)[0].key != tasks(2, function=refuse)[0].key


def test_what_is_done_stays_when_a_task_fails(tmp_path):
    """One after the other: the first is kept, the second ends it all."""
    with pytest.raises(InputError, match="2 is too many"):
        run_tasks(tasks(1) + tasks(2, function=refuse) + tasks(3), 1, tmp_path, print)
    assert [json.loads(path.read_text())["task"] for path in tmp_path.iterdir()] == ["task 1"]


def test_errors_and_deaths_of_workers_are_told(tmp_path):
    with pytest.raises(InputError, match="5 is too many"):
        run_tasks(tasks(5, 6, function=refuse)[:1] + tasks(1), 2, tmp_path, print)
    with pytest.raises(UndecidedError, match="a worker process was killed"):
        run_tasks(tasks(5, 6, function=die), 2, tmp_path, print)
