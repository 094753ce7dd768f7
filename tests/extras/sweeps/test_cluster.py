"""Sweeps on a Dask cluster: several worker processes over TCP, one of them killed, and jobs of a batch system."""

import os
import signal
import stat
import time

import dask
import dask_jobqueue  # before its settings change: it makes them when it is loaded
import pytest
from distributed import Client, LocalCluster

from certree.api.workers import Workers
from certree.extras.designs.run.running import designs
from certree.extras.sweeps.run.running import sweep
from certree.extras.workers import cluster as cluster_module
from certree.extras.workers.batch import run_tasks
from certree.extras.workers.task import Task
from certree.models.common.errors import InputError, UndecidedError
from tests.cli.running import assert_bad_input, certree
from tests.extras.sweeps.specifications import contents, written

FEW = {"networks": ["ring:4", "ring:6"], "sizes": ["1KiB"], "methods": ["ring", "multitree", "hdrm"]}
NO_OTHERS = dict.fromkeys(("failures", "draws", "skip"))


@pytest.fixture(scope="module")
def cluster():
    """Three worker processes, and their scheduler."""
    with LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as found:
        yield found


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """What a folder of FEW holds after a sweep by local processes."""
    folder = tmp_path_factory.mktemp("local") / "out"
    sweep(FEW, folder, workers=2)
    return contents(folder)


def hang_once(arguments):
    """Marks that it has begun and waits to be killed; at once the second time."""
    try:
        os.close(os.open(arguments["mark"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return {"value": arguments["number"]}
    time.sleep(600)
    return {}


def refuse(arguments):
    raise InputError(f"{arguments['number']} is too many")


def die(arguments):
    os.kill(os.getpid(), signal.SIGKILL)


def task(function, number, **arguments):
    return Task(f"task {number}", function, {"number": number, **arguments})


def test_the_same_bytes_on_a_cluster(cluster, local, tmp_path):
    done = certree("sweep", written(tmp_path, **FEW, **NO_OTHERS), "-o", tmp_path / "out", "--scheduler", cluster.scheduler_address)
    assert done.code == 0, done
    assert contents(tmp_path / "out") == local


def test_designs_on_a_cluster(cluster, tmp_path):
    """Grid, dead links, other rates and training: the same table as by local processes."""
    asked = {
        "networks": ["ring:4", "full:4"], "sizes": ["1KiB", "1MiB"], "method": "multitree", "failures": {"links": [1], "draws": 2},
        "sensitivity": {"rates": ["2"]}, "training": {"workloads": ["alexnet"], "method": "ring"},
    }  # fmt: skip
    tables = []
    for name, workers in (("local", 1), ("cluster", Workers(scheduler=cluster.scheduler_address))):
        designs(asked, tmp_path / name, workers=workers)
        tables.append([(tmp_path / name / table).read_bytes() for table in ("cells.csv", "networks.csv", "index.html")])
    assert tables[0] == tables[1]
    assert b"missing" not in tables[0][0]


def test_a_worker_that_is_killed_costs_its_cell_only(cluster, local, tmp_path):
    """A worker is killed when the first cell is there: the others run at that moment, and are given to other workers."""
    killed = []

    def kill_one(_text):
        with Client(cluster.scheduler_address) as client:
            busy = [address for address, keys in client.processing().items() if keys and not killed]
            for address in busy[:1]:
                killed.append(client.run(os.getpid, workers=[address])[address])
                os.kill(killed[0], signal.SIGKILL)

    sweep(FEW, tmp_path / "out", workers=Workers(scheduler=cluster.scheduler_address), progress=kill_one)
    assert len(killed) == 1
    assert contents(tmp_path / "out") == local


def test_a_worker_killed_in_the_middle_of_a_task(cluster, tmp_path):
    """The task is given to another worker; what it had begun does not live on."""
    mark, workers = tmp_path / "mark", Workers(scheduler=cluster.scheduler_address)
    killed = []

    def tell(_text):
        while not mark.exists():
            time.sleep(0.01)
        with Client(cluster.scheduler_address) as client:
            (address,) = [address for address, keys in client.processing().items() if keys]
            killed.append(client.run(os.getpid, workers=[address])[address])
            os.kill(killed[0], signal.SIGKILL)

    tasks = [task(hang_once, 0, mark=str(tmp_path / "none")), task(hang_once, 1, mark=str(mark))]
    (tmp_path / "none").touch()
    done = run_tasks(tasks, workers, None, lambda text: killed or tell(text))
    assert killed
    assert [result["value"] for result in done.results] == [0, 1]


def test_errors_come_back(cluster):
    workers = Workers(scheduler=cluster.scheduler_address)
    with pytest.raises(InputError, match=r"^3 is too many$"):
        run_tasks([task(refuse, 3)], workers, None, print)
    with pytest.raises(UndecidedError, match="its process was ended by SIGKILL"):
        run_tasks([task(die, 4)], workers, None, print)


def test_reproduce_on_a_cluster(cluster):
    asked = ("reproduce", "switchfc-fig9", "--smoke")
    here = certree(*asked, "--jobs", "1")
    assert here.code == 0
    assert certree(*asked, "--scheduler", cluster.scheduler_address).out == here.out


def test_another_version_on_the_workers(cluster, monkeypatch):
    monkeypatch.setattr(cluster_module, "program_digest", lambda: "another")
    with pytest.raises(InputError, match=r"the worker tcp://.* has another version of certree"):
        next(Workers(scheduler=cluster.scheduler_address).run([task(refuse, 1)]))


def test_a_scheduler_that_cannot_be_reached(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.5)
    outcome = certree("sweep", written(tmp_path, **FEW, **NO_OTHERS), "-o", tmp_path / "out", "--scheduler", "tcp://127.0.0.1:9")
    assert_bad_input(outcome, "the scheduler tcp://127.0.0.1:9 cannot be reached: ")
    assert not list((tmp_path / "out" / "cells").iterdir())


SUBMIT = """#!/bin/bash
# runs the job script at once, as a batch system with free nodes would
last="${@: -1}"
[ -f "$last" ] && cp "$last" "$0.$$" || cat > "$0.$$"
bash "$0.$$" > /dev/null 2>&1 &
echo "Submitted batch job $!"
"""
CANCEL = """#!/bin/bash
for job in "$@"; do pkill -P "$job"; kill "$job"; done 2> /dev/null
exit 0
"""


def test_jobs_of_a_batch_system(local, tmp_path, monkeypatch):
    """sbatch and scancel stand for Slurm: the job scripts of dask-jobqueue run on this computer."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("sbatch", SUBMIT), ("scancel", CANCEL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755 | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    assert dask_jobqueue.SLURMCluster
    with dask.config.set({"jobqueue.slurm.interface": "lo"}):
        done = certree("sweep", written(tmp_path, **FEW, **NO_OTHERS), "-o", tmp_path / "out", "--cluster", "slurm", "--workers", 2)
    assert done.code == 0, done
    assert contents(tmp_path / "out") == local
    assert len(list(folder.glob("sbatch.*"))) == 2


@pytest.mark.parametrize(("name", "command"), [("slurm", "sbatch"), ("pbs", "qsub"), ("lsf", "bsub")])
def test_no_batch_system(tmp_path, monkeypatch, name, command):
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = certree("sweep", written(tmp_path, **FEW, **NO_OTHERS), "-o", tmp_path / "out", "--cluster", name, "--workers", 1)
    assert outcome.code == 69
    assert outcome.err == f"error: --cluster {name} needs {command}, which is not installed here\n"
