"""certree against TACOS, ForestColl, BookSim2 and ASTRA-sim: quality and user seconds, in one table.

    python -m tests.bench.race.race [--smoke] [--size 64MiB] [--tacos FOLDER] [--forestcoll FOLDER] [--booksim PROGRAM] [N ...]

A peer whose folder or program is given, here or in CERTREE_RACE_TACOS, CERTREE_RACE_FORESTCOLL or CERTREE_RACE_BOOKSIM, runs
now (`peers`), for at most `peers.MOST_SECONDS`; of others, and of ASTRA-sim, the figures of `recorded` stand. First all-gathers on
tori of N endpoints, by default those of NETWORKS: time over the time bound of method auto at --size; the peers' over their bound,
which knows no latency. Then mean latencies of packets in routers, with preset booksim2, and an all-reduce on a ring at 50 GiB/s.
`--smoke`: the smallest network and few packets.
"""

import os
import resource
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

from certree.api.reports.text import size_words
from certree.hw.routers.packet_injection import inject
from certree.hw.routers.packets import synthetic_packets
from certree.models.common.errors import InputError
from certree.models.common.quantities import parse_size
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.bounds.quick import quick_time_bound
from certree.synth.method import METHODS, Request, load_methods
from tests.bench.race.peers import PeerError, booksim, forestcoll, tacos
from tests.bench.race.recorded import ASTRA, BOOKSIM, CYCLES, FORESTCOLL, TACOS, recorded
from tests.bench.small.priced import OneLineParser, in_own_process

#: sides of the torus with that many endpoints
NETWORKS = {
    48: (6, 8), 64: (8, 8), 65: (5, 13), 72: (8, 9), 96: (8, 12), 128: (8, 16), 130: (10, 13), 256: (16, 16), 300: (15, 20),
    512: (8, 8, 8), 1024: (32, 32),
}  # fmt: skip
#: kind of network, side, flits, load in tenths
TRAFFIC = (("mesh", 8, 1, 3), ("mesh", 8, 17, 3), ("torus", 8, 17, 2), ("torus", 16, 17, 2))
#: 50 GiB/s and 500 ns, with nothing else that takes time
_ASTRA_MACHINE = {
    "name": "astra", "clock_hz": 838_860_800, "flit_bytes": 64, "link_latency_cycles": 420, "head_flits": 0, "router_cycles": 0,
    "ni_cycles": 0, "reduce_bytes_per_cycle": 1 << 20, "reduce_quantum_cycles": 1, "reduce_start_cycles": 0,
}  # fmt: skip
COLUMNS = ("what", "network", "N", "certree", "user s", "MB", "peer", "its quality", "its user s", "from")


def scheduled(network: str, collective: str, size: int, machine: dict[str, Any]) -> dict[str, Any]:
    """Cycles of what auto makes, over the time bound, its user seconds and megabytes. `machine`: what differs from the preset."""
    load_methods()
    request = Request(parse_topology(network), parse_collective(collective), size, replace(load_machine("multitree"), **machine))
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    cycles = request.cycles(METHODS["auto"](request))
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {"ratio": cycles / quick_time_bound(request), "ns": cycles * 1e9 / request.machine.clock_hz}
    return found | {"seconds": used.ru_utime - start, "megabytes": used.ru_maxrss >> 10}


def routed(network: str, flits: int, tenths: int, cycles: int) -> dict[str, Any]:
    """Mean latency of packets with preset booksim2, those of the first quarter left out, user seconds and megabytes."""
    topology, start = parse_topology(network), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    sent = synthetic_packets(topology, load=Fraction(tenths, 10), flits=flits, cycles=cycles, seed=1)
    latency = inject(topology, load_machine("booksim2"), sent).mean_latency(sent, cycles // 4)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"latency": float(latency), "seconds": used.ru_utime - start, "megabytes": used.ru_maxrss >> 10}


def row(what: str, network: str, own: dict[str, Any], quality: str, peer: str, its: list[str]) -> None:
    """One line: certree's cells, then the peer's (quality, user seconds, source)."""
    mine = [own["error"], "", ""] if "error" in own else [quality.format(**own), f"{own['seconds']:.1f}", str(own["megabytes"])]
    print("|", " | ".join([what, f"`{network}`", str(len(parse_topology(network).endpoints)), *mine, peer, *its]), "|", flush=True)


def figures(peer: str, network: str, shown: str, traffic: tuple[int, int] | None = None) -> list[str]:
    """The recorded cells of a peer; empty where nothing is recorded."""
    found = recorded(peer, network, traffic)
    if found is None:
        return ["", "", "not measured"]
    quality, seconds = (
        "" if one is None else words.format(one) for one, words in ((found.quality, shown), (found.seconds, "{:.1f}"))
    )
    return [quality, seconds, found.source]


def run_now(run: Callable[[], tuple[float, float]], shown: str) -> list[str]:
    """The cells of a peer that runs now, or why it has none."""
    try:
        quality, seconds = run()
    except PeerError as error:
        return ["", "", str(error).replace("|", "/").replace("\n", " ")]
    return [shown.format(quality), f"{seconds:.1f}", "run now"]


def gathers(numbers: list[int], size: int, tacos_at: Path | None, forestcoll_at: Path | None) -> None:
    """All-gathers on tori, against TACOS and ForestColl."""
    for number in numbers:
        sides = NETWORKS[number]
        network, bound = "torus:" + "x".join(map(str, sides)), Fraction(prod(sides) - 1, 2 * len(sides))
        own = in_own_process(scheduled, network, "all-gather", size, {})
        whole = float(-(-bound // 1))  # with one chunk an endpoint
        for peer, at, run, least in (
            (TACOS, tacos_at, tacos, whole),
            (FORESTCOLL, forestcoll_at, forestcoll, float(bound)),
        ):
            its = figures(peer, network, "{:.3f}") if at is None else run_now(_over(run, at, sides, least), "{:.3f}")
            row(f"all-gather of {size_words(size)}, time / bound", network, own, "{ratio:.3f}", peer, its)


def _over(
    run: Callable[..., tuple[float, float]], at: Path, sides: tuple[int, ...], least: float
) -> Callable[[], tuple[float, float]]:
    def ran() -> tuple[float, float]:
        rounds, seconds = run(at, sides)
        return rounds / least, seconds

    return ran


def routers(traffic: tuple[tuple[str, int, int, int], ...], cycles: int, program: Path | None) -> None:
    """Packets in routers, against BookSim2."""
    for kind, side, flits, tenths in traffic:
        network = f"{kind}:{side}x{side}"
        own = in_own_process(routed, network, flits, tenths, cycles)
        its = figures(BOOKSIM, network, "{:.2f}", (flits, tenths))
        if program is not None:
            its = run_now(lambda: booksim(program, kind, side, flits=flits, load=tenths / 10, cycles=cycles), "{:.2f}")  # noqa: B023 - at once
        elif cycles != CYCLES:
            its = ["", "", f"{CYCLES} cycles measured"]
        row(f"latency, {flits} flits, load 0.{tenths}, {cycles} cycles", network, own, "{latency:.2f}", BOOKSIM, its)


def main(arguments: list[str]) -> None:
    """Print the table; SystemExit 2, with a line on stderr, where arguments are not known."""
    parser = OneLineParser("race", __doc__)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--size", type=_size, default=1 << 26)
    for name in ("tacos", "forestcoll", "booksim"):
        variable = f"CERTREE_RACE_{name.upper()}"
        parser.add_argument(f"--{name}", type=_path, metavar="PATH", default=os.environ.get(variable) or None)
    parser.add_argument("numbers", metavar="N", nargs="*", type=int)
    given = parser.parse_intermixed_args(arguments)
    if unknown := [number for number in given.numbers if number not in NETWORKS]:
        parser.error(f"N: {unknown[0]}; allowed: {', '.join(map(str, NETWORKS))}")
    if given.smoke and given.numbers:
        parser.error("--smoke takes no N")
    print("|", " | ".join(COLUMNS), "|")
    print("|---" * len(COLUMNS) + "|")
    gathers(given.numbers or [*NETWORKS][: 1 if given.smoke else None], given.size, given.tacos, given.forestcoll)
    if given.smoke or not given.numbers:
        routers(TRAFFIC[: 1 if given.smoke else None], CYCLES // (20 if given.smoke else 1), given.booksim)
        own = in_own_process(scheduled, "ring:16", "all-reduce", 1 << 26, _ASTRA_MACHINE)
        row("all-reduce of 64 MiB, ns", "ring:16", own, "{ns:.0f}", ASTRA, figures(ASTRA, "ring:16", "{:.0f}"))


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except InputError as error:
        raise ArgumentTypeError(str(error)) from error


def _path(text: str) -> Path:
    if not Path(text).exists():
        raise ArgumentTypeError(f"{text} does not exist")
    return Path(text).resolve()


if __name__ == "__main__":
    main(sys.argv[1:])
