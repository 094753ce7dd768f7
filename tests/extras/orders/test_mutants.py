"""200 schedules that do not have the order of the one they were made from: none is accepted.

Edits exchange two nodes in the transfers of a chunk, take a chunk's transfers from a schedule of another order, let a rank be added
twice, or let an operand arrive before or together with another one. Those that a slow evaluation finds to have the same order all
the same do not count.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import certree.api as ct
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import BUFFER_COLUMNS, TRANSFER_COLUMNS, Op
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.verify.checker import verify_schedule
from certree.verify.order.additions import additions_of
from certree.verify.order.expressions import read_expression
from certree.verify.order.wanted import WantedOrder
from tests.verify.build import build
from tests.verify.order.test_additions import slowly

COUNT = 50  # of each kind of edit
NODES = 8
Columns = dict[str, NDArray[Any]]


@cache
def made(order: str) -> Schedule:
    """A schedule of method `ordered`, in one iteration and with two buffers at least."""
    found = written_out(ct.synthesize(f"full:{NODES}", method="ordered", order=order, size="64KiB", chunks=4))
    return rebuilt(replace(found, period=None, repeats=1, certificate=None), columns_of(found))


@cache
def in_turn() -> Schedule:
    """Chunk c is added at node c, one rank after the other by number, and then sent to all."""
    rows = []
    for chunk in range(2):
        others = [node for node in range(NODES) if node != chunk]
        sums = [other for other in ([1, 0] if chunk else [0, 1]) if other != chunk] + list(range(2, NODES))
        rows += [(chunk, Op.REDUCE, step, other, chunk) for step, other in enumerate(sums)]
        rows += [(chunk, Op.COPY, NODES - 1, chunk, other) for other in others]
    return build(f"full:{NODES}", "all-reduce", sorted(rows, key=lambda row: row[2]))


def columns_of(schedule: Schedule) -> Columns:
    nothing = np.zeros(schedule.transfers, np.int32)
    names = (*TRANSFER_COLUMNS, *BUFFER_COLUMNS)
    return {name: nothing if getattr(schedule, name) is None else getattr(schedule, name) for name in names}


def rebuilt(base: Schedule, columns: Columns) -> Schedule:
    """A schedule with these transfers, in the order of their steps."""
    order = np.argsort(columns["step"], kind="stable")
    rounds, buffers = (
        np.ones(int(columns["step"].max()) + 1, np.int32),
        1 + int(max(columns[name].max() for name in BUFFER_COLUMNS)),
    )
    return replace(base, rounds=rounds, buffers=max(2, buffers), **{name: column[order] for name, column in columns.items()})


def behind(base: Schedule, chunk: int, other: Columns) -> Schedule:
    """The transfers of a chunk replaced with other ones, slower, when all else is done."""
    own, kept = columns_of(base), base.chunk != chunk
    other["step"] = other["step"] * base.delay + base.steps + base.delay
    return rebuilt(base, {name: np.concatenate((own[name][kept], other[name])) for name in own})


def exchanged(rng: np.random.Generator) -> Schedule:
    """Two nodes with each other's transfers of a chunk: their contributions are added at each other's places."""
    base, chunk, nodes = made("balanced"), int(rng.integers(4)), np.arange(NODES, dtype=np.int32)
    one, two = rng.choice(NODES, 2, replace=False)
    nodes[[one, two]] = nodes[[two, one]]
    taken = {name: column[base.chunk == chunk] for name, column in columns_of(base).items()}
    return behind(base, chunk, taken | {"src": nodes[taken["src"]], "dst": nodes[taken["dst"]]})


def from_another(rng: np.random.Generator) -> Schedule:
    """A chunk as another order has it."""
    base, chunk = made("balanced"), int(rng.integers(4))
    other = made(("rank", "((((0,2),1),3),((4,5),(6,7)))", "((((4,5),(6,7)),(0,1)),(2,3))")[int(rng.integers(3))])
    return behind(base, chunk, {name: column[other.chunk == chunk] for name, column in columns_of(other).items()})


def twice(rng: np.random.Generator) -> Schedule:
    """A reduce once more when all else is done, which adds a rank to itself."""
    base, own = made("balanced"), columns_of(made("balanced"))
    row = int(rng.choice(np.flatnonzero(base.op == Op.REDUCE)))
    once = {name: column[[row]] for name, column in own.items()}
    columns = {name: np.concatenate((own[name], once[name])) for name in own}
    columns["step"][-1] = base.steps + base.delay
    return rebuilt(base, columns)


def arriving(rng: np.random.Generator) -> Schedule:
    """Two operands of a chunk in each other's steps, or in one."""
    base, columns = in_turn(), columns_of(in_turn())
    one, two = rng.choice(np.flatnonzero((base.chunk == rng.integers(2)) & (base.op == Op.REDUCE)), 2, replace=False)
    columns["step"] = columns["step"].copy()
    columns["step"][[one, two]] = columns["step"][[two, one]] if rng.integers(2) else columns["step"][one]
    return rebuilt(base, columns)


def different(edit: Callable[[np.random.Generator], Schedule], base: Schedule) -> Iterator[Schedule]:
    """Edited schedules with sums of another order, by the slow evaluation, or with operands that arrive together."""
    rng, truth = np.random.default_rng(0), next(iter(slowly(base).values()))
    while True:
        mutant = edit(rng)
        arrivals = list(zip(mutant.dst.tolist(), mutant.chunk.tolist(), mutant.step.tolist(), mutant.op.tolist(), strict=True))
        has_ties = edit is arriving and len(set(arrivals)) < len(arrivals)
        if has_ties or set(slowly(mutant).values()) != {truth}:
            yield mutant


@pytest.mark.parametrize(
    ("edit", "order", "least"),
    [(exchanged, "balanced", COUNT), (from_another, "balanced", COUNT), (twice, "balanced", 0), (arriving, "", COUNT)],
)
def test_none_is_accepted(edit: Callable[[np.random.Generator], Schedule], order: str, least: int) -> None:
    """`least`: how many of them are valid schedules, so that only their order is wrong."""
    base = made(order) if order else in_turn()
    found = additions_of(base)
    assert found is not None
    wanted = WantedOrder(order, read_expression(str(found.expression), range(NODES)))
    assert verify_schedule(base).valid
    assert wanted.refusal(base) is None
    valid, mutants = 0, different(edit, base)
    for _ in range(COUNT):
        mutant = next(mutants)
        is_valid = verify_schedule(mutant).valid
        assert not is_valid or wanted.refusal(mutant) is not None
        valid += is_valid
    assert valid == least
