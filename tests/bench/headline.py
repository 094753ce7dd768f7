"""What certree promises, measured: schedules from exported tables, run flit by flit, beside MultiTree in the same model.

MultiTree is run both ways, slotted (strict lockstep) and paced (its own lockstep); the faster of the two counts.
"""

import tempfile
from pathlib import Path

from certree.hw.engines.runs import Options, Run
from certree.hw.run import run as run_schedule
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import bandwidth_bound_cycles
from certree.synth.bounds.find import find_bounds
from certree.synth.method import Request, load_methods
from certree.verify.bounds.witness import Instance, check_bound

NETWORKS = ("mesh:4x4", "mesh:8x8", "torus:8x8", "torus:8x8,without-link=3-4")
SIZES_KIB = (32, 64, 128, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10)
ALL_REDUCE = parse_collective("all-reduce")


def played(schedule: Schedule, request: Request, mode: str) -> Run:
    """Export, read back, run; a wrong sum is an error, and so is any lateness or contention of a slotted run."""
    with tempfile.TemporaryDirectory(prefix="certree-") as folder:
        export_tables(lower(schedule, request.message_bytes, request.machine), Path(folder) / "tables")
        result = run_schedule(read_tables(Path(folder) / "tables"), Options(mode=mode, engine="lanes"))
    if not result.data_ok:
        raise AssertionError("wrong sums")
    if mode == "slotted" and (result.late, result.contention_cycles, result.cycles) != (0, 0, result.closed_form_cycles):
        raise AssertionError(f"a slotted run off its closed form: {result}")
    return result


def run(smoke: bool) -> None:
    """One line per network and size; the ratio is MultiTree's cycles over ours."""
    methods = load_methods()
    machine = load_machine("multitree")
    sizes = SIZES_KIB[:2] if smoke else SIZES_KIB
    print("all-reduce, simulated cycles; bound: bandwidth alone, in cycles")
    print(
        f"{'network':<28} {'KiB':>6} {'method':<9} {'ours':>9} {'x bound':>8} "
        f"{'MT slotted':>10} {'MT paced':>9} {'contention':>10} {'faster':>7}"
    )
    for spec in NETWORKS[:1] if smoke else NETWORKS:
        topology = parse_topology(spec)
        bound = max(
            check_bound(Instance(topology, ALL_REDUCE), bound)
            for bound in find_bounds(topology, ALL_REDUCE)
            if bound["quantity"] == "bandwidth"
        )
        for size in sizes:
            request = Request(topology, ALL_REDUCE, size << 10, machine)
            schedule = methods["auto"](request)
            ours = played(schedule, request, "slotted")
            tree = methods["multitree"](request)
            slotted, paced = (played(tree, request, mode) for mode in ("slotted", "paced"))
            least = bandwidth_bound_cycles(bound, request.message_bytes, machine)
            print(
                f"{spec:<28} {size:>6} {schedule.provenance['method']:<9} {ours.cycles:>9} {float(ours.cycles / least):>8.4f} "
                f"{slotted.cycles:>10} {paced.cycles:>9} {paced.contention_cycles:>10} "
                f"{min(slotted.cycles, paced.cycles) / ours.cycles:>7.3f}",
                flush=True,
            )


if __name__ == "__main__":
    run(smoke=False)
