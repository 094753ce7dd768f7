"""Times that a cluster of given GenModel parameters would take, written out by the papers' equations, with noise."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from certree.extras.costs.model.fitting.measurements import Measurement
from certree.extras.costs.model.formulas.genmodel import GenModel


@dataclass(frozen=True)
class Cluster:
    """GenTree's Table 5, links to servers, with the start-up of server, switch and server."""

    alpha: float = 3 * 6.58e-3
    beta: float = 6.4e-9
    gamma: float = 6e-10
    delta: float = 1.87e-10
    epsilon: float = 1.22e-10
    threshold: int = 9

    def seconds(self, benchmark: str, n: int, floats: int) -> float:
        """GenTree, Table 2 (co-located PS), Equations 6 and 7 (exchange), Equation 5 (addition)."""
        incast = max(n - self.threshold, 0) * self.epsilon
        if benchmark == "addition":
            return (n + 1) * floats * self.delta + (n - 1) * floats * self.gamma
        if benchmark == "exchange":
            return self.alpha + floats * (self.beta + incast)
        share = (n - 1) / n * floats
        return 2 * self.alpha + 2 * share * (self.beta + incast) + share * self.gamma + (n + 1) / n * floats * self.delta

    @property
    def truth(self) -> dict[str, float]:
        """What a fit should find."""
        return {
            "alpha": self.alpha,
            "beta": self.beta,
            "gamma": self.gamma,
            "delta": self.delta,
            "epsilon": self.epsilon,
            "2 beta + gamma": 2 * self.beta + self.gamma,
        }


def timings(
    seed: int,
    *,
    servers: Iterable[int] = range(2, 16),
    sizes: Iterable[int] = (10**6, 10**7, 10**8),
    benchmarks: Iterable[str] = ("co-located-ps",),
    noise: float = 0.01,
    cluster: Cluster = Cluster(),
) -> list[Measurement]:
    """One run of each configuration, its time multiplied by exp of a normal number."""
    draw = np.random.default_rng(seed)
    return [
        Measurement(benchmark, n, size, cluster.seconds(benchmark, n, size) * float(np.exp(draw.normal(0, noise))))
        for benchmark in benchmarks
        for n in servers
        for size in sizes
    ]


def timings_of_links(model: GenModel, seed: int = 0, *, noise: float = 0.0) -> list[Measurement]:
    """Exchanges of 2 to 15 servers over links between switches, and across, by GenModel: a route passes two switches with servers
    and one above them, or the link across (`counting.switches_passed`)."""
    draw = np.random.default_rng(seed)
    kinds = (("root", model.root, model.start_seconds(2, 1, 0)), ("cross", model.cross, model.start_seconds(2, 0, 1)))
    found = []
    for link, level, start in kinds:
        for n in range(2, 16):
            for floats in (10**6, 10**7, 10**8):
                seconds = float(start + floats * level.flow_seconds(n)) * float(np.exp(draw.normal(0, noise)))
                found.append(Measurement("exchange", n, floats, seconds, link=link))
    return found
