"""`certree execute --on pallas`: a schedule as a kernel of Pallas, interpreted on CPU devices of JAX, in a process of its own.

A device that waits on a semaphore blocks a thread of XLA, so there are several for each device; that of the process is killed when
the time is over.
"""

import numpy as np

from certree.api.reports.text import size_words
from certree.extras.pallas.make.kernel_plans import plan_of_schedule
from certree.extras.pallas.model.kernel_module import VMEM_BYTES, vmem_bytes, written_module
from certree.extras.runtimes.run.executors import EXECUTORS, Results, Task
from certree.extras.runtimes.run.numbers import TYPES
from certree.extras.xla.run.arrays import Arrays
from certree.extras.xla.run.jax_executor import devices_for, run_module
from certree.extras.xla.run.modules import require_jax
from certree.models.common.errors import UnsupportedError

MOST_DEVICES = 64  # of one CPU
THREADS = 4  # of XLA, for each device


@EXECUTORS.register("pallas")
class PallasExecutor:
    """Devices that JAX makes of the CPU of this computer: the kernel of `certree export --format pallas`, in interpret mode."""

    def execute(self, task: Task) -> Results:
        """Execute the module in a process of its own."""
        require_jax()
        plan = plan_of_schedule(task.schedule)
        devices = devices_for(task, plan.ranks, MOST_DEVICES)
        unit = Arrays(task.schedule, task.duties, task.type).unit
        used = vmem_bytes(plan, unit * np.dtype(TYPES[task.type]).itemsize)
        if used > VMEM_BYTES:
            size = size_words(task.message_bytes)
            raise UnsupportedError(
                f"a kernel for {size} takes {used:,} bytes of vector memory; allowed: up to {VMEM_BYTES:,}; --on jax takes any size"
            )
        outcomes, done = run_module(task, plan.layout, written_module(plan), devices, THREADS * devices, own=False, interpret=True)
        operations = sum(map(len, plan.operations))
        more = {"on": "pallas", "operations": operations, "jax_version": done["jax"], "platform": done["platform"]}
        more |= {"compile_seconds": done["compile_seconds"]}
        words = (
            f"JAX {more['jax_version']}, a kernel of Pallas interpreted on {more['platform']} devices of this computer:"
            f" {operations:,} operations an iteration, compiled in {done['compile_seconds']:.2g} s"
        )
        return Results(outcomes, more, words)
