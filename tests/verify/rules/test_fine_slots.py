"""Fine slots: the checker against runs cycle by cycle, and wrong schedules by the rule they break: "reserved", "waiting",
"overloaded"."""

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from certree.models.fine.slots import fine_times
from certree.models.network.topology import Topology
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from certree.verify.rules.fine_slots import in_flight
from tests.drawn import examples, given_at_least, rngs
from tests.verify.build import build, network
from tests.verify.fine_moved import MACHINE, drawn, fault, shifted
from tests.verify.rules.agreement import agree, agree_after
from tests.verify.rules.expected import rejected


@given_at_least(60, rngs)
@examples(250)
def test_drawn_schedules_are_valid_by_both(rng: Random) -> bool:
    return agree(drawn(rng), fault)


@given_at_least(150, rngs, st.integers(1, 3))
@examples(400)
def test_changed_schedules_are_invalid_by_both(rng: Random, changes: int) -> bool:
    return not agree_after(rng, changes, drawn(rng), shifted, fault)


REDUCING = ("switch:3,reducing=switches", "tree:2x2,reducing=switches")


@given_at_least(60, rngs)
@examples(250)
def test_drawn_schedules_that_reduce_in_switches_are_valid_by_both(rng: Random) -> bool:
    return agree(drawn(rng, *REDUCING), fault)


@given_at_least(150, rngs, st.integers(1, 3))
@examples(400)
def test_changed_schedules_with_reducing_switches_are_invalid(rng: Random, changes: int) -> bool:
    return not agree_after(rng, changes, drawn(rng, *REDUCING), shifted, fault)


def fine(topology: Topology | str, collective: str, text: str, granules: int = 1, slot: int = 1, **fields: Any) -> Schedule:
    """Chunks of `granules` granules: `ser` is one more, a route over h links takes 4·h + 3, an addition 2·granules."""
    waits = fields.pop("waits", None)
    made = build(topology, collective, text, **fields)
    size = granules * made.message_chunks * made.repeats * MACHINE.flit_bytes
    return replace(made, slot_cycles=slot, made_for=MadeFor(size, MACHINE), waits=waits)


def at(*steps: tuple[int, str]) -> str:
    """Transfers in slots that are far apart."""
    found = dict(steps)
    return ";".join(found.get(step, " ") for step in range(max(found) + 1))


#: one granule: a copy over a link lands 2 + 7 cycles after it fired, a reduce 2 + 2 later
ONE_LINK, ADDED = 9, 13
#: three that reach the unit of switch 3 together, 2 cycles each
IN_SWITCH = ADDED + 2 * 2
PUSHED = "0+3 1+3 2+3"
STAR_ADDS = "switch:3,reducing=switches"
LINE = network("eee", [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)])
WIDE = network("ee", [(0, 1, 2), (1, 0, 2)])
RIGHT = {
    "a copy, then what it brought": fine("mesh:1x3", "broadcast", at((0, "0>1"), (9, "1>2")), collective_root=0),
    "in slots of 3 cycles": fine("mesh:1x3", "broadcast", at((0, "0>1"), (3, "1>2")), slot=3, collective_root=0),
    "a sum, then its copy": fine("full:2", "all-reduce", at((0, "0+1"), (13, "1>0"))),
    "one message behind the other": fine("full:2", "broadcast", at((0, "0>1"), (2, "1:0>1")), collective_root=0, chunks=2),
    "two lanes": fine(WIDE, "broadcast", "0>1 1:0>1", collective_root=0, chunks=2),
    "one added after the other": fine("mesh:1x3", "reduce", "0+1 2+1", collective_root=1),
    "a period as long as a message": fine("full:2", "broadcast", "0>1; ", collective_root=0, period=2, repeats=9),
    "a sum in a switch, copied over all its links at once": fine(
        STAR_ADDS, "all-reduce", at((0, PUSHED), (IN_SWITCH, "3>0 3>1 3>2"))),
    "a sum that goes from a switch to one node, and out again": fine(
        STAR_ADDS, "all-reduce", at((0, PUSHED), (IN_SWITCH, "3>0"), (IN_SWITCH + ONE_LINK, "0>3"),
                                    (IN_SWITCH + 2 * ONE_LINK, "3>1 3>2"))),
    "a switch that is never idle": fine(
        STAR_ADDS, "reduce", at((0, PUSHED), (IN_SWITCH, "3>0")), collective_root=0, period=6, repeats=9),
    "a unit that is never idle": fine("full:2", "reduce", "0+1; ", collective_root=1, period=2, repeats=9),
    "local copies in turn": fine(
        "full:2", "reduce", at((0, "0>0"), (2, "1:0>0"), (4, "0+1"), (6, "1:0+1")), collective_root=1,
        chunks=2, buffers=2, src_buffer=[0, 0, 1, 1], dst_buffer=[1, 1, 0, 0]),
}  # fmt: skip
#: rule, rows of the first violation, the schedule, and some words of its message
WRONG = {
    "a copy that has not landed": (
        "in-flight", (1, 0), fine("mesh:1x3", "broadcast", at((0, "0>1"), (8, "1>2")), collective_root=0),
        "leaves node 1 while row 0 (copy of chunk 0, 0>1, step 0) is in flight there (until step 9)"),
    "a slot that opens too early": (
        "in-flight", (1, 0), fine("mesh:1x3", "broadcast", at((0, "0>1"), (2, "1>2")), slot=4, collective_root=0),
        "is in flight there (until step 3)"),
    "a sum that is still being added": (
        "in-flight", (1, 0), fine("full:2", "all-reduce", at((0, "0+1"), (12, "1>0"))), "(until step 13)"),
    "a sum behind another one": (
        "in-flight", (2, 1), fine("mesh:1x3", "all-reduce", at((0, "0+1 2+1"), (14, "1>0 1>2"))), "(until step 15)"),
    "nothing there yet": (
        "not-held", (0,), fine("mesh:1x3", "broadcast", at((0, "1>2"), (1, "0>1")), collective_root=0),
        "it lands there in step 10"),
    "a message runs into another": (
        "reserved", (1, 0), fine("full:2", "broadcast", at((0, "0>1"), (1, "1:0>1")), collective_root=0, chunks=2),
        "finds link 0>1 taken for 1 more cycles, by row 0"),
    "a third message on two lanes": (
        "reserved", (2, 0, 1), fine(WIDE, "broadcast", at((0, "0>1 1:0>1"), (1, "2:0>1")), collective_root=0, chunks=3),
        "finds link 0>1 taken for 1 more cycles"),
    "the next iteration": (
        "reserved", (0,), fine("full:2", "broadcast", "0>1", collective_root=0, period=1, repeats=2),
        "a message takes 2 cycles of a lane, a period has 1: it meets itself"),
    "another message of the next iteration": (
        "reserved", (0, 1), fine("full:2", "broadcast", "0>1; ; 1:0>1", collective_root=0, chunks=2, period=3, repeats=2),
        "modulo the period of 3"),
    "two local transfers at once": (
        "reserved", (1, 0), fine(
            "full:2", "reduce", at((0, "0>0"), (1, "1:0>0"), (4, "0+1"), (6, "1:0+1")), collective_root=1,
            chunks=2, buffers=2, src_buffer=[0, 0, 1, 1], dst_buffer=[1, 1, 0, 0]),
        "finds the copy unit of node 0 taken for 1 more cycles"),
    "a switch that has not added all": (
        "in-flight", (3, 2), fine(STAR_ADDS, "all-reduce", at((0, PUSHED), (IN_SWITCH - 1, "3>0 3>1 3>2"))),
        "leaves node 3 while row 2 (reduce of chunk 0, 2>3, step 0) is in flight there (until step 17)"),
    "a switch that copies what it does not hold": (
        "not-held", (0,), fine(STAR_ADDS, "broadcast", at((0, "3>1 3>2"), (1, "0>3")), collective_root=0),
        "it lands there in step 10"),
    "two copies of a switch over one link": (
        "reserved", (4, 2), fine(
            STAR_ADDS, "broadcast", at((0, "0>3"), (2, "1:0>3"), (11, "3>1 3>2"), (12, "1:3>1"), (13, "1:3>2")),
            collective_root=0, chunks=2),
        "finds link 3>1 taken for 1 more cycles"),
    "a switch that falls behind": (
        "overloaded", (), fine(
            STAR_ADDS, "reduce", at((0, PUSHED), (IN_SWITCH, "3>0")), collective_root=0, period=5, repeats=9),
        "node 3 adds for 6 cycles in each iteration, which is one every 5 cycles"),
    "a unit that falls behind": (
        "overloaded", (), fine("mesh:1x3", "reduce", "0+1 2+1; ; ", granules=2, collective_root=1, period=3, repeats=2),
        "node 1 adds for 8 cycles in each iteration, which is one every 3 cycles"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_schedules_are_accepted(name: str) -> None:
    assert verify_schedule(RIGHT[name]).violations == ()


@pytest.mark.parametrize("name", WRONG)
def test_wrong_schedules_are_rejected_by_the_rule_they_break(name: str) -> None:
    rejected(WRONG[name])


def test_routes_reserve_each_link_later() -> None:
    """Over a switch: 4 cycles after the first link. Messages to one endpoint that leave together meet on the second link."""
    star = network("eees", [(0, 3, 1), (3, 0, 1), (1, 3, 1), (3, 1, 1), (2, 3, 1), (3, 2, 1)])
    fields = {"route": [0, 1], "routes": ((0, 5), (2, 5)), "collective_root": 2}
    together = fine(star, "reduce", "0+2 1+2", **fields)
    assert verify_schedule(together).counts == {"reserved": 1}
    assert fine_times(together).reservations.entry.tolist() == [0, 4, 0, 4]
    assert verify_schedule(fine(star, "reduce", "0+2; ; 1+2", **fields)).valid


STAR = network("eees", [(0, 3, 1), (3, 0, 1), (1, 3, 1), (3, 1, 1), (2, 3, 1), (3, 2, 1)])
TO_2, TO_1 = {"routes": ((0, 5), (2, 5))}, {"routes": ((0, 5), (0, 3))}


def test_a_message_waits_for_another_one() -> None:
    """Two that leave together: the second waits at the switch until the first has passed."""
    made = fine(STAR, "reduce", "0+2 1+2", route=[0, 1], collective_root=2, **TO_2)
    assert verify_schedule(made).counts == {"reserved": 1}
    assert verify_schedule(replace(made, waits=((0,), (1,)))).counts == {"reserved": 1}
    waiting = replace(made, waits=((0,), (2,)))
    assert verify_schedule(waiting).valid
    assert fine_times(waiting).reservations.entry.tolist() == [0, 4, 0, 6]
    assert fine_times(waiting).landing.tolist() == [17, 19]


def test_a_buffer_that_is_too_small() -> None:
    """Four granules and a head, of which the buffer holds three flits."""
    made = fine(STAR, "reduce", "0+2 1+2", granules=4, route=[0, 1], collective_root=2, **TO_2)
    verdict = verify_schedule(replace(made, waits=((0,), (5,))))
    assert verdict.counts == {"waiting": 1}
    words = "waits 5 cycles behind link 1>3: 5 flits of it are then in a buffer for 3"
    assert words in verdict.violations[0].message
    assert verify_schedule(fine(STAR, "reduce", "0+2; ; 1+2", route=[0, 1], collective_root=2, waits=((0,), (3,)), **TO_2)).valid


@pytest.mark.parametrize(("channels", "counts"), [([0, 0], {"waiting": 1}), ([0, 1], {}), ([1, 1], {"waiting": 1})])
def test_a_message_behind_one_that_waits(channels: list[int], counts: dict[str, int]) -> None:
    """The message comes to the same input of the switch; with a virtual channel of its own it passes."""
    made = fine(STAR, "broadcast", "0>2; ; 0>1", route=[0, 1], collective_root=0, waits=((3,), (0,)), **TO_1)
    made = replace(made, virtual_channel=channels)
    verdict = verify_schedule(made)
    assert verdict.counts == counts
    if counts:
        words = "row 1 (copy of chunk 0, 0>1) comes into the buffer behind link 0>3 while row 0 (copy of chunk 0, 0>2) is there"
        assert words in verdict.violations[0].message


def test_waits_of_the_next_iteration() -> None:
    """A message that waits longer than a period meets itself in the buffer; one that leaves in time does not."""
    fields = {"route": [0, 0], "collective_root": 0, "chunks": 1, "period": 6, "repeats": 4, "routes": ((0, 5), (0, 3))}
    long = fine(STAR, "broadcast", "0>2; ; 0>1", **{**fields, "route": [0, 1], "waits": ((5,), (0,))})
    verdict = verify_schedule(long)
    assert set(verdict.counts) == {"waiting"}
    assert "it is there for 7 cycles, and comes again after 6" in verdict.violations[0].message


def test_ties_at_the_unit_count_against_all() -> None:
    """Two of three arrivals come in one cycle: these land as the second, the third behind them."""
    schedule = fine("full:4", "reduce", at((0, "0+3 1+3"), (1, "2+3")), collective_root=3)
    assert fine_times(schedule).landing.tolist() == [15, 15, 17]
    assert fine_times(schedule).cycles == 17


def test_a_unit_in_steady_state() -> None:
    """Each iteration finds the arrivals of the one before it still there."""
    text = at((0, "0+3 1+3"), (4, "2+3"))
    once = fine("full:4", "reduce", text, collective_root=3)
    often = fine("full:4", "reduce", f"{text}; ", collective_root=3, period=6, repeats=5)
    assert fine_times(once).landing.tolist() == [15, 15, 17]
    assert fine_times(often).landing.tolist() == [15, 15, 17]
    busy = fine("full:4", "reduce", at((0, "0+3 1+3"), (5, "2+3")), collective_root=3, period=6, repeats=5)
    assert fine_times(busy).landing.tolist() == [16, 16, 18]


def test_quality_is_in_cycles() -> None:
    """A period of 2 cycles for 1 granule; without a period the whole run."""
    quality = verify_schedule(RIGHT["a period as long as a message"]).quality
    assert quality is not None
    assert (quality.bandwidth_time, quality.bandwidth_bound) == (2, 1)
    alone = verify_schedule(RIGHT["a sum, then its copy"]).quality
    assert alone is not None
    assert (alone.bandwidth_time, alone.latency_steps, alone.latency_bound) == (13 + ONE_LINK, None, None)


@pytest.mark.parametrize(("third", "valid"), [(12, False), (15, True)])
def test_lane_for_all_of_a_message(third: int, valid: bool) -> None:
    """Two parallel links for messages of 10 cycles: one names the first from cycle 0, one names none from 5, one names the second
    from 12. Never three at a time, but the one in the middle would have to change its lane."""
    parallel = network("ee", [(0, 1, 1), (0, 1, 1), (1, 0, 1)])
    text = at((0, "0>1"), (5, "1:0>1"), (third, "2:0>1"))
    columns: dict[str, Any] = {"route": [0, -1, 1], "routes": ((0,), (1,))}
    repeated: dict[str, Any] = {"period": third + 15, "repeats": 3}
    for again in ({}, repeated):
        made = fine(parallel, "broadcast", text, granules=9, chunks=3, collective_root=0, **columns, **again)
        assert verify_schedule(made).counts == ({} if valid else {"reserved": 1})


@pytest.mark.parametrize("layer", [0, 1])
def test_any_channel(layer: int) -> None:
    """A transfer without a route may come into any virtual channel, so also into the one in which another message waits."""
    links = [int(np.flatnonzero((LINE.src == node) & (LINE.dst == node + 1))[0]) for node in (0, 1)]
    columns: dict[str, Any] = {"route": [0, -1, -1, -1], "routes": (tuple(links),), "waits": ((6,),), "virtual_channel": [layer]}
    for second, counts in ((2, {"waiting": 1}), (20, {})):
        text = at((0, "0>2"), (second, "1:0>1"), (40, "0>1"), (60, "1:1>2"))
        assert verify_schedule(fine(LINE, "broadcast", text, chunks=2, collective_root=0, **columns)).counts == counts


def test_times_of_many_links_and_long_runs_stay_within_words() -> None:
    """A number for each link and cycle would need 65 bits here, and messages of other links would seem to meet."""
    link, start = np.array([0, 1 << 13]), np.array([0, 1 << 50])
    assert in_flight(link, start, start + 10).tolist() == [0, 0]
    assert in_flight(np.array([1, 1]) << 13, start + (1 << 50), start + (2 << 50)).tolist() == [0, 0]
    assert in_flight(np.array([1, 1]) << 13, np.array([0, 1]), np.array([1, 2]) << 50).tolist() == [0, 1]
