"""In-network reduction: switches add and multicast, one level or several, alone or between machines."""

from fractions import Fraction

import numpy as np
import pytest

from certree.models.schedule.schedule_columns import Op
from certree.verify.checker import verify_schedule
from tests.synth.execution import make, rounds_of, valid

MARKED = ",reducing=switches"
HIERARCHICAL = {"form": "hierarchical"}


def test_each_endpoint_sends_the_vector_once_and_receives_it_once() -> None:
    """NetReduce, Table 8: worker traffic M for in-network aggregation, 2(P - 1)/P · M for the ring."""
    made, ring = make("netreduce", "switch:6" + MARKED), make("ring", "switch:6")
    for node in range(6):
        assert (made.src == node).sum() == (made.dst == node).sum() == made.chunks
        assert Fraction(int((ring.src == node).sum()), ring.chunks) == Fraction(2 * 5, 6)


@pytest.mark.parametrize("chunks", [1, 2, 16])
def test_appendix_a_holds_in_the_limit_of_many_chunks(chunks: int) -> None:
    """alpha + M/B: chunks stored and forwarded at the switch take one round more than they are."""
    made = make("netreduce", "switch:5" + MARKED, chunks=chunks)
    assert made.bandwidth_time == Fraction(chunks + 1, chunks)


@pytest.mark.parametrize(("network", "levels"), [("switch:5", 1), ("tree:2x3", 2), ("fattree:3x4", 2)])
def test_latency_is_two_steps_a_level(network: str, levels: int) -> None:
    assert make("netreduce", network + MARKED, chunks=1).steps == 2 * levels


def test_spines_take_chunks_in_turn() -> None:
    made = valid("netreduce", "fattree:3x4" + MARKED, chunks=4)
    assert made.steps == 4
    spines = [set(made.dst[(made.chunk == chunk) & (made.op == Op.REDUCE) & (made.dst >= 15)].tolist()) for chunk in range(4)]
    assert spines == [{15}, {16}, {17}, {18}]


def test_switches_that_do_not_reduce_forward() -> None:
    made = make("netreduce", "tree:2x3,reducing=8", chunks=1)
    assert verify_schedule(made).valid
    assert set(made.dst[made.op == Op.REDUCE].tolist()) == {8}
    assert (made.steps, rounds_of(made)) == (2, 6)  # three vectors share each link to the root
    made = make("netreduce", "tree:2x3,reducing=8,reducing=6", chunks=1)
    assert verify_schedule(made).valid
    assert (made.steps, rounds_of(made)) == (4, 1 + 3 + 3 + 1)


@pytest.mark.parametrize(
    ("network", "options", "size", "machines"),
    [
        ("ace-alltoall:4x3", {}, 4, 3),
        ("fattree:4x3", {}, 3, 4),
        ("switch:12", {"factors": "4x3"}, 4, 3),
        ("tree:3x5", {}, 5, 3),
    ],
)
def test_hierarchical(network: str, options: dict[str, str], size: int, machines: int) -> None:
    """NetReduce, Equation (3): n - 1 steps of M/n inside, the shares across, n - 1 steps inside."""
    made = valid("netreduce", network + MARKED, options=HIERARCHICAL | options)
    assert made.chunks == size
    inside = (made.src < size * machines) & (made.dst < size * machines)
    assert len(np.unique(made.step[inside])) == 2 * (size - 1)
    assert made.transfers == 2 * (size - 1) * size * machines + (~inside).sum()
    levels = {"ace-alltoall:4x3": 1, "fattree:4x3": 2, "switch:12": 1, "tree:3x5": 2}[network]
    assert made.steps == 2 * (size - 1) + 2 * levels
