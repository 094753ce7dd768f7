"""The coefficients of a plan in GenModel's terms, and those of the plans in GenTree's Tables 1 and 2 in closed form.

    T = A alpha + B beta + C gamma + D delta + max(w - w_t, 0) B epsilon

A steps, B floats received over a link, C additions, D memory accesses, w communicators of a many-to-one transfer. `counting.py`
finds them from the transfers of any schedule; the closed forms here agree with it exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Annotated

from certree.models.common.fields import Limits

LEAST_THRESHOLD = 2  # communicators: a single sender and its receiver are no incast


@dataclass(frozen=True)
class Level:
    """Costs of one kind of link: start-up of a step, a float over it, a float and flow beyond `incast_threshold`
    communicators."""

    alpha_seconds: Fraction
    beta_seconds_per_float: Fraction
    epsilon_seconds_per_float: Fraction
    incast_threshold: Annotated[int, Limits(LEAST_THRESHOLD)]

    def flow_seconds(self, communicators: int) -> Fraction:
        """Seconds per float over a link with that number of communicators (Equation 10)."""
        return self.beta_seconds_per_float + max(communicators - self.incast_threshold, 0) * self.epsilon_seconds_per_float


@dataclass(frozen=True)
class Server:
    """Costs of a server: start-up, one addition of floats, one float read from or written to memory."""

    alpha_seconds: Fraction
    gamma_seconds_per_float: Fraction
    delta_seconds_per_float: Fraction


@dataclass(frozen=True)
class Profile:
    """Coefficients of a plan, for the whole vector of one float: steps A, received floats B, additions C, memory accesses D; and
    (w, B_w) of its many-to-one transfers, w ascending: the floats received in steps of w > 2 communicators."""

    steps: int
    received: Fraction
    additions: Fraction
    accesses: Fraction
    incast: tuple[tuple[int, Fraction], ...]

    def excess(self, incast_threshold: int) -> Fraction:
        """The coefficient of epsilon: sum of max(w - w_t, 0) B_w."""
        return sum((max(w - incast_threshold, 0) * share for w, share in self.incast), Fraction(0))

    def seconds(self, level: Level, server: Server, alpha_seconds: Fraction, floats: Fraction) -> Fraction:
        """The time for a vector of `floats`, each step starting up in `alpha_seconds`."""
        per_float = (
            self.received * level.beta_seconds_per_float
            + self.additions * server.gamma_seconds_per_float
            + self.accesses * server.delta_seconds_per_float
            + self.excess(level.incast_threshold) * level.epsilon_seconds_per_float
        )
        return self.steps * alpha_seconds + floats * per_float


def factored_profile(factors: Sequence[int]) -> Profile:
    """Hierarchical co-located PS f0 x f1 x ... as an all-reduce; one factor is co-located PS (Table 2).

    In step i a member receives (f_i - 1) parts of prod(f_j, j > i) / N of the vector each, and adds f_i parts up; the all-gather
    moves as much again. Table 2 prints prod(f_j, 1 <= j <= i) in the memory term and shifts the factors of the incast term; both
    are as here for the cases that follow from the definition (`docs/benchmarks/errata.md`).
    """
    nodes = prod(factors)
    left, accesses = nodes, 0
    incast: dict[int, Fraction] = {}
    for factor in factors:
        left //= factor
        accesses += (factor + 1) * left
        if factor > 2:
            incast[factor] = incast.get(factor, Fraction(0)) + Fraction(2 * (factor - 1) * left, nodes)
    share = Fraction(nodes - 1, nodes)
    return Profile(2 * len(factors), 2 * share, share, Fraction(accesses, nodes), tuple(sorted(incast.items())))


def pairwise_profile(nodes: int, steps: int) -> Profile:
    """Ring (`steps` 2(N - 1)) and, for N a power of 2, recursive halving and doubling (2 log2 N): every addition has two terms."""
    share = Fraction(nodes - 1, nodes)
    return Profile(steps, 2 * share, share, 3 * share, ())


def halving_profile(nodes: int) -> Profile:
    """Recursive halving and doubling (RHD). Beyond a power of two N' the others hand their vector to a partner first and get the
    sum last; N' members halve and double, where Table 2 prints 2(N - 1)/N as if all did."""
    power = 1 << (nodes.bit_length() - 1)
    core = pairwise_profile(power, 2 * (power.bit_length() - 1))
    if power == nodes:
        return core
    return Profile(core.steps + 2, core.received + 2, core.additions + 1, core.accesses + 3, ())
