"""`mpirun -n N certree execute`, where mpirun and mpi4py are installed."""

import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import certree

MPIRUN = shutil.which("mpirun")
pytestmark = pytest.mark.skipif(
    MPIRUN is None or importlib.util.find_spec("mpi4py") is None, reason="mpirun or mpi4py is not installed (certree[mpi])"
)
PROGRAM = [sys.executable, "-c", "from certree.cli.main import main; main()", "execute"]


#: the same, but rank 1 is killed soon after it starts
KILLED = [
    sys.executable,
    "-c",
    "import os, signal, threading\n"
    "from mpi4py import MPI\n"
    "from certree.cli.main import main\n"
    "if MPI.COMM_WORLD.Get_rank() == 1: threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()\n"
    "main()",
    "execute",
]


def mpirun(processes: int, *arguments: object, program: list[str] = PROGRAM) -> subprocess.CompletedProcess[str]:
    command = [str(MPIRUN), "--allow-run-as-root", "--oversubscribe", "-n", str(processes), *program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mpi") / "s.json"
    assert certree("synthesize", "ring:3", "--method", "ring", "--size", "6KiB", "-o", path).code == 0
    return path


def test_all_ranks(made: Path) -> None:
    done = mpirun(3, made, "--iterations", 1, "--rank-map", "2,0,1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("right: all-reduce on ring:3, made by ring\n")
    assert "MPI's own all-reduce" in done.stdout


def test_bits_of_an_order(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    assert certree("synthesize", "hypercube:2", "--method", "halving-doubling", "--size", "64KiB", "-o", path).code == 0
    done = mpirun(4, path, "--iterations", 1, "--type", "bfloat16", "--json")
    assert done.returncode == 0, done.stderr
    assert '"in_order": true' in done.stdout


def test_errors(made: Path) -> None:
    late = mpirun(3, made, "--time-limit", "1ms")
    assert late.returncode != 0
    assert "within the time limit" in late.stderr
    assert all(f"error: rank {rank}: " in late.stderr for rank in range(3))
    few = mpirun(2, made)
    assert few.returncode == 2
    assert "mpirun started 2 processes; ring:3 has 3 endpoints" in few.stderr


def test_a_rank_that_dies_ends_all(made: Path) -> None:
    """MPI ends the others at once: nobody waits for the dead rank, and mpirun says which one it was."""
    start = time.monotonic()
    dead = mpirun(3, made, "--iterations", 10000, "--time-limit", "30s", program=KILLED)
    assert time.monotonic() - start < 30
    assert dead.returncode != 0
    assert "right:" not in dead.stdout
    assert "signal 9" in dead.stderr
