"""Whether `auto` is ever slower than a published algorithm: closed forms over the kinds of networks and sizes 1 KiB to 1 GiB.

    python tests/bench/choice.py [NETWORK ...] [--collectives all-reduce,broadcast] [--sizes 1KiB,1GiB] [--exact]

A network is named as a topology is (`torus:4x4`), or `small` (those of docs/reference/coverage.md) or `large` (LARGE). One line per
network, collective and size: the best published algorithm, of how many, and the cycles of auto over those of that one. Algorithms
are taken with the variants that they are registered with too. A schedule that does not depend on the size is made once and timed at
all sizes. Where auto compares the best algorithm by itself it is at least as fast ("<= 1"), and nothing else is run; elsewhere its
candidates are made one after the other until one is as fast, which is then named. Only if none is, the quotient is above 1, and
listed again at the end. Without --exact the exact search, which takes most of the time on the smallest networks, is taken out of
auto: that can only make auto slower.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

from certree.models.common.errors import UndecidedError, UnsupportedError
from certree.models.common.quantities import parse_size
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.method import METHODS, Request, Tier, load_methods
from certree.synth.methods import auto
from tools.tables.matrix import NETWORKS

SIZES = (1 << 10, 1 << 15, 1 << 20, 1 << 24, 1 << 26, 1 << 30)
SMALL = tuple(spec for specs in NETWORKS.values() for spec in specs)
#: larger ones of each kind, and networks whose switches reduce
LARGE = (
    "torus:8x8",
    "torus:4x4x4",
    "torus:8x8,without-link=0-1",
    "mesh:8x8",
    "hypercube:6",
    "full:16",
    "switch:32",
    "switch:8,reducing=switches",
    "fattree:8x8",
    "fattree:4x4,reducing=switches",
    "leafspine:4x2x8@4",
    "bigraph:4x16",
    "bigraph:4x8,reducing=switches",
    "tree:4x8@10",
    "tree:2x4/2x4@10",
    "switch-fc:16x4",
    "switch-fc:8x8,reducing=switches",
    "switch-fc:4x4x4x4",
    "switch-fc:2x2x4x2,reducing=switches",
    "dgx2,reducing=switches",
    "hier-torus:4x4x4",
    "ace-torus:4x4x4",
    "ace-alltoall:4x4",
    "ace-alltoall:4x2,reducing=switches",
)


def rivals(topology: Topology) -> Iterator[tuple[str, dict[str, str]]]:
    """(method, options) of everything that is no search; side by side as often as an endpoint has links where it has several."""
    links = int(topology.capacity[topology.src == topology.endpoints[0]].sum())
    for name, method in ((name, load_methods()[name]) for name in load_methods()):
        if method.published and not method.make.__module__.startswith("certree.synth.methods.small."):  # those have fine slots
            yield name, {}
            yield from ((name, dict(variant.options)) for variant in method.variants)
            if method.side_by_side and links > 1:
                yield name, {"channels": str(min(links, 64))}


def label_of(name: str, options: dict[str, str]) -> str:
    """The name by which `auto` calls a method."""
    return ":".join([name, *[f"{key}={value}" for key, value in options.items()]])


def made(request: Request, name: str, options: dict[str, str]) -> AnySchedule | None:
    """What a method makes, or None where it does not cover the request."""
    with suppress(UnsupportedError, UndecidedError):
        return load_methods()[name](replace(request, options=options))
    return None


def published(requests: Sequence[Request]) -> dict[int, dict[str, int]]:
    """For each of some requests that differ only in size: cycles of every rival that makes it, by its name with its options."""
    found: dict[int, dict[str, int]] = {request.message_bytes: {} for request in requests}
    for name, options in rivals(requests[0].topology):
        once = None if load_methods()[name].is_sized else made(requests[0], name, options)
        for request in requests:
            schedule = made(request, name, options) if load_methods()[name].is_sized else once
            if schedule is not None:
                with suppress(UnsupportedError):
                    found[request.message_bytes][label_of(name, options)] = request.cycles(schedule)
    return found


@dataclass(frozen=True)
class Compared:
    """One network, collective and size: the best of `among` published algorithms, and `ours` over it in cycles.

    `picked` is what auto has that is as fast, or its best; `spent` the CPU seconds of auto's candidates, 0 where the best
    is one of them.
    """

    spec: str
    request: Request
    by: str
    among: int
    ratio: float
    picked: str
    spent: float

    def __str__(self) -> str:
        shown = f"{self.ratio:.3f}" if self.ratio > 1 else "<= 1"
        size = f"{self.request.message_bytes >> 10:>8} KiB"
        kind = self.request.collective.kind
        return f"{self.spec:<38}{kind:<15}{size}{shown:>8}  {self.picked:<36}{self.by:<36}{self.among:>3}{self.spent:>7.1f} s"


def requests_for(spec: str, kind: CollectiveKind, sizes: Sequence[int]) -> list[Request]:
    """One for each size, on the preset machine."""
    topology = parse_topology(spec)
    collective = Collective(kind, int(topology.endpoints[1]) if kind in WITH_ONE_ROOT else None)
    return [Request(topology, collective, size, load_machine("multitree")) for size in sizes]


def compare(spec: str, kind: CollectiveKind, sizes: Sequence[int]) -> Iterator[Compared]:
    """Each size for which there is a published algorithm."""
    requests = requests_for(spec, kind, sizes)
    times = published(requests)
    for request in requests:
        if others := times[request.message_bytes]:
            yield _against(spec, request, others)


def _against(spec: str, request: Request, others: dict[str, int]) -> Compared:
    best, by = min((cycles, label) for label, cycles in others.items())
    asked = list(auto.candidates(request))
    own = {others[label]: label for label, _, _ in reversed(asked) if label in others}
    start = time.process_time()
    for label, name, options in asked:
        if min(own, default=best + 1) <= best:
            break
        if label not in others and (schedule := made(request, name, options)) is not None:
            with suppress(UnsupportedError):
                own[request.cycles(schedule)] = label
    spent = time.process_time() - start
    ours = min(own)
    return Compared(spec, request, by, len(others), ours / best, own[ours], spent)


def run(
    smoke: bool,
    networks: tuple[str, ...] = SMALL,
    kinds: tuple[CollectiveKind, ...] = tuple(CollectiveKind),
    sizes: tuple[int, ...] = SIZES,
) -> None:
    """All of it, or a few."""
    if smoke:
        networks, kinds, sizes = ("mesh:3x4", "switch:6"), kinds[:2], sizes[::3]
    head = f"{'network':<38}{'collective':<15}{'size':>12}{'ratio':>8}"
    print(f"{head}  {'auto has':<36}{'best published':<34}{'among':>5}{'CPU':>9}")
    slower, lines, searched = [], 0, 0
    for spec in networks:
        for kind in kinds:
            for found in compare(spec, kind, sizes):
                print(found, flush=True)
                lines, searched = lines + 1, searched + (found.spent > 0.01)
                slower += [found] if found.ratio > 1 else []
    print(f"slower than a published algorithm: {len(slower)} of {lines}; {searched} of them needed a search")
    for found in slower:
        print(found)


if __name__ == "__main__":
    words = sys.argv[1:]
    if "--exact" not in words:
        METHODS._entries["exact"] = replace(load_methods()["exact"], tier=Tier.NAMED)
    given = dict(pairwise(words))
    named = [word for word in words if word in ("small", "large") or ":" in word or word.startswith("dgx")]
    run(
        "--smoke" in words,
        tuple(spec for word in named or ["small"] for spec in {"small": SMALL, "large": LARGE}.get(word, (word,))),
        tuple(map(CollectiveKind, given["--collectives"].split(","))) if "--collectives" in given else tuple(CollectiveKind),
        tuple(map(parse_size, given["--sizes"].split(","))) if "--sizes" in given else SIZES,
    )
