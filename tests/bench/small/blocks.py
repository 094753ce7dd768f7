"""All-to-all, gather and scatter of small messages: cycles of method single-pass, simulated from its tables, and of method flows.

The rows of docs/benchmarks/personalized.md, section "Small messages". Networks may be named as arguments.
"""

import sys
from time import process_time

import certree.api as ct
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import schedule_cycles, slotted
from tests.bench.personalized import measured, network

NETWORKS = ("torus:4x4", "torus:8x8", "mesh:8x8", "torus:4x4x4", "dgx1", "dgx2", "fattree:4x4", "regular:4x32")
SIZES = ("1KiB", "4KiB", "16KiB", "64KiB")
COLLECTIVES = ("all-to-all", "gather", "scatter")


def row(spec: str, collective: str, size: str) -> str:
    """A line of the table; AssertionError for a run that is late, contends for a link or has wrong data."""
    topology, root, start = network(spec), None if collective == "all-to-all" else 0, process_time()
    made = ct.synthesize(topology, collective, method="single-pass", size=size, root=root)
    spent = process_time() - start
    _, least, cycles = measured(made)
    slots = ct.synthesize(topology, collective, method="flows", size=size, root=root)
    assert isinstance(slots, Schedule)
    assert slots.made_for is not None
    plan, timing = slotted(slots, slots.made_for.message_bytes, slots.made_for.machine)
    others = schedule_cycles(plan, timing, slots.made_for.machine)
    name = f"`{spec}`" if not spec.startswith("regular:") else "{}-regular, {}".format(*spec[8:].split("x"))
    words = str(made.provenance["program"]).split(", ")
    how = f"{words[-1]}, {words[0].split()[0]}"
    return f"| {name} | {collective} | {size} | {others:,} | {cycles:,} | {how} | {least:,} | {cycles / least:.3f} | {spent:.1f} |"


def run(smoke: bool) -> None:
    """One line per network, collective and size."""
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    print("| network | collective | size | slots | single-pass | how | time bound | time / time bound | CPU s |")
    for spec in ["torus:4x4"] if smoke else named or NETWORKS:
        for collective in COLLECTIVES:
            for size in SIZES:
                print(row(spec, collective, size), flush=True)


if __name__ == "__main__":
    run(smoke=False)
