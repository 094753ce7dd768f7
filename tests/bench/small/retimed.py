"""Paced runs and contention-free tables of the same transfers: cycles of `retime` with from=paced over those of the paced run.

    python -m tests.bench.small.retimed FOLDER [NETWORK ...] [--methods "multitree;ring,bidirectional=true"] [--sizes 65537,1MiB]

All-reduces on machine multitree. The paced run is that of lanes that serve whole messages, as in `tests.bench.small.curve`. Tables
are written, read back and run; what has contention, late rows or other cycles is marked. Tables with planned waits run on lanes,
where the contention is to be those waits. Cells are kept in FOLDER.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

from certree.api.workers import Workers
from certree.extras.workers.batch import run_tasks
from certree.extras.workers.store import Store
from certree.extras.workers.task import Task
from certree.models.common.errors import CertreeError
from certree.models.common.quantities import parse_size
from certree.models.fine.slots import fine_times
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import load_methods
from certree.synth.monitor import Monitor
from tests.bench.small.curve import NETWORKS, from_tables, paced, request_of

METHODS = ("multitree", "cps", "halving-doubling", "ring,bidirectional=true")
SIZES = (65537, 1 << 20)


def compared(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Cycles of the paced run of a method's transfers (`paced`), of the source in slots, and of its retimed tables (`fine`), with
    CPU seconds, and the cycles of all planned waits (`waits`); the reason where there is none."""
    request, methods = request_of(arguments), load_methods()
    name, *given = arguments["method"].split(",")
    options = dict(one.split("=") for one in given)
    try:
        source = written_out(methods[name](replace(request, options=options, monitor=Monitor())))
        before, start = paced(source, request), process_time()
        made = methods["retime"](replace(request, options={"of": arguments["method"], "from": "paced"}, monitor=Monitor()))
        spent, cycles = process_time() - start, request.cycles(made)
        request.require_runnable(made)
    except CertreeError as error:
        return {"reason": str(error)}
    found = {"paced": before, "slots": request.cycles(source), "fine": cycles, "cpu_seconds": round(spent, 1)}
    if made.slot_cycles is None:
        return found
    waits = int(fine_times(made).reservations.wait.sum())
    run = from_tables(made, request)
    return found | {"planned": (run.contention_cycles, run.late, run.cycles) == (waits, 0, cycles), "waits": waits}


def rows(folder: Path, networks: tuple[str, ...], methods: tuple[str, ...], sizes: tuple[int, ...]) -> Iterator[str]:
    """A line of a table in Markdown for each network, size and method that has one."""
    store = Store(folder)
    for network in networks:
        for size in sizes:
            for method in methods:
                where = {"network": network, "collective": "all-reduce", "size": size, "method": method}
                task = Task(f"retimed {network} {size} {method}", compared, where)
                found = run_tasks([task], Workers.of(1), store, lambda _: None).results[0]
                if "reason" in found or found["paced"] is None:
                    yield f"| `{network}` | {size:,} | `{method}` | {found.get('reason', 'no paced run')} |"
                    continue
                over = found["fine"] / found["paced"]
                yield (
                    f"| `{network}` | {size:,} | `{method}` | {found['slots']:,} | {found['paced']:,} | {found['fine']:,} | "
                    f"{over:.4f} | {found['cpu_seconds']} |{' slower' * (over > 1)}{' waits' * (found.get('waits', 0) > 0)}"
                    f"{'' if found.get('planned', True) else ' not as planned'}"
                )


def run(smoke: bool) -> None:
    """The cells that the arguments name."""
    words = ["/tmp/none", "torus:3x3"] if smoke else sys.argv[1:]
    given = dict(pairwise(words))
    networks = tuple(word for word in words[1:] if word in NETWORKS) or NETWORKS
    methods = tuple(given["--methods"].split(";")) if "--methods" in given else METHODS
    sizes = tuple(map(parse_size, given["--sizes"].split(","))) if "--sizes" in given else SIZES
    for line in rows(Path(words[0]), networks, methods, sizes):
        print(line, flush=True)


if __name__ == "__main__":
    run(smoke=False)
