"""Slots and the joint choice: valid, never below the floors, priced exactly, the same bytes for the same seed."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_file import save_schedule, schedule_document
from certree.models.schedule.timing import peak_reductions
from certree.synth import _native
from certree.synth.method import METHODS, Request, load_methods
from certree.synth.methods.optimizing.packing import packings
from certree.synth.monitor import Monitor
from certree.synth.packing.selection import Search, Trees
from certree.synth.packing.slotting import Clock, Reach, SlotRules, assign_slots, slotted_schedule
from certree.synth.packing.spanning_trees import Network
from certree.synth.packing.trees import family_of
from certree.verify.checker import verify_schedule
from tests.drawn import examples, given_at_least
from tests.networks import both_ways

ALL_REDUCE = parse_collective("all-reduce")
MACHINE = load_machine("multitree")
load_methods()


def request(spec: str | Topology, size: int = 1 << 20, collective: str = "all-reduce", **fields: object) -> Request:
    topology = parse_topology(spec) if isinstance(spec, str) else spec
    return Request(topology, parse_collective(collective), size, MACHINE, **fields)  # type: ignore[arg-type]


@given_at_least(
    25, both_ways(), st.integers(1, 4), st.integers(0, 3), st.sampled_from([None, 1, 2]), st.integers(1, 9), st.integers(0, 9)
)
@examples(50)
def test_slotted_trees_are_valid_schedules(
    topology: Topology, delay: int, reductions: int, stretch: int | None, repeats: int, seed: int
) -> bool:
    network = Network(topology)
    family = network.pack(ALL_REDUCE, network.strength.numerator, network.strength.denominator, moves=100, seed=seed)
    assert family is not None
    rules = SlotRules(delay, None if stretch is None else stretch * family.period, reductions)
    slots, _ = assign_slots(family, rules, tries=2, work=20_000, seed=seed)
    if slots is None:  # only a cap on reductions can be impossible here
        assert rules.period is not None
        assert reductions * rules.period < family.reductions
        return False
    schedule = slotted_schedule(family, slots, rules, repeats if rules.period else 1, {})
    verdict = verify_schedule(schedule)
    assert verdict.valid, verdict.violations
    if reductions:
        assert peak_reductions(family.transfers.op, slots, family.transfers.dst, rules.period, 1 << 30) <= reductions
    return True


def brute_force_slots(family: object, delay: int, horizon: int) -> int | None:
    """Fewest slots of any assignment without a period, over all assignments up to `horizon`; tiny families only."""
    rows = family.transfers  # type: ignore[attr-defined]
    count = len(rows.chunk)
    for length in range(1, horizon + 1):
        for slots in itertools.product(range(length), repeat=count):
            waits = all(slots[a] >= slots[b] + delay for b, a in zip(rows.before, rows.after, strict=True))
            if waits and len({(slot, int(pair)) for slot, pair in zip(slots, rows.channel, strict=True)}) == count:
                return length
    return None


@pytest.mark.parametrize(("spec", "trees", "delay"), [("ring:3", 1, 1), ("ring:3", 1, 2), ("mesh:1x3", 1, 1), ("ring:2", 2, 1)])
def test_slots_against_brute_force(spec: str, trees: int, delay: int) -> None:
    network = Network(parse_topology(spec))
    family = network.pack(ALL_REDUCE, trees, trees * 2, moves=0, seed=0)
    assert family is not None
    slots, _ = assign_slots(family, SlotRules(delay, None, 0), tries=5, work=10_000, seed=0)
    assert slots is not None
    assert slots.max() + 1 == brute_force_slots(family, delay, 6)


def test_a_period_too_short_for_a_link_is_refused() -> None:
    family = Network(parse_topology("mesh:1x2")).pack(ALL_REDUCE, 4, 4, moves=0, seed=0)
    assert family is not None
    assert assign_slots(family, SlotRules(1, family.period - 1, 0), tries=3, work=1_000, seed=0)[0] is None
    assert assign_slots(family, SlotRules(1, family.period, 0), tries=3, work=1_000, seed=0)[0] is not None


def test_no_jobs_need_no_slots() -> None:
    none = np.zeros(0, np.int32)
    zero = np.zeros(1, np.int32)
    slots, _ = _native.schedule_jobs(zero, none, none, none, zero, none, np.ones(1, np.int64), 1, 1, 0, 0, 1, 1, 0, 0, none)
    assert len(slots) == 0


@given(
    both_ways(most=6),
    st.integers(16, 1 << 18),
    st.sampled_from([(1, None), (2, None), (1, 1), (2, 1), (3, 2)]),
    st.integers(1, 40),
)
@examples(60)
def test_the_search_clock_is_the_closed_form(topology: Topology, size: int, rule: tuple[int, int | None], repeats: int) -> None:
    asked = request(topology, size)
    network = Network(topology)
    family = network.pack(ALL_REDUCE, network.strength.numerator, network.strength.denominator, moves=0, seed=0)
    assert family is not None
    delay, stretch = rule
    rules = SlotRules(delay, None if stretch is None else stretch * family.period, 0)
    repeats = repeats if rules.period else 1
    slots, _ = assign_slots(family, rules, work=1_000, seed=0)
    assert slots is not None
    schedule = slotted_schedule(family, slots, rules, repeats, {})
    latency = 2 * MACHINE.ni_cycles + 2 * MACHINE.router_cycles + MACHINE.link_latency_cycles
    peak = peak_reductions(family.transfers.op, slots, family.transfers.dst, rules.period, repeats)
    times = Clock(asked, Reach(latency)).cycles(family.chunks, rules, int(slots.max()) + 1, peak, np.array([repeats]))
    assert times.tolist() == [asked.cycles(schedule)]


@given(st.integers(1, 1 << 16), st.integers(1, 40), st.integers(1, 9), st.integers(0, 9), st.integers(1, 30), st.integers(0, 3))
@examples(80)
def test_the_least_cycles_are_those_of_the_best_of_all_repeats(
    size: int, trees: int, delay: int, period: int, slots: int, peak: int
) -> None:
    asked = request(parse_topology("mesh:2x2"), size)
    clock, rules = Clock(asked, Reach(158)), SlotRules(delay, period or None, 0)
    most = int(clock.repeats[-1])
    repeats = np.arange(2, most + 1) if period and most > 1 else np.array([1])
    assert clock.least(trees, rules, slots, peak) == clock.cycles(trees, rules, slots, peak, repeats).min()


@given_at_least(10, both_ways(most=6), st.sampled_from([1 << 10, 1 << 14, 1 << 20]), st.integers(0, 5))
@examples(12)
def test_no_schedule_beats_its_floor(topology: Topology, size: int, seed: int) -> bool:
    asked = request(topology, size)
    network = Network(topology)
    family = network.pack(ALL_REDUCE, network.strength.numerator, network.strength.denominator, moves=50, seed=seed)
    assert family is not None
    search = Search(asked, dict, budget=100_000)
    search.run([Trees.built(family)])
    unbuilt, slotted = packings(asked, network)[::20], 0
    for candidate in search.candidates([Trees.built(family), *unbuilt])[::7]:
        family = candidate.trees.build()
        assert family is not None
        slots, _ = assign_slots(family, candidate.rules, tries=2, work=20_000, seed=seed)
        if slots is None:
            continue
        peak = peak_reductions(family.transfers.op, slots, family.transfers.dst, candidate.rules.period, 1 << 30)
        assert candidate.floor <= search.clock(None).best(family.chunks, candidate.rules, int(slots.max()) + 1, peak)[0]
        slotted += 1
    return slotted >= 10


def test_packing_meets_the_bound_and_the_issue_of_size() -> None:
    large = METHODS["packing"](request("mesh:4x4", 64 << 20))
    assert large.bandwidth_time == Fraction(5, 8)
    small = METHODS["packing"](request("mesh:4x4", 1 << 12))
    assert small.period is None
    assert request("mesh:4x4", 1 << 12).cycles(small) < request("mesh:4x4", 1 << 12).cycles(large)
    forced = METHODS["packing"](request("torus:4x4", 1 << 12, options={"rate": "optimal"}))
    assert forced.provenance["packed"] == "32/15"


@pytest.mark.parametrize("chunks", [1, 3, 8, 10])
def test_packing_takes_the_number_of_chunks_asked_for(chunks: int) -> None:
    schedule = METHODS["packing"](request("mesh:4x4", chunks=chunks))
    assert schedule.chunks == chunks
    assert verify_schedule(schedule).valid


def test_packing_keeps_to_the_steps_asked_for() -> None:
    assert METHODS["packing"](request("mesh:4x4", 64 << 20, steps=16)).steps <= 16


@pytest.mark.parametrize(("bar", "ends"), [(800, True), (3000, False)])
def test_a_search_far_behind_the_best_schedule_ends(monkeypatch: pytest.MonkeyPatch, bar: int, ends: bool) -> None:
    """After the first looks at three families; where the best schedule is within four times of these it goes on."""
    found: list[int | None] = []
    evaluate = Search._evaluate

    def counted(self: Search, *arguments: Any, **fields: Any) -> int | None:
        found.append(evaluate(self, *arguments, **fields))
        return found[-1]

    monkeypatch.setattr(Search, "_evaluate", counted)
    asked = request("fattree:2x2", 1 << 10, monitor=Monitor(bar=bar))
    made = METHODS["packing"](asked)
    assert verify_schedule(made).valid
    assert asked.cycles(made) == min(cycles for cycles in found if cycles is not None)
    assert (len(found) == 3) == ends


@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather"])
@pytest.mark.parametrize("spec", ["ring:5", "mesh:3x3", "torus:4x4,without-link=0-1"])
def test_retiming_keeps_the_trees_and_never_loses(spec: str, collective: str) -> None:
    asked = request(spec, 1 << 15, collective)
    source = METHODS["multitree"](asked)
    better = METHODS["retime"](asked)
    assert verify_schedule(better).valid
    assert asked.cycles(better) <= asked.cycles(source)
    assert (family_of(better).up == family_of(source).up).all()
    assert (family_of(better).down == family_of(source).down).all()


def test_retiming_a_file(tmp_path: object) -> None:
    asked = request("ring:4")
    path = tmp_path / "ring.json"  # type: ignore[operator]
    save_schedule(METHODS["ring"](asked), path)
    better = METHODS["retime"](request("ring:4", options={"of": str(path)}))
    assert asked.cycles(better) < asked.cycles(METHODS["ring"](asked))
    with pytest.raises(UnsupportedError, match="another topology"):
        METHODS["retime"](request("ring:5", options={"of": str(path)}))


def test_an_expired_deadline_still_gives_a_schedule() -> None:
    schedule = METHODS["auto"](request("mesh:4x4", monitor=Monitor(deadline=0.0)))
    assert verify_schedule(schedule).valid
    assert schedule_document(schedule)["provenance"]["auto"]["considered"]["packing"].startswith("not tried")


def test_a_proved_rate_is_preferred_to_next_to_nothing() -> None:
    asked = request("torus:8x8", 64 << 20)
    schedule = METHODS["packing"](asked)
    assert schedule.bandwidth_time == Fraction(63, 128)
    assert verify_schedule(schedule).valid
