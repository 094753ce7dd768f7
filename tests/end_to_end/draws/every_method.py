"""Draws of small networks of any shape: every method makes a schedule that the checker accepts, or refuses in one line.

Networks have parallel links, parts of full links, links in one direction, several widths, latencies that are stated (0 as well) or
not, and switches that may reduce. `python -m tests.end_to_end.draws.every_method FIRST COUNT` draws COUNT networks, with seeds from
FIRST on, and prints what came of them; each failure is printed with its seed.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from certree.api.evidence import certified_or_fail
from certree.extras.improvement.make.improvement import improve
from certree.models.common.errors import InputError, TopologyError, UndecidedError, UnsupportedError
from certree.models.machine.machine import Machine, load_machine
from certree.models.machine.speeds import with_speeds_of
from certree.models.network.capacities import in_units
from certree.models.network.topology import UNKNOWN_LATENCY, NodeKind, Topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.method import Method, Option, Request, load_methods
from certree.synth.monitor import Monitor
from tests.end_to_end.draws.recipe import drawn_machine

CAPACITIES = (Fraction(1), Fraction(1), Fraction(1), Fraction(2), Fraction(3), Fraction(1, 3), Fraction(1, 2), Fraction(4, 3))
LATENCIES = (0, 0, 1, 20)
MOST_PARALLEL = 3
SIZES = (1, 64, 1000, 4096, 1 << 16)
LONG_METHODS = {
    "exact": 0.02,
    "auto": 0.02,
    "free-shares": 0.2,
    "packing": 0.4,
    "retime": 0.6,
}  # how many of the requests to a method that takes long are kept
IMPROVED = 0.01  # how many schedules are improved
_RANGE = re.compile(r"(\d+) to (\d+)")


@dataclass(frozen=True)
class Case:
    """A request to a method."""

    seed: int
    method: str
    request: Request

    @property
    def text(self) -> str:
        """One line, for messages."""
        request, words = self.request, " ".join(f"{name}={value}" for name, value in self.request.options.items())
        return f"seed {self.seed}: {self.method} {words} {request.collective}, {request.message_bytes} bytes"


def drawn_network(rng: Random) -> Topology:
    """2 to 6 endpoints and up to 3 switches, joined by a tree of cables and more links at will."""
    while True:
        try:
            return _drawn_network(rng)
        except TopologyError:  # endpoints that cannot reach each other
            continue


def _drawn_network(rng: Random) -> Topology:
    ends, switches, links = drawn_links(rng, (CAPACITIES[:1], CAPACITIES[:5], CAPACITIES, CAPACITIES))
    src, dst, speeds = zip(*links, strict=True)
    units, scale = in_units(speeds, "drawn")
    return Topology(
        name="drawn",
        src=np.array(src, np.int32),
        dst=np.array(dst, np.int32),
        capacity=np.array(units, np.int32),
        scale=scale,
        **drawn_columns(rng, ends, switches, len(links)),
    )


def drawn_links(rng: Random, choices: Sequence[Sequence[Fraction]]) -> tuple[int, int, list[tuple[int, int, Fraction]]]:
    """Endpoints, switches, and links (from, to, capacity), whose capacities are all from one of the choices."""
    ends, switches = rng.randint(2, 6), rng.choice((0, 0, 1, 1, 2, 3))
    nodes = ends + switches
    capacities = rng.choice(choices)
    first = [*range(ends, nodes)] or [0]
    joined = [(node, rng.choice(first)) for node in range(nodes) if node not in first]
    joined += list(pairwise(first))
    joined += [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.randint(0, nodes))]
    links: list[tuple[int, int, Fraction]] = []
    even = rng.random() < 0.6
    for a, b in joined:
        if a == b:
            continue
        for _ in range(rng.choice((1, 1, 2, MOST_PARALLEL))):
            capacity = rng.choice(capacities)
            there = [(a, b, capacity), (b, a, capacity if even else rng.choice(capacities))]
            links += there if rng.random() < (1 if even else 0.8) else there[:1]
    rng.shuffle(links)
    return ends, switches, links


def drawn_columns(rng: Random, ends: int, switches: int, links: int) -> dict[str, Any]:
    """The columns of a network but those of its links' ends and capacities: kinds, latencies, switches that reduce."""
    stated = rng.random() < 0.4
    return {
        "kind": np.array([NodeKind.ENDPOINT] * ends + [NodeKind.SWITCH] * switches, np.int8),
        "latency": np.array([rng.choice(LATENCIES) if stated else UNKNOWN_LATENCY for _ in range(links)], np.int32),
        "reducing": np.array([node >= ends and rng.random() < 0.5 for node in range(ends + switches)]),
    }


def cases(seed: int) -> Iterator[Case]:
    """Requests to every method for each of its collectives, on one network."""
    rng = Random(seed)
    topology = drawn_network(rng)
    machine = machine_drawn_for(topology, rng)
    for name in sorted(load_methods()):
        method = load_methods()[name]
        for kind in method.collectives:
            collective = drawn_collective(topology, kind, rng)
            if rng.random() >= LONG_METHODS.get(name, 1):
                continue
            request = Request(topology, collective, rng.choice(SIZES), machine, seed=rng.randrange(3))
            options = drawn_options(method, request, rng) if rng.random() < 0.5 else {}
            yield Case(seed, name, replace(request, options=options))


def machine_drawn_for(topology: Topology, rng: Random) -> Machine:
    """Any machine, with the speeds of links that the network states."""
    numbers, router = drawn_machine(rng)
    known = load_machine("multitree")
    return with_speeds_of(topology, replace(known, name="drawn", router=replace(known.router, **router), **numbers))


def drawn_collective(topology: Topology, kind: CollectiveKind, rng: Random) -> Collective:
    """A collective of all endpoints, or of some."""
    ends = topology.endpoints.tolist()
    members = sorted(rng.sample(ends, rng.randint(2, len(ends)))) if rng.random() < 0.2 else ends
    root = rng.choice(members) if kind in WITH_ONE_ROOT else None
    return Collective(kind, root, None if members == ends else tuple(members))


def drawn_options(method: Method, request: Request, rng: Random) -> dict[str, str]:
    """Some options with values that they allow."""
    known: Mapping[str, Option] = method.options(request) if callable(method.options) else method.options
    found = {}
    for name, option in known.items():
        limits = _RANGE.fullmatch(option.allowed)
        values = (
            [str(rng.randint(int(limits[1]), min(int(limits[2]), int(limits[1]) + 4)))] if limits else option.allowed.split(" or ")
        )
        if rng.random() < 0.5 and " " not in "".join(values):
            found[name] = rng.choice(values)
    return found


def check(case: Case) -> str:
    """What came of a request; AssertionError, or any error but a refusal, is a finding."""
    try:
        made: AnySchedule = load_methods()[case.method](case.request)
    except (InputError, UndecidedError) as refusal:
        return _refused(refusal)
    _, verdict = certified_or_fail(made)
    if not verdict.valid:
        return "as published, invalid"
    if Random(repr(case.request.options) + made.digest).random() < IMPROVED:
        return _improved(case.request, made)
    return "valid"


def _refused(refusal: Exception) -> str:
    assert "\n" not in str(refusal), f"the refusal has several lines: {refusal}"
    return "refused"


def _improved(request: Request, made: AnySchedule) -> str:
    """What comes of the improvement of a schedule, which is never slower."""
    again = replace(request, options={}, monitor=Monitor())
    try:
        better = improve(made, again)
    except UnsupportedError as refusal:
        _refused(refusal)
        return "valid, not improved"
    certified_or_fail(request.remember(with_channels(better, request.machine)))
    assert again.cycles(better) == again.monitor.best_cycles
    return "valid, and improved"


def failure(case: Case) -> str | None:
    """What goes wrong with a request, by the name of the error and its text; None where nothing does."""
    try:
        check(case)
    except Exception as error:  # any failure of a draw is a finding
        return f"{type(error).__name__}: {error}"
    return None


def main(first: int, count: int) -> int:
    """Run draws; those that fail are listed. The exit code is 1 where there are any."""
    total = Counter[str]()
    for seed in range(first, first + count):
        for case in cases(seed):
            try:
                total[check(case)] += 1
            except Exception as error:  # any failure of a draw is a finding
                total["failures"] += 1
                sys.stdout.write(f"{case.text}\n  {type(error).__name__}: {error}\n")
    sys.stdout.write("".join(f"{number:>8,} {name}\n" for name, number in sorted(total.items())))
    return min(1, total["failures"])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
