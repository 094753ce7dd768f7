"""All-to-all, gather and scatter by method flows: bandwidth time and bound, simulated tables and time bound, CPU seconds.

The rows of docs/benchmarks/personalized.md; every run must have right data, no contention and no late rows. Networks may be named
as arguments: `python -m tests.bench.personalized dgx2 regular:3x32`, where `regular:DxN` is a random D-regular network.
"""

import sys
import tempfile
from pathlib import Path
from time import process_time

import networkx as nx

import certree.api as ct
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.network.topology_graph import topology_from_graph
from certree.models.schedule.schedule import Schedule
from certree.verify.verdict import Quality

NETWORKS = (
    "regular:3x32", "regular:4x32", "dgx1", "dgx2", "dgx2,without-link=0-16", "fattree:4x4", "fattree:4x4,without-link=16-20",
    "fattree:8x8", "leafspine:3x2x4@2", "leafspine:4x2x8@2", "mesh:8x8", "mesh:8x8,without-node=27", "switch:8", "torus:4x4x4",
    "torus:8x8", "torus:8x8,without-link=0-1", "torus:8x8,without-node=9", "torus:16x16", "mesh:16x16",
)  # fmt: skip
COLLECTIVES = ("all-to-all", "gather", "scatter")


def network(spec: str) -> Topology:
    """A network by name; `regular:DxN` is `networkx.random_regular_graph` with seed 1."""
    if not spec.startswith("regular:"):
        return parse_topology(spec)
    degree, nodes = map(int, spec.removeprefix("regular:").split("x"))
    return topology_from_graph(nx.random_regular_graph(degree, nodes, seed=1).to_directed(), spec)


def measured(made: Schedule) -> tuple[Quality, int, int]:
    """(quality, time bound, cycles from tables); AssertionError for a run that is late, contends for a link or has wrong data."""
    quality = ct.verify(made).quality
    assert quality is not None
    assert quality.time is not None
    with tempfile.TemporaryDirectory() as folder:
        seen = ct.simulate(ct.export(made, "json", Path(folder) / "tables"))
    assert seen.data_ok
    assert (seen.contention_cycles, seen.late) == (0, 0)
    return quality, quality.time[1], seen.cycles


def row(spec: str, collective: str) -> str:
    """A line of the table; AssertionError for a run that is late, contends for a link or has wrong data."""
    topology, start = network(spec), process_time()
    made = ct.synthesize(topology, collective, method="flows", size="64MiB", root=None if collective == "all-to-all" else 0)
    spent = process_time() - start
    quality, least, cycles = measured(made)
    rate, bound = quality.bandwidth_time, quality.bandwidth_bound
    over = float(rate / bound - 1)
    name = f"`{spec}`"
    if spec.startswith("regular:"):
        name = "{}-regular, {}".format(*spec.removeprefix("regular:").split("x"))
    times = f"{cycles:,} | {least:,} | {cycles / least - 1:.2%}"
    return f"| {name} | {collective} | {rate} | {bound} | {over:.2%} | {times} | {spent:.1f} |"


def run(smoke: bool) -> None:
    """One line per network and collective."""
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    print("| network | collective | bandwidth time | bound | gap | cycles | time bound | gap | CPU s |")
    for spec in ["dgx1"] if smoke else named or NETWORKS:
        for collective in COLLECTIVES:
            print(row(spec, collective), flush=True)


if __name__ == "__main__":
    run(smoke=False)
