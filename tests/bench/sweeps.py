"""What a sweep costs besides its cells: planning, starting a cell, waiting, Dask.

    python -m tests.bench.sweeps [plan] [overhead] [efficiency] [cluster]

`plan`: seconds and peak memory of 100,000 cells. `overhead`: wall time of a task that does nothing, on a host that runs already,
with its result written. `efficiency`: CPU time of cells over that of all processes, and over the wall time of all workers; the
latter means something on a quiet computer only, so the load is printed. `cluster`: tasks per second through a Dask scheduler with
two workers.
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from certree.api.workers import Workers
from certree.extras.sweeps.run.plan import SweepPlan
from certree.extras.sweeps.run.running import sweep
from certree.extras.sweeps.run.specification import read_specification
from certree.extras.workers.store import Store
from certree.extras.workers.task import Task

MANY = {
    "networks": [f"torus:{size}x{size}" for size in range(3, 13)] + [f"mesh:{size}x{size}" for size in range(3, 13)],
    "sizes": [f"{1 << power}KiB" for power in range(10)],
    "methods": ["auto", "packing", "multitree", "ring", "halving-doubling"],
    "seeds": list(range(10)),
    "failures": [0, 1, 2, 3],
    "draws": 3,
}
WORK = {
    "networks": ["torus:6x6", "mesh:6x6", "torus:5x7", "mesh:5x7"],
    "sizes": ["64KiB", "256KiB", "1MiB", "4MiB", "16MiB"],
    "methods": ["packing"],
    "runs": ["none"],
    "seeds": [0, 1],
}
TRIVIAL = 1000


def nothing(arguments: dict[str, int]) -> dict[str, int]:
    """No work."""
    return {"number": arguments["number"]}


def trivial() -> list[Task]:
    """Tasks without work."""
    return [Task(f"{number}", nothing, {"number": number}) for number in range(TRIVIAL)]


def plan() -> None:
    """Planning of 100,000 cells."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    cells = len(SweepPlan(read_specification(MANY)).cells)
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = time.monotonic() - began
    print(f"plan: {cells:,} cells, {used.ru_utime - before:.1f} CPU s, {seconds:.1f} s, peak {used.ru_maxrss / 1024:.0f} MB")


def overhead() -> None:
    """A task that does nothing, its file written."""
    with tempfile.TemporaryDirectory() as folder:
        store, first, before = Store(Path(folder)), 0.0, _cpu_seconds()
        for count, (task, outcome) in enumerate(Workers(1).run(trivial())):
            if not count:
                first = time.monotonic()  # the host is there
            store.keep(task.key, outcome.value(), outcome)
        each, used = (time.monotonic() - first) / (TRIVIAL - 1), (_cpu_seconds() - before) / TRIVIAL
    print(f"overhead: {1000 * each:.1f} ms, {1000 * used:.1f} CPU ms per cell, load {os.getloadavg()[0]:.1f}")


def efficiency() -> None:
    """One worker and two: CPU time of cells, of everything, and wall time."""
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            before, began = _cpu_seconds(), time.monotonic()
            done = sweep(WORK, Path(folder) / "out", workers=workers)
            wall, total = time.monotonic() - began, _cpu_seconds() - before
        print(
            f"efficiency, {workers} worker(s): {done.ran} cells, {done.cpu_seconds:.1f} CPU s in cells, {total:.1f} in all"
            f" ({100 * done.cpu_seconds / total:.1f} %), {wall:.1f} s ({100 * done.cpu_seconds / wall / workers:.1f} % of the"
            f" workers' time), load {os.getloadavg()[0]:.1f}"
        )


def _cpu_seconds() -> float:
    """CPU time of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def cluster() -> None:
    """Tasks without work through Dask, from the first result to the last; and the CPU time of scheduler and client for each."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50) as workers:
        first, before = 0.0, 0.0
        for count, (_task, outcome) in enumerate(Workers(scheduler=workers.scheduler_address).run(trivial())):
            outcome.value()
            if not count:
                first, before = time.monotonic(), time.process_time()
        seconds, used = time.monotonic() - first, time.process_time() - before
    print(
        f"cluster: {1000 * used / TRIVIAL:.2f} CPU ms per cell in scheduler and client, {TRIVIAL / seconds:.0f} cells per second"
        f" with two workers, load {os.getloadavg()[0]:.1f}"
    )


def run(smoke: bool) -> None:
    """All of them, or what takes seconds."""
    for part in (overhead,) if smoke else (plan, overhead, efficiency, cluster):
        part()


def main() -> None:
    """Run the benchmarks that the command line names, or all."""
    known = {part.__name__: part for part in (plan, overhead, efficiency, cluster)}
    for name in sys.argv[1:] or known:
        known[name]()


if __name__ == "__main__":
    from tests.bench import sweeps  # workers find functions by the name of their module

    sweeps.main()
