"""Tables that the reference interface executes, and clocks that start late."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from random import Random

from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.systemverilog.sizes import sizes_of
from certree.hw.golden import golden_run, trace_files
from certree.hw.tables.directory import export_tables
from certree.hw.tables.lowering import lower
from certree.models.machine.clocks import Clocks
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.topology import UNKNOWN_LATENCY, Topology
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.tables.table_columns import LOCKSTEP
from certree.models.tables.tables import Tables
from certree.synth.method import load_methods
from tests.hw.counted import blocks, exchanges
from tests.hw.made import made, tables_of
from tests.hw.trees import MULTITREE, tree_schedule
from tests.synth.flows.demands import drawn_request
from tests.verify.build import build


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


def _scatter_in_flight() -> Tables:
    """Node 1 passes a chunk on five slots after it was sent, while iterations begin every two: W is 3."""
    owners = {"roots": [0, 0], "targets": [1, 2], "collective_root": 0}
    schedule = build("mesh:1x3", "scatter", "1:0>1; 0:0>1;;;; 1:1>2", period=2, repeats=7, **owners)  # type: ignore[arg-type]
    return lower(schedule, 4096, MULTITREE)


def _copies_within_nodes() -> Tables:
    """A chunk goes both ways round a ring; nodes 0 and 1 keep it in a scratch buffer, and move it back."""
    columns = {"src_buffer": [0, 0, 1, 0, 1], "dst_buffer": [1, 0, 0, 1, 0]}
    schedule = build("ring:4", "broadcast", "0>0 0>1; 0>3 1>1; 1>2", roots=[0], collective_root=0, buffers=2, **columns)
    return lower(schedule, 1024, MULTITREE)


def _sums_within_nodes() -> Tables:
    """Two nodes send each other two chunks, which both add to their own: the copy units have two messages in a slot."""
    columns = {"src_buffer": [0, 0, 0, 0, 1, 1, 1, 1], "dst_buffer": [1, 1, 1, 1, 0, 0, 0, 0]}
    rows = "0:0>1 1:0>1 0:1>0 1:1>0; 0:0+0 1:0+0 0:1+1 1:1+1"
    return lower(build("mesh:1x2,capacity=2", "all-reduce", rows, roots=[NO_ROOT] * 2, buffers=2, **columns), 1024, MULTITREE)


def _demand() -> Tables:
    request = drawn_request("mesh:2x2", 1, 1 << 10)
    return lower(load_methods()["prepared-paths"](request), request.message_bytes, request.machine)


_ALL_REDUCE, _ALL_TO_ALL, _GATHER = CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_TO_ALL, CollectiveKind.GATHER
#: profiles `blocks` and `buffers`
COUNTED: dict[str, Callable[[], Tables]] = {
    "exchanges-repeating": lambda: lower(exchanges(2, 3, 2, 2, 3), 6000, MULTITREE),
    "mesh-2x2-blocks-repeating": lambda: lower(blocks("mesh:2x2", _ALL_TO_ALL, 2, 1, 3, 5), 9000, MULTITREE),
    "fattree-2x2-blocks": lambda: lower(blocks("fattree:2x2", _ALL_TO_ALL, 1, 2, 2, 1), 4000, MULTITREE),
    "mesh-2x3-gather": lambda: lower(blocks("mesh:2x3", _GATHER, 2, 2, 3, 2), 4000, MULTITREE),
    "mesh-1x3-in-flight": _scatter_in_flight,
    "ring-4-copies": _copies_within_nodes,
    "mesh-1x2-sums": _sums_within_nodes,
    "ring-4-partial-sums": lambda: lower(made("partial-sums", "ring:4", 4096, MULTITREE), 4096, MULTITREE),
    "mesh-2x2-demand": _demand,
}
GRID = _grid() | _FINE | _SHORT | COUNTED


def _in_lockstep(name: str) -> Tables:
    return replace((SMALL | GRID | LARGE)[name](), control=LOCKSTEP)


LARGE: dict[str, Callable[[], Tables]] = {"torus-8x8": lambda: tables_of("multitree", "torus:8x8", 64 << 10)}
#: whose interfaces have a timestep counter: one lane to six, iterations, fine slots, switches, copies within a node, demands;
#: and three cases of their own, `_OWN`
_LOCKSTEP = (
    "mesh-2x2", "mesh-2x2-repeating", "fattree-2x2-routes", "mesh-2x2-fine", "torus-4x4-fine", "mesh-4x4-all-reduce",
    "torus-4x4-less-a-link-all-reduce", "dgx1-all-reduce", "ring-8-reduce-scatter", "dgx1-short", "ring-4-copies",
    "fattree-2x2-blocks", "mesh-2x2-demand",
)  # fmt: skip


def _bundle() -> Tables:
    """Four iterations of a chunk over a link of two lanes, a step each: messages of one line are under way on both at once."""
    schedule = build("mesh:1x2,capacity=2", "broadcast", "0>1", period=1, repeats=4, collective_root=0)
    return replace(lower(schedule, 1024, MULTITREE), control=LOCKSTEP)


def _slow_sums() -> Tables:
    """Eight iterations of two sums over links of two lanes, which come faster than the reduction unit adds them: more wait."""
    schedule = build("mesh:1x2,capacity=2", "reduce-scatter", "0:1+0 1:0+1", period=1, repeats=8, roots=[0, 1])
    return replace(lower(schedule, 2048, MULTITREE), control=LOCKSTEP)


def _many_sums() -> Tables:
    """Sixteen iterations of an all-reduce whose sums come faster than they are added: a fourth of a lane's wait at most."""
    return replace(_trees("mesh:2x2", _ALL_REDUCE, 2, 2, 16, 1500)(), control=LOCKSTEP)


_OWN = {
    "mesh-1x2-bundle-lockstep": _bundle,
    "mesh-1x2-slow-sums-lockstep": _slow_sums,
    "mesh-2x2-many-sums-lockstep": _many_sums,
}
LOCKSTEP_CASES = {f"{name}-lockstep": partial(_in_lockstep, name) for name in _LOCKSTEP} | _OWN


def two_rows() -> Tables:
    """Tables of which the whole interface is proved: at most two rows and two lanes of a node, messages longer than a buffer."""
    return replace(_trees("mesh:2x2", _ALL_REDUCE, 1, 1, 1, 6000)(), control=LOCKSTEP)


LOCKSTEP_SMALL = ("mesh-2x2-lockstep", "fattree-2x2-routes-lockstep")  # for both testbenches
RANDOM = {f"random-{seed}": partial(_random_case, seed) for seed in range(20)}
CASES = SMALL | GRID | LARGE | RANDOM | LOCKSTEP_CASES


def export(tables: Tables, folder: Path) -> None:
    """Write the tables with their golden trace."""
    export_tables(tables, folder, "systemverilog", True, trace_files(tables, "systemverilog"))


def skewed(tables: Tables, folder: Path) -> int:
    """The golden trace `skewed.csv` of a run in which every second interface starts late, and its late rows; `skew.hex` says when
    they start. The skew is a part of a slot, so that rows wait for what comes late."""
    clocks = late_clocks(tables)
    trace, late = golden_run(tables, clocks)
    (folder / "skewed.csv").write_bytes(trace)
    (folder / "skew.hex").write_text("".join(f"{clocks.skew[node]:x}\n" for node in tables.topology.endpoints.tolist()))
    return late


def late_clocks(tables: Tables) -> Clocks:
    """Every second interface starts 7 cycles late."""
    skew = [0] * len(tables.topology.kind)
    for place, node in enumerate(tables.topology.endpoints.tolist()):
        skew[node] = 7 * (place % 2)
    return Clocks(tuple(skew), Clocks.equal(len(skew)).drift)


def slowed(tables: Tables, folder: Path) -> int:
    """In lockstep, the golden trace `slowed.csv` of a run in which every third interface starts 40 cycles late and every second
    clock is slower by an eighth, and its late rows: none; `slow.hex` and `slow.hex.steps` say so to the testbenches."""
    nodes, clocks = tables.topology.endpoints.tolist(), slow_clocks(tables)
    trace, late = golden_run(tables, clocks)
    (folder / "slowed.csv").write_bytes(trace)
    (folder / "slow.hex").write_text("".join(f"{clocks.skew[node]:x}\n" for node in nodes))
    cycles, rates = sizes_of(tables, Widths.of(tables))["SLOT_CYCLES"], [1 + clocks.drift[node] for node in nodes]
    steps = (-(-cycles * rate.numerator // rate.denominator) for rate in rates)
    (folder / "slow.hex.steps").write_text("".join(f"{step:x}\n" for step in steps))
    return late


def slow_clocks(tables: Tables) -> Clocks:
    """Every third interface starts 40 cycles late, and every second clock is slower by an eighth."""
    skew, drift = [0] * len(tables.topology.kind), [Fraction(0)] * len(tables.topology.kind)
    for place, node in enumerate(tables.topology.endpoints.tolist()):
        skew[node], drift[node] = 40 * (place % 3 == 1), Fraction(place % 2, 8)
    return Clocks(tuple(skew), tuple(drift))


def slow_arguments(tables: Tables, folder: Path) -> list[str]:
    """The slow run, as arguments for the testbench."""
    return [f"+late={slowed(tables, folder)}", "+trace=slowed.csv", "+skew=slow.hex", "+steps=slow.hex.steps"]


def skew_arguments(tables: Tables, folder: Path) -> list[str]:
    """The run with skew, as arguments for the testbench."""
    return [f"+late={skewed(tables, folder)}", "+trace=skewed.csv", "+skew=skew.hex"]


def belated(tables: Tables, folder: Path) -> list[str]:
    """Arguments for a run in which the first interface starts slots late: everybody waits, and only the data are compared."""
    late = [3 * tables.slot_cycles * (place == 0) for place in range(len(tables.topology.endpoints))]
    (folder / "belated.hex").write_text("".join(f"{cycles:x}\n" for cycles in late))
    return ["+untimed", "+skew=belated.hex"]
