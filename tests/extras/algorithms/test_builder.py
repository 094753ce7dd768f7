"""The builder: what it refuses, with row and line; steps that follow from the order of writing; routes, buffers, iterations."""

from typing import Any

import numpy as np
import pytest

import certree.api as ct
from certree.models.common.errors import ScheduleFormatError

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"dst": 9}, r"dst is 9; allowed: whole numbers from 0 to 2"),
    ({"dst": 0}, r"src and dst are both node 0, in one buffer"),
    ({"chunk": 0.5}, r"chunk is 0.5; allowed: whole numbers"),
    ({"chunk": True}, r"chunk is True; allowed: whole numbers"),
    ({"chunk": 2}, r"chunk is 2; allowed: whole numbers from 0 to 1"),
    ({"chunk": []}, r"chunk is \[\]; allowed|arrays without numbers"),
    ({"step": -1}, r"step is -1; allowed: whole numbers from 0"),
    ({"route": [0, 1, 2]}, r"route \[0, 1, 2\] does not lead from src to dst"),
    ({"route": [0, 0, 1]}, r"the network has no link 0>0"),
    ({"src": [0, 2], "chunk": [0, 1, 0]}, r"arrays of different shapes: chunk \(3,\), src \(2,\)"),
    ({"after": []}, r"after takes what reduce, copy and send have returned"),
    ({"after": 3}, r"after takes|not iterable"),
    ({"dst_buffer": 5000}, r"dst_buffer is 5000; allowed: whole numbers from 0 to 1023"),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_a_transfer_that_cannot_be_is_refused_where_it_is_written(changed: dict[str, Any], message: str) -> None:
    builder = ct.Builder("ring:3", chunks=2)
    with pytest.raises(ScheduleFormatError, match=rf"^row 0 \(test_builder.py:\d+\): .*({message})"):
        builder.copy(**{"chunk": 0, "src": 0, "dst": 1, **changed})
    with pytest.raises(ScheduleFormatError, match="no transfers"):
        builder.schedule()


def test_both_a_step_and_what_comes_before_are_refused() -> None:
    builder = ct.Builder("ring:3")
    first = builder.reduce(chunk=0, src=1, dst=0)
    with pytest.raises(ScheduleFormatError, match=r"row 1 .*both step and after"):
        builder.copy(chunk=0, src=0, dst=1, step=1, after=first)


def test_an_invalid_schedule_names_rows_and_lines() -> None:
    builder = ct.Builder("ring:3")
    builder.reduce(chunk=0, src=[1, 2], dst=0, step=0)
    builder.copy(chunk=0, src=0, dst=[1, 2], step=0)
    with pytest.raises(
        ct.InvalidAlgorithmError, match=r"causality: .*row 2 was written at test_builder.py:\d+.*row 0 was written at"
    ):
        builder.schedule()
    assert not ct.verify(builder.unchecked()).valid


def test_steps_follow_from_the_order_of_writing() -> None:
    """A reduce that reads a sum waits for it; two reduces into one cell do not wait; a copy over what is read does."""
    builder = ct.Builder("switch:4", delay=2)
    sums = [builder.reduce(chunk=0, src=node, dst=0) for node in (1, 2)]
    assert [one.step for one in sums] == [0, 0]
    assert builder.reduce(chunk=0, src=0, dst=3).step == 2
    sent = builder.copy(chunk=0, src=3, dst=[0, 1, 2])
    assert (sent.step, sent.ready) == (4, 6)
    assert builder.schedule().steps == 5


def test_a_copy_does_not_overtake_a_read() -> None:
    builder = ct.Builder("switch:3")
    builder.reduce(chunk=0, src=0, dst=1, step=4)
    assert builder.copy(chunk=0, src=2, dst=0).step == 4  # lands in step 5


def test_a_route_and_a_shortest_route() -> None:
    builder = ct.Builder("mesh:2x2", "broadcast", root=0)
    builder.send(chunk=0, src=0, dst=3, route=[0, 2, 3], step=0)
    builder.send(chunk=0, src=0, dst=[1, 2], step=0)
    made = builder.schedule()
    assert [made.topology.dst[list(route)].tolist() for route in made.routes] == [[2, 3]]
    assert made.rounds.tolist() == [2]  # the link 0>2 has two chunks


def test_iterations_buffers_and_owners_are_fields_of_the_schedule() -> None:
    builder = ct.Builder("switch:2", delay=1)
    builder.copy(chunk=0, src=[0, 1], dst=[0, 1], dst_buffer=1, step=0)
    builder.reduce(chunk=0, src=[0, 1], dst=[1, 0], src_buffer=1, step=1)
    assert builder.schedule().buffers == 2
    gather = ct.Builder("switch:2", "all-gather", roots=[1, 0], period=1, repeats=3)
    gather.copy(chunk=[1, 0], src=[0, 1], dst=[1, 0], step=0)
    made = gather.schedule()
    assert (made.repeats, made.total_steps, made.chunk_root.tolist()) == (3, 3, [1, 0])


def test_arrays_and_single_calls_are_the_same() -> None:
    one, many = ct.Builder("ring:6", "all-gather"), ct.Builder("ring:6", "all-gather")
    for step in range(5):
        at = (np.arange(6) + step) % 6
        many.copy(chunk=np.arange(6), src=at, dst=(at + 1) % 6, step=step)
        for chunk in range(6):
            one.copy(chunk=chunk, src=int(at[chunk]), dst=int(at[chunk] + 1) % 6, step=step)
    assert one.schedule().digest == many.schedule().digest == ct.synthesize("ring:6", "all-gather", method="ring").digest
