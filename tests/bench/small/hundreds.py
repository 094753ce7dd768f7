"""Method auto among 65 to 512 endpoints, from 1 KiB to 1 MiB: cycles over the time bound, user seconds and memory.

    python -m tests.bench.small.hundreds [--smoke] [--run] [--collectives all-reduce,...] [--sizes 64KiB,...] [NETWORK ...]

Prints a Markdown table: a row for each network and collective with cycles over the time bound by size, the geometric mean next to
its aim, and the most user seconds and megabytes of a cell; then a line for each cell with the method picked. --run writes tables,
reads them back, and runs them through routers: rows that are late, contention and other cycles are named. Each cell runs in a
process of its own, one after the other, and has `priced.CELL_SECONDS` of the processor.
"""

import math
import resource
import sys
from itertools import pairwise
from typing import Any

from certree.api.evidence import certified_or_fail
from certree.api.reports.text import size_words
from certree.api.reports.time_bounds import time_bound
from certree.models.common.quantities import parse_size
from certree.synth.bounds.quick import quick_time_bound
from certree.synth.method import METHODS, load_methods
from tests.bench.small.curve import from_tables
from tests.bench.small.priced import in_own_process
from tests.synth.execution import ask

#: aims of the geometric mean for all-reduce, all-to-all, and the others
_SMALLER, _LARGER = (1.5, 1.25, 1.35), (2.0, 1.3, 1.5)
NETWORKS = {
    "fattree:8x16": _SMALLER,
    "dragonfly:9x4x2@2": _SMALLER,
    "hyperx:8x8@2": _SMALLER,
    "torus:4x4x8": _SMALLER,
    "jellyfish:128x8x1": _SMALLER,
    "h100:16": (1.9, 1.25, 1.35),
    "torus:8x8x8": _LARGER,
    "h100:64": _LARGER,
    "hyperx:8x8@8": _LARGER,
    "slimfly:11@2": _LARGER,
}
COLLECTIVES = ("all-reduce", "all-to-all", "broadcast", "all-gather", "reduce-scatter")
SIZES = tuple(1 << power for power in (10, 12, 14, 16, 18, 20))


def cell(network: str, collective: str, size: int, run: bool) -> dict[str, Any]:
    """What auto picks, its cycles and the time bound, user seconds and megabytes; with `run` what is wrong in a run."""
    load_methods()
    request = ask(network, collective, size, root=0 if collective == "broadcast" else None)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    made = METHODS["auto"](request)
    usage, cycles, told = resource.getrusage(resource.RUSAGE_SELF), request.cycles(made), made.provenance["auto"]
    found: dict[str, Any] = {"seconds": usage.ru_utime - start, "megabytes": usage.ru_maxrss >> 10, "cycles": cycles}
    bound = quick_time_bound(request)
    if collective == "all-to-all":  # the quick bound leaves out what all links carry together
        certified, verdict = certified_or_fail(request.remember(made))
        bound = max(bound, time_bound(certified, verdict.quality, size, request.machine)["time_bound_cycles"])
    found |= {"picked": told["why"].split(": fewest cycles")[0], "ratio": cycles / bound}
    found["program"] = made.provenance.get("program", "")
    if run:
        ran = from_tables(made, request)
        if (ran.contention_cycles, ran.late, ran.cycles) != (0, 0, cycles):
            found["wrong"] = f"{ran.cycles} cycles, contention {ran.contention_cycles}, {ran.late} late"
    return found


def rows(networks: tuple[str, ...], collectives: tuple[str, ...], sizes: tuple[int, ...], *, run: bool) -> None:
    """Print the table, row by row, and what was picked."""
    print("| network | collective |", *(f"{size_words(size)} |" for size in sizes), "mean | aim | most user s | most MB |")
    print("|---" * (len(sizes) + 6) + "|")
    lines: list[str] = []
    for network in networks:
        for collective in collectives:
            found = [in_own_process(cell, network, collective, size, run) for size in sizes]
            done = [one for one in found if "ratio" in one]
            mean = math.exp(sum(math.log(one["ratio"]) for one in done) / len(done)) if done else math.nan
            aims = NETWORKS.get(network, (math.nan,) * 3)
            aim = aims[{"all-reduce": 0, "all-to-all": 1}.get(collective, 2)]
            words = [f"{one['ratio']:.3f}" if "ratio" in one else "-" for one in found]
            most = [max((one[name] for one in done), default=math.nan) for name in ("seconds", "megabytes")]
            means = f"{mean:.3f}" + f" of {len(done)}" * (len(done) < len(sizes))
            print(f"| `{network}` | {collective} | {' | '.join(words)} | {means} | {aim} | {most[0]:.1f} | {most[1]} |", flush=True)
            for size, one in zip(sizes, found, strict=True):
                picked = f"{one['picked']}, {one['program']}, {one['cycles']} cycles" if "ratio" in one else one["error"]
                wrong = f"; run: {one['wrong']}" if "wrong" in one else ""
                spent = f"; {one['seconds']:.1f} s, {one['megabytes']} MB" if "ratio" in one else ""
                lines.append(f"- {network}, {collective}, {size_words(size)}: {picked}{spent}{wrong}")
    print("", *lines, sep="\n")


if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word not in ("--smoke", "--run")]
    given = {name: value for name, value in pairwise(arguments) if name.startswith("--")}
    named = tuple(word for word in arguments if not word.startswith("--") and word not in given.values())
    if "--smoke" in sys.argv:
        rows(("fattree:2x2",), COLLECTIVES[:2], SIZES[:1], run=True)
    else:
        kinds = tuple(given["--collectives"].split(",")) if "--collectives" in given else COLLECTIVES
        wanted = tuple(map(parse_size, given["--sizes"].split(","))) if "--sizes" in given else SIZES
        rows(named or tuple(NETWORKS), kinds, wanted, run="--run" in sys.argv)
