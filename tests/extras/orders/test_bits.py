"""Processes that execute schedules of one order have the bits of its expression, evaluated in one process over whole vectors.

So they do not depend on how the message is cut. Inputs are numbered by their place in the message here, not by chunk.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import certree.api as ct
from certree.extras.runtimes.run import reference, work
from certree.extras.runtimes.run.duties import duties_of
from certree.extras.runtimes.run.numbers import TYPES, Vector, combined, narrowed
from certree.models.common.quantities import read_size
from certree.models.fine.equal import in_firing_order
from certree.models.schedule.schedule import Schedule
from certree.verify.order.additions import additions_of
from certree.verify.order.expressions import Expression, read_expression

NETWORKS = {2: "full:2", 4: "ring:4", 8: "mesh:2x4", 16: "torus:4x4"}
SIZES = [
    (2, ("1KiB", "1MiB")),
    (4, ("1KiB", "1MiB")),
    (8, ("1KiB", "64KiB")),
    pytest.param(16, ("1KiB", "1MiB"), marks=pytest.mark.slow),  # the sum of 16 has that of 8: a test of its own, always run
]
FLOATS = ("float32", "float16", "bfloat16")


@cache
def _vector(kind: str, rank: int, count: int) -> Vector:
    values = np.random.default_rng((7, rank)).standard_normal(count, dtype=np.float32) * np.float32(1 + rank)
    return narrowed(values) if kind == "bfloat16" else values.astype(TYPES[kind])


def by_place(most: int):  # type: ignore[no-untyped-def]
    """Inputs by their place in the message; all chunks have one size."""
    return lambda kind, rank, chunk, count: _vector(kind, rank, most)[chunk * count : (chunk + 1) * count]


def evaluated(expression: Expression, kind: str, most: int) -> Vector:
    values = [_vector(kind, rank, most) for rank in expression.ranks]
    for a, b in expression.parts:
        values.append(combined(kind, "sum", values[a], values[b]))
    return values[-1]


def executed(made: Schedule, size: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> Vector:
    """The whole result, which every process has bit for bit."""
    duties = duties_of(made, read_size(size), 2 if "16" in kind else 4)
    for module in (work, reference):
        monkeypatch.setattr(module, "contribution", by_place(sum(duties.counts)))
    assert ct.execute(made, size=size, type=kind, iterations=1, time_limit="200s").exact
    return np.concatenate([next(iter(due.values())) for _, due in reference.results(duties, kind, "sum")])


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(("ranks", "sizes"), SIZES)
def test_bits_of_the_expression(ranks: int, sizes: tuple[str, ...], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = set()
    for size in sizes:
        made = ct.synthesize(NETWORKS[ranks], method="ordered", order="balanced", size=size)
        assert isinstance(made, Schedule)
        found = additions_of(made)
        assert found is not None
        expression = read_expression(str(found.expression), range(ranks))
        assert expression.is_nested
        values = executed(made, size, kind, monkeypatch)
        assert np.array_equal(values.view(np.uint8), evaluated(expression, kind, len(values)).view(np.uint8))
        chunks.add(made.chunks * made.repeats)
    assert len(chunks) == len(sizes)  # cut differently


@pytest.mark.parametrize(
    ("network", "method", "size"), [("mesh:2x3", "ordered-exchange", "64KiB"), ("full:4", "ordered-trees", "1KiB")]
)
def test_fine_slots(network: str, method: str, size: str) -> None:
    """Operands are added in the order in which they land, which need not be that in which they are sent."""
    made = ct.synthesize(network, method=method, order="one", size=size)
    assert isinstance(made, Schedule)
    sent = additions_of(in_firing_order(made))
    assert sent is not None
    assert (sent.orders > 1) == (network == "mesh:2x3")
    done = ct.execute(made, type="float16", iterations=1, time_limit="200s")
    assert (done.exact, done.in_order) == (True, True)


def test_the_sum_of_16_has_that_of_8() -> None:
    texts = []
    for ranks, network in NETWORKS.items():
        found = additions_of(ct.synthesize(network, method="ordered", order="balanced", size="64KiB"))
        assert found is not None
        assert found.is_nested
        assert len(read_expression(str(found.expression), range(ranks)).parts) == ranks - 1
        texts.append(str(found.expression))
    assert all(small in large for small, large in pairwise(texts))


def test_another_order_has_other_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ct.synthesize("mesh:2x4", method="ordered", order="rank", size="64KiB")
    assert isinstance(made, Schedule)
    values = executed(made, "64KiB", "float32", monkeypatch)
    other = read_expression("(((0,1),(2,3)),((4,5),(6,7)))", range(8))
    assert not np.array_equal(values, evaluated(other, "float32", len(values)))
