"""Sums and differences that papers print, put together again from their parts in exact arithmetic."""

import re
from collections.abc import Callable
from fractions import Fraction
from math import log2

import pytest

from certree.extras.costs.model.formulas.netreduce import (
    flat_ring,
    hierarchical_netreduce,
    least_ratio_over_ring,
    tencent,
)
from certree.models.common.errors import InputError

CASES = [(32, 8, 1), (32, 8, 12), (64, 4, 3), (2048, 16, 2), (16, 2, 5)]  # GPUs, GPUs of a machine, B_intra ÷ B_inter


@pytest.mark.parametrize(("gpus", "machine", "ratio"), CASES)
def test_the_sums_of_equations_2_and_3(gpus: int, machine: int, ratio: int) -> None:
    levels = int(log2(machine))
    alpha = Fraction(machine**2 + 3 * machine * levels - 3 * machine + 2 * gpus, machine)
    coefficient = Fraction(4 * (machine - 1) * gpus + 2 * (gpus - machine) * machine * ratio, machine * gpus * ratio)
    form = tencent(gpus, machine)
    assert (form.steps, form.transfer(Fraction(ratio))) == (alpha, coefficient)
    coefficient = Fraction(2 * (machine - 1) + machine * ratio, machine * ratio)
    form = hierarchical_netreduce(gpus, machine)
    assert (form.steps, form.transfer(Fraction(ratio))) == (2 * machine - 1, coefficient)


@pytest.mark.parametrize(("gpus", "machine", "ratio"), CASES)
def test_the_differences_of_equations_4_and_5(gpus: int, machine: int, ratio: int) -> None:
    best, whole = hierarchical_netreduce(gpus, machine), machine * gpus * ratio
    slower = tencent(gpus, machine) - best
    assert slower.steps == Fraction(2 * gpus, machine) + 3 * int(log2(machine)) - machine - 2
    coefficient = Fraction((gpus - 2 * machine) * machine * ratio + 2 * (machine - 1) * gpus, whole)
    assert slower.transfer(Fraction(ratio)) == coefficient
    slower = flat_ring(gpus, machine) - best
    assert slower.steps == 2 * gpus - 2 * machine - 1
    assert slower.transfer(Fraction(ratio)) == Fraction((gpus - 2) * machine * ratio - 2 * (machine - 1) * gpus, whole)


def test_condition_of_equation_4_suffices_for_up_to_16_gpus() -> None:
    """P > 3n is said to make Equation (4) positive; with 32 GPUs in a machine it takes P > 304."""

    def holds(machine: int, machines: int) -> bool:
        difference = tencent(machines * machine, machine) - hierarchical_netreduce(machines * machine, machine)
        return difference.steps >= 0 and min(difference.inside, difference.between) >= 0

    assert all(holds(machine, machines) for machine in (1, 2, 4, 8, 16) for machines in range(4, 200))
    assert [holds(32, machines) for machines in (4, 9, 10)] == [False, False, True]


@pytest.mark.parametrize(("gpus", "machine"), [(32, 8), (64, 4), (2048, 16), (16, 2), (6, 3)])
def test_the_condition_of_equation_6_suffices(gpus: int, machine: int) -> None:
    exact, relaxed = least_ratio_over_ring(gpus, machine)
    difference = flat_ring(gpus, machine) - hierarchical_netreduce(gpus, machine)
    assert exact < relaxed
    assert difference.transfer(exact) == 0
    assert difference.transfer(exact * Fraction(99, 100)) < 0 < difference.transfer(relaxed)
    assert difference.steps > 0


@pytest.mark.parametrize(
    ("form", "sizes", "reason"),
    [
        (flat_ring, (30, 8), "30 GPUs in machines of 8; expected whole machines"),
        (tencent, (12, 6), "6 GPUs in a machine; allowed: powers of 2"),
        (hierarchical_netreduce, (1, 1), "at least 2 GPUs"),
        (least_ratio_over_ring, (8, 8), "8 GPUs, 8 in a machine; Equation (6) is for P > n >= 2"),
    ],
)
def test_wrong_sizes_are_refused(form: Callable[[int, int], object], sizes: tuple[int, int], reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        form(*sizes)


def test_equation_6_is_2_133_for_the_prototype() -> None:
    """Appendix D puts in P = 32 and n = 8 and prints 2.3."""
    assert least_ratio_over_ring(32, 8)[1] == Fraction(32, 15)
