"""Tasks on worker processes: kept, found again, done once, and what becomes of the rest when one fails."""

import json
import os
import signal
import time

import pytest

from certree.api.workers import Workers
from certree.extras.workers import task as task_module
from certree.extras.workers.batch import run_tasks
from certree.extras.workers.store import Store
from certree.extras.workers.task import Task
from certree.models.common.errors import InputError, UndecidedError


def double(arguments):
    return {"value": 2 * arguments["number"]}


def refuse(arguments):
    raise InputError(f"{arguments['number']} is too many")


def die(arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def err(arguments):
    raise ValueError("a fault of the program")


def sleep(arguments):
    time.sleep(600)


def leave_something(arguments):
    """A trace in the process; whether one was there before."""
    found = hasattr(signal, "trace")
    signal.trace = True
    return {"found": found, "parent": os.getppid()}


def tasks(*numbers, function=double, **more):
    return [Task(f"task {number}", function, {"number": number}, **more) for number in numbers]


def values(done):
    return [result["value"] for result in done.results]


def cells(folder):
    return list((folder / "cells").iterdir())


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_tasks(tmp_path, workers):
    said = []
    done = run_tasks(tasks(3, 1, 3, 2), Workers(workers), Store(tmp_path), said.append)
    assert values(done) == [6, 2, 6, 4]
    assert len(cells(tmp_path)) == 3
    assert [line.partition(":")[0] for line in said] == ["1 of 3", "2 of 3", "3 of 3"]
    assert done.cpu_seconds >= 0
    again = []
    assert values(run_tasks(tasks(2, 3, 4), Workers(workers), Store(tmp_path), again.append)) == [4, 6, 8]
    assert again[0] == "2 of 3 cells are there already"
    assert len(again) == 2
    assert len((tmp_path / "times.csv").read_text().splitlines()) == 5


def test_results_of_another_program_or_function_are_not_taken(tmp_path, monkeypatch):
    store = Store(tmp_path)
    run_tasks(tasks(1), Workers(1), store, print)
    kept = cells(tmp_path)[0]
    document = json.loads(kept.read_text())
    kept.write_text(json.dumps(document | {"result": {"value": 77}}))
    assert values(run_tasks(tasks(1), Workers(1), store, print)) == [77]
    monkeypatch.setattr(task_module, "program_digest", lambda: "another")
    assert values(run_tasks(tasks(1), Workers(1), store, print)) == [2]
    assert tasks(1)[0].key != tasks(1, function=refuse)[0].key != tasks(2, function=refuse)[0].key


def test_what_is_done_stays_when_a_task_fails(tmp_path):
    """One after the other: the first is kept, the second ends it all."""
    with pytest.raises(InputError, match="2 is too many"):
        run_tasks(tasks(1) + tasks(2, function=refuse) + tasks(3), Workers(1), Store(tmp_path), print)
    assert [json.loads(path.read_text())["task"] for path in cells(tmp_path)] == ["task 1"]


def test_errors_and_deaths_of_workers_are_told():
    with pytest.raises(InputError, match="5 is too many"):
        run_tasks(tasks(5, function=refuse) + tasks(1), Workers(2), None, print)
    with pytest.raises(UndecidedError, match="a worker process was killed"):
        run_tasks(tasks(5, 6, function=die), Workers(2), None, print)
    with pytest.raises(RuntimeError, match="ValueError: a fault of the program"):
        run_tasks(tasks(5, 6, function=err), Workers(2), None, print)


def test_a_death_costs_its_own_task_only():
    work = tasks(1, 2) + tasks(3, function=die) + tasks(4, function=err) + tasks(5) + tasks(6, function=sleep, time_limit=0.2)
    found = {task.label: outcome for task, outcome in Workers(2).run(work)}
    assert {label: outcome.kind for label, outcome in found.items() if outcome.kind} == {
        "task 3": "killed",
        "task 4": "internal",
        "task 6": "timed out",
    }
    assert found["task 3"].error == "its process was ended by SIGKILL"
    assert found["task 6"].error == "took more than 0.2 s"
    assert [found[f"task {number}"].result["value"] for number in (1, 2, 5)] == [2, 4, 10]


def test_one_host_and_a_process_for_each_task():
    found = [outcome.result for _, outcome in Workers(1).run(tasks(1, 2, 3, function=leave_something))]
    assert not any(result["found"] for result in found)
    assert len({result["parent"] for result in found}) == 1


def kill_parent(arguments):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


def test_a_host_that_is_killed_is_replaced():
    """With its task, which does not live on."""
    found = {task.label: outcome for task, outcome in Workers(1).run(tasks(1, function=kill_parent) + tasks(2))}
    assert found["task 1"].kind == "killed"
    assert found["task 2"].result == {"value": 4}


def test_what_runs_is_ended_when_the_caller_stops_asking():
    outcomes = Workers(2).run(tasks(1) + tasks(2, 3, 4, function=sleep))
    assert next(outcomes)[0].label == "task 1"
    outcomes.close()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"count": 0}, "workers is 0; allowed"),
        ({"scheduler": "localhost:8786"}, "expected an address such as tcp://HOST:8786"),
        ({"scheduler": "tcp://a:1", "count": 2}, "--scheduler and --workers exclude each other"),
        ({"scheduler": "tcp://a:1", "cluster": "pbs"}, "--scheduler and --cluster exclude each other"),
        ({"cluster": "slurm"}, "--cluster slurm needs --workers"),
        ({"cluster": "slurn", "count": 1}, "unknown cluster 'slurn'; did you mean 'slurm'? known: slurm, pbs, lsf"),
    ],
)
def test_bad_input(arguments, reason):
    with pytest.raises(InputError) as error:
        Workers(**arguments)
    assert reason in str(error.value)
