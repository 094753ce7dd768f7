"""Tables that the reference interface plays, and clocks that start late."""

from collections.abc import Callable
from pathlib import Path
from random import Random

from certree.hw.golden import golden_run, trace_files
from certree.hw.tables.directory import export_tables
from certree.hw.tables.lowering import lower
from certree.models.machine.clocks import Clocks
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import SYMMETRIC_KINDS, Collective, CollectiveKind
from certree.models.tables.tables import Tables
from certree.synth.method import Request, load_methods
from tests.hw.made import tables_of
from tests.hw.trees import MULTITREE, tree_schedule


def _trees(spec: str, kind: CollectiveKind, trees: int, delay: int, repeats: int, size: int = 8000) -> Callable[[], Tables]:
    return lambda: lower(tree_schedule(spec, kind, trees, delay=delay, repeats=repeats, seed=3), size, MULTITREE)


def _broadcast(spec: str, size: int) -> Tables:
    request = Request(parse_topology(spec), Collective(CollectiveKind.BROADCAST, 0), size, MULTITREE)
    return lower(load_methods()["packing"](request), size, MULTITREE)


_RANDOM_SPECS = (
    "ring:3",
    "ring:5",
    "mesh:2x2",
    "full:4",
    "ring:4,capacity=2",
    "switch:4",
    "bigraph:1x4",
    "mesh:2x3,without-link=0-1",
)
#: name -> tables; the first ones are quick
CASES: dict[str, Callable[[], Tables]] = {
    "mesh-2x2": lambda: tables_of("packing", "mesh:2x2", 4096),
    "mesh-2x2-repeating": _trees("mesh:2x2", CollectiveKind.ALL_REDUCE, 2, 2, 3, 3000),
    "fattree-2x2-routes": _trees("fattree:2x2", CollectiveKind.ALL_REDUCE, 2, 1, 2, 2000),
    "mesh-2x2-broadcast": lambda: _broadcast("mesh:2x2", 4096),
    "ring-8": _trees("ring:8", CollectiveKind.REDUCE_SCATTER, 1, 2, 2),
    "dgx1": _trees("dgx1", CollectiveKind.ALL_REDUCE, 4, 2, 3),
    "mesh-4x4": _trees("mesh:4x4", CollectiveKind.ALL_GATHER, 1, 3, 2),
    "torus-4x4-less-a-link": _trees("torus:4x4,without-link=0-1", CollectiveKind.ALL_REDUCE, 4, 2, 2),
}
QUICK = ("mesh-2x2", "mesh-2x2-repeating")


def random_case(seed: int) -> Tables:
    """Tables of random trees on a random small network: any delay from 1 to 3, single or repeating."""
    random = Random(seed)
    spec, kind = random.choice(_RANDOM_SPECS), random.choice(SYMMETRIC_KINDS)
    schedule = tree_schedule(spec, kind, 1, delay=random.randint(1, 3), repeats=random.randint(1, 3), seed=seed)
    return lower(schedule, 2000, MULTITREE)


def export(tables: Tables, folder: Path) -> None:
    """Write the tables with their golden trace."""
    export_tables(tables, folder, "systemverilog", True, trace_files(tables, "systemverilog"))


def skewed(tables: Tables, folder: Path) -> list[str]:
    """Files for a run in which every second interface starts late, and the arguments for the testbench: the skew is a part of a
    slot, so that rows wait for what comes late."""
    nodes = tables.topology.endpoints.tolist()
    skew = [7 * (place % 2) for place, _ in enumerate(nodes)]
    of_node = dict(zip(nodes, skew, strict=True))
    clocks = Clocks.equal(len(tables.topology.kind))
    clocks = Clocks(tuple(of_node.get(node, 0) for node in range(len(tables.topology.kind))), clocks.drift)
    trace, late = golden_run(tables, clocks)
    (folder / "skewed.csv").write_bytes(trace)
    (folder / "skew.hex").write_text("".join(f"{cycles:x}\n" for cycles in skew))
    return ["+trace=skewed.csv", "+skew=skew.hex", f"+late={late}"]


def belated(tables: Tables, folder: Path) -> list[str]:
    """Arguments for a run in which the first interface starts slots late: everybody waits, and only the data are compared."""
    late = [3 * tables.slot_cycles * (place == 0) for place in range(len(tables.topology.endpoints))]
    (folder / "belated.hex").write_text("".join(f"{cycles:x}\n" for cycles in late))
    return ["+untimed", "+skew=belated.hex"]
