"""Where time is far above the time bound: whether the bound or the schedule is weak, by exhaustive search on small networks.

    python -m tests.bench.small.shortest [NETWORK ...] [--granules=1,2,4]

A line for each network, collective and number of granules: the time bound, the fewest cycles of any run, whatever its scratch
buffers, routes and sizes of messages (`tests/verify/bounds/test_shortest_runs.py`), and the cycles of method auto, on a machine
with short links, all of one length, and quick sums.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace

from certree.models.schedule.collective import CollectiveKind
from certree.synth.method import load_methods
from tests.bench.choice import requests_for
from tests.verify.bounds.test_shortest_runs import QUICK, Runs, all_bounds, best_time, of_instance

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "broadcast")
NETWORKS = (
    "ring:3",
    "ring:4",
    "mesh:1x3",
    "mesh:1x4",
    "switch:3",
    "switch:4",
    "tree:2x2",
    "fattree:2x2",
    "mesh:2x2,without-link=0-1",
    "ace-torus:2x2x1",
    "ace-alltoall:2x2",
)
GRANULES = (1, 2, 4)
MOST = 40  # cycles that are tried
SHARED = ("all-gather", "reduce-scatter")  # of whose message each endpoint has a share


def row(network: str, kind: str, granules: int) -> tuple[int, int, int]:
    """Time bound, the fewest cycles of any run, those of method auto."""
    request = replace(requests_for(network, CollectiveKind(kind), [granules])[0], machine=QUICK)
    if kind == "broadcast":
        request = replace(request, collective=of_instance(network, kind, granules, QUICK).instance.collective)
    of = of_instance(network, kind, granules, QUICK)
    request = replace(request, topology=of.instance.topology)
    bound = best_time(of, all_bounds(of))
    made = request.cycles(load_methods()["auto"](request))
    fewest = next(cycles for cycles in range(bound, MOST) if cycles >= made or Runs(of, cycles).exist())
    return bound, fewest, made


def lines(networks: tuple[str, ...], granules: tuple[int, ...]) -> Iterator[str]:
    """The table in Markdown."""
    yield "| network | collective | granules | time bound | fewest cycles | auto | fewest / bound | auto / fewest |"
    for network in networks:
        endpoints = len(requests_for(network, CollectiveKind.ALL_GATHER, [1])[0].members)
        for kind in COLLECTIVES:
            for number in granules:
                size = number * endpoints if kind in SHARED else number
                bound, fewest, made = row(network, kind, size)
                ratios = f"{fewest / bound:.3f} | {made / fewest:.3f}"
                yield f"| `{network}` | {kind} | {size} | {bound} | {fewest} | {made} | {ratios} |"


def run(smoke: bool) -> None:
    """The networks that the arguments name, or all."""
    words = [] if smoke else sys.argv[1:]
    named = tuple(word for word in words if not word.startswith("-"))
    given = [word.removeprefix("--granules=").split(",") for word in words if word.startswith("--granules=")]
    granules = tuple(map(int, given[0])) if given else GRANULES
    for line in lines(("ring:3",) if smoke else named or NETWORKS, granules[: 1 if smoke else None]):
        print(line, flush=True)


if __name__ == "__main__":
    run(smoke=False)
