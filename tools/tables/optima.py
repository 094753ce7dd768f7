"""`python -m tools.tables.optima`: the all-reduces of MultiTree and GenTree on 40 networks, each optimal, beaten or open, as a
table (some CPU minutes); the last part of `docs/benchmarks/certified.md`.

Each is certified as `certree certify --exact` does it, at effort 1, and both schedules are verified again. AssertionError where one
is not valid.
"""

import sys
from collections.abc import Iterable, Iterator

from certree.api.checks.checking import verify
from certree.api.checks.exactness import Exactness, certify_exact
from certree.api.synthesis import synthesize
from certree.models.common.errors import UnsupportedError
from certree.verify.exact.question import Point

NETWORKS = (
    "ring:3", "ring:4", "ring:5", "ring:6", "ring:8", "mesh:2x2", "mesh:2x3", "mesh:2x4", "mesh:3x3", "mesh:3x4", "mesh:4x4",
    "mesh:5x5", "torus:3x3", "torus:3x4", "torus:4x4", "torus:4x5", "torus:5x5", "torus:4x4,without-link=0-1", "hypercube:3",
    "hypercube:4", "full:4", "full:8", "dgx1", "switch:3", "switch:4", "switch:6", "switch:8", "fattree:2x2", "fattree:2x3",
    "fattree:2x4", "fattree:4x4", "bigraph:2x4", "ss:3", "ss:4", "ss:24", "tree:2+1", "tree:2+2", "tree:3+1", "tree:2+1+1",
    "leafspine:2x1x2",
)  # fmt: skip
ALGORITHMS = ("multitree", "gentree")
SIZE = "64KiB"
LIMIT = "200s"  # of a search, which then keeps what it has
HEAD = """
## MultiTree and GenTree against the best

All-reduces on 40 networks, as [`certify --exact`](../explanation/frontiers.md#is-this-schedule-optimal) answers at effort 1 within
200 s, in (chunks, steps, rounds). *Optimal*: no schedule with at most as many chunks, steps and rounds per chunk has fewer of any,
with the kinds of proof. *Beaten*: by the schedule of the better point; `*` where that is proved optimal. Cycles are simulated,
64 KiB on machine `multitree`; – where tables cannot run a schedule. Written by `python -m tools.tables.optima`.

| network | algorithm | point | answer | better | cycles | better cycles | proofs, or what was tried last |
|---|---|---|---|---|---|---|---|
"""


def table(networks: Iterable[str]) -> Iterator[str]:
    """The rows of the table, network by network."""
    for network in networks:
        for algorithm in ALGORITHMS:
            try:
                made = synthesize(network, method=algorithm, size=SIZE)
            except UnsupportedError:
                continue
            yield row(network, algorithm, certify_exact(made, size=SIZE, time_limit=LIMIT))


def row(network: str, algorithm: str, found: Exactness) -> str:
    """One row in Markdown."""
    claim = (found.schedule.certificate or {}).get("optimum", {"refuted": []})
    if not found.verdict.valid or (found.better is not None and not verify(found.better).valid):
        raise AssertionError(f"{algorithm} on {network}: not valid")
    proved = found.better is not None and "optimum" in (found.better.certificate or {})
    kinds = sorted({entry["proof"]["kind"] for entry in claim["refuted"]} - {"implied"})
    last = ", ".join(kinds) or "by definition" if found.exact == "optimal" else "" if found.exact == "beaten" else found.tried[-1]
    cycles = [f"{number:,}" if number is not None else "–" for number in (found.cycles, found.better_cycles)]
    better = f"{told(found.better_point)}{' *' if proved else ''}"
    cells = (
        f"`{network}`",
        algorithm,
        told(found.point),
        found.exact,
        better,
        *(cycles if found.better else ("–", "–")),
        last or "–",
    )
    return f"| {' | '.join(cells)} |"


def told(point: Point | None) -> str:
    """A point without spaces."""
    return "–" if point is None else "({},{},{})".format(*point)


def main() -> None:
    """Write the table."""
    sys.stdout.write(HEAD)
    for line in table(NETWORKS):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
