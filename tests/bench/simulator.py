"""Speed of the engines and of the router network: flit-hops over links per CPU second, against the plain Python machine."""

from fractions import Fraction
from resource import RUSAGE_SELF, getrusage
from time import process_time

from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs
from certree.hw.engines.runs import Options
from certree.hw.routers.packet_injection import inject
from certree.hw.routers.packets import synthetic_packets
from certree.hw.run import run as run_tables
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.tables.tables import Tables
from certree.synth.method import Request, load_methods
from tests.hw.engines.reference import ReferenceMachine
from tests.hw.runs import on_lanes, on_routers

MIB = 1 << 20
#: network, method, run mode, whether the engine that moves every flit runs too; 375 KiB times the nodes for large networks
CASES = (
    ("mesh:8x8", "multitree", "paced", 64 * MIB, True),
    ("mesh:8x8", "multitree", "slotted", 64 * MIB, True),
    ("mesh:8x8", "packing", "slotted", 64 * MIB, True),
    ("torus:8x8", "multitree", "paced", 64 * MIB, True),
    ("torus:8x8", "packing", "slotted", 64 * MIB, True),
    ("fattree:8x8", "ring", "slotted", 64 * MIB, True),
    ("torus:16x16", "multitree", "paced", 256 * 375 * 1024, False),
    ("torus:32x32", "multitree", "paced", 1024 * 375 * 1024, False),
)


def tables(spec: str, method: str, size: int) -> Tables:
    """The all-reduce of one of the methods, as tables."""
    machine = load_machine("multitree")
    request = Request(parse_topology(spec), parse_collective("all-reduce"), size, machine)
    return lower(load_methods()[method](request), size, machine)


def reference_speed() -> float:
    """Flit-hops per CPU second of the reference, on a mesh of 4 nodes."""
    small = tables("mesh:2x2", "multitree", 1 << 15)
    start = process_time()
    result = ReferenceMachine(small).run()
    return result.flit_hops / (process_time() - start)


def engines(smoke: bool, baseline: float) -> None:
    """One line per network, method, run mode and engine; messages of 1 MiB and networks up to 64 nodes when `smoke`."""
    print(f"simulator, all-reduce; reference in Python: {baseline / 1e6:.2f} M flit-hops per CPU s")
    print(
        f"{'network':<12} {'method':<10} {'run':<8} {'MiB':>5} {'engine':<6} {'cycles':>10} {'flit-hops':>13} {'CPU s':>7} "
        f"{'M hops/s':>9} {'x ref':>7} {'peak MB':>8}"
    )
    for spec, method, mode, full_size, moves_flits in CASES:
        if smoke and not moves_flits:
            continue
        size = MIB if smoke else full_size
        program = tables(spec, method, size)
        for engine in ("fast", "lanes")[: 1 + moves_flits]:
            start = process_time()
            result = on_lanes(program, mode, engine=engine)
            seconds = process_time() - start
            if not result.data_ok:
                raise AssertionError(f"{method} on {spec}: wrong sums")
            speed = result.flit_hops / seconds
            peak = getrusage(RUSAGE_SELF).ru_maxrss // 1024
            print(
                f"{spec:<12} {method:<10} {mode:<8} {size // MIB:>5} {engine:<6} {result.cycles:>10} {result.flit_hops:>13} "
                f"{seconds:>7.2f} {speed / 1e6:>9.1f} {speed / baseline:>7.0f} {peak:>8}",
                flush=True,
            )


def routers(smoke: bool, baseline: float) -> None:
    """One line per network and load, then per collective; short ones when `smoke`."""
    cycles, size = (2000, MIB // 4) if smoke else (20_000, 4 * MIB)
    print(
        f"routers, {cycles} cycles of traffic, all-reduce of {size >> 10} KiB; Python: {baseline / 1e6:.2f} M flit-hops per CPU s"
    )
    print(f"{'network':<10} {'what':<26} {'cycles':>8} {'flit-hops':>11} {'CPU s':>6} {'M hops/s':>9} {'x ref':>6}")
    booksim2 = load_machine("booksim2")
    for spec, flits, load in (
        ("mesh:8x8", 1, "3/10"),
        ("mesh:8x8", 17, "2/5"),
        ("torus:8x8", 17, "2/5"),
        ("torus:16x16", 17, "1/5"),
    ):
        topology = parse_topology(spec)
        sent = synthetic_packets(topology, load=Fraction(load), flits=flits, cycles=cycles, seed=1)
        start = process_time()
        injected = inject(topology, booksim2, sent)
        _line(spec, f"{flits} flit(s), load {load}", injected.cycles, injected.flit_hops, process_time() - start, baseline)
    for spec, method, mode in (("torus:8x8", "multitree", "slotted"), ("torus:8x8", "multitree", "paced")):
        program = tables(spec, method, size)
        start = process_time()
        result = on_routers(program, mode)
        if not result.data_ok:
            raise AssertionError(f"{method} on {spec}: wrong sums")
        _line(spec, f"{method}, {mode}", result.cycles, result.flit_hops, process_time() - start, baseline)


def with_endpoints(smoke: bool) -> None:
    """One line per network and system: the flit engine on the same tables without endpoints, and with those of ACE; the ratio of
    their flit-hops per CPU second, of which each is the best of three."""
    size = MIB // 8 if smoke else MIB
    print(f"endpoints on the flit engine, paced all-reduce of {size >> 10} KiB, flit-hops per CPU s over those without endpoints")
    print(f"{'network':<10} {'system':<11} {'cycles':>8} {'flit-hops':>11} {'CPU s':>6} {'ratio':>6}")
    for spec, method in (("torus:4x4", "multitree"), ("torus:8x8", "multitree"), ("mesh:4x4", "ring")):
        program, without = tables(spec, method, size), Fraction(0)
        for system in (None, "baseline", "ace"):
            best, result = Fraction(0), None
            for _ in range(3):
                model = None if system is None else endpoint_of_runs(system)
                start = process_time()
                result = run_tables(program, Options("paced", "flit", endpoint=model))
                best = max(best, Fraction(result.flit_hops) / Fraction(process_time() - start))
                if not result.data_ok:
                    raise AssertionError(f"{method} on {spec}, {system}: wrong sums")
            assert result is not None
            without = best if system is None else without
            seconds = float(result.flit_hops / best)
            line = f"{spec:<10} {system or 'none':<11} {result.cycles:>8} {result.flit_hops:>11} {seconds:>6.2f}"
            print(f"{line} {float(best / without):>6.2f}", flush=True)


def _line(spec: str, what: str, cycles: int, hops: int, seconds: float, baseline: float) -> None:
    speed = hops / seconds
    print(f"{spec:<10} {what:<26} {cycles:>8} {hops:>11} {seconds:>6.2f} {speed / 1e6:>9.1f} {speed / baseline:>6.0f}")


def run(smoke: bool) -> None:
    """All tables."""
    baseline = reference_speed()
    engines(smoke, baseline)
    routers(smoke, baseline)
    with_endpoints(smoke)


if __name__ == "__main__":
    run(smoke=False)
