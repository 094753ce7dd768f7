"""Chains of lowerings: consumers get the form that they take, with the same data, or hear what no lowering removes."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import certree.api as ct
from certree.models.common.errors import UnsupportedError
from certree.models.common.registry import import_folder
from certree.models.fine.equal import in_firing_order, in_levels
from certree.models.fine.timed_schedule import timed
from certree.models.forms.lowering_chain import LOWERINGS, takes
from certree.models.forms.schedule_form import PARTS, form_of
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, CollectiveKind, parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule
from tests.fuzz import forms as by_hand

ALL_BUT_PERIOD = tuple(part for part in PARTS if part != "period")
#: network, collective, method, and size of schedules with fine slots
FINE = [
    ("ring:5", "all-reduce", "auto", "1KiB"),
    ("mesh:3x3", "all-to-all", "single-pass", "64KiB"),
    ("mesh:3x3", "all-reduce", "partial-sums", "4KiB"),
    ("mesh:3x3", "reduce-scatter", "pat", "64KiB"),
    ("fattree:2x2", "all-reduce", "auto", "4KiB"),
    ("ring:6", "broadcast", "auto", "1KiB"),
    ("hypercube:3,capacity=2", "all-reduce", "auto", "16KiB"),
]


@cache
def fine_schedules() -> list[Schedule]:
    made = [
        ct.synthesize(net, collective, method=method, size=size, root=0 if collective == "broadcast" else None)
        for net, collective, method, size in FINE
    ]
    found = [schedule for schedule in map(written_out, made) if schedule.slot_cycles is not None]
    assert len(found) >= 5
    return found


def by_transfers(schedule: Schedule) -> Schedule:
    """Levels one transfer after the other: what `in_levels` says, without columns."""
    ordered = in_firing_order(schedule)
    usable: dict[tuple[int, int, int], int] = {}
    copied: dict[tuple[int, int, int], int] = {}
    read: dict[tuple[int, int, int], int] = {}
    level = np.zeros(ordered.transfers, np.int32)
    src_buffer, dst_buffer = (
        np.zeros(ordered.transfers, int) if b is None else b for b in (ordered.src_buffer, ordered.dst_buffer)
    )
    places = [
        (
            (int(ordered.src[i]), int(ordered.chunk[i]), int(src_buffer[i])),
            (int(ordered.dst[i]), int(ordered.chunk[i]), int(dst_buffer[i])),
        )
        for i in range(ordered.transfers)
    ]
    for step in np.unique(ordered.step).tolist():
        together = np.flatnonzero(ordered.step == step).tolist()
        while True:
            before = level[together].copy()
            for i in together:
                at, to = places[i]
                behind = usable if ordered.op[i] == Op.COPY else copied
                level[i] = max(int(level[i]), usable.get(at, 0), behind.get(to, 0), read.get(to, 0))
                read[at] = max(read.get(at, 0), int(level[i]))
            if (before == level[together]).all():
                break
        for i in together:
            to = places[i][1]
            usable[to] = max(usable.get(to, 0), int(level[i]) + 1)
            if ordered.op[i] == Op.COPY:
                copied[to] = max(copied.get(to, 0), int(level[i]) + 1)
    return level


def test_levels_are_valid_and_as_early_as_data_allow() -> None:
    for schedule in fine_schedules():
        levels = in_levels(schedule)
        assert form_of(levels).isdisjoint({"slot_cycles", "waits"})
        assert verify_schedule(schedule).valid
        verdict = verify_schedule(levels)
        assert verdict.valid, (schedule, verdict.counts)
        assert levels.steps <= in_firing_order(schedule).steps
        assert levels.step.tolist() == by_transfers(schedule).tolist()


@pytest.mark.parametrize("spec", ["mesh:2x3", "ring:4", "switch:4"])
def test_levels_on_parallel_links(spec: str) -> None:
    """Routes name one of two links that lead the same way; a step lasts as long as the fuller one needs."""
    once = parse_topology(spec)
    twice = replace(once, **{name: np.tile(getattr(once, name), 2) for name in ("src", "dst", "capacity", "latency")})
    checked = 0
    for kind, method in (
        ("all-to-all", "single-pass"),
        ("all-reduce", "bine"),
        ("all-reduce", "one-shot"),
        ("all-reduce", "two-shot"),
    ):
        try:
            made = written_out(load_methods()[method](Request(twice, parse_collective(kind), 1 << 14, load_machine("multitree"))))
        except UnsupportedError:
            continue
        if made.slot_cycles is not None:
            verdict = verify_schedule(in_levels(made))
            assert verdict.valid, (method, verdict.counts)
            checked += 1
    assert checked >= 2


def test_chains() -> None:
    """From a symmetric schedule, and from fine slots, to what a consumer takes; itself where it takes it."""
    symmetric = ct.synthesize("torus:4x4", "all-gather", method="symmetric", size="64KiB")
    assert takes("a test").lowered(symmetric).digest == written_out(symmetric).digest
    fine = next(schedule for schedule in fine_schedules() if schedule.buffers == 1)
    assert takes("a test", "slot_cycles", "virtual_channel").lowered(fine) is fine
    assert takes("a test", "virtual_channel").lowered(fine).digest == in_levels(fine).digest
    assert takes("a test", "virtual_channel", order_only=True).lowered(fine).digest == in_firing_order(fine).digest


@pytest.mark.parametrize(
    ("network", "collective", "method", "size"),
    [
        ("mesh:2x2", "all-reduce", "retime", "16KiB"),
        ("torus:4x4", "all-reduce", "packing", "1MiB"),
        ("switch:4", "all-gather", "packing", "1MiB"),
    ],
)
def test_iterations_written_out(network: str, collective: str, method: str, size: str) -> None:
    """The promise is the same, in the same cycles."""
    made = written_out(ct.synthesize(network, collective, method=method, size=size))
    assert made.made_for is not None
    assert made.is_repeating
    one = takes("a test", *ALL_BUT_PERIOD, repeats=False).lowered(made)
    assert (one.repeats, one.period, one.chunks) == (1, None, made.chunks * made.repeats)
    assert verify_schedule(one).valid
    size_of, machine = made.made_for.message_bytes, made.made_for.machine
    assert timed(one, size_of, machine).cycles == timed(made, size_of, machine).cycles


def test_iterations_in_fine_slots_written_out() -> None:
    made = by_hand.FORMS["fine-repeats"]()
    assert isinstance(made, Schedule)
    assert made.made_for is not None
    one = takes("a test", *ALL_BUT_PERIOD, repeats=False).lowered(made)
    assert verify_schedule(one).valid
    size, machine = made.made_for.message_bytes, made.made_for.machine
    assert timed(one, size, machine).cycles == timed(made, size, machine).cycles


def test_steps_of_one_round() -> None:
    made = written_out(ct.synthesize("ring:4", method="halving-doubling", size="4KiB"))
    assert (made.rounds > 1).any()
    one = takes("a test", "virtual_channel", rounds=False).lowered(made)
    assert (one.rounds == 1).all()
    assert verify_schedule(one).valid
    with pytest.raises(UnsupportedError, match="a test: not supported for schedules that have steps of several rounds"):
        takes("a test", rounds=False).require(made)


def test_too_many_iterations() -> None:
    made = replace(written_out(ct.synthesize("ring:4", method="retime", size="1MiB")), period=8, repeats=1 << 22)
    with pytest.raises(UnsupportedError, match=f"not supported for schedules that repeat: {1 << 22} iterations of"):
        takes("a test", *ALL_BUT_PERIOD, repeats=False).lowered(made)


def test_what_no_lowering_removes() -> None:
    some = Collective(CollectiveKind.ALL_REDUCE, members=(0, 1, 2))
    members = ct.synthesize("mesh:2x3", some, method="auto", size="1KiB")
    taken = takes("a test", "slot_cycles", "buffers", "virtual_channel")
    with pytest.raises(UnsupportedError, match=r"^a test: not supported for schedules that use members \(version 2\)$"):
        taken.lowered(members)


def test_every_lowering_removes_parts_of_forms() -> None:
    import_folder("certree.models.forms.lowerings")
    assert set(LOWERINGS) == {"from-symmetric", "to-firing-order", "to-levels", "to-one-iteration", "to-unit-rounds"}
    for name in LOWERINGS:
        assert LOWERINGS[name].removes <= {"symmetric", *PARTS}
