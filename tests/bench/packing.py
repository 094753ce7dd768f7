"""Packing at scale: CPU seconds to pack at the highest rate, its partition or cut witness re-checked, and the depth of the slots.

    python tests/bench/packing.py [NETWORK ...] [--markdown]

Each network has a process of its own, whose peak memory is shown; --markdown writes `docs/benchmarks/packing.md`. For comparison,
what others took (2-core machine, their public code): ForestColl packs torus 8x8 in 59 s and mesh 8x8 in 25 s as all-gathers;
a rate alone for torus 16x16 takes it 22 s. The last lines fit seconds = a · N^b to each family.
"""

import math
import resource
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context

import networkx as nx
import numpy as np

from certree.extras.sweeps.run.faults import less_links
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.network.topology_graph import topology_from_graph
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.synth.bounds.find import find_bounds
from certree.synth.packing.branchings import RootedNetwork
from certree.synth.packing.slotting import SlotRules, assign_slots, slotted_schedule
from certree.synth.packing.spanning_trees import Fabric, network_of, usual_moves
from certree.synth.packing.splitting import SwitchedNetwork
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule

DELAY = 2
WORK = 30  # for each transfer of an iteration, to shorten its slots
MAX_PATHS, SHORT_PERIOD = 1 << 20, 17  # with switches: trees x paths, and the period where the highest rate asks for more
PEERS = {"torus:8x8 all-gather": 59.0, "mesh:8x8 all-gather": 25.0}  # CPU seconds of ForestColl
INTRODUCTION = f"""# Packing at scale

`python tests/bench/packing.py --markdown` writes this page; the numbers are of one run. Each row packs K trees in L rounds at the
highest rate that the bound allows, shortens them by random exchanges, and puts them into slots of delay {DELAY}; every schedule is
verified, and the witness of its bound is re-checked: the gap is that of the rate K/L. `chain` is the longest chain of transfers
that wait for each other, `slots` the slots of one iteration, `periods` these slots divided by L. CPU seconds are of a machine that
others used, too; those of `packing` include the computation of the strength or cut. `MB` is the peak memory of a process that does
nothing else. Where the highest rate of a network with switches asks for too many paths, a period of {SHORT_PERIOD} rounds stands
for it. Missing links and nodes are drawn with the seed in the name, so that the rest stays connected. Of an Erdős–Rényi graph the
row has the component of its first node.

ForestColl (public code, 2-core machine) packs torus 8x8 in 59 s and mesh 8x8 in 25 s as all-gathers; a rate alone for torus 16x16
takes it 22 s.
"""
ALL_REDUCE = Collective(CollectiveKind.ALL_REDUCE)
ALL_GATHER = Collective(CollectiveKind.ALL_GATHER)
BROADCAST = Collective(CollectiveKind.BROADCAST, 0)


SIDES = {"mesh": (4, 8, 16, 32), "torus": (4, 8, 16)}
SWITCHED = (
    "ace-torus:4x4x4",
    "dgx1",
    "dgx2",
    "fattree:4x4",
    "bigraph:4x8",
    "switch-fc:2x2x4x2",
    "ace-alltoall:4x4",
    "hier-torus:4x4x4",
    "switch:64",
    "cdc384",
)
GATHERED = ("dgx1", "mesh:8x8", "torus:8x8", "ace-torus:4x4x4", "mesh:10x10", "torus:12x12")
SPREAD = ("torus:8x8", "mesh:16x16", "mesh:32x32")


def cases(smoke: bool) -> Iterator[tuple[str, str, Topology, Collective]]:
    """(family, name, network, collective)."""
    for family, sides in SIDES.items():
        for side in sides[: 1 if smoke else None]:
            yield family, f"{family}:{side}x{side}", parse_topology(f"{family}:{side}x{side}"), ALL_REDUCE
    box = "mesh:3x3x3" if smoke else "mesh:8x8x8"
    yield "", box, parse_topology(box), ALL_REDUCE
    yield from damaged("torus:4x4" if smoke else "torus:16x16", (1,) if smoke else (1, 2, 3, 10))
    for nodes, seeds in ((16, 1),) if smoke else ((64, 1), (128, 1), (256, 5)):
        yield from drawn(nodes, range(seeds))
    for spec in ("dgx1", "fattree:4x4") if smoke else SWITCHED:
        yield "", spec, parse_topology(spec), ALL_REDUCE
    for spec in ("mesh:4x4",) if smoke else GATHERED:
        yield "", f"{spec} all-gather", parse_topology(spec), ALL_GATHER
    for spec in ("mesh:4x4",) if smoke else SPREAD:
        yield "", f"{spec} broadcast", parse_topology(spec), BROADCAST


def damaged(spec: str, counts: tuple[int, ...]) -> Iterator[tuple[str, str, Topology, Collective]]:
    """Without N random links, or N nodes; the seed is N."""
    for count in counts:
        for links, nodes in ((count, 0), (0, count)):
            name = f"{spec} less {count} {'links' if links else 'nodes'}, seed {count}"
            yield "", name, parse_topology(less_links(spec, links, count, nodes)), ALL_REDUCE


def drawn(nodes: int, seeds: range) -> Iterator[tuple[str, str, Topology, Collective]]:
    """Random regular and Erdős–Rényi graphs; of these what hangs together with node 0, since some nodes may have no links."""
    for seed in seeds:
        for degree in (3, 4, 8)[: None if seed == 0 else 2]:
            name = f"{degree}-regular, {nodes} nodes, seed {seed}"
            yield (
                f"{degree}-regular",
                name,
                topology_from_graph(nx.random_regular_graph(degree, nodes, seed=seed), name),
                ALL_REDUCE,
            )
        for chance in (10 / nodes, 32 / nodes)[: None if seed == 0 else 1]:
            name = f"Erdős–Rényi, {nodes} nodes, p = {chance:.3f}, seed {seed}"
            graph = nx.gnp_random_graph(nodes, chance, seed=seed)
            graph = nx.convert_node_labels_to_integers(graph.subgraph(nx.node_connected_component(graph, 0)))
            yield "", name, topology_from_graph(graph, name), ALL_REDUCE


def fabric(topology: Topology, collective: Collective) -> Fabric:
    """What `packing` packs into."""
    if collective.is_rooted:
        return RootedNetwork(topology, collective)
    return network_of(topology) if topology.is_direct else SwitchedNetwork(topology)  # the bound shares its strength


@dataclass(frozen=True)
class Row:
    """What was measured of one network; `periods` and what stands next to it only where slots were found."""

    name: str
    nodes: int
    trees: int
    period: int
    outcome: str  # the kind of the bound's witness and the gap to it, or what was not found
    chain: int
    slots: int
    packing_seconds: float
    slots_seconds: float
    megabytes: int

    @property
    def seconds(self) -> float:
        """The seconds of both."""
        return self.packing_seconds + self.slots_seconds

    def cells(self) -> list[str]:
        """The cells as text, in the order of HEAD."""
        periods = f"{self.slots / self.period:.1f}" if self.slots else ""
        peer = f"ForestColl {PEERS[self.name]:.0f} s" if self.name in PEERS else ""
        found = [str(self.chain or ""), str(self.slots or ""), periods]
        spent = [f"{self.packing_seconds:.2f}", f"{self.slots_seconds:.2f}", str(self.megabytes)]
        return [
            self.name,
            str(self.nodes),
            f"{self.trees}/{self.period}",
            self.outcome,
            *found,
            *spent,
            peer,
        ]


HEAD = ["network", "N", "K/L", "witness, gap", "chain", "slots", "periods", "packing, CPU s", "slots, CPU s", "MB", "compared with"]


def measure(name: str, topology: Topology, collective: Collective) -> Row:
    """Bound, packing and slots of one network; the schedule verified, its bound's witness re-checked."""
    start = time.process_time()
    network = fabric(topology, collective)
    trees, period = network.tight
    if trees * period * network.edge_capacity > MAX_PATHS and isinstance(network, SwitchedNetwork):
        trees, period = int(network.strength * SHORT_PERIOD), SHORT_PERIOD
    family = network.pack(collective, trees, period, moves=usual_moves(trees, network.size), seed=0)
    packed = time.process_time() - start
    slots = None
    if family is not None:
        rules = SlotRules(DELAY, family.period, 0)
        slots, _ = assign_slots(family, rules, work=WORK * len(family.transfers.chunk), seed=0)
    total = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    if family is None or slots is None:
        outcome = "no packing found" if family is None else "no slots in this period"
        return Row(name, network.size, trees, period, outcome, 0, 0, packed, total - packed, memory)
    schedule = slotted_schedule(family, slots, rules, 1 << 10, {})
    bounds = find_bounds(topology, collective, DELAY)
    verdict = verify_schedule(schedule.with_certificate(make_certificate(schedule, bounds)))
    if not verdict.valid or verdict.quality is None:
        raise AssertionError(f"{name}: {verdict.violations}")
    gap = verdict.quality.gap["bandwidth"]
    witness = next(bound["kind"] for bound in bounds if bound["quantity"] == "bandwidth")
    outcome = f"{witness}, {float(gap or Fraction(0)) * 100:.2f} %"
    return Row(name, network.size, trees, period, outcome, family.chain, schedule.steps, packed, total - packed, memory)


def fitted(points: list[tuple[int, float]]) -> tuple[float, float]:
    """(a, b) of seconds = a · N^b, least squares of the logarithms."""
    x, y = np.log([nodes for nodes, _ in points]), np.log([max(seconds, 1e-3) for _, seconds in points])
    b, a = np.polyfit(x, y, 1)
    return math.exp(a), float(b)


def run(smoke: bool, wanted: Callable[[str], bool] = lambda _name: True, *, markdown: bool = False) -> None:
    """One line per network; `wanted` chooses among their names."""
    widths = (46, 5, 10, 20, 6, 6, 8, 15, 13, 5, 0)

    def line(cells: list[str]) -> str:
        if markdown:
            return f"| {' | '.join(cells)} |"
        return cells[0].ljust(widths[0]) + " ".join(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))

    if markdown:
        print(INTRODUCTION)
    print(line(HEAD))
    if markdown:
        print("|---" * len(HEAD) + "|")
    families: dict[str, list[tuple[int, float]]] = {}
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as alone:
        for family, name, topology, collective in cases(smoke):
            if wanted(name):
                row = alone.submit(measure, name, topology, collective).result()
                print(line(row.cells()), flush=True)
                families.setdefault(family, []).append((row.nodes, row.seconds))
    if markdown:
        print("\nGrowth, fitted by least squares of the logarithms:\n")
    for family, points in families.items():
        if family and len(points) > 2:
            a, b = fitted(points)
            print(f"{'- ' if markdown else ''}{family}: {a:.2g} s · N^{b:.2f}")


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    run(
        "--smoke" in sys.argv[1:],
        lambda name: not words or any(word in name for word in words),
        markdown="--markdown" in sys.argv[1:],
    )
