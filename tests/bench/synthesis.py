"""CPU time of synthesis and verification: seconds, and the ratio to MultiTree's construction in the same run."""

from itertools import pairwise
from time import process_time

from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.find import find_bounds
from certree.synth.method import Request, load_methods
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule

NETWORKS = ("mesh:4x4", "mesh:8x8", "torus:8x8", "torus:8x8,without-link=3-4", "mesh:16x16", "torus:16x16")


def run(smoke: bool) -> None:
    """One line per network: K/L of the packing, its slots, and CPU seconds of each stage; 64 MiB."""
    methods = load_methods()
    machine = load_machine("multitree")
    print("synthesis of a 64 MiB all-reduce, CPU s")
    print(
        f"{'network':<28} {'K/L':>8} {'bound':>8} {'slots':>6} "
        f"{'multitree':>10} {'auto':>7} {'bounds':>7} {'verify':>7} {'x multitree':>12}"
    )
    for spec in NETWORKS[:2] if smoke else NETWORKS:
        request = Request(parse_topology(spec), parse_collective("all-reduce"), 64 << 20, machine)
        times = [process_time()]
        methods["multitree"](request)
        times.append(process_time())
        schedule = methods["auto"](request)
        times.append(process_time())
        bounds = find_bounds(request.topology, request.collective, schedule.delay)
        times.append(process_time())
        verdict = verify_schedule(schedule.with_certificate(make_certificate(schedule, bounds)))
        times.append(process_time())
        if not verdict.valid or verdict.quality is None:
            raise AssertionError(f"{spec}: {verdict.violations}")
        tree, auto, bound, verify = (after - before for before, after in pairwise(times))
        print(
            f"{spec:<28} {1 / schedule.bandwidth_time!s:>8} {1 / verdict.quality.bandwidth_bound!s:>8} {schedule.steps:>6} "
            f"{tree:>10.2f} {auto:>7.2f} {bound:>7.2f} {verify:>7.2f} {auto / tree:>12.1f}"
        )


if __name__ == "__main__":
    run(smoke=False)
