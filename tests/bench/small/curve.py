"""certree's best schedules from 256 B to 1 GiB: time from tables over the time bound, and the fastest paced or published run.

    python -m tests.bench.small.curve FOLDER [NETWORK ...] [--collectives all-reduce] [--sizes 1000,1MiB] [--without-others]
                                      [--order one]

Each cell is what method auto finds for a network, a collective and a size on machine multitree. Its tables are written, read back
and run in slots, through routers where these matter, with right data, or AssertionError. The cycles of the run count; cells with
contention, late rows, or other cycles by closed form are listed. It is compared with the published algorithms, each in
slots and paced on lanes that serve whole messages, and with its own paced run; what its loads alone make slower is not run. Cells
are kept in FOLDER, and the same call resumes there. CPU seconds are those of the synthesis, without certificate. `--order`: of
additions, which all schedules must have; the time bound is still that of any order.
"""

import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from certree.api.evidence import certified_or_fail
from certree.api.reports.text import size_words
from certree.api.reports.time_bounds import time_bound
from certree.api.workers import Workers
from certree.extras.orders.make.orders import wanted_order
from certree.extras.workers.batch import run_tasks
from certree.extras.workers.store import Store
from certree.extras.workers.task import Task
from certree.hw.engines.runs import Options, Run
from certree.hw.run import run as run_schedule
from certree.hw.run import tables_or_plan
from certree.models.common.errors import CertreeError
from certree.models.common.quantities import parse_size
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.paths import route_of
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.schedule.timing import chunk_bytes_of, serialization_cycles
from certree.models.tables.tables import Tables
from certree.synth.method import Request, load_methods
from tests.bench.choice import label_of, made, requests_for, rivals

NETWORKS = (
    "torus:4x4", "torus:8x8", "torus:4x4x4", "mesh:4x4", "mesh:8x8", "torus:8x8,without-link=0-1", "hypercube:4", "dgx1", "dgx2",
    "fattree:4x4", "bigraph:4x8", "leafspine:3x2x4@2", "tree:4x4@10", "switch-fc:2x2x4x2", "hier-torus:2x2x4", "ace-torus:4x2x2",
    "ace-alltoall:4x2", "torus:16x16",
)  # fmt: skip
EIGHT = (
    "torus:4x4",
    "mesh:4x4",
    "torus:8x8,without-link=0-1",
    "dgx1",
    "dgx2",
    "fattree:4x4",
    "leafspine:3x2x4@2",
    "ace-torus:4x2x2",
)
SIZES = (256, 1000, 4096, 16384, 65537, 1 << 18, 1 << 20, 1 << 24, 1 << 30)
OTHERS = ("all-gather", "reduce-scatter", "broadcast")
MOST_RIVALS = 128  # endpoints up to which all published algorithms are run; beyond, MultiTree
FAR = 2  # times the time bound


@dataclass(frozen=True)
class Cell:
    """A network, a collective and a size, and what was found; `others`: the cycles of what is faster, by name."""

    network: str
    collective: str
    size: int
    found: Mapping[str, Any]
    others: Mapping[str, int]

    @property
    def over(self) -> Fraction:
        """Cycles over the time bound."""
        return Fraction(self.found["cycles"], self.found["bound"])

    def __str__(self) -> str:
        found = self.found
        return (
            f"{self.network}, {self.collective}, {size_words(self.size)}: {found['cycles']:,} cycles, bound {found['bound']:,}, "
            f"{float(self.over):.3f}, {found['method']}, {found['cpu_seconds']:.1f} CPU s"
        )


def request_of(arguments: Mapping[str, Any]) -> Request:
    """On the preset machine; roots are the second endpoint."""
    request = requests_for(arguments["network"], CollectiveKind(arguments["collective"]), [arguments["size"]])[0]
    order = arguments.get("order")
    return request if order is None else replace(request, order=wanted_order(order, request.topology, request.collective))


def best(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The label of what auto picks, its cycles from tables, the time bound and the CPU seconds of auto."""
    request, start = request_of(arguments), process_time()
    schedule = load_methods()["auto"](request)
    spent = process_time() - start
    assert request.is_in_order(schedule), "another order"
    certified, verdict = certified_or_fail(request.remember(schedule))
    run, closed_form = from_tables(certified, request), request.cycles(schedule)
    label = schedule.provenance["auto"]["why"].split(": ")[0]
    bound = time_bound(certified, verdict.quality, request.message_bytes, request.machine)["time_bound_cycles"]
    found = {"method": label, "cycles": run.cycles, "bound": bound, "cpu_seconds": round(spent, 1), "closed_form": closed_form}
    found |= {"contention": run.contention_cycles, "late": run.late}
    return found | {"program": schedule.provenance.get("program"), "paced": paced(schedule, request)}


def from_tables(schedule: AnySchedule, request: Request) -> Run:
    """A run in slots of tables that were written and read back, on lanes if they have planned waits; of a plan where there are no
    tables."""
    source = tables_or_plan(schedule, request.message_bytes, request.machine)
    waits = isinstance(source, Tables) and source.waits is not None
    run = run_schedule(source, Options(mode="slotted", without_routers=waits))
    assert run.data_ok, "wrong data"
    return run


def paced(schedule: AnySchedule, request: Request) -> int | None:
    """Cycles of a paced run on lanes; None where there is none."""
    with suppress(CertreeError):
        source = tables_or_plan(schedule, request.message_bytes, request.machine, files=False)
        run = run_schedule(source, Options(mode="paced", without_routers=True))
        return run.cycles if run.data_ok else None
    return None


def against(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The fewest cycles of each published algorithm that takes less than `bar`, in slots or paced."""
    request, bar, faster = request_of(arguments), arguments["bar"], {}
    for name, options in rivals(request.topology):
        if len(request.members) > MOST_RIVALS and name != "multitree":
            continue
        schedule = _rival(arguments["network"], arguments["collective"], request.message_bytes, name, tuple(options.items()))
        if schedule is None or least_load(schedule, request) >= bar:
            continue
        times = [paced(schedule, request)]
        with suppress(CertreeError):
            times.append(request.cycles(schedule))
        if (cycles := min((one for one in times if one is not None), default=bar)) < bar:
            faster[label_of(name, options)] = cycles
    return faster


@lru_cache(maxsize=64)
def _rival(network: str, kind: str, size: int, name: str, options: tuple[tuple[str, str], ...]) -> AnySchedule | None:
    if not load_methods()[name].is_sized and size != SIZES[0]:
        return _rival(network, kind, SIZES[0], name, options)
    schedule = made(request_of({"network": network, "collective": kind, "size": size}), name, dict(options))
    return None if schedule is None else written_out(schedule)


def least_load(schedule: AnySchedule, request: Request) -> int:
    """Cycles in which the busiest link carries its messages."""
    whole, topology = written_out(schedule), request.topology
    _, pair = route_of(topology, whole.src, whole.dst, whole.route, whole.routes)
    load = np.bincount(pair[pair >= 0], minlength=len(topology.pair_capacity))
    most = -(-load * whole.repeats // topology.pair_capacity).max()
    size = chunk_bytes_of(request.message_bytes, whole.chunks, whole.repeats, request.machine)
    return int(most) * serialization_cycles(size, request.machine, topology.scale)


def cells(
    folder: Path, places: Iterable[tuple[str, str]], sizes: Sequence[int], *, compare: bool, order: str | None = None
) -> Iterator[Cell]:
    """A cell for each network, collective and size."""
    store = Store(folder)
    wanted = {} if order is None else {"order": order}
    for network, collective in places:
        for size in sizes:
            where = {"network": network, "collective": collective, "size": size} | wanted
            found = _kept(store, best, where)
            others = _kept(store, against, where | {"bar": found["cycles"]}) if compare else {}
            if found["paced"] is not None and found["paced"] < found["cycles"]:
                others = {**others, "itself, paced": found["paced"]}
            yield Cell(network, collective, size, found, others)


def _kept(store: Store, function: Callable[[Mapping[str, Any]], dict[str, Any]], arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """What this program made of these arguments before, or makes now."""
    task = Task(f"{function.__name__} {' '.join(map(str, arguments.values()))}", function, arguments)
    return run_tasks([task], Workers.of(1), store, lambda _: None).results[0]


def tables(found: Sequence[Cell]) -> Iterator[str]:
    """Lines in Markdown: for each collective time / time bound by network and size, the mean, and the cells that stand out."""
    for collective in dict.fromkeys(cell.collective for cell in found):
        those = [cell for cell in found if cell.collective == collective]
        sizes = sorted({cell.size for cell in those})
        yield f"\n## {collective}\n"
        yield f"| network | {' | '.join(map(size_words, sizes))} | most CPU s |"
        yield "|---" * (len(sizes) + 2) + "|"
        for network in dict.fromkeys(cell.network for cell in those):
            row = {cell.size: cell for cell in those if cell.network == network}
            ratios = " | ".join(f"{float(row[size].over):.3f}" if size in row else "" for size in sizes)
            yield f"| `{network}` | {ratios} | {max(cell.found['cpu_seconds'] for cell in row.values())} |"
        mean = math.exp(sum(math.log(cell.over) for cell in those) / len(those))
        yield f"\n{len(those)} cells, geometric mean {mean:.4f}; {sum(cell.over > FAR for cell in those)} above {FAR}\n"
        yield from (f"- far: {cell}" for cell in those if cell.over > FAR)
        for cell in those:
            run = cell.found
            if (run["contention"], run["late"], run["cycles"]) != (0, 0, run["closed_form"]):
                why = f"contention {run['contention']:,}, {run['late']:,} late, {run['closed_form']:,} cycles by closed form"
                yield f"- not as planned, {why}: {cell}"
        for cell in those:
            if cell.others:
                name = min(cell.others, key=lambda one: cell.others[one])
                yield f"- slower than {name}, {cell.others[name]:,} cycles: {cell}"


def run(smoke: bool) -> None:
    """The cells that the arguments name; a few in a temporary folder for a smoke run."""
    if smoke:
        with tempfile.TemporaryDirectory() as folder:
            print("\n".join(tables(list(cells(Path(folder), [("torus:3x3", "all-reduce")], SIZES[1:2], compare=True)))))
        return
    words = sys.argv[1:]
    given = dict(pairwise(words))
    named = [word for word in words[1:] if word in NETWORKS]
    kinds = given.get("--collectives", ",".join(("all-reduce", *OTHERS))).split(",")
    sizes = [*map(parse_size, given["--sizes"].split(","))] if "--sizes" in given else SIZES
    places = [(network, kind) for kind in kinds for network in named or (NETWORKS if kind == "all-reduce" else EIGHT)]
    found = []
    order = given.get("--order")
    for cell in cells(Path(words[0]), places, sizes, compare="--without-others" not in words and order is None, order=order):
        print(cell, *([dict(cell.others)] if cell.others else []), flush=True)
        found.append(cell)
    print("\n".join(tables(found)))


if __name__ == "__main__":
    run(smoke=False)
