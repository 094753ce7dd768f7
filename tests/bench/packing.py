"""Packing at scale: CPU seconds to pack at the highest rate, its partition or cut witness re-checked, and the depth of the slots.

Beside them what others took (2-core machine, their public code): ForestColl packs torus 8x8 in 59 s and mesh 8x8 in 25 s as
all-gathers; a rate alone for torus 16x16 takes it 22 s. The last lines fit seconds = a · N^b to each family.
"""

import math
import resource
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

import networkx as nx
import numpy as np

from certree.cli.experiments.dead_links import less_links
from certree.models.collective import Collective, CollectiveKind
from certree.models.topology import Topology
from certree.models.topology_graph import topology_from_graph
from certree.models.topology_spec import parse_topology
from certree.synth.bounds import find_bounds
from certree.synth.branching import RootedNetwork
from certree.synth.packing import Fabric, Network
from certree.synth.slotting import SlotRules, assign_slots, slotted_schedule
from certree.synth.splitting import SwitchedNetwork
from certree.verify.certificate import make_certificate
from certree.verify.judge import judge

DELAY = 2
MOVES = 60_000
MAX_PATHS, SHORT_PERIOD = 1 << 20, 17  # with switches: trees x paths, and the period where the highest rate asks for more
PEERS = {"torus:8x8 all-gather": 59.0, "mesh:8x8 all-gather": 25.0}  # CPU seconds of ForestColl
ALL_REDUCE = Collective(CollectiveKind.ALL_REDUCE)
ALL_GATHER = Collective(CollectiveKind.ALL_GATHER)
BROADCAST = Collective(CollectiveKind.BROADCAST, 0)


def cases(smoke: bool) -> Iterator[tuple[str, str, Topology, Collective]]:
    """(family, name, network, collective)."""
    for side in (4, 8) if smoke else (4, 8, 16, 32):
        yield "mesh", f"mesh:{side}x{side}", parse_topology(f"mesh:{side}x{side}"), ALL_REDUCE
    for side in (4, 8) if smoke else (4, 8, 16):
        yield "torus", f"torus:{side}x{side}", parse_topology(f"torus:{side}x{side}"), ALL_REDUCE
    side = 4 if smoke else 16
    for count in (1,) if smoke else (1, 2, 3, 10):
        for links, nodes in ((count, 0), (0, count)):
            what = f"less {count} {'links' if links else 'nodes'}, seed {count}"
            yield (
                "",
                f"torus:{side}x{side} {what}",
                parse_topology(less_links(f"torus:{side}x{side}", links, count, nodes)),
                ALL_REDUCE,
            )
    yield "", "mesh:4x4x4" if smoke else "mesh:8x8x8", parse_topology("mesh:4x4x4" if smoke else "mesh:8x8x8"), ALL_REDUCE
    nodes = 32 if smoke else 256
    chance = 0.3 if smoke else 0.04
    for name, graph in (
        (f"4-regular, {nodes} nodes, seed 0", nx.random_regular_graph(4, nodes, seed=0)),
        (f"Erdős–Rényi, {nodes} nodes, p = {chance}, seed 1", nx.gnp_random_graph(nodes, chance, seed=1)),
    ):
        yield "", name, topology_from_graph(graph, name), ALL_REDUCE
    for spec in (
        "ace-torus:4x4x4",
        "dgx1",
        "dgx2",
        "fattree:4x4",
        "bigraph:4x8",
        "switch-fc:2x2x4x2",
        "ace-alltoall:4x4",
        "cdc384",
    )[: 4 if smoke else None]:
        yield "", spec, parse_topology(spec), ALL_REDUCE
    for spec in ("dgx1", "mesh:4x4") if smoke else ("dgx1", "mesh:8x8", "torus:8x8", "ace-torus:4x4x4"):
        yield "", f"{spec} all-gather", parse_topology(spec), ALL_GATHER
    for spec in ("mesh:4x4",) if smoke else ("torus:8x8", "mesh:16x16", "mesh:32x32"):
        yield "", f"{spec} broadcast", parse_topology(spec), BROADCAST


def fabric(topology: Topology, collective: Collective) -> Fabric:
    """What `packing` packs into."""
    if collective.is_rooted:
        return RootedNetwork(topology, collective)
    return Network(topology) if topology.is_direct else SwitchedNetwork(topology)


def measure(name: str, topology: Topology, collective: Collective) -> float:
    """One line; the CPU seconds of bound, packing and slots."""
    start = time.process_time()
    network = fabric(topology, collective)
    trees, period = network.tight
    if trees * period * network.edge_capacity > MAX_PATHS and isinstance(network, SwitchedNetwork):
        trees, period = int(network.strength * SHORT_PERIOD), SHORT_PERIOD
    family = network.pack(collective, trees, period, moves=MOVES, seed=0)
    packed = time.process_time() - start
    if family is None:
        print(f"{name:<46}{len(topology.endpoints):>5}{trees:>6}/{period:<5} no packing found in {packed:.2f} s", flush=True)
        return packed
    rules = SlotRules(DELAY, family.period, 0)
    slots, _ = assign_slots(family, rules, work=300 * len(family.transfers.chunk), seed=0)
    total = time.process_time() - start
    if slots is None:
        print(f"{name:<46}{len(topology.endpoints):>5}{trees:>6}/{period:<5} no slots in this period", flush=True)
        return total
    schedule = slotted_schedule(family, slots, rules, 1 << 10, {})
    bounds = find_bounds(topology, collective, DELAY)
    verdict = judge(schedule.with_certificate(make_certificate(schedule, bounds)))
    if not verdict.valid or verdict.quality is None:
        raise AssertionError(f"{name}: {verdict.violations}")
    gap = verdict.quality.gap["bandwidth"]
    gap = Fraction(0) if gap is None else gap
    witness = next(bound["kind"] for bound in bounds if bound["quantity"] == "bandwidth")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    peer = f"  ForestColl x{PEERS[name] / packed:.0f}" if name in PEERS else ""
    print(
        f"{name:<46}{len(topology.endpoints):>5}{trees:>6}/{period:<5}{witness:>10}{float(gap) * 100:>7.2f} %{family.chain:>6}"
        f"{schedule.steps:>7}{schedule.steps / family.period:>8.1f}{packed:>8.2f}{total - packed:>8.2f}{memory:>7}{peer}",
        flush=True,
    )
    return total


def fitted(points: list[tuple[int, float]]) -> tuple[float, float]:
    """(a, b) of seconds = a · N^b, least squares of the logarithms."""
    x, y = np.log([nodes for nodes, _ in points]), np.log([max(seconds, 1e-3) for _, seconds in points])
    b, a = np.polyfit(x, y, 1)
    return math.exp(a), float(b)


def run(smoke: bool, wanted: Callable[[str], bool] = lambda _name: True) -> None:
    """One line per network; `wanted` chooses among their names."""
    print(f"packing at the highest rate, slots of delay {DELAY}; peak memory is that of the process so far")
    print(
        f"{'network':<46}{'N':>5}{'K/L':>12}{'witness':>10}{'gap':>9}{'chain':>6}{'slots':>7}{'periods':>8}"
        f"{'pack s':>8}{'slots s':>8}{'MB':>7}"
    )
    families: dict[str, list[tuple[int, float]]] = {}
    for family, name, topology, collective in cases(smoke):
        if wanted(name):
            families.setdefault(family, []).append((len(topology.endpoints), measure(name, topology, collective)))
    for family, points in families.items():
        if family and len(points) > 2:
            a, b = fitted(points)
            print(f"{family}: {a:.2g} s · N^{b:.2f}")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    run("--smoke" in sys.argv[1:], lambda name: not words or any(word in name for word in words))
