"""The list scheduler of this checkout compared with that of another one, in one run: CPU seconds and cycles of both, alternately.

    python -m tests.bench.small.lists [CHECKOUT] [NETWORK ...] [--runs 3]

CHECKOUT is a folder in which `make setup` has run; without one this checkout is compared with itself, which shows the noise. Of
each network: what `auto` takes for an all-reduce of 64 KiB; two-shot all-reduces, booked anew for other sizes and with guards; and
a demand, booked for a few sizes. Each run is a process of its own; CPU seconds are the least of all runs. The last column says
whether schedules are the same, slower, faster, or other ones of the same time.
"""

import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import process_time

from certree.models.common.errors import UnsupportedError
from certree.models.demand import Demand
from certree.models.fine.demand_slots import booked
from certree.models.fine.rebooking import rebooked, with_guards
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine
from certree.models.machine.speeds import with_speeds_of
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import Request, load_methods

HERE = Path(__file__).resolve().parents[3]
NETWORKS = (
    "mesh:4x4", "torus:4x4", "torus:8x8", "fattree:4x4", "dragonfly:5x2x2@1", "hypercube:4", "ring:8", "mesh:3x5", "bigraph:4x4",
    "h100:1", "dgx1", "dgx2", "switch:8,reducing=switches", "hier-torus:2x2x4", "ace-torus:4x2x2",
)  # fmt: skip
SIZE, SKEWS, TIMES = 1 << 16, (1, 20), (1, 30)


def all_reduce(topology: Topology) -> Iterator[tuple[Schedule, int]]:
    """What `auto` takes, and its cycles."""
    request = _request(topology, "all-reduce")
    made = load_methods()["auto"](request)
    yield written_out(made), request.cycles(made)


def again(topology: Topology) -> Iterator[tuple[Schedule, int]]:
    """A two-shot all-reduce at other sizes, and with guards."""
    made = written_out(load_methods()["two-shot"](_request(topology, "all-reduce")))
    assert made.made_for is not None
    for size in (SIZE // 3, 2 * SIZE + 1, 20 * SIZE):
        yield _timed(rebooked(made, size, made.made_for.machine))
    for skew in SKEWS:
        yield _timed(with_guards(made, SIZE, made.made_for.machine, skew))


def demand(topology: Topology) -> Iterator[tuple[Schedule, int]]:
    """Blocks of up to 64 KiB, from everybody to a half of the others."""
    draw, ends = random.Random(1), topology.endpoints.tolist()
    blocks = [(a, b, draw.randint(1, 4096)) for a in ends for b in ends if a != b and draw.random() < 1 / 2]
    collective = parse_collective("alltoallv", demand=Demand(tuple(blocks)))
    machine = with_speeds_of(topology, load_machine("multitree"))
    unit = machine.flit_bytes * sum(granules for _, _, granules in blocks)
    made = written_out(load_methods()["flows"](Request(topology, collective, unit, machine)))
    for times in TIMES:
        yield _timed(booked(made, times * unit, machine))


def _timed(schedule: Schedule) -> tuple[Schedule, int]:
    return schedule, fine_times(schedule).cycles


KINDS: dict[str, Callable[[Topology], Iterator[tuple[Schedule, int]]]] = {"auto": all_reduce, "again": again, "demand": demand}


def _request(topology: Topology, collective: str) -> Request:
    machine = with_speeds_of(topology, load_machine("multitree"))
    return Request(topology, parse_collective(collective), SIZE, machine)


def one(kind: str, network: str) -> tuple[float, int, str]:
    """CPU seconds, cycles of all schedules together, and a digest of them."""
    topology, cycles, digests = parse_topology(network), 0, []
    load_methods()
    start = process_time()
    with suppress(UnsupportedError):
        for made, taken in KINDS[kind](topology):
            cycles += taken
            digests.append(made.digest)
    return process_time() - start, cycles, hashlib.sha256("".join(digests).encode()).hexdigest()


def row(checkout: Path, kind: str, network: str, runs: int) -> str:
    """A line of the table."""
    found: dict[Path, list[tuple[float, int, str]]] = {}
    for _ in range(runs):
        for place in dict.fromkeys((checkout, HERE)):
            command = [place / ".venv/bin/python", __file__, "--one", kind, network]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found.setdefault(place, []).append(tuple(json.loads(said)))
    before, now = (min(found[place]) for place in (checkout, HERE))
    kept = "same" if before[2] == now[2] else "slower" if before[1] < now[1] else "faster" if now[1] < before[1] else "other"
    cpu = f"{before[0]:.2f} | {now[0]:.2f} | {now[0] / before[0]:.3f}"
    return f"| {kind} | `{network}` | {cpu} | {before[1]:,} | {now[1] / max(1, before[1]):.4f} | {kept} |"


def run(smoke: bool) -> None:
    """One line for each kind and network."""
    words = ["ring:4", "--runs", "1"] if smoke else sys.argv[1:]
    runs = int(words[words.index("--runs") + 1]) if "--runs" in words else 3
    checkout = next((Path(word).resolve() for word in words if Path(word).is_dir()), HERE)
    networks = [word for word in words if word[0].isalpha()] or NETWORKS
    print("| kind | network | CPU s before | now | ratio | cycles before | ratio | schedules |")
    for network in networks:
        for kind in KINDS:
            print(row(checkout, kind, network, runs), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(*sys.argv[2:4])))
    else:
        run(smoke=False)
