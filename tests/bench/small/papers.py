"""Published algorithms for small messages against the ones that their papers compare with: the gain that a paper states and the
gain here.

    python -m tests.bench.small.papers [PAPER ...] [--networks torus:8x8,...] [--sizes 2KiB,2MiB]

A line for each network, collective and size: cycles of the paper's algorithm, of the best algorithm that it is compared with, and
of method auto. Of each algorithm the fastest of its forms counts, in slots or paced, whatever is less. The gain is the time of the
one over that of the other, less 1, as in the papers. Traffic is the bytes times links of the first over those of the second, with
switches on the links between them. Machines have the bandwidth of the paper's links and the latency of those of Swing's, 100 ns and
300 ns for the router behind, and no time for sums. For Bine trees those of Swing stand in for four supercomputers.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from certree.api.reports.text import size_words
from certree.models.common.errors import CertreeError
from certree.models.common.quantities import parse_size
from certree.models.machine.machine import Machine, load_machine
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.paths import route_of
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import Request, load_methods
from tests.bench.choice import label_of, requests_for
from tests.bench.small.curve import paced

Algorithm = tuple[str, dict[str, str]]


def links_of(name: str, bytes_per_cycle: int) -> Machine:
    """1 GHz; 400 cycles for each link and the router behind it, no time for sums, and buffers that are never full."""
    return replace(
        load_machine("multitree"), name=name, flit_bytes=bytes_per_cycle, link_latency_cycles=399, router_cycles=1, ni_cycles=0,
        reduce_bytes_per_cycle=1 << 20, reduce_quantum_cycles=1, reduce_start_cycles=0, vc_buffer_flits=1 << 22,
        ni_buffer_flits=1 << 22,
    )  # fmt: skip


@dataclass(frozen=True)
class Paper:
    """Where a paper's algorithm was measured, as far as that can be run here, and with what; `says`: what its text states."""

    name: str
    machine: Machine
    networks: tuple[str, ...]
    collectives: tuple[str, ...]
    sizes: tuple[int, ...]
    own: tuple[Algorithm, ...]
    known: tuple[Algorithm, ...]
    says: str


def _forms(name: str, *more: Mapping[str, str]) -> tuple[Algorithm, ...]:
    return tuple((name, dict(options)) for options in ({}, *more))


BUTTERFLY = "binary"  # stands for as many factors of 2 as there are
RINGS: tuple[Algorithm, ...] = (
    *_forms("ring", {"bidirectional": "true"}, {"bidirectional": "true", "channels": "2"}),
    *_forms("ring-2d", {"form": "nested"}, {"form": "nested", "channels": "4"}),
    *_forms("blueconnect", {"bidirectional": "true"}, {"channels": "4"}),
)
BINARY: tuple[Algorithm, ...] = (
    ("recursive-multiplying", {"factors": BUTTERFLY}),
    *_forms("halving-doubling", {"distance": "halving"}),
)
FORMS = ("vectors", "shares")
SWING = tuple(("swing", {"form": form, "ports": ports}) for form in FORMS for ports in ("1", "most"))
BINE = tuple(("bine", {"form": form, "distance": far}) for form in FORMS for far in ("doubling", "halving"))
PAPERS = {
    paper.name: paper
    for paper in (
        Paper(
            "swing", links_of("400 Gb/s", 50), ("torus:8x8", "torus:16x4", "torus:32x2", "torus:4x4x4"), ("all-reduce",),
            (32, 2 << 10, 32 << 10, 256 << 10, 2 << 20, 32 << 20), SWING, (*BINARY, *RINGS),
            "the fastest up to 32 MiB on 2D tori; up to 50 % up to 32 KiB and about 120 % at 2 MiB on 64x64; up to 3x on "
            "128x8 and 256x4; up to 2x on 8x8x8 and 8x8x8x8",
        ),
        Paper(
            "trivance", links_of("800 Gb/s", 100), ("ring:9", "ring:27", "torus:9x9"), ("all-reduce",),
            (32, 2 << 10, 32 << 10, 256 << 10, 2 << 20, 8 << 20), (("trivance", {}),),
            (("recursive-multiplying", {"factors": "ternary"}), *RINGS),
            "5 to 30 % faster up to 8 MiB",
        ),
        Paper(
            "bine", links_of("400 Gb/s", 50), ("torus:8x8", "torus:4x4x4", "leafspine:4x2x4"),
            ("broadcast", "reduce", "all-gather", "reduce-scatter", "all-reduce"), (2 << 10, 32 << 10, 2 << 20),
            (("bine", {}), *BINE),
            (("binomial", {}), *BINARY),
            "up to 5x on four supercomputers; up to 33 % less traffic between groups of nodes",
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """Cycles and algorithm of the paper's, of the best known and of auto, and messages through links of the first two."""

    network: str
    collective: str
    size: int
    own: tuple[int, str, int] | None
    known: tuple[int, str, int] | None
    auto: tuple[int, str]

    @property
    def gain(self) -> float | None:
        """The gain of the paper's algorithm over the best known one; None where one of them cannot be run."""
        return self.known[0] / self.own[0] - 1 if self.own and self.known else None

    def __str__(self) -> str:
        shown = [f"{one[0]:,} | `{one[1]}`" if one else "- | " for one in (self.own, self.known)]
        gain = "" if self.gain is None else f"{100 * self.gain:.0f} %"
        traffic = f"{self.own[2] / self.known[2]:.2f}" if self.own and self.known and self.known[2] else ""
        over = min(one[0] for one in (self.own, self.known) if one) / self.auto[0] if self.own or self.known else 1.0
        head = f"| `{self.network}` | {self.collective} | {size_words(self.size)} | {shown[0]} | {shown[1]} | {gain} | {traffic} |"
        return f"{head} {self.auto[0]:,} | `{self.auto[1]}` | {over:.2f} |"


def fastest(request: Request, algorithms: Sequence[Algorithm]) -> tuple[int, str, int] | None:
    """Cycles, name and bytes times links of the fastest; None where none can be run."""
    found = []
    for name, options in algorithms:
        given = _options(request, options)
        with suppress(CertreeError):
            schedule = written_out(load_methods()[name](_alone(request, given)))
            times = [paced(schedule, request)]
            with suppress(CertreeError):
                times.append(request.cycles(schedule))
            cycles = [one for one in times if one is not None]
            if cycles:
                found.append((min(cycles), label_of(name, given), traffic(schedule)))
    return min(found, default=None)


def _alone(request: Request, options: dict[str, str]) -> Request:
    """The request, of which nothing was made yet."""
    fresh = requests_for(request.topology.name, request.collective.kind, [request.message_bytes])[0]
    return replace(fresh, machine=request.machine, options=options)


def _options(request: Request, options: Mapping[str, str]) -> dict[str, str]:
    """Factors and ports of this network."""
    base = {BUTTERFLY: 2, "ternary": 3}
    given = dict(options)
    if (word := given.get("factors")) in base:
        power, number = 0, len(request.members)
        while base[word] ** power < number:
            power += 1
        given["factors"] = "x".join([str(base[word])] * power)
    if given.get("ports") == "most":
        del given["ports"]
    return given


def traffic(schedule: Schedule) -> int:
    """Bytes times links, in parts of the message of 1/10^9; between switches alone where there are some."""
    topology = schedule.topology
    _, pair = route_of(topology, schedule.src, schedule.dst, schedule.route, schedule.routes)
    load = np.bincount(pair[pair >= 0], minlength=len(topology.pair_capacity))
    ends = np.isin(topology.pair_src, topology.endpoints) | np.isin(topology.pair_dst, topology.endpoints)
    between = load[~ends].sum() if (~ends).any() else load.sum()
    return int(between) * 10**9 // schedule.chunks


def lines(paper: Paper, networks: Sequence[str], sizes: Sequence[int]) -> Iterator[Compared]:
    """A comparison for each network, collective and size of a paper."""
    for network in networks:
        for collective in paper.collectives:
            for size in sizes:
                request = replace(requests_for(network, CollectiveKind(collective), [size])[0], machine=paper.machine)
                own, known = fastest(request, paper.own), fastest(request, paper.known)
                best = load_methods()["auto"](_alone(request, {}))
                label = best.provenance["auto"]["why"].split(": ")[0]
                yield Compared(network, collective, size, own, known, (request.cycles(best), label))


def run(smoke: bool) -> None:
    """The papers that the arguments name; a small ring for a smoke run."""
    words = [] if smoke else sys.argv[1:]
    given = dict(pairwise(words))
    for name in ["trivance"] if smoke else [word for word in words if word in PAPERS] or PAPERS:
        paper = PAPERS[name]
        networks = ["ring:9"] if smoke else given["--networks"].split(",") if "--networks" in given else paper.networks
        sizes = (
            paper.sizes[1:2] if smoke else [*map(parse_size, given["--sizes"].split(","))] if "--sizes" in given else paper.sizes
        )
        print(f"\n{name} states: {paper.says}\n")
        print(f"| network | collective | size | {name} | form | best known | which | gain | traffic | auto | which | over |")
        print("|---" * 12 + "|")
        for line in lines(paper, networks, sizes):
            print(line, flush=True)


if __name__ == "__main__":
    run(smoke=False)
