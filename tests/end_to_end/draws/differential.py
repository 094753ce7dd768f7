"""Draws of networks, schedules, machines, sizes and clocks: whatever decides about them must agree.

Asked are the checker of schedules, that of tables, the freedom of deadlock, the closed form, the engines `lanes`, `fast` and
`flit`, and where a draw is small enough TLC with the TLA+ model of the tables. `python -m tests.end_to_end.draws.differential FIRST
COUNT EVERY` runs that many draws and prints what was compared; TLC is asked about every EVERY-th draw, 0 for none.
"""

import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from certree.hw.engines.clocks import Clocks
from certree.hw.engines.runs import Options, Run
from certree.hw.engines.schedule_run import Plan
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric import written_out
from certree.models.schedule.timing import schedule_cycles, slotted
from certree.models.tables import Tables
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.freedom import Freedom, deadlock_of_schedule
from certree.verify.order.punctual import race_of_tables
from certree.verify.order.races import race_of
from certree.verify.tables.checker import verify_tables
from certree.verify.tla.table_model import model_check_tables
from certree.verify.tla.tlc import Result
from tests.verify.deadlock.drawn import drawn_network

NETWORKS = (
    "ring:3", "ring:5", "ring:6", "mesh:2x2", "mesh:2x3", "mesh:3x3", "torus:3x3", "torus:4x4", "torus:2x4", "hypercube:3",
    "full:4", "switch:4", "switch:6", "fattree:2x2", "fattree:2x4", "leafspine:3x2x2", "bigraph:2x4", "tree:2+3", "dgx1",
    "cayley:10@1+3", "torus:3x3,without-link=0-1", "mesh:3x3,without-link=0-1", "ring:4,capacity=2", "torus:3x4,without-node=5",
)  # fmt: skip
METHODS = (
    "multitree", "direct", "cps", "ring", "recursive-doubling", "halving-doubling", "binomial", "double-binary-tree", "packing",
    "reduce-broadcast", "flows", "ring-2d", "blueconnect", "hierarchical",
)  # fmt: skip
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all")
MOST_ENDPOINTS = 12
MOST_MODEL_CHECKED = 5  # endpoints
MOST_FLIT_HOPS = 400_000


@dataclass(frozen=True)
class Draw:
    """One draw; `clocks` for runs with skew."""

    schedule: Schedule
    machine: Machine
    size: int
    clocks: Clocks


def draw(seed: int) -> Draw:
    """The draw of a seed: the first combination of its generator that a method covers."""
    rng = Random(seed)
    while True:
        topology, machine = drawn_topology(rng), drawn_machine(rng)
        name = rng.choice(COLLECTIVES)
        root = rng.choice(topology.endpoints.tolist()) if name in ("broadcast", "reduce") else None
        size = rng.choice((rng.randint(1, 200), rng.randint(1, 4096), rng.randint(1, 1 << 15)))
        request = Request(topology, parse_collective(name, root), size, machine, seed=rng.randrange(100))
        try:
            made = written_out(load_methods()[rng.choice(METHODS)](request))
            slotted(made, size, machine)
        except InputError:
            continue
        nodes = len(topology.kind)
        skew = tuple(rng.randint(0, 500) for _ in range(nodes))
        return Draw(made, machine, size, replace(Clocks.equal(nodes), skew=skew))


def drawn_topology(rng: Random) -> Topology:
    """A small network by name, or random switches."""
    while True:
        topology = drawn_network(rng) if rng.random() < 0.25 else parse_topology(rng.choice(NETWORKS))
        if len(topology.endpoints) <= MOST_ENDPOINTS:
            return topology


def drawn_machine(rng: Random) -> Machine:
    """Routers of any kind, with deep or shallow buffers, and links and reduction units of any speed."""
    known = load_machine("multitree")
    cut_through = rng.random() < 0.5
    router = replace(
        known.router,
        flow_control="cut-through" if cut_through else "wormhole",
        vc_choice=rng.choice(("rotate", "rotate", "any")),
        vc_reuse=rng.choice(("tail", "tail", "empty")),
        interfaces=rng.choice(("link", "link", "node")),
        datelines=rng.random() < 0.8,
        allocator=rng.choice(("islip", "separable")),
        sub_message_flits=rng.randint(1, 8),
    )
    latency = rng.choice((1, 3, 20, 150))
    deep = 2 * latency + 20
    return replace(
        known,
        name="drawn",
        head_flits=rng.randint(0, 2),
        link_latency_cycles=latency,
        router_cycles=rng.randint(1, 5),
        ni_cycles=rng.randint(0, 2),
        ni_issue_cycles=rng.choice((0, 0, 3)),
        ni_start_cycles=rng.choice((0, 0, 7)),
        vc_count=rng.choice((1, 2, 4, 8)),
        vc_buffer_flits=rng.choice((deep, deep, rng.randint(8, 40))),
        reduce_bytes_per_cycle=rng.choice((8, 128)),
        reduce_start_cycles=rng.randint(0, 3),
        router=router,
    )


def check_draw(seed: int, *, tlc: bool = False) -> Counter[str]:
    """Ask everything about a draw and compare; AssertionError names the seed and who disagrees. Counts of what was compared."""
    drawn = draw(seed)
    schedule, machine, size = drawn.schedule, drawn.machine, drawn.size
    where = (
        f"seed {seed}: {schedule.provenance.get('method')} {schedule.collective.words} on {schedule.topology.name}, {size} bytes"
    )
    found = Counter({"draws": 1})
    assert verify_schedule(schedule).valid, f"{where}: the checker refuses what a method made"
    freedom = deadlock_of_schedule(schedule, machine, size)
    assert not freedom.free or freedom.fault() is None, f"{where}: {freedom.fault()}"
    plan, timing = slotted(schedule, size, machine)
    expected = schedule_cycles(plan, timing, machine)
    try:
        source: Tables | Plan = lower(schedule, size, machine)
    except UnsupportedError:
        source = Plan.of(schedule, size, machine)
        found["without tables"] += 1
    race = race_of_tables(source) if isinstance(source, Tables) else race_of(source.schedule)
    assert (race is None) == (race_of(plan) is None), f"{where}: tables and schedule disagree on what relies on slots"
    found["relies on slots" if race else "any timing"] += 1
    if isinstance(source, Tables):
        verdict = verify_tables(source)
        broken = {"deadlock": not freedom.free, "late": race is not None and freedom.agreement is not None}
        refused = {rule for rule, is_broken in broken.items() if is_broken}
        assert set(verdict.counts) == refused, f"{where}: tables are refused: {set(verdict.counts)}, expected {refused}"
        found["tables checked"] += 1
        found["tables refused: late"] += "late" in refused
    try:
        on_lanes = run(source, Options(engine="lanes"))
    except UnsupportedError as error:
        found[f"not simulated: {str(error).split(':')[0][:40]}"] += 1
        return found
    right = (expected, expected, True, 0, 0)
    assert _facts(on_lanes) == right, f"{where}: lanes {_facts(on_lanes)}, expected {right}"
    found["lanes and closed form"] += 1
    fast = run(source, Options(engine="fast", without_routers=True))
    assert _facts(fast) == right, f"{where}: fast {_facts(fast)}, lanes {right}"
    found["fast engine and lanes"] += 1
    late = run(source, Options(engine="lanes", clocks=drawn.clocks))
    if race is None:
        assert late.data_ok, f"{where}: wrong data with skew"
    found[f"lanes with skew, {'any timing' if race is None else 'slots'}: data " + ("right" if late.data_ok else "wrong")] += 1
    if on_lanes.flit_hops <= MOST_FLIT_HOPS:
        found += _through_routers(source, drawn, freedom, race is None, on_lanes.cycles, where)
    if (
        tlc
        and isinstance(source, Tables)
        and not source.is_counted
        and len(schedule.topology.endpoints) <= MOST_MODEL_CHECKED
        and freedom.free
    ):
        checked = model_check_tables(source, 120.0)
        assert checked.result in (Result.SUCCESS, Result.UNKNOWN), f"{where}: TLC: {checked.message}"
        found[f"TLC: {checked.result}"] += 1
    return found


def _facts(result: Run) -> tuple[int, int | None, bool, int, int]:
    return result.cycles, result.closed_form_cycles, result.data_ok, result.late, result.contention_cycles


def _through_routers(source: Tables | Plan, drawn: Draw, freedom: Freedom, any_time: bool, cycles: int, where: str) -> Counter[str]:
    """Runs through routers, with equal clocks and with skew: free ones end, those that are accepted with the right data, and where
    routers are transparent in as many cycles as on lanes."""
    found: Counter[str] = Counter()
    free, agrees = freedom.free, bool(freedom.agrees)
    for clocks in (None, drawn.clocks):
        try:
            result = run(source, Options(engine="flit", clocks=clocks))
        except UnsupportedError:
            return Counter({"not through routers": 1})
        if free:
            assert not result.deadlock, f"{where}: free of deadlock, but {result.deadlock}"
            accepted = any_time or (agrees and clocks is None)
            assert result.data_ok or not accepted, f"{where}: wrong data through routers"
            data = "right" if result.data_ok else "wrong"
            found[f"through routers, free, {'accepted' if accepted else 'late'}: data {data}"] += 1
        else:
            found["through routers, refused: " + ("deadlock" if result.deadlock else "ends")] += 1
        if agrees and free and clocks is None:
            assert result.cycles == cycles, f"{where}: transparent routers take {result.cycles} cycles, lanes {cycles}"
            found["transparent routers and lanes"] += 1
    return found


def main(first: int, count: int, every: int) -> None:
    """Run draws; those that disagree are listed by seed."""
    begin, total = time.monotonic(), Counter[str]()
    for seed in range(first, first + count):
        try:
            total += check_draw(seed, tlc=bool(every) and seed % every == 0)
        except Exception as error:  # any failure of a draw is a finding
            total["failures"] += 1
            sys.stdout.write(f"{type(error).__name__}: {error}\n")
    lines = [f"{number:>8,} {name}" for name, number in sorted(total.items())]
    sys.stdout.write("\n".join([*lines, f"{Fraction(round((time.monotonic() - begin) * 10), 10)} s\n"]))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
