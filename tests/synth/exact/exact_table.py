"""Prints, as Markdown, what exact synthesis reaches on small networks: python -m tests.synth.exact.exact_table"""

import sys
from math import ceil

from certree.models.schedule.schedule import Schedule
from certree.synth.bounds.find import find_bounds
from certree.synth.method import load_methods
from certree.verify.bounds.witness import Instance, best_bounds
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask

NETWORKS = ["ring:4", "ring:5", "ring:6", "ring:8", "mesh:1x5", "mesh:2x2", "mesh:2x3", "mesh:2x4", "mesh:3x3", "torus:3x3"]
NETWORKS += ["torus:3x3,without-link=0-1", "hypercube:3", "full:4", "full:9"]


def least_steps(made: Schedule) -> tuple[int, str]:
    """The fewest steps that the bounds allow for as many chunks, and the bound that says so."""
    instance = Instance.of(made)
    best = best_bounds(instance, find_bounds(made.topology, made.collective))
    by_bandwidth, by_latency = ceil(best["bandwidth"][0] * made.chunks), ceil(best["latency"][0])
    return max((by_latency, best["latency"][1]["kind"]), (by_bandwidth, best["bandwidth"][1]["kind"]))


def row(spec: str, collective: str) -> str:
    """One line of the table; the schedules are judged first."""
    methods = load_methods()
    theirs, made = methods["multitree"](ask(spec, collective)), methods["exact"](ask(spec, collective))
    if not (verify_schedule(theirs).valid and verify_schedule(made).valid):
        raise AssertionError(f"{spec}: a schedule is wrong")
    least, kind = least_steps(made)
    refuted = [words.rpartition("=")[2] for words in made.provenance["solver"] if words.startswith("infeasible")]
    how = f"bound ({kind})" if made.steps == least else f"no bound; solver refutes {', '.join(refuted)}"
    cells = (
        spec,
        collective,
        f"{theirs.steps} / {theirs.chunks}",
        f"{made.steps} / {made.chunks}",
        made.bandwidth_time,
        least,
        how,
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    """Write the table to standard output."""
    sys.stdout.write("| network | collective | MultiTree steps / K | exact steps / K | × M/B | bound | certified by |\n")
    sys.stdout.write("|---|---|---|---|---|---|---|\n")
    for collective in ("all-reduce", "all-gather"):
        for spec in NETWORKS:
            sys.stdout.write(row(spec, collective) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
