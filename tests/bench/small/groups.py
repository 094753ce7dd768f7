"""Collectives of some endpoints: what relays gain, and how near to the time bound schedules come.

    python -m tests.bench.small.groups [NETWORK ...] [--collectives all-reduce,all-gather] [--size 16MiB] [--drawn 20]

A line for each group: the method that `auto` picks, its cycles over the time bound, the bandwidth time over the bound on it, its
cycles over those that the message takes at that bound, without latency, what the best method takes that is none of RELAYING,
over the same cycles, and CPU seconds of `auto`. Then, of drawn groups of 2 to 16 endpoints, the median and the largest.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from statistics import median

from certree.api.evidence import certified_or_fail
from certree.api.reports.schedule_report import schedule_report
from certree.models.common.quantities import parse_size
from certree.models.machine.machine import load_machine
from certree.models.machine.speeds import with_speeds_of
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind, parse_members
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule

GROUPS = {
    "dgx1": ("0,7", "0-3", "0,1,2", "0,1,4,5", "0,3,5,6"),
    "torus:8x8": ("0-7", "0,8,16,24,32,40,48,56", "0,1,8,9", "0-3,8-11,16-19,24-27", "0-15"),
    "fattree:4x4": ("0-3", "0,4,8,12", "0,1,4,5"),
    "h100:4": ("0-7", "0,8,16,24", "0,1,8,9", "0-15"),
}
FEWEST, MOST = 2, 16
RELAYING = ("relays", "booked-relays", "apart")  # methods that the gain leaves out
HEAD = "| group | method | time / bound | bandwidth / bound | time / bandwidth bound | gain | CPU s |"


@dataclass(frozen=True)
class Line:
    """What came of a group."""

    group: str
    method: str
    over_bound: Fraction
    gap: Fraction
    over_bandwidth: Fraction
    gain: Fraction | None
    seconds: float

    @property
    def text(self) -> str:
        """The cells of a line."""
        gain = "–" if self.gain is None else f"{float(self.gain):.2f}"
        ratios = " | ".join(f"{float(one):.3f}" for one in (self.over_bound, self.gap, self.over_bandwidth))
        return f"| {self.group} | {self.method} | {ratios} | {gain} | {self.seconds:.1f} |"


def measured(network: str, kind: CollectiveKind, members: tuple[int, ...], size: int, group: str) -> Line:
    """One group; the first member is the root where there is one. The schedule is verified, with the bounds that are searched."""
    topology = parse_topology(network)
    collective = Collective(kind, members[0] if kind in WITH_ONE_ROOT else None, members)
    machine = with_speeds_of(topology, load_machine("multitree"))
    start = time.process_time()
    made = load_methods()["auto"](Request(topology, collective, size, machine))
    seconds = time.process_time() - start
    certified, _ = certified_or_fail(made, search=True)
    report = schedule_report(certified, verify_schedule(certified), size, machine)
    known = made.provenance["auto"]["considered"]
    others = [int(text.split()[0]) for label, text in known.items() if label not in RELAYING and text.endswith(" cycles")]
    cycles = report["time_cycles"]
    return Line(
        group,
        made.provenance["method"],
        Fraction(cycles, report["time_bound_cycles"]),
        Fraction(report["bandwidth_time"]) / Fraction(report["bandwidth_bound"]),
        cycles * machine.flit_bytes / (Fraction(report["bandwidth_bound"]) * size),
        Fraction(min(others), cycles) if others else None,
        seconds,
    )


def drawn(network: str, count: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Groups of any endpoints."""
    ends, draws = parse_topology(network).endpoints.tolist(), Random(54)
    for number in range(count):
        chosen = draws.sample(ends, draws.randint(FEWEST, min(MOST, len(ends) - 1)))
        yield f"drawn {number}: {len(chosen)} endpoints", tuple(sorted(chosen))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("networks", nargs="*", default=[*GROUPS])
    parser.add_argument("--collectives", default="all-reduce")
    parser.add_argument("--size", default="16MiB")
    parser.add_argument("--drawn", type=int, default=20)
    asked = parser.parse_args()
    for kind in map(CollectiveKind, asked.collectives.split(",")):
        for network in asked.networks:
            print(f"\n{kind} on {network}, {asked.size}\n\n{HEAD}")
            print("|---|---|---|---|---|---|---|", flush=True)
            size = parse_size(asked.size)
            for text in GROUPS.get(network, ()):
                print(measured(network, kind, parse_members(text), size, text).text, flush=True)
            lines = [measured(network, kind, members, size, name) for name, members in drawn(network, asked.drawn)]
            for name, of in (("median", median), ("largest", max)):
                names = ("over_bound", "gap", "over_bandwidth") if lines else ()
                cells = [of([getattr(line, name) for line in lines]) for name in names]
                print(f"| drawn, {name} | | " + " | ".join(f"{float(one):.3f}" for one in cells) + " | | |", flush=True)


if __name__ == "__main__":
    main()
