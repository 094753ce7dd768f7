"""Packing at scale: CPU seconds to pack at the highest rate, its partition or cut witness re-checked, and the depth of the slots.

    python tests/bench/packing.py [NETWORK ...] [--markdown]

Each network has a process of its own, whose peak memory is shown; with --markdown the table is that of `synth/SCALE.md`. Beside
them what others took (2-core machine, their public code): ForestColl packs torus 8x8 in 59 s and mesh 8x8 in 25 s as all-gathers;
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

from certree.cli.experiments.dead_links import less_links
from certree.models.collective import Collective, CollectiveKind
from certree.models.topology import Topology
from certree.models.topology_graph import topology_from_graph
from certree.models.topology_spec import parse_topology
from certree.synth.bounds import find_bounds
from certree.synth.branching import RootedNetwork
from certree.synth.packing import Fabric, network_of, usual_moves
from certree.synth.slotting import SlotRules, assign_slots, slotted_schedule
from certree.synth.splitting import SwitchedNetwork
from certree.verify.certificate import make_certificate
from certree.verify.judge import judge

DELAY = 2
WORK = 30  # for each transfer of an iteration, to shorten its slots
MAX_PATHS, SHORT_PERIOD = 1 << 20, 17  # with switches: trees x paths, and the period where the highest rate asks for more
PEERS = {"torus:8x8 all-gather": 59.0, "mesh:8x8 all-gather": 25.0}  # CPU seconds of ForestColl
INTRODUCTION = f"""# Packing at scale

`python tests/bench/packing.py --markdown` writes this page. K trees in L rounds at the highest rate that the bound allows,
shortened by random exchanges, in slots of delay {DELAY}; every schedule is judged, and the witness of its bound is re-checked.
`chain` is the most transfers that follow each other, `slots` what one iteration takes, `periods` that over L. CPU seconds are of a
machine that others used, too; memory is the peak of a process that does nothing else. Where the highest rate of a network with
switches asks for too many paths, a period of {SHORT_PERIOD} rounds stands for it, and the gap says what that costs.

ForestColl (public code, 2-core machine) packs torus 8x8 in 59 s and mesh 8x8 in 25 s as all-gathers; a rate alone for torus 16x16
takes it 22 s.
"""
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
        "hier-torus:4x4x4",
        "switch:64",
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
    return network_of(topology) if topology.is_direct else SwitchedNetwork(topology)  # the bound shares its strength


@dataclass(frozen=True)
class Row:
    """What was measured of one network; `periods` and what stands beside it only where slots were found."""

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
        """Of both."""
        return self.packing_seconds + self.slots_seconds

    def cells(self) -> list[str]:
        """As text, in the order of HEAD."""
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
            peer and peer.split(": ")[1],
        ]


HEAD = ["network", "N", "K/L", "witness, gap", "chain", "slots", "periods", "packing, CPU s", "slots, CPU s", "MB", "beside it"]


def measure(name: str, topology: Topology, collective: Collective) -> Row:
    """Bound, packing and slots of one network; the schedule judged, its bound's witness re-checked."""
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
    verdict = judge(schedule.with_certificate(make_certificate(schedule, bounds)))
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
