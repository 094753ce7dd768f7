"""Alltoallv by method prepared-paths: 64 endpoints of a known network, 20 matrices that differ from batch to batch.

Each endpoint sends 64 MiB, or 64 KiB, divided by Zipf's law: in *hot* the same experts are popular with all, in *mixed* each
endpoint has an order of its own, and in *drawn* experts are popular by a flat Dirichlet distribution and tokens are drawn. Each
line: the most and the median of time over time bound, and the least, median and most CPU milliseconds of `ct.synthesize` with the
matrix, after one that is not counted; the classes of the bounds. Last, time over that of method `single-pass`, which searches. With
--certify the time bounds are those of a long search, not of the certificates that the schedules come with.
"""

import sys
from collections.abc import Callable
from fractions import Fraction
from statistics import median
from time import process_time

import numpy as np
from numpy.typing import NDArray

import certree.api as ct
from certree.models.common.quantities import parse_size
from certree.models.fine.slots import fine_times
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from tests.synth.flows.demands import zipf

NETWORKS, SENT, DRAWS = ("torus:8x8", "fattree:8x8", "h100:8"), ("64MiB", "64KiB"), 20
TOKEN, EXPERTS = 4096, 2


def drawn(endpoints: int, seed: int, sent: int) -> NDArray[np.int64]:
    """Bytes of tokens whose experts are drawn by popularities, which are drawn; tokens have 4 KiB, or a 256th of what is sent."""
    draw, token = np.random.default_rng(seed), min(TOKEN, sent // 256)
    popular = draw.dirichlet(np.ones(endpoints))
    amounts = np.array([draw.multinomial(sent // token, popular) for _ in range(endpoints)], np.int64) * token
    np.fill_diagonal(amounts, 0)
    return amounts


MATRICES: dict[str, Callable[[int, int, int], NDArray[np.int64]]] = {
    "hot": lambda endpoints, seed, sent: zipf(endpoints, seed, sent, hot=True),
    "mixed": lambda endpoints, seed, sent: zipf(endpoints, seed, sent, hot=False),
    "drawn": drawn,
}


def made(topology: Topology, amounts: NDArray[np.int64], method: str) -> tuple[Schedule, float]:
    """A schedule for a matrix, and CPU seconds from the matrix to the certificate."""
    start = process_time()
    collective = ct.collective("alltoallv", demand=ct.demand(amounts, topology))
    schedule = ct.synthesize(topology, collective, method=method)
    spent = process_time() - start
    assert isinstance(schedule, Schedule)
    return schedule, spent


def over(schedule: Schedule) -> tuple[Fraction, str]:
    """Cycles over the time bound, and the class of the bound; AssertionError for a schedule that is invalid."""
    if "--certify" in sys.argv:
        schedule = ct.certify(schedule)
    assert isinstance(schedule, Schedule)
    verdict = ct.verify(schedule)
    assert verdict.valid
    assert verdict.quality is not None
    assert verdict.quality.time is not None
    assert schedule.certificate is not None
    bound = max(schedule.certificate["time"]["bounds"], key=lambda one: int(one["value"]))
    return Fraction(fine_times(schedule).cycles, verdict.quality.time.cycles), ", ".join(bound["class"])


def row(spec: str, name: str, sent: str, draws: int) -> str:
    """A line of the table."""
    topology = parse_topology(spec)
    matrices = [MATRICES[name](len(topology.endpoints), seed, parse_size(sent)) for seed in range(draws + 1)]
    made(topology, matrices[-1], "prepared-paths")
    results = [made(topology, amounts, "prepared-paths") for amounts in matrices[:-1]]
    ratios, classes = zip(*(over(schedule) for schedule, _ in results), strict=True)
    spent = sorted(1000 * seconds for _, seconds in results)
    searched, _ = made(topology, matrices[0], "single-pass")
    gain = Fraction(fine_times(results[0][0]).cycles, fine_times(searched).cycles)
    counted = "; ".join(f"{classes.count(one)} {one}" for one in sorted(set(classes)))
    cells = [f"`{spec}`", name, sent, f"{float(max(ratios)):.3f}", f"{float(median(ratios)):.3f}"]
    return f"| {' | '.join(cells)} | {spent[0]:.0f} / {median(spent):.0f} / {spent[-1]:.0f} | {counted} | {float(gain):.3f} |"


def run(smoke: bool) -> None:
    """One line per network, matrix and size."""
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    print("| network | matrix | each sends | most | median | CPU ms | classes | over single-pass |")
    for spec in ["torus:4x4"] if smoke else named or NETWORKS:
        for name in MATRICES:
            for sent in SENT:
                print(row(spec, name, sent, 2 if smoke else DRAWS), flush=True)


if __name__ == "__main__":
    run(smoke=False)
