"""All benchmarks, one after the other: `make bench`; with --smoke small instances of each, as CI runs them."""

import sys

from tests.bench import (
    candidates,
    changing_demands,
    choice,
    demands,
    exact,
    headline,
    packing,
    personalized,
    scale,
    simulator,
    sweeps,
)
from tests.bench.small import blocks, curve, lists, papers, shortest


def main() -> None:
    """Run every module's `run(smoke)`."""
    smoke = "--smoke" in sys.argv[1:]
    others = (blocks, demands, changing_demands, lists, curve, papers, shortest)
    for module in (simulator, scale, packing, candidates, choice, exact, headline, sweeps, personalized, *others):
        module.run(smoke)
        print(flush=True)


if __name__ == "__main__":
    main()
