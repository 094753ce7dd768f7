"""Alltoallv by method flows: traffic of a random mixture of experts, the largest per pair of several, and all to the node opposite.

Each line: bandwidth time over bound, cycles of the simulated tables over the time bound, and CPU seconds for a new matrix. In the
mixture every endpoint sends 4,096 tokens of 4 KiB to 2 experts each, drawn by popularities that are drawn from a flat Dirichlet
distribution, so that some endpoints get several times as much as others.
"""

import sys
from time import process_time

import numpy as np
from numpy.typing import NDArray

import certree.api as ct
from certree.models.network.spec import parse_topology
from tests.bench.personalized import measured

NETWORKS = ("dgx1", "torus:4x4", "fattree:4x4", "torus:8x8", "h100:8")
TOKENS, EXPERTS, TOKEN_BYTES, MATRICES = 4096, 2, 4096, 4


def mixture(endpoints: int, seed: int) -> NDArray[np.int64]:
    """Bytes from each endpoint to each other one."""
    draw = np.random.default_rng(seed)
    popularity = draw.dirichlet(np.ones(endpoints))
    sent = np.array([draw.multinomial(TOKENS * EXPERTS, popularity) for _ in range(endpoints)]) * TOKEN_BYTES
    np.fill_diagonal(sent, 0)
    return sent.astype(np.int64)


def matrices(endpoints: int) -> dict[str, NDArray[np.int64]]:
    """The matrices of one network, by what they are."""
    drawn = [mixture(endpoints, seed) for seed in range(MATRICES)]
    opposite = np.roll(np.eye(endpoints, dtype=np.int64), endpoints // 2, axis=1) * TOKENS * EXPERTS * TOKEN_BYTES
    return {"mixture 0": drawn[0], "mixture 1": drawn[1], f"largest of {MATRICES}": np.maximum.reduce(drawn), "opposite": opposite}


def row(spec: str, name: str, amounts: NDArray[np.int64]) -> str:
    """A line of the table; AssertionError for a run that is late, contends for a link or has wrong data."""
    topology, start = parse_topology(spec), process_time()
    made = ct.synthesize(topology, ct.collective("alltoallv", demand=ct.demand(amounts.tolist(), topology)), method="flows")
    spent = process_time() - start
    quality, least, cycles = measured(made)
    over = float(quality.bandwidth_time / quality.bandwidth_bound - 1)
    cells = [f"`{spec}`", name, f"{amounts.sum() / (1 << 20):,.0f}", f"{over:.2%}", f"{cycles:,}", f"{least:,}"]
    return f"| {' | '.join(cells)} | {cycles / least - 1:.2%} | {spent:.1f} |"


def run(smoke: bool) -> None:
    """One line per network and matrix."""
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    print("| network | matrix | MiB | gap | cycles | time bound | gap | CPU s |")
    for spec in ["dgx1"] if smoke else named or NETWORKS:
        for name, amounts in matrices(len(parse_topology(spec).endpoints)).items():
            print(row(spec, name, amounts), flush=True)


if __name__ == "__main__":
    run(smoke=False)
