"""Tables that the reference interface executes, and clocks that start late."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from random import Random

from certree.hw.golden import golden_run, trace_files
from certree.hw.tables.directory import export_tables
from certree.hw.tables.lowering import lower
from certree.models.machine.clocks import Clocks
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.topology import UNKNOWN_LATENCY, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.tables import Tables
from tests.hw.made import made, tables_of
from tests.hw.trees import MULTITREE, tree_schedule


def _trees(spec: str, kind: CollectiveKind, trees: int, delay: int, repeats: int, size: int = 8000) -> Callable[[], Tables]:
    return lambda: lower(tree_schedule(spec, kind, trees, delay=delay, repeats=repeats, seed=3), size, MULTITREE)


def _fine(spec: str, size: int) -> Tables:
    """An all-reduce in fine slots of one cycle, timed as MultiTree runs when nothing waits for a slot."""
    return lower(made("retime", spec, size, MULTITREE, **{"from": "paced"}), size, MULTITREE)


def _random_network(random: Random) -> Topology:
    """Endpoints joined to each other, or by switches; links of any latency, some of two lanes."""
    endpoints, switches = random.randint(3, 6), random.choice((0, 0, 1, 2))
    cables = Cables("random", endpoints, switches)
    inner = list(range(endpoints, endpoints + switches)) or list(range(endpoints))
    pairs = {(random.choice(inner[:place]), node) for place, node in enumerate(inner) if place}
    pairs |= {(random.choice(inner), leaf) for leaf in range(endpoints if switches else 0)}
    spare = [pair for pair in combinations(inner, 2) if pair not in pairs]
    pairs |= set(random.sample(spare, min(len(spare), random.randint(0, 3))))
    for one, other in sorted(pairs):
        latency = random.choice((UNKNOWN_LATENCY, random.randint(1, 200)))
        cables.join(one, other, random.choice((1, 1, 2)), latency)
    return cables.build()


def _random_case(seed: int) -> Tables:
    """Tables of random trees on a random network: any of the collectives, any delay from 1 to 3, single or repeating."""
    random = Random(seed)
    network, kind = _random_network(random), random.choice(KINDS)
    schedule = tree_schedule(
        network, kind, random.randint(1, 3), delay=random.randint(1, 3), repeats=random.randint(1, 3), seed=seed
    )
    return lower(schedule, 2000, MULTITREE)


#: name -> network and trees of an all-reduce or a broadcast; the other collectives have one for each endpoint
_NETWORKS = {
    "mesh-2x2": ("mesh:2x2", 2),
    "torus-4x4-less-a-link": ("torus:4x4,without-link=0-1", 4),
    "mesh-4x4": ("mesh:4x4", 4),
    "ring-8": ("ring:8", 2),
    "fattree-2x2": ("fattree:2x2", 2),
    "dgx1": ("dgx1", 4),
}
KINDS = (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER, CollectiveKind.BROADCAST)


def _grid() -> dict[str, Callable[[], Tables]]:
    """Each collective on each network, with every pair of a delay and a number of iterations from 1 to 3."""
    cases = {}
    for row, (name, (spec, trees)) in enumerate(_NETWORKS.items()):
        for column, kind in enumerate(KINDS):
            count = 1 if kind in (CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER) else trees
            delay, repeats = 1 + (row + column) % 3, 1 + (row + 2 * column) % 3
            cases[f"{name}-{kind.value}"] = _trees(spec, kind, count, delay, repeats)
    return cases


#: name -> tables, for both testbenches
SMALL: dict[str, Callable[[], Tables]] = {
    "mesh-2x2": lambda: tables_of("packing", "mesh:2x2", 4096),
    "mesh-2x2-repeating": _trees("mesh:2x2", CollectiveKind.ALL_REDUCE, 2, 2, 3, 3000),
    "fattree-2x2-routes": _trees("fattree:2x2", CollectiveKind.ALL_REDUCE, 2, 1, 2, 2000),
}
QUICK = next(iter(SMALL))
#: for that in C++
_FINE = {"mesh-2x2-fine": partial(_fine, "mesh:2x2", 4096), "torus-4x4-fine": partial(_fine, "torus:4x4", 32 << 10)}
#: messages of two flits, fewer than lanes: several count in memory in one cycle
_SHORT = {
    "mesh-4x4-short": _trees("mesh:4x4", CollectiveKind.ALL_GATHER, 1, 1, 3, 500),
    "dgx1-short": _trees("dgx1", CollectiveKind.ALL_REDUCE, 4, 1, 2, 120),
}
GRID = _grid() | _FINE | _SHORT
LARGE: dict[str, Callable[[], Tables]] = {"torus-8x8": lambda: tables_of("multitree", "torus:8x8", 64 << 10)}
RANDOM = {f"random-{seed}": partial(_random_case, seed) for seed in range(20)}
CASES = SMALL | GRID | LARGE | RANDOM


def export(tables: Tables, folder: Path) -> None:
    """Write the tables with their golden trace."""
    export_tables(tables, folder, "systemverilog", True, trace_files(tables, "systemverilog"))


def skewed(tables: Tables, folder: Path) -> int:
    """The golden trace `skewed.csv` of a run in which every second interface starts late, and its late rows; `skew.hex` says when
    they start. The skew is a part of a slot, so that rows wait for what comes late."""
    nodes = tables.topology.endpoints.tolist()
    skew = [7 * (place % 2) for place, _ in enumerate(nodes)]
    of_node = dict(zip(nodes, skew, strict=True))
    clocks = Clocks.equal(len(tables.topology.kind))
    clocks = Clocks(tuple(of_node.get(node, 0) for node in range(len(tables.topology.kind))), clocks.drift)
    trace, late = golden_run(tables, clocks)
    (folder / "skewed.csv").write_bytes(trace)
    (folder / "skew.hex").write_text("".join(f"{cycles:x}\n" for cycles in skew))
    return late


def skew_arguments(tables: Tables, folder: Path) -> list[str]:
    """That run, as arguments for the testbench."""
    return [f"+late={skewed(tables, folder)}", "+trace=skewed.csv", "+skew=skew.hex"]


def belated(tables: Tables, folder: Path) -> list[str]:
    """Arguments for a run in which the first interface starts slots late: everybody waits, and only the data are compared."""
    late = [3 * tables.slot_cycles * (place == 0) for place in range(len(tables.topology.endpoints))]
    (folder / "belated.hex").write_text("".join(f"{cycles:x}\n" for cycles in late))
    return ["+untimed", "+skew=belated.hex"]
