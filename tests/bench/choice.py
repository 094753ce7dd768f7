"""Whether `auto` is ever slower than a published algorithm: closed forms over the kinds of networks and sizes 1 KiB to 1 GiB.

    python tests/bench/choice.py [NETWORK ...] [--collectives all-reduce,broadcast]

One line for each network, collective and size: the cycles of auto over those of the best other method, and which that is. What is
above 1 is listed again at the end.
"""

import sys
import time

from certree.cli.matrix import NETWORKS
from certree.models.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.errors import UndecidedError, UnsupportedError
from certree.models.machine import load_machine
from certree.models.topology_spec import parse_topology
from certree.synth.method import Request, load_methods

SIZES = tuple(1 << power for power in range(10, 31, 4))
SEARCHES = ("auto", "exact", "packing", "retime", "symmetric")


def best_published(request: Request) -> tuple[int, str] | None:
    """(cycles, name) of the fastest method that is no search; None where none applies."""
    found, methods = [], load_methods()
    for name in methods:
        if name in SEARCHES:
            continue
        try:
            found.append((request.cycles(methods[name](request)), name))
        except (UnsupportedError, UndecidedError):
            continue
    return min(found, default=None)


def compare(spec: str, kind: CollectiveKind, size: int) -> tuple[float, str] | None:
    """auto over the best published algorithm, and a line that says so."""
    topology = parse_topology(spec)
    collective = Collective(kind, int(topology.endpoints[1]) if kind in WITH_ONE_ROOT else None)
    machine = load_machine("multitree")
    other = best_published(Request(topology, collective, size, machine))
    if other is None:
        return None
    start = time.process_time()
    request = Request(topology, collective, size, machine)
    made = load_methods()["auto"](request)
    spent = time.process_time() - start
    ratio = request.cycles(made) / other[0]
    return (
        ratio,
        f"{spec:<28}{kind:<15}{size >> 10:>8} KiB{ratio:>8.3f}  {made.provenance['method']:<20}{other[1]:<24}{spent:>6.1f} s",
    )


def run(smoke: bool, networks: tuple[str, ...] = (), kinds: tuple[CollectiveKind, ...] = tuple(CollectiveKind)) -> None:
    """All of it, or a few."""
    print(f"{'network':<28}{'collective':<15}{'size':>12}{'ratio':>8}  {'auto picks':<20}{'best published':<24}{'CPU':>8}")
    slower = []
    for spec in networks or (("mesh:3x4", "switch:6") if smoke else tuple(spec for specs in NETWORKS.values() for spec in specs)):
        for kind in kinds[:2] if smoke else kinds:
            for size in SIZES[::3] if smoke else SIZES:
                if (line := compare(spec, kind, size)) is not None:
                    print(line[1], flush=True)
                    slower += [line[1]] if line[0] > 1 else []
    print(f"slower than a published algorithm: {len(slower)}")
    print("\n".join(slower))


if __name__ == "__main__":
    words = sys.argv[1:]
    chosen = next(
        (words[place + 1].split(",") for place, word in enumerate(words) if word == "--collectives"), list(CollectiveKind)
    )
    run(
        "--smoke" in words,
        tuple(word for word in words if ":" in word or word.startswith("dgx")),
        tuple(CollectiveKind(k) for k in chosen),
    )
