"""Sums and differences that papers print, put together again from their parts in exact arithmetic."""

from fractions import Fraction
from math import log2

import pytest

CASES = [(32, 8, 1), (32, 8, 12), (64, 4, 3), (2048, 16, 2), (16, 2, 5)]  # GPUs, GPUs of a machine, B_intra ÷ B_inter


def flat_ring(gpus: int, _machine: int, _ratio: int) -> tuple[int, Fraction]:
    """NetReduce, Equation (1): (steps, coefficient of M with B_inter = 1)."""
    return 2 * (gpus - 1), Fraction(2 * (gpus - 1), gpus)


def tencent(gpus: int, machine: int, ratio: int) -> tuple[int, Fraction]:
    """Equation (2) from its three phases as the schedule of `tencent` has them."""
    levels, machines = int(log2(machine)), gpus // machine
    inside = Fraction(2 * (machine - 1), machine * ratio)
    return 2 * levels + 2 * (machines - 1) + levels + machine - 1, 2 * inside + Fraction(2 * (machines - 1), machines)


def hierarchical(gpus: int, machine: int, ratio: int) -> tuple[int, Fraction]:
    """Equation (3) from its three phases."""
    return 2 * (machine - 1) + 1, Fraction(2 * (machine - 1), machine * ratio) + 1


@pytest.mark.parametrize(("gpus", "machine", "ratio"), CASES)
def test_the_sums_of_equations_2_and_3(gpus: int, machine: int, ratio: int) -> None:
    levels = int(log2(machine))
    alpha = Fraction(machine**2 + 3 * machine * levels - 3 * machine + 2 * gpus, machine)
    coefficient = Fraction(4 * (machine - 1) * gpus + 2 * (gpus - machine) * machine * ratio, machine * gpus * ratio)
    assert tencent(gpus, machine, ratio) == (alpha, coefficient)
    coefficient = Fraction(2 * (machine - 1) + machine * ratio, machine * ratio)
    assert hierarchical(gpus, machine, ratio) == (2 * machine - 1, coefficient)


@pytest.mark.parametrize(("gpus", "machine", "ratio"), CASES)
def test_the_differences_of_equations_4_and_5(gpus: int, machine: int, ratio: int) -> None:
    best, whole = hierarchical(gpus, machine, ratio), machine * gpus * ratio
    slower = tencent(gpus, machine, ratio)
    assert slower[0] - best[0] == Fraction(2 * gpus, machine) + 3 * int(log2(machine)) - machine - 2
    assert slower[1] - best[1] == Fraction((gpus - 2 * machine) * machine * ratio + 2 * (machine - 1) * gpus, whole)
    slower = flat_ring(gpus, machine, ratio)
    assert slower[0] - best[0] == 2 * gpus - 2 * machine - 1
    assert slower[1] - best[1] == Fraction((gpus - 2) * machine * ratio - 2 * (machine - 1) * gpus, whole)
    if ratio >= Fraction(2 * gpus, gpus - 2):  # Equation (6)
        assert slower[1] > best[1]


def test_equation_6_is_2_133_for_the_prototype() -> None:
    """Appendix D puts in P = 32 and n = 8 and prints 2.3."""
    assert Fraction(2 * 32, 32 - 2) == Fraction(32, 15)
    assert round(float(Fraction(32, 15)), 1) == 2.1


def test_the_least_gain_over_nccl_is_1_18_and_not_1_22() -> None:
    """GenTree, Table 4, (GenTree, NCCL) in milliseconds; the abstract says 1.22 to 1.65."""
    table = ["0.764 0.941", "1.677 2.695", "5.058 8.170", "15.501 25.606", "0.842 1.011", "2.340 3.163", "7.030 9.081"]
    table += ["22.343 27.978", "0.971 1.149", "2.668 3.243", "8.093 9.886", "25.716 31.049"]
    gains = [Fraction(nccl) / Fraction(ours) for ours, nccl in (row.split() for row in table)]
    assert (round(min(gains), 2), round(max(gains), 2)) == (Fraction("1.18"), Fraction("1.65"))


@pytest.mark.parametrize(
    ("with_it", "without", "left"), [("2.427", "4.484", 54), ("8.299", "13.927", 60), ("25.388", "43.116", 59)]
)
def test_rearrangement_leaves_54_to_60_percent_and_saves_40_to_46(with_it: str, without: str, left: int) -> None:
    """GenTree, Table 7, CDC384; Section 5.3 takes what is left for what is saved."""
    ratio = Fraction(with_it) / Fraction(without)
    assert round(100 * ratio) == left
    assert 40 <= round(100 * (1 - ratio)) <= 46
