"""`certree execute --on jax`: a schedule on CPU devices of JAX, in a process of its own.

XLA reads how many devices it makes of a CPU when it starts, so that this process would have to have asked for them before.
"""

import json
import os
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from certree.api.api_errors import ExecutionError
from certree.extras.runtimes.run.executors import EXECUTORS, Results, Task
from certree.extras.runtimes.run.local import Outcome
from certree.extras.xla.make.permutes import lower_to_permutes
from certree.extras.xla.model.jax_module import collective_name, function_name, written_module
from certree.extras.xla.model.permute_program import PermuteProgram
from certree.extras.xla.run.arrays import Arrays
from certree.extras.xla.run.modules import require_jax
from certree.models.common.errors import InputError
from certree.models.schedule.collective import Collective, CollectiveKind

MOST_DEVICES = 256  # of one CPU


@EXECUTORS.register("jax")
class JaxExecutor:
    """Devices that JAX makes of the CPU of this computer: the module of `certree export --format jax`, in `shard_map`."""

    def execute(self, task: Task) -> Results:
        """Execute the module in a process of its own."""
        require_jax()
        program = lower_to_permutes(task.schedule)
        devices = devices_for(task, program.ranks, MOST_DEVICES)
        arrays = Arrays(task.schedule, task.duties, task.type)
        with TemporaryDirectory() as temporary:
            folder = Path(temporary)
            (folder / "module.py").write_bytes(written_module(program))
            np.save(folder / "x.npy", arrays.inputs())
            (folder / "task.json").write_text(json.dumps(_stated(task, program)))
            done = run_in_child(folder, devices, program.ranks, task.seconds)
            digests = arrays.digests(np.load(folder / "y.npy"))
        outcomes = [Outcome(found, done["seconds"]) for found in digests]
        more = {"on": "jax", "permutes": program.permutes, "jax_version": done["jax"], "platform": done["platform"]}
        more |= {name: done[name] for name in ("stablehlo_bytes", "compile_seconds", "own_seconds")}
        return Results(outcomes, more, _words(more))


def _stated(task: Task, program: PermuteProgram) -> dict[str, Any]:
    own = task.schedule.collective == Collective(CollectiveKind.ALL_REDUCE)
    return {
        "function": function_name(collective_name(program.layout)),
        "type": task.type,
        "operation": task.operation,
        "iterations": task.iterations,
        "own": own,
    }


def devices_for(task: Task, ranks: int, most: int) -> int:
    """How many devices are made for a task; InputError for fewer than ranks, and for more than `most`."""
    if task.devices is not None and task.devices < ranks:
        raise InputError(f"{task.devices} devices; {task.schedule.topology.name} has {ranks} endpoints")
    devices = task.devices or ranks
    if devices > most:
        raise InputError(f"{devices} devices of this computer; allowed: up to {most}")
    return devices


def run_in_child(folder: Path, devices: int, ranks: int, seconds: float, threads: int | None = None) -> dict[str, Any]:
    """Start the process, wait for it, and return what `done.json` says; ExecutionError where it fails or needs more seconds.

    `threads`: of XLA on the CPU, by default as many as it takes itself.
    """
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}".strip()
    environment = {name: value for name, value in os.environ.items() if name != "JAX_DISABLE_JIT"}
    environment |= {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"} | ({} if threads is None else {"NPROC": str(threads)})
    with as_file(files("certree.extras.xla.run") / "jax_child.py") as child:
        try:
            done = subprocess.run(
                [sys.executable, "-P", str(child), str(folder)], env=environment, capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise _failed(ranks, "the devices of JAX did not end within the time limit") from None
    if done.returncode or not (folder / "done.json").exists():
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise _failed(ranks, f"the process of JAX ended, exit code {done.returncode}: {lines[-1]}")
    found: dict[str, Any] = json.loads((folder / "done.json").read_text())
    return found


def _failed(ranks: int, text: str) -> ExecutionError:
    """The error of all ranks, which are in one process, told once."""
    return ExecutionError((text,) * ranks, text)


def _words(more: dict[str, Any]) -> str:
    """A line for people."""
    own = "" if more["own_seconds"] is None else f"; JAX's own all-reduce {1e3 * min(more['own_seconds']):.3g} ms at best"
    return (
        f"JAX {more['jax_version']} on {more['platform']} devices of this computer: {more['permutes']:,} permutes an iteration,"
        f" {more['stablehlo_bytes']:,} bytes of StableHLO, compiled in {more['compile_seconds']:.2g} s{own}"
    )
