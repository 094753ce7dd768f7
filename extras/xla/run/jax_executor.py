"""`certree execute --on jax`: a schedule on CPU devices of JAX, in a process of its own.

XLA reads how many devices it makes of a CPU when it starts, so that this process would have to have asked for them before.
"""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from certree.api.api_errors import ExecutionError
from certree.extras.runtimes.model.layout import Layout
from certree.extras.runtimes.run.executors import EXECUTORS, Results, Task
from certree.extras.runtimes.run.local import Outcome
from certree.extras.xla.make.permutes import lower_to_permutes
from certree.extras.xla.model.child_process import OvertimeError, cpu_environment, last_line, run_script
from certree.extras.xla.model.jax_module import written_module
from certree.extras.xla.model.template_module import collective_name, function_name
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
        own = task.schedule.collective == Collective(CollectiveKind.ALL_REDUCE)
        outcomes, done = run_module(task, program.layout, written_module(program), devices, own=own)
        more = {"on": "jax", "permutes": program.permutes, "jax_version": done["jax"], "platform": done["platform"]}
        more |= {name: done[name] for name in ("stablehlo_bytes", "compile_seconds", "own_seconds")}
        return Results(outcomes, more, _words(more))


def devices_for(task: Task, ranks: int, most: int) -> int:
    """How many devices are made for a task; InputError for fewer than ranks, and for more than `most`."""
    if task.devices is not None and task.devices < ranks:
        raise InputError(f"{task.devices} devices; {task.schedule.topology.name} has {ranks} endpoints")
    devices = task.devices or ranks
    if devices > most:
        raise InputError(f"{devices} devices of this computer; allowed: up to {most}")
    return devices


def run_module(
    task: Task, layout: Layout, text: bytes, devices: int, threads: int | None = None, **stated: bool
) -> tuple[list[Outcome], dict[str, Any]]:
    """The outcomes of a module for a collective, and what `done.json` says. `stated`: whether there is a kernel to `interpret`, and
    whether JAX's `own` all-reduce is timed, too. Errors and `threads` as `_run_in_child`."""
    arrays = Arrays(task.schedule, task.duties, task.type)
    told = {"function": function_name(collective_name(layout)), "type": task.type, "operation": task.operation}
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "module.py").write_bytes(text)
        np.save(folder / "x.npy", arrays.inputs())
        (folder / "task.json").write_text(json.dumps({**told, "iterations": task.iterations, **stated}))
        done = _run_in_child(folder, devices, layout.ranks, task.seconds, threads)
        digests = arrays.digests(np.load(folder / "y.npy"))
    return [Outcome(found, done["seconds"]) for found in digests], done


def _run_in_child(folder: Path, devices: int, ranks: int, seconds: float, threads: int | None = None) -> dict[str, Any]:
    """Start the process, wait for it, and return what `done.json` says; ExecutionError where it fails or needs more seconds.

    `threads`: of XLA on the CPU, by default as many as it takes itself.
    """
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}".strip()
    environment = cpu_environment("JAX_DISABLE_JIT") | {"XLA_FLAGS": flags}
    environment |= {} if threads is None else {"NPROC": str(threads)}
    try:
        done = run_script("certree.extras.xla.run:jax_child.py", folder, seconds, environment)
    except OvertimeError:
        raise _failed(ranks, "the devices of JAX did not end within the time limit") from None
    if done.returncode or not (folder / "done.json").exists():
        said = last_line(done) or "it said nothing"
        raise _failed(ranks, f"the process of JAX ended, exit code {done.returncode}: {said}")
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
