"""Algorithms that follow the dimensions of a network: ACE's hierarchical all-reduce, BlueConnect, Tencent's."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest

from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.verify.checker import verify_schedule
from tests.synth.execution import make, rounds_of, valid
from tests.synth.methods.test_shapes import GRIDS, SWITCHED

NETWORKS = [*GRIDS.split(), *SWITCHED.split(), "ace-torus:2x1x5", "switch-fc:2x3x4x3", "dgx1", "tree:3x4"]


def step_counts(made: Schedule, reduces: bool) -> int:
    return len(np.unique(made.step[made.op == (Op.REDUCE if reduces else Op.COPY)]))


@pytest.mark.parametrize("network", NETWORKS)
def test_hierarchical_is_valid(network: str) -> None:
    made = valid("hierarchical", network)
    shape, plans = (made.provenance["options"][name] for name in ("factors", "plans"))
    sizes, words = [int(size) for size in shape.split("x")], plans.split(",")
    expected = sum(2 * (size - 1 if word == "ring" else 1) for size, word in zip(sizes, words, strict=True))
    assert made.steps == expected


@pytest.mark.parametrize("size", ["4x4x4", "4x2x3", "3x5x2"])
def test_table_5_of_ace_on_its_torus(size: str) -> None:
    """Reduce-scatter in L, all-reduce in V, then in H, all-gather in L, rings both ways; an NPU is id (v·H + h)·L + l."""
    inside, rows, columns = (int(part) for part in size.split("x"))
    made = valid("hierarchical", f"ace-torus:{size}")
    phases = [(inside - 1, 1), (2 * (rows - 1), inside * columns), (2 * (columns - 1), inside), (inside - 1, 1)]
    nodes = inside * rows * columns
    step = 0
    for length, stride in phases:
        group = {1: inside, inside: columns, inside * columns: rows}[stride]
        for _ in range(length):
            now = made.step == step
            hop = (made.dst[now] // stride % group - made.src[now] // stride % group) % group
            assert set(hop.tolist()) == {1, group - 1}
            assert (np.abs(made.dst[now] - made.src[now]) % stride == 0).all()
            step += 1
    assert step == made.steps
    # every NPU moves 2(L-1)/L of the vector inside, and 2(V-1)/V and 2(H-1)/H of the L-th part outside
    share = Fraction(2 * (inside - 1), inside)
    share += Fraction(1, inside) * (Fraction(2 * (rows - 1), rows) + Fraction(2 * (columns - 1), columns))
    assert Fraction(made.transfers, made.chunks * nodes) == share


def test_table_5_of_ace_on_its_alltoall_platform() -> None:
    made = valid("hierarchical", "ace-alltoall:4x6")
    assert made.provenance["options"]["plans"] == "ring,direct"
    assert made.steps == 3 + 2 + 3
    across = (made.step == 3) | (made.step == 4)
    assert (made.src[across] % 4 == made.dst[across] % 4).all()


def test_rings_of_one_direction_take_longer() -> None:
    both, one = (make("hierarchical", "ace-torus:4x4x4", options={"bidirectional": word}) for word in ("true", "false"))
    assert verify_schedule(one).valid
    assert (both.chunks, one.chunks) == (32, 16)
    assert rounds_of(both) == rounds_of(one)  # of half the length


@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather"])
@pytest.mark.parametrize("network", NETWORKS)
def test_blueconnect_is_valid(network: str, collective: str) -> None:
    made = valid("blueconnect", network, collective)
    sizes = [int(size) for size in made.provenance["options"]["factors"].split("x")]
    phases = 2 if collective == "all-reduce" else 1
    assert made.steps == phases * sum(size - 1 for size in sizes)
    assert made.transfers == phases * prod(sizes) * (prod(sizes) - 1)  # no more data than any reduce-scatter must move
    both = valid("blueconnect", network, collective, options={"bidirectional": "true"})
    assert both.chunks == 2 * made.chunks


def test_blueconnect_decomposes_by_factors() -> None:
    made = valid("blueconnect", "switch:12", options={"factors": "3x2x2"})
    assert made.steps == 2 * (2 + 1 + 1)


@pytest.mark.parametrize(
    ("network", "options", "size", "groups"),
    [
        ("fattree:4x4", {}, 4, 4),
        ("switch:12", {"factors": "4x3"}, 4, 3),
        ("switch:12", {"factors": "2x6"}, 2, 6),
        ("full:8", {"factors": "8"}, 8, 1),
        ("ace-torus:4x2x3", {}, 4, 6),
        ("ace-alltoall:8x5", {}, 8, 5),
        ("torus:3x4", {}, 4, 3),
        ("dgx2", {}, 8, 2),
    ],
)
def test_tencent_steps_and_traffic(network: str, options: dict[str, str], size: int, groups: int) -> None:
    """NetReduce, Equation (2): (2 log2 n) + 2(P/n - 1) + (log2 n + n - 1) steps."""
    made = valid("tencent", network, options=options)
    levels = size.bit_length() - 1
    assert made.steps == 2 * levels + 2 * (groups - 1) + levels + size - 1


@pytest.mark.parametrize("size", [2, 4, 8, 16])
def test_first_bracket_of_netreduce_equation_2_is_too_small(size: int) -> None:
    """Rabenseifner's reduce takes 2(n-1)/n · M/B_intra, as the sum below the brackets says, and not 2(n-1)/n · M/(n·B_intra)."""
    made = make("tencent", f"full:{size}")
    levels = size.bit_length() - 1
    reduce, broadcast = made.rounds[: 2 * levels].sum(), made.rounds[2 * levels :].sum()
    assert Fraction(int(reduce), made.chunks) == Fraction(2 * (size - 1), size) == Fraction(int(broadcast), made.chunks)
