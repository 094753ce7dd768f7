"""Machines of several GPUs (NetReduce, Appendices A and B): flat rings, Tencent's all-reduce and in-network reduction.

P GPUs, n in each machine, links of B_intra inside and B_inter between machines. Closed forms are coefficients of alpha, M / B_intra
and M / B_inter; differences and sufficient conditions are exact.
"""

from dataclasses import dataclass
from fractions import Fraction

from certree.extras.costs.model.cost_model import COST_MODELS, Cost, Term
from certree.extras.costs.model.counting import Counts
from certree.extras.costs.model.link_kinds import LinkKind
from certree.models.common.errors import InputError
from certree.models.common.fields import Positive


@COST_MODELS.register("netreduce")
@dataclass(frozen=True)
class Machines:
    """Start-up, and bandwidth inside and between machines of several GPUs (NetReduce, Appendix B).

    Inside are the links of endpoints, between are those of switches, each kind's bandwidth that of its narrowest links.
    """

    name: str
    alpha_seconds: Fraction
    inside_bytes_per_second: Positive
    between_bytes_per_second: Positive

    @property
    def ratio(self) -> Fraction:
        """B_intra / B_inter."""
        return self.inside_bytes_per_second / self.between_bytes_per_second

    def cost(self, counts: Counts, message_bytes: int) -> Cost:
        """Steps one after the other, each as long as its slowest link. O(entries of `counts`)."""
        share = Fraction(message_bytes, counts.shares)
        parts = [Fraction(0), Fraction(0)]
        for step, times in counts.busy_steps():
            slowest = max(
                (
                    (share * load * counts.narrowest[kind] / self._bandwidth(kind), kind != LinkKind.SERVER)
                    for kind, _, load in counts.links_of(step)
                ),
                default=(Fraction(0), False),
            )
            parts[slowest[1]] += times * slowest[0]
        return self._terms(counts.steps, *parts)

    def closed_cost(self, form: "ClosedForm", message_bytes: int) -> Cost:
        """The time of a closed form."""
        inside = form.inside * message_bytes / self.inside_bytes_per_second
        return self._terms(form.steps, inside, form.between * message_bytes / self.between_bytes_per_second)

    def _bandwidth(self, kind: LinkKind) -> Fraction:
        return self.inside_bytes_per_second if kind is LinkKind.SERVER else self.between_bytes_per_second

    def _terms(self, steps: int, inside: Fraction, between: Fraction) -> Cost:
        start = Term("alpha", "start-up", steps * self.alpha_seconds)
        return Cost((start, Term("B_intra", "links inside machines", inside), Term("B_inter", "links between machines", between)))


@dataclass(frozen=True)
class ClosedForm:
    """Coefficients: `steps` of alpha, `inside` of M / B_intra, `between` of M / B_inter."""

    steps: int
    inside: Fraction
    between: Fraction

    def __sub__(self, other: "ClosedForm") -> "ClosedForm":
        return ClosedForm(self.steps - other.steps, self.inside - other.inside, self.between - other.between)

    def transfer(self, ratio: Fraction) -> Fraction:
        """The coefficient of M / B_inter where B_intra / B_inter is `ratio`."""
        return self.inside / ratio + self.between


def flat_ring(gpus: int, machine_gpus: int) -> ClosedForm:
    """Equation (1): one ring through all GPUs, whose links between machines are the slowest."""
    _check(gpus, machine_gpus)
    return ClosedForm(2 * (gpus - 1), Fraction(0), Fraction(2 * (gpus - 1), gpus))


def tencent(gpus: int, machine_gpus: int) -> ClosedForm:
    """Equation (2), from its three phases: Rabenseifner's reduce, a ring of masters, van de Geijn's broadcast.

    The first bracket is printed with M / (n B_intra); its sum has M / B_intra, as the schedule does. n must be a power of two.
    """
    machines, levels = _check(gpus, machine_gpus), machine_gpus.bit_length() - 1
    if machine_gpus & (machine_gpus - 1):
        raise InputError(f"Tencent's all-reduce: {machine_gpus} GPUs in a machine; allowed: powers of 2")
    inside = Fraction(2 * (machine_gpus - 1), machine_gpus)
    return ClosedForm(3 * levels + machine_gpus - 1 + 2 * (machines - 1), 2 * inside, Fraction(2 * (machines - 1), machines))


def hierarchical_netreduce(gpus: int, machine_gpus: int) -> ClosedForm:
    """Equation (3): a reduce-scatter in each machine, in-network reduction of its shares, an all-gather. One GPU in a machine is
    Appendix A's alpha + M / B: the limit of many chunks, since K chunks stored and forwarded take (K + 1) / K of that."""
    _check(gpus, machine_gpus)
    return ClosedForm(2 * machine_gpus - 1, Fraction(2 * (machine_gpus - 1), machine_gpus), Fraction(1))


def least_ratio_over_ring(gpus: int, machine_gpus: int) -> tuple[Fraction, Fraction]:
    """(from Equation 5, from Equation 6): B_intra / B_inter from which on NetReduce never takes longer than a flat ring.

    The first is where the coefficient of M in Equation (5) is 0: 2(n - 1) P / ((P - 2) n); that of alpha is positive anyway. The
    second is the relaxed condition 2P / (P - 2). P > n >= 2; InputError for two GPUs, which no ratio helps.
    """
    _check(gpus, machine_gpus)
    if not gpus > machine_gpus >= 2:
        raise InputError(f"{gpus} GPUs, {machine_gpus} in a machine; Equation (6) is for P > n >= 2")
    return Fraction(2 * (machine_gpus - 1) * gpus, (gpus - 2) * machine_gpus), Fraction(2 * gpus, gpus - 2)


def _check(gpus: int, machine_gpus: int) -> int:
    """The number of machines."""
    if machine_gpus < 1 or gpus < 2 or gpus % machine_gpus:
        raise InputError(f"{gpus} GPUs in machines of {machine_gpus}; expected whole machines and at least 2 GPUs")
    return gpus // machine_gpus
