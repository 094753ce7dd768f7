"""Parameter servers of all kinds: valid everywhere, and their costs counted from the transfers against GenTree's tables."""

from fractions import Fraction
from math import prod

import pytest

from certree.extras.costs.model.counting import count
from certree.extras.costs.model.profile import factored_profile
from certree.verify.checker import verify_schedule
from tests.synth.execution import make, valid


def test_figure_5_of_gentree_is_six_by_four() -> None:
    """Groups of six neighbouring servers first, then groups of four that have no two servers of one such group."""
    made = make("hierarchical-cps", "switch:24", "reduce-scatter", options={"factors": "6x4"})
    first, second = (made.step == 0), (made.step == 1)
    assert (made.src[first] // 6 == made.dst[first] // 6).all()
    assert (made.src[second] % 6 == made.dst[second] % 6).all()


def printed_accesses(factors: list[int]) -> Fraction:
    """The memory term of hierarchical CPS as printed in GenTree, Table 2 (factors f_0 ... f_{m-1})."""
    nodes = prod(factors)
    return Fraction(2 * sum(prod(factors[1 : i + 1]) for i in range(1, len(factors))) + nodes + 1, nodes)


def printed_incast(factors: list[int], threshold: int) -> Fraction:
    """The incast term of hierarchical CPS as printed, for the steps that it defines (f_{-1} does not exist)."""
    nodes, steps = prod(factors), range(1, len(factors))
    return sum(
        (Fraction(max(0, factors[i] - threshold) * (factors[i - 1] - 1) * prod(factors[i:]), nodes) for i in steps), Fraction(0)
    )


def counted_incast(factors: list[int], threshold: int) -> Fraction:
    return factored_profile(factors).excess(threshold)


def test_memory_term_of_table_2_is_wrong_from_three_levels_on() -> None:
    for factors in ([6, 2], [2, 6], [5, 3], [3, 3, 3], [2, 2, 2, 2]):
        assert printed_accesses(factors) == factored_profile(factors).accesses
    for factors in ([2, 3, 4], [4, 3, 2], [2, 2, 2, 3]):
        assert printed_accesses(factors) != factored_profile(factors).accesses


def test_incast_term_of_table_2_is_wrong() -> None:
    """The table leaves out the first step, takes the factor of the step before, and forgets the all-gather."""
    assert counted_incast([12, 2], 9) == Fraction(2 * 3 * 11 * 2, 24)
    assert printed_incast([12, 2], 9) == 0
    assert counted_incast([2, 12], 9) == Fraction(2 * 3 * 11, 24)
    assert printed_incast([2, 12], 9) == Fraction(3 * 12, 24)


@pytest.mark.parametrize("nodes", [3, 5, 6, 7, 12])
def test_halving_of_other_sizes_in_tables_1_and_2(nodes: int) -> None:
    """Beyond a power of two as many as the power of two below take part in it: 2(N' - 1)/N' and not 2(N - 1)/N of the vector."""
    members = 1 << (nodes.bit_length() - 1)
    received = count(make("halving-doubling", f"switch:{nodes}", options={"fold": "whole"})).profile().received
    assert received == Fraction(2 * (members - 1), members) + 2
    assert received != Fraction(2 * (nodes - 1), nodes) + 2


def test_another_server() -> None:
    made = make("reduce-broadcast", "torus:3x4", options={"server": "1"})
    assert (made.dst[made.step == 0] == 1).all()


def test_published_rounds_are_refuted_where_links_are_shared() -> None:
    for method, network in (("cps", "switch:5"), ("hierarchical-cps", "fattree:2x3"), ("reduce-broadcast", "switch:4")):
        made = make(method, network, options={"rounds": "published"})
        verdict = verify_schedule(made)
        assert set(verdict.counts) == {"capacity"}
        assert made.provenance["published"] is True
    valid("cps", "full:5", options={"rounds": "published"})
