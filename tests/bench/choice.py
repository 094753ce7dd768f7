"""Whether `auto` is ever slower than a published algorithm: closed forms over the kinds of networks and sizes 1 KiB to 1 GiB.

    python tests/bench/choice.py [NETWORK ...] [--collectives all-reduce,broadcast] [--sizes 1KiB,1GiB] [--whole] [--exact]

One line for each network, collective and size: the cycles of auto over those of the best published algorithm, and which that is.
Algorithms are taken with their options too (VARIANTS); `among` says how many schedules auto was compared with. What is above 1 is
listed again at the end. Where the best algorithm is one that auto compares by itself, auto is at least as fast ("<= 1"), and is run
only with --whole. Without --exact the exact search, which takes most of the time on the smallest networks, is taken out of auto:
that can only make auto slower.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from certree.cli.matrix import NETWORKS
from certree.models.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.errors import UndecidedError, UnsupportedError
from certree.models.files import parse_size
from certree.models.machine import load_machine
from certree.models.topology import Topology
from certree.models.topology_spec import parse_topology
from certree.synth.method import Request, load_methods
from certree.synth.methods import auto
from certree.synth.methods.auto import ASKED_FOR

SIZES = (1 << 10, 1 << 15, 1 << 20, 1 << 24, 1 << 26, 1 << 30)
SEARCHES = ("auto", "exact", "packing", "retime", "symmetric")
#: options with which an algorithm is published too; those that a method does not take or a network refuses are passed over
VARIANTS = {
    "ring": ({"bidirectional": "true"}, {"order": "natural"}),
    "ring-2d": ({"form": "nested"},),
    "multitree": ({"priority": "remaining-height"}, {"order": "authors"}),
    "double-binary-tree": ({"overlap": "true"},),
    "blueconnect": ({"bidirectional": "true"},),
    "hierarchical": ({"bidirectional": "false"},),
    "halving-doubling": ({"distance": "halving"}, {"fold": "whole"}),
    "netreduce": ({"form": "hierarchical"},),
    "gentree": ({"rearrange": "false"},),
    "ring-all-to-all": ({"bidirectional": "true"},),
}
CHANNELS = ("ring", "cps", "hierarchical", "double-binary-tree", "binomial", "halving-doubling", "recursive-doubling", "direct")


def rivals(topology: Topology) -> Iterator[tuple[str, dict[str, str]]]:
    """(method, options) of everything that is no search; side by side as often as an endpoint has links where it has several."""
    links = int(topology.capacity[topology.src == topology.endpoints[0]].sum())
    for name in load_methods():
        if name not in SEARCHES and name not in ASKED_FOR:
            yield name, {}
            yield from ((name, options) for options in VARIANTS.get(name, ()))
            if name in CHANNELS and links > 1:
                yield name, {"channels": str(min(links, 64))}


def published(request: Request) -> dict[str, int]:
    """Cycles of every rival that makes this, by its name with its options."""
    found, methods = {}, load_methods()
    for name, options in rivals(request.topology):
        asked = replace(request, options=options)
        with suppress(UnsupportedError, UndecidedError):
            label = ":".join([name, *[f"{key}={value}" for key, value in options.items()]])
            found[label] = request.cycles(methods[name](asked))
    return found


def compare(spec: str, kind: CollectiveKind, size: int, *, whole: bool) -> tuple[float, str] | None:
    """auto over the best published algorithm, and a line that says so; None where no such algorithm applies.

    Unless `whole`, auto is not run where the best of the rivals that it compares by itself is no slower than all others.
    """
    topology = parse_topology(spec)
    collective = Collective(kind, int(topology.endpoints[1]) if kind in WITH_ONE_ROOT else None)
    request = Request(topology, collective, size, load_machine("multitree"))
    others = published(request)
    if not others:
        return None
    best, by = min((cycles, name) for name, cycles in others.items())
    own = {label for label, _, _ in auto.candidates(request)}
    spent = 0.0
    if whole or best < min((cycles for name, cycles in others.items() if name in own), default=best + 1):
        start = time.process_time()
        made = load_methods()["auto"](request)
        spent = time.process_time() - start
        ratio, picked = request.cycles(made) / best, str(made.provenance["method"])
    else:
        ratio, picked = 1.0, "that or better"
    shown = f"{ratio:.3f}" if spent > 0 else "<= 1"
    line = f"{spec:<28}{kind:<15}{size >> 10:>8} KiB{shown:>8}  {picked:<20}{by:<36}{len(others):>3}{spent:>7.1f} s"
    return ratio, line


def run(
    smoke: bool,
    networks: tuple[str, ...] = (),
    kinds: tuple[CollectiveKind, ...] = tuple(CollectiveKind),
    sizes: tuple[int, ...] = SIZES,
    *,
    whole: bool = False,
) -> None:
    """All of it, or a few."""
    print(
        f"{'network':<28}{'collective':<15}{'size':>12}{'ratio':>8}  {'auto picks':<20}{'best published':<34}{'among':>5}{'CPU':>9}"
    )
    slower, lines = [], 0
    for spec in networks or (("mesh:3x4", "switch:6") if smoke else tuple(spec for specs in NETWORKS.values() for spec in specs)):
        for kind in kinds[:2] if smoke else kinds:
            for size in sizes[::3] if smoke else sizes:
                if (line := compare(spec, kind, size, whole=whole)) is not None:
                    print(line[1], flush=True)
                    lines += 1
                    slower += [line[1]] if line[0] > 1 else []
    print(f"slower than a published algorithm: {len(slower)} of {lines}")
    print("\n".join(slower))


if __name__ == "__main__":
    words = sys.argv[1:]
    if "--exact" not in words:
        auto.SEARCHES = tuple(name for name in auto.SEARCHES if name != "exact")
    given = dict(pairwise(words))
    run(
        "--smoke" in words,
        tuple(word for word in words if ":" in word or word.startswith("dgx")),
        tuple(map(CollectiveKind, given["--collectives"].split(","))) if "--collectives" in given else tuple(CollectiveKind),
        tuple(map(parse_size, given["--sizes"].split(","))) if "--sizes" in given else SIZES,
        whole="--whole" in words,
    )
