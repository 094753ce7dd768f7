"""Speed of the router network: flit-hops over links per CPU second, against the plain Python machine in the same run."""

from fractions import Fraction
from time import process_time

from certree.hw.routers.injection import inject
from certree.hw.routers.packets import synthetic_packets
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from tests.bench.simulator import reference_speed, tables
from tests.hw.runs import on_routers

MIB = 1 << 20


def run(smoke: bool) -> None:
    """One line per network and load, then per collective; short ones when `smoke`."""
    cycles, size = (2000, MIB // 4) if smoke else (20_000, 4 * MIB)
    baseline = reference_speed()
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


def _line(spec: str, what: str, cycles: int, hops: int, seconds: float, baseline: float) -> None:
    speed = hops / seconds
    print(f"{spec:<10} {what:<26} {cycles:>8} {hops:>11} {seconds:>6.2f} {speed / 1e6:>9.1f} {speed / baseline:>6.0f}")


if __name__ == "__main__":
    run(smoke=False)
