"""Orders of additions: as a slow evaluation finds them, transfer by transfer, and as floating-point sums show them."""

from functools import cache
from random import Random

import numpy as np
import pytest

import certree.api as ct
from certree.api.reports import order_report
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.verify.checker import verify_schedule
from certree.verify.order.additions import Additions, additions_of
from tests.verify.build import build

#: network, collective, method, size, and how many orders its chunks have
KNOWN = [
    ("torus:4x4", "all-reduce", "ring", "1MiB", 16),
    ("torus:4x4", "all-reduce", "halving-doubling", "1MiB", 1),
    ("torus:4x4", "all-reduce", "recursive-doubling", "4KiB", 1),
    ("ring:5", "all-reduce", "multitree", "1MiB", 5),
    ("ring:4", "all-reduce", "one-shot", "4KiB", 4),
    ("mesh:3x3", "all-reduce", "two-shot", "64KiB", None),
    ("mesh:3x3", "all-reduce", "packing", "1MiB", None),
    ("mesh:2x3", "reduce-scatter", "ring", "64KiB", 6),
    ("mesh:2x3", "reduce", "binomial", "64KiB", 1),
    ("switch:4,reducing=switches", "all-reduce", "netreduce", "64KiB", 1),
    ("switch:4,reducing=switches", "all-reduce", "in-switch", "64KiB", 1),
    ("ring:4", "all-reduce", "partial-sums", "4KiB", None),
    ("torus:3x3", "all-reduce", "symmetric", "64KiB", 9),
]


@cache
def made(network: str, collective: str, method: str, size: str) -> AnySchedule:
    return ct.synthesize(network, collective, method=method, size=size, root=0 if collective == "reduce" else None)


def slowly(given: AnySchedule) -> dict[tuple[int, int], object]:
    """The nested frozensets of each sum that is due, by (rank, chunk): written without a look at `additions`."""
    schedule = written_out(given)
    rank, members = schedule.topology.rank, schedule.collective.members_of(schedule.topology)
    cell: dict[tuple[int, int, int], object] = {
        (int(node), chunk, 0): int(rank[node]) for node in members for chunk in range(schedule.chunks)
    }
    fine = schedule.slot_cycles is not None
    times = fine_times(schedule) if fine else None
    events = []
    for row in range(schedule.transfers):
        step = int(schedule.step[row])
        lands = step + schedule.delay if times is None else int(times.landing_slot[row])
        comes = step if times is None else int(times.fire[row] + times.latency[row] + times.length[row])
        events += [(step, 1, 0, row), (lands, 0, comes, row)]
    carried: dict[int, object] = {}
    for _, leaves, _, row in sorted(events):
        buffers = (0, 0) if schedule.src_buffer is None else (int(schedule.src_buffer[row]), int(schedule.dst_buffer[row]))
        chunk = int(schedule.chunk[row])
        source, target = (int(schedule.src[row]), chunk, buffers[0]), (int(schedule.dst[row]), chunk, buffers[1])
        if leaves:
            carried[row] = cell[source]
        elif schedule.op[row] == Op.COPY or target not in cell:
            cell[target] = carried[row]
        else:
            cell[target] = frozenset((cell[target], carried[row]))
    due = members if schedule.collective.gathers else None
    return {
        (int(rank[node]), chunk): cell[int(node), chunk, 0]
        for chunk in range(schedule.chunks)
        for node in (due if due is not None else [schedule.chunk_root[chunk]])
    }


def parsed(expression: str) -> object:
    """The nested frozensets of an expression in words."""
    return _frozen(eval(expression))  # of the test's own making


def _frozen(expression: object) -> object:
    return frozenset(map(_frozen, expression)) if isinstance(expression, tuple) else expression


@pytest.mark.parametrize(("network", "collective", "method", "size", "orders"), KNOWN)
def test_orders_are_those_of_a_slow_evaluation(network: str, collective: str, method: str, size: str, orders: int | None) -> None:
    schedule = made(network, collective, method, size)
    found, sums = additions_of(schedule), slowly(schedule)
    assert found is not None
    assert found.orders == len(set(sums.values()))
    assert orders is None or found.orders == orders
    first = {chunk: sum_ for (rank, chunk), sum_ in reversed(sums.items())}
    assert (found.differs is None) is all(first[chunk] == sum_ for (_, chunk), sum_ in sums.items())
    if found.orders == 1:
        assert found.expression is not None
        assert parsed(found.expression) == next(iter(sums.values()))


@pytest.mark.parametrize(("network", "collective", "method", "size", "orders"), KNOWN)
def test_a_stated_order_gives_the_bits_of_floating_point_sums(
    network: str, collective: str, method: str, size: str, orders: int | None
) -> None:
    """Sums of float32 in the order of the evaluation are the same at two ranks just where their expressions are, but for chance."""
    sums, draw = slowly(made(network, collective, method, size)), np.random.default_rng(1)
    values = draw.standard_normal((64, 64)).astype(np.float32) * np.float32(10.0) ** draw.integers(-3, 4, (64, 64)).astype(
        np.float32
    )

    def added(sum_: object) -> np.ndarray:
        if not isinstance(sum_, frozenset):
            return values[int(sum_)]  # type: ignore[call-overload]
        first, second = map(added, sum_)
        return np.asarray(first + second)

    bits = {sum_: added(sum_).tobytes() for sum_ in set(sums.values())}
    found = additions_of(made(network, collective, method, size))
    assert found is not None
    assert len(set(bits.values())) == found.orders


def _of(schedule: Schedule) -> Additions:
    assert verify_schedule(schedule).valid
    found = additions_of(schedule)
    assert found is not None
    return found


def test_operands_that_come_together() -> None:
    """Two that come to a rank's own data in one step have no order; one after the other they have."""
    together = _of(build("full:3", "reduce", "0:1+0 0:2+0", roots=[0], collective_root=0))
    assert (together.expression, together.tied, together.ties) == ("((0,1),2)", (0, 0), 1)
    apart = _of(build("full:3", "reduce", "0:1+0; 0:2+0", roots=[0], collective_root=0))
    assert (apart.expression, apart.tied, apart.is_fixed) == ("((0,1),2)", None, True)
    other = _of(build("full:3", "reduce", "0:2+0; 0:1+0", roots=[0], collective_root=0))
    assert other.expression == "((0,2),1)"
    near = _of(build("full:3", "reduce", "0:1+0; 0:2+0", roots=[0], collective_root=0, delay=2))
    assert near.tied == (0, 0)


def test_ranks_that_differ() -> None:
    found = additions_of(made("ring:4", "all-reduce", "one-shot", "4KiB"))
    assert found is not None
    assert found.differs is not None
    assert found.expression is None


@pytest.mark.parametrize(
    ("rows", "nested"),
    [("0:1+0; 0:3+2; 0:2+0", True), ("0:2+0; 0:3+1; 0:1+0", False), ("0:1+0; 0:2+0; 0:3+0", True), ("0:3+2; 0:2+1; 0:1+0", False)],
)
def test_nested_orders(rows: str, nested: bool) -> None:
    assert _of(build("full:4", "reduce", rows, roots=[0], collective_root=0)).is_nested is nested


def test_mutants_of_order_are_told_apart() -> None:
    """Two transfers of a reduce change places: the expression is another one wherever that of the slow evaluation is."""
    rng, other = Random(7), 0
    for _ in range(200):
        ranks = rng.randint(4, 8)
        steps = [(rng.randrange(end), end) for end in range(ranks - 1, 0, -1)]
        rows = [f"0:{child}+{parent}" for parent, child in steps]
        right = build(f"full:{ranks}", "reduce", "; ".join(rows), roots=[0], collective_root=0)
        a, b = rng.sample(range(len(rows)), 2)
        rows[a], rows[b] = rows[b], rows[a]
        mutant = build(f"full:{ranks}", "reduce", "; ".join(rows), roots=[0], collective_root=0)
        if not verify_schedule(mutant).valid:
            continue
        words = [_of(one).expression for one in (right, mutant)]
        sums = [slowly(one)[0, 0] for one in (right, mutant)]
        assert (words[0] == words[1]) is (sums[0] == sums[1])
        assert all(parsed(str(word)) == sum_ for word, sum_ in zip(words, sums, strict=True))
        other += words[0] != words[1]
    assert other > 50


def test_what_does_not_add() -> None:
    assert additions_of(ct.synthesize("mesh:2x2", "all-gather", method="ring", size="4KiB")) is None


def test_what_is_too_large_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_schedule: AnySchedule) -> None:
        raise UnsupportedError("too large")

    monkeypatch.setattr(order_report, "additions_of", refuse)
    found = order_report.order_of(made("ring:4", "all-reduce", "one-shot", "4KiB"))
    assert found == {"order": None, "order_unknown": "too large"}
    assert order_report.order_words(found) == ["  order of additions: unknown: too large"]


def test_words() -> None:
    for network, method, words in (
        ("torus:4x4", "halving-doubling", "one for all chunks, nested; the same at all ranks; fixed by the slots"),
        ("ring:4", "one-shot", "4 for 4 chunks; rank 1 has a different one for chunk 0; not fixed: 8 operands arrive together"),
    ):
        given = ct.synthesize(network, method=method, size="4KiB")
        (line,) = order_report.order_words({**order_report.order_of(given), "chunks": 4})
        assert line.startswith(f"  order of additions: {words}")
