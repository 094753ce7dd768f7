"""Checks of NetReduce's appendices."""

from fractions import Fraction

from certree.extras.costs.model.counting import count
from certree.extras.costs.model.formulas.netreduce import (
    ClosedForm,
    flat_ring,
    hierarchical_netreduce,
    least_ratio_over_ring,
    tencent,
)
from certree.extras.papers.scorecard.check import CHECKS, Found, schedule_of, yes

P, GPUS = 32, 8
MACHINES = P // GPUS
LEVELS = 3  # log2 of GPUS


def _coefficients(name: str, ours: ClosedForm, steps: int, inside: Fraction, between: Fraction) -> list[Found]:
    return [
        Found(f"{name}, alpha", ours.steps, steps),
        Found(f"{name}, M / B_intra", ours.inside, inside),
        Found(f"{name}, M / B_inter", ours.between, between),
    ]


@CHECKS.register("netreduce-fig18")
def ring_of_three() -> list[Found]:
    """Fig. 18: three nodes, two steps of scatter-reduce and two of all-gather."""
    ring = schedule_of("ring:3", method="ring")
    return [
        Found("steps", ring.steps, 4),
        Found("parts of the vector that each node sends", Fraction(ring.transfers, 9), Fraction(4, 3)),
    ]


@CHECKS.register("netreduce-eq-ring")
def time_of_the_ring() -> list[Found]:
    """Appendix A: 2(P - 1) steps, 2(P - 1)/P of the message by each node."""
    profile = count(schedule_of(f"switch:{P}", method="ring")).profile()
    return [Found("steps", profile.steps, 2 * (P - 1)), Found("message parts", profile.received, Fraction(2 * (P - 1), P))]


@CHECKS.register("netreduce-eq-ina")
def time_in_the_network() -> list[Found]:
    """Appendix A: T = alpha + M/B, which a switch that stores whole chunks reaches in the limit of many chunks."""
    return _coefficients("one GPU in a machine", hierarchical_netreduce(P, 1), 1, Fraction(0), Fraction(1))


@CHECKS.register("netreduce-table8")
def traffic() -> list[Found]:
    """Table 8: what workers and servers send in an iteration, in messages; here the server is one of 32 workers."""
    servers = schedule_of(f"switch:{P}", method="reduce-broadcast")
    sent = [int((servers.src == node).sum()) for node in range(P)]
    ring = count(schedule_of(f"switch:{P}", method="ring")).profile()
    network = schedule_of("switch:4,reducing=switches", method="netreduce")
    share = Fraction(int((network.src == int(network.topology.endpoints[0])).sum()), network.chunks)
    return [
        Found("a worker of a parameter server", min(sent), 1),
        Found("the server", max(sent), P),
        Found("a worker of the ring", ring.received, Fraction(2 * (P - 1), P)),
        Found("a worker with aggregation in the network", share, 1),
    ]


@CHECKS.register("netreduce-eq1")
def flat() -> list[Found]:
    """Eq. (1): the time of the flat ring."""
    return _coefficients("flat ring", flat_ring(P, GPUS), 2 * (P - 1), Fraction(0), Fraction(2 * (P - 1), P))


@CHECKS.register("netreduce-eq2")
def tencent_in_three_brackets() -> list[Found]:
    """Eq. (2): the sum of its three brackets as printed, and its last line."""
    steps = Fraction(GPUS**2 + 3 * GPUS * LEVELS - 3 * GPUS + 2 * P, GPUS)
    inside = Fraction(4 * (GPUS - 1), GPUS)
    brackets = Fraction(2 * (GPUS - 1), GPUS * GPUS) + Fraction(2 * (GPUS - 1), GPUS)
    ours = tencent(P, GPUS)
    return [
        *_coefficients("last line", ours, int(steps), inside, Fraction(2 * (P - GPUS), P)),
        Found("brackets, M / B_intra", ours.inside, brackets),
    ]


@CHECKS.register("netreduce-eq3")
def hierarchical() -> list[Found]:
    """Eq. (3): the time of hierarchical NetReduce."""
    inside = Fraction(2 * (GPUS - 1), GPUS)
    return _coefficients("NetReduce", hierarchical_netreduce(P, GPUS), 2 * GPUS - 1, inside, Fraction(1))


@CHECKS.register("netreduce-eq4")
def over_tencent() -> list[Found]:
    """Eq. (4): the time of Tencent's algorithm minus that of NetReduce. It is positive for P > 3n with at most 16 GPUs in a
    machine."""
    less = tencent(P, GPUS) - hierarchical_netreduce(P, GPUS)
    steps = 2 * MACHINES + 3 * LEVELS - GPUS - 2
    found = _coefficients("difference", less, steps, Fraction(2 * (GPUS - 1), GPUS), Fraction(P - 2 * GPUS, P))
    worst = [tencent(4 * gpus, gpus) - hierarchical_netreduce(4 * gpus, gpus) for gpus in (2, 4, 8, 16)]
    holds = all(one.steps > 0 and one.inside >= 0 and one.between > 0 for one in worst)
    return [*found, Found("positive for P = 4n, n = 2, 4, 8 and 16", yes(holds), "yes")]


@CHECKS.register("netreduce-eq5")
def over_the_ring() -> list[Found]:
    """Eq. (5): the time of the flat ring minus that of NetReduce, coefficient by coefficient."""
    less = flat_ring(P, GPUS) - hierarchical_netreduce(P, GPUS)
    return _coefficients("difference", less, 2 * P - 2 * GPUS - 1, -Fraction(2 * (GPUS - 1), GPUS), Fraction(P - 2, P))


@CHECKS.register("netreduce-eq6")
def sufficient_ratio() -> list[Found]:
    """Eq. (6): B_intra / B_inter of at least 2P/(P - 2) suffices; Appendix D has 2.3 for P = 32."""
    needed, suffices = least_ratio_over_ring(P, GPUS)
    less = (flat_ring(P, GPUS) - hierarchical_netreduce(P, GPUS)).transfer(suffices)
    return [
        Found("ratio of Eq. (6)", suffices, Fraction(2 * P, P - 2)),
        Found(
            "it is no less than what Eq. (5) needs, and NetReduce is faster with it", yes(needed <= suffices and less > 0), "yes"
        ),
        Found("ratio for 32 GPUs, to one digit", float(round(suffices, 1)).__str__(), "2.3"),
    ]


@CHECKS.register("netreduce-gains")
def printed_gains() -> list[Found]:
    """Tables 10 and 11: gains in per cent follow from the printed images a second."""
    table = {
        "AlexNet, 32 GPUs": ("519.2", "307.5", "68.8"),
        "VGG-16, 32 GPUs": ("173.6", "115.2", "50.7"),
        "ResNet-50, 32 GPUs": ("317.6", "276.0", "15.1"),
        "AlexNet, 4 GPUs": ("716.0", "527.9", "35.6"),
        "VGG-16, 4 GPUs": ("215.3", "172.9", "24.5"),
        "ResNet-50, 4 GPUs": ("383.6", "358.8", "6.9"),
    }
    return [
        Found(f"gain of {name}", float(round(100 * (Fraction(new) / Fraction(old) - 1), 1)).__str__(), gain)
        for name, (new, old, gain) in table.items()
    ]


@CHECKS.register("netreduce-shares")
def printed_shares() -> list[Found]:
    """Table 11: the share of communication follows from the printed times."""
    table = {
        "AlexNet, ring": ("47.12", "60.62", "77.7"),
        "AlexNet, NetReduce": ("31.10", "44.69", "69.6"),
        "VGG-16, ring": ("111.98", "185.08", "60.5"),
        "VGG-16, NetReduce": ("74.64", "148.63", "50.2"),
        "ResNet-50, ring": ("23.04", "89.19", "25.8"),
        "ResNet-50, NetReduce": ("19.29", "83.42", "23.1"),
    }
    return [
        Found(f"share of {name}", float(round(100 * Fraction(part) / Fraction(whole), 1)).__str__(), share)
        for name, (part, whole, share) in table.items()
    ]


@CHECKS.register("netreduce-ratio-of-resnet")
def ratio_of_communication() -> list[Found]:
    """Table 11: by the equations the ring communicates 2(P - 1)/P = 1.5 times as long as NetReduce, whatever the model."""
    times = {"AlexNet": ("47.12", "31.10"), "VGG-16": ("111.98", "74.64"), "ResNet-50": ("23.04", "19.29")}
    return [
        Found(f"{name}, to one digit", "1.5", float(round(Fraction(ring) / Fraction(netreduce), 1)).__str__())
        for name, (ring, netreduce) in times.items()
    ]


@CHECKS.register("netreduce-table10-bandwidth")
def any_bandwidth_of_table_10() -> list[Found]:
    """Table 10 by Equation (1) with the computing of Table 11: how far the flat ring's iterations are from it at least, whatever
    the bandwidth. c + k M is too long for AlexNet and too short for ResNet-50 by the same part at the best k; start-ups left out.
    """
    (alex, alex_bytes, alex_time), (res, res_bytes, res_time) = (
        (Fraction(computing), megabytes, Fraction(32_000) / Fraction(rate))  # milliseconds
        for computing, megabytes, rate in (("13.50", 236, "307.5"), ("66.15", 98, "276.0"))
    )
    k = (2 - alex / alex_time - res / res_time) / (alex_bytes / alex_time + res_bytes / res_time)
    off = (alex + k * alex_bytes) / alex_time - 1
    words = f"per cent that one of AlexNet and ResNet-50 is off at least ({float(Fraction(31, 16) / k):.1f} GB/s)"
    return [Found(words, round(100 * off), 0)]
