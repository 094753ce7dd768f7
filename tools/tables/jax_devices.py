"""`python -m tools.tables.jax_devices [PART ...]`: schedules on CPU devices of JAX, the tables of docs/benchmarks/jax.md.

Parts are `networks`, `forms` and `methods` (tools/tables/jax_methods.py), by default all: about half an hour of CPU time. Every
execution has a process of its own, and a wrong result ends the program.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import certree.api as ct
from certree.cli.words.terminal import note
from certree.extras.runtimes.run.executing import Executed
from certree.models.schedule.collective import WITH_ONE_ROOT
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from tests.end_to_end.composition.forms import FORMS
from tests.extras.runtimes.make.test_round_trips import METHODS
from tools.tables.jax_methods import method_lines

NETWORKS = ("ring:4", "torus:2x4", "torus:4x4", "torus:8x8")
REDUCING = ("reducing", "fine-reducing")  # a switch is no device
SIZE, ITERATIONS = "64KiB", 3
COLUMNS = "devices | messages | permutes | StableHLO | compiled in | run in |"


def executed(schedule: AnySchedule, name: str) -> Executed:
    """A schedule on devices of JAX. AssertionError where a result is wrong, or has other bits than one process that adds in the
    order of the schedule."""
    found = ct.execute(schedule, on="jax", size=SIZE, iterations=ITERATIONS, time_limit="600s")
    if not found.right or not found.exact:
        raise AssertionError(f"{name}: wrong")
    note(f"{name}: right, compiled in {found.more['compile_seconds']:.1f} s")
    return found


def cells(found: Executed) -> str:
    """The cells of an execution."""
    devices, messages = len(found.schedule.topology.endpoints), found.schedule.transfers * found.schedule.repeats
    size, seconds = found.more["stablehlo_bytes"] / 1e6, found.more["compile_seconds"]
    counts = f"{devices} | {messages:,} | {found.more['permutes']:,}"
    return f"{counts} | {size:.2f} MB | {seconds:.1f} s | {1e3 * min(found.seconds):.1f} ms"


def network_lines() -> Iterator[str]:
    """Networks and collectives."""
    yield f"| network | collective | method | {COLUMNS}"
    yield "|---|---|---|---|---|---|---|---|---|"
    for network in NETWORKS:
        for kind, method in METHODS.items():
            made = ct.synthesize(network, kind, root=1 if kind in WITH_ONE_ROOT else None, method=method, size=SIZE)
            yield f"| `{network}` | {kind} | {method} | {cells(executed(made, f'{network} {kind}'))} |"


def form_lines() -> Iterator[str]:
    """The forms of schedules that modules for JAX have."""
    yield f"| form | what it is | {COLUMNS}"
    yield "|---|---|---|---|---|---|---|---|"
    for name, form in FORMS.items():
        if name in REDUCING:
            continue
        with TemporaryDirectory() as folder:
            made = ct.load(form.write(Path(folder)))
        yield f"| {name} | {form.about} | {cells(executed(made, name))} |"


PARTS: dict[str, Callable[[], Iterator[str]]] = {"networks": network_lines, "forms": form_lines, "methods": method_lines}


if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        for line in PARTS[part]():
            print(line, flush=True)
        print()
