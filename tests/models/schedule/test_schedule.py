"""The Schedule constructor, bandwidth time, digest, and spreading long steps over unit rounds."""

from fractions import Fraction

import numpy as np
import pytest

from certree.models.common.errors import InputError, ScheduleFormatError, UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import MAX_CHUNKS, NO_ROOT
from certree.models.schedule.unit_rounds import in_unit_rounds
from tests.models.examples import built, network, pair_all_reduce, ring_all_gather, schedule


def test_unknown_collectives():
    with pytest.raises(InputError, match="unknown collective 'sum'; known: all-reduce, reduce-scatter, all-gather"):
        parse_collective("sum")


def test_make_schedule_orders_rows():
    made = schedule("ring:3", "all-reduce", [NO_ROOT], "0>1@1 2+0@0 1+0@0 0>2@1")
    assert list(zip(made.step.tolist(), made.op.tolist(), made.src.tolist(), made.dst.tolist(), strict=True)) == [
        (0, 0, 1, 0), (0, 0, 2, 0), (1, 1, 0, 1), (1, 1, 0, 2),
    ]  # fmt: skip
    assert (made.chunks, made.steps, made.total_steps, made.transfers) == (1, 2, 2, 4)


def test_bandwidth_time():
    assert ring_all_gather(5).bandwidth_time == Fraction(4, 5)  # N - 1 rounds, N chunks
    assert pair_all_reduce(period=1, repeats=7).bandwidth_time == 1
    assert pair_all_reduce(period=1, repeats=7).total_steps == 6 + 2
    long = built(rounds=[3, 4], step=[1])
    assert long.bandwidth_time == 7
    with pytest.raises(UnsupportedError, match="fine slots are not rounds"):
        _ = pair_all_reduce(slot_cycles=1, made_for=MadeFor(4096, load_machine("multitree"))).bandwidth_time


def test_digest_ignores_row_order_and_notes():
    one = built(chunk=[0, 1], op=[1, 1], step=[0, 0], src=[0, 1], dst=[1, 0], route=[-1, -1], chunk_root=[0, 1])
    two = built(chunk=[1, 0], op=[1, 1], step=[0, 0], src=[1, 0], dst=[0, 1], route=[-1, -1], chunk_root=[0, 1])
    assert one.digest == two.digest == one.with_certificate({"claim": 1}).digest
    assert one.with_certificate({"claim": 1}).certificate == {"claim": 1}


@pytest.mark.parametrize(
    "change",
    [{"delay": 2}, {"step": [1], "rounds": [1, 1]}, {"rounds": [2]}, {"rounds": [1, 1]}, {"chunk_root": [1]}, {"period": 1},
     {"op": [0]}, {"src": [1], "dst": [0]}, {"routes": ((0,),), "route": [0]}],
)  # fmt: skip
def test_digest_sees_what_decides(change):
    assert built(**change).digest != built().digest


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"chunk": [1]}, "transfers.chunk row 0: 1; allowed: 0 to 0"),
        ({"chunk": [-1]}, "transfers.chunk row 0: -1; allowed: 0 to 0"),
        ({"op": [2]}, "transfers.op row 0: 2; allowed: 0 to 1"),
        ({"op": [256]}, "op has entries outside -128 to 127"),
        ({"step": [1]}, "transfers.step row 0: 1; allowed: 0 to 0"),
        ({"src": [2]}, "transfers.src row 0: 2; allowed: 0 to 1"),
        ({"src": [1 << 32]}, "src has entries outside -2147483648 to 2147483647"),
        ({"dst": [-1]}, "transfers.dst row 0: -1; allowed: 0 to 1"),
        ({"route": [0]}, "transfers.route row 0: 0; allowed: -1 to -1"),
        ({"step": [0.0]}, "step must be a column of whole numbers, not float64 of shape (1,)"),
        ({"step": [True]}, "step must be a column of whole numbers, not bool"),
        ({"step": [[0]]}, "step must be a column of whole numbers, not int64 of shape (1, 1)"),
        ({"step": ["0"]}, "step must be a column of whole numbers"),
        ({"src": [0, 0]}, "transfers.src has 2 rows; transfers.chunk has 1"),
        ({"rounds": [0]}, "rounds row 0: 0; allowed: 1 to"),
        ({"rounds": np.zeros(0, np.int32)}, "no steps: rounds is empty"),
        ({"chunk_root": np.zeros(0, np.int32)}, "0 chunks; allowed: 1 to"),
        ({"chunk_root": [2]}, "chunks.root row 0: 2; allowed: the id of an endpoint"),
        ({"chunk_root": [-1]}, "chunks.root row 0: -1; allowed: the id of an endpoint"),
        ({"delay": 0}, "delay is 0; allowed: 1 to"),
        ({"delay": True}, "delay is True; allowed: whole numbers"),
        ({"period": 0}, "period is 0; allowed: null or 1 to"),
        ({"period": 1.0}, "period is 1.0; allowed: whole numbers"),
        ({"repeats": 2}, "repeats is 2 without a period"),
        ({"repeats": 0, "period": 1}, "repeats is 0; allowed: 1 to"),
        ({"repeats": 1 << 29, "period": 1 << 29}, "more than 1073741824 steps in all"),
        ({"rounds": [2], "period": 1}, "a repeating schedule has steps of one round each"),
        ({"routes": ((),)}, "routes row 0: [] is not a list of link numbers"),
        ({"routes": ((0, 2),)}, "routes row 0: [0, 2] is not a list of link numbers"),
        (
            {name: [value] * 6000 for name, value in (("chunk", 0), ("op", 1), ("step", 0), ("src", 0), ("dst", 1), ("route", 0))}
            | {"routes": ((0,) * 6000,)},
            "transfers pass more than 33554432 links of routes in all",
        ),
    ],
)
def test_constructor_refuses(change, reason):
    with pytest.raises(ScheduleFormatError) as caught:
        built(**change)
    assert reason in str(caught.value)


def test_all_reduce_has_no_roots():
    with pytest.raises(ScheduleFormatError, match=r"chunks[.]root row 0: 0; allowed: null in an all-reduce"):
        schedule("ring:2", "all-reduce", [0], "1+0")


def test_a_switch_or_an_absent_id_is_no_root():
    with pytest.raises(ScheduleFormatError, match=r"chunks[.]root row 0: 1; allowed: the id of an endpoint"):
        schedule("ring:4,without-node=1", "all-gather", [1], "0>3")


def test_columns_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        pair_all_reduce().step[0] = 5


def test_unit_rounds_of_unit_rounds_is_itself():
    same = pair_all_reduce()
    assert in_unit_rounds(same) is same


def long_steps(**fields):
    """Three chunks cross 0>1 in a step of 3 rounds; then one goes on to 2 in a step of 2 rounds."""
    fields = {"delay": 1, "rounds": [3, 2]} | fields
    rows = f"0:0>1@0 1:0>1@0 2:0>1@0 1:1>2@{fields['delay']}"
    return schedule(fields.pop("topology", "ring:3"), "all-gather", [0, 0, 0], rows, **fields)


def test_unit_rounds_spread_what_shares_a_link():
    spread = in_unit_rounds(long_steps())
    assert spread.step.tolist() == [0, 1, 2, 3]
    assert spread.rounds.tolist() == [1] * 5
    assert spread.chunk.tolist() == [0, 1, 2, 1]
    assert spread.bandwidth_time == long_steps().bandwidth_time


def test_unit_rounds_use_capacity():
    assert in_unit_rounds(long_steps(topology="ring:3,capacity=2")).step.tolist() == [0, 0, 1, 3]


def test_unit_rounds_keep_contention_visible():
    """Three chunks do not fit two rounds: the last round is over-subscribed, as the step was."""
    spread = in_unit_rounds(long_steps(rounds=[2, 2]))
    assert spread.step.tolist() == [0, 1, 1, 2]


def test_unit_rounds_keep_causality():
    """Whatever was usable at the start of a step is usable when its first round starts, for any delay."""
    for delay, rounds in ((1, [3, 2]), (2, [3, 1, 2])):
        before = long_steps(delay=delay, rounds=rounds)
        after = in_unit_rounds(before)
        start = np.concatenate(([0], np.cumsum(before.rounds)))
        assert (after.step[:3] + delay <= start[delay]).all()


def exchange(delay: int, rounds: list[int]) -> Schedule:
    """Node 0 sends chunks 0, 1 and 2 in the last step, node 1 chunk 2 in the first."""
    last = len(rounds) - 1
    rows = f"0:0+1@{last} 1:0+1@{last} 2:0+1@{last} 2:1+0@0"
    return schedule("ring:2", "all-reduce", [NO_ROOT] * 3, rows, rounds=rounds, delay=delay)


def test_nodes_that_exchange_a_chunk_do_so_in_one_round():
    """Chunk 2 waits for chunks 0 and 1 on its link, and what comes in return waits for it."""
    long = exchange(1, [3])
    spread = in_unit_rounds(long)
    moves = zip(spread.chunk.tolist(), spread.src.tolist(), spread.step.tolist(), strict=True)
    assert set(moves) == {(0, 0, 0), (1, 0, 1), (2, 0, 2), (2, 1, 2)}


def test_unit_rounds_refuse_what_they_would_change():
    """Node 0 would send what has landed meanwhile."""
    with pytest.raises(UnsupportedError, match="node 0 sends chunk 2 in step 1 without what it receives from node 1 in step 0"):
        in_unit_rounds(exchange(3, [1, 3]))
    assert in_unit_rounds(exchange(4, [1, 3])).step.tolist() == [0, 1, 2, 3]  # lands just behind it
    with pytest.raises(UnsupportedError, match=f"more than {MAX_CHUNKS} rounds"):
        in_unit_rounds(long_steps(rounds=[1 << 29, 1 << 29]))


def test_make_schedule_keeps_routes_and_rounds():
    topology = network(3, [(0, 2), (2, 0), (1, 2), (2, 1)], kind=np.array([0, 0, 1], np.int8))
    routes = [np.array([0, 3]), (2, 1)]
    fields = {"route": [1, 0], "routes": routes, "rounds": [2, 1]}
    made = schedule(topology, "all-reduce", [NO_ROOT] * 2, "1:1+0 0:0+1", **fields)
    assert (made.chunk.tolist(), made.route.tolist(), made.routes) == ([0, 1], [0, 1], ((0, 3), (2, 1)))
    assert made.rounds.tolist() == [2, 1]
