"""Speed of the simulator core: flit-hops per CPU second, against the plain Python reference in the same run."""

from time import process_time

from certree.hw.lowering import lower
from certree.hw.reference import ReferenceMachine
from certree.hw.simulator import simulate
from certree.models.collective import parse_collective
from certree.models.machine import load_machine
from certree.models.tables import Tables
from certree.models.topology_spec import parse_topology
from certree.synth.method import Request, load_methods

MIB = 1 << 20


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


def run(smoke: bool) -> None:
    """One line per network, method and run mode; 64 MiB, or 1 MiB when `smoke`."""
    size = MIB if smoke else 64 * MIB
    baseline = reference_speed()
    print(f"simulator, all-reduce of {size // MIB} MiB; reference in Python: {baseline / 1e6:.2f} M flit-hops per CPU s")
    print(f"{'network':<10} {'method':<10} {'run':<8} {'cycles':>10} {'flit-hops':>12} {'CPU s':>7} {'M hops/s':>9} {'x ref':>7}")
    for spec, method, mode in (
        ("mesh:8x8", "multitree", "paced"),
        ("mesh:8x8", "multitree", "slotted"),
        ("mesh:8x8", "packing", "slotted"),
        ("torus:8x8", "multitree", "paced"),
        ("torus:8x8", "packing", "slotted"),
    ):
        program = tables(spec, method, size)
        start = process_time()
        result = simulate(program, mode)
        seconds = process_time() - start
        if not result.data_ok:
            raise AssertionError(f"{method} on {spec}: wrong sums")
        speed = result.flit_hops / seconds
        print(
            f"{spec:<10} {method:<10} {mode:<8} {result.cycles:>10} {result.flit_hops:>12} {seconds:>7.2f} "
            f"{speed / 1e6:>9.1f} {speed / baseline:>7.0f}"
        )


if __name__ == "__main__":
    run(smoke=False)
