"""Improvement: never worse, right whatever it moves, the same for the same seed; its parts against what they promise."""

import random
from dataclasses import replace

import numpy as np
import pytest

import certree.api as ct
from certree.extras.improvement.make import improvement as improving
from certree.extras.improvement.make import orders
from certree.extras.improvement.make import precedence as module
from certree.extras.improvement.make.improvement import improve
from certree.extras.improvement.make.precedence import Precedence, justified
from certree.extras.improvement.make.regrowth import Forest, Regrowth
from certree.extras.improvement.make.tail_search import without_last_slot
from certree.models.common.errors import UnsupportedError
from certree.models.fine.rebooking import fitted
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.unit_rounds import in_unit_rounds
from certree.synth.fine.fine_schedule import costs_of
from certree.synth.fine.program import program_of
from certree.synth.fine.search import Trial
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget
from certree.verify.checker import verify_schedule
from tests.drawn import examples, given_at_least, rngs
from tests.hw.fine import into_one
from tests.synth.execution import ask, make
from tests.verify.brute import brute_force
from tests.verify.build import COPY, REDUCE, build
from tests.verify.deadlock.routers import direct, small, switch_ring
from tests.verify.schedules import random_schedule

CASES = [
    ("multitree", "mesh:3x3", "all-reduce"),
    ("multitree", "torus:4x4", "all-gather"),
    ("multitree", "mesh:3x3,without-link=0-1", "reduce-scatter"),
    ("ring", "fattree:2x3", "all-reduce"),
    ("recursive-doubling", "hypercube:3", "all-reduce"),
    ("ring-2d", "torus:3x4", "all-reduce"),
    ("binomial", "mesh:2x4", "broadcast"),
    ("ring-all-to-all", "ring:5", "all-to-all"),
    ("gentree", "ss:24", "all-reduce"),
    ("netreduce", "switch:4,reducing=switches", "all-reduce"),
    ("symmetric", "torus:3x3", "all-gather"),
    ("packing", "mesh:3x3", "all-reduce"),
    ("one-shot", "mesh:2x3", "all-reduce"),
    ("single-pass", "mesh:2x3", "all-to-all"),
]


@pytest.fixture(autouse=True)
def little_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    """An eighth of the usual moves: what holds of any is tested here, not how good the results are."""
    monkeypatch.setattr(improving, "REGROWN", improving.REGROWN // 8)
    monkeypatch.setattr(improving, "SOLVED", improving.SOLVED / 8)
    monkeypatch.setattr(orders, "SOLVED", orders.SOLVED / 8)


@pytest.mark.parametrize(
    ("method", "spec", "kind", "size"),
    [(*case, 1 << 20) for case in CASES]
    + [(*case, 1 << 10) for case in CASES if case[0] in ("multitree", "binomial", "symmetric")],
)
def test_never_slower_and_always_right(method, spec, kind, size):
    root = 0 if kind == "broadcast" else None
    source = make(method, spec, kind, message_bytes=size, root=root)
    request = ask(source.topology, kind, size, root=root)
    best = improve(source, request)
    assert verify_schedule(best).valid
    assert request.cycles(best) <= request.cycles(source)
    assert request.cycles(best) == request.monitor.best_cycles
    assert best is source or best.provenance["of_schedule"] == source.digest


def test_what_is_gained():
    """MultiTree's two phases overlap, a lazy schedule closes up, ring-2d, which has no trees, moves too."""
    for method, spec, size, factor in (("multitree", "mesh:4x4", 1 << 15, 1.4), ("multitree", "mesh:4x4", 1 << 24, 1.3)):
        source, request = make(method, spec, message_bytes=size), ask(spec, "all-reduce", size)
        assert request.cycles(source) > factor * request.cycles(improve(source, request))
    rows = [(0, REDUCE, 0, 0, 1), (0, REDUCE, 9, 2, 1), (0, COPY, 20, 1, 0), (0, COPY, 30, 1, 2)]
    assert improve(build("mesh:1x3", "all-reduce", rows), ask("mesh:1x3", "all-reduce", 16)).total_steps < 31


def test_fine_slots_get_another_order():
    """Mixed-shot on mesh:3x3 at 4 KiB, made within no time, by CP-SAT; and booked anew where the schedule was made for another
    size."""
    source = make("mixed-shot", "mesh:3x3", message_bytes=1 << 12, monitor=Monitor(deadline=0.0))
    request = ask("mesh:3x3", "all-reduce", 1 << 12)
    best = improve(source, request)
    assert verify_schedule(best).valid
    assert request.cycles(best) < request.cycles(source)
    assert (best.src != best.dst).sum() == (source.src != source.dst).sum()
    small = make("one-shot", "switch:4", message_bytes=1 << 10)
    other = ask("switch:4", "all-reduce", 1 << 12)
    assert verify_schedule(again := improve(small, other)).valid
    assert again.made_for.message_bytes == 1 << 12
    assert other.cycles(again) <= other.cycles(fitted(small, 1 << 12, other.machine))


@pytest.mark.parametrize(
    ("method", "options", "spec", "kind", "size"),
    [
        ("retime", {"from": "paced"}, "fattree:2x2", "all-reduce", 1 << 16),
        ("retime", {"from": "paced", "of": "ring"}, "torus:3x3", "all-reduce", 1 << 10),
        ("retime", {"from": "paced"}, "hypercube:3", "reduce-scatter", 1 << 10),
        ("one-shot", {}, "mesh:2x2", "all-reduce", 1 << 16),
        ("two-shot", {}, "switch:4", "reduce-scatter", 1 << 10),
        ("single-pass", {}, "ring:4", "all-to-all", 1 << 10),
    ],
)
def test_slots_whose_transfers_are_turned_into_each_other(method, options, spec, kind, size):
    """One transfer of each slot stands for all of it in the search for another order."""
    source, request = make(method, spec, kind, message_bytes=size, options=options), ask(spec, kind, size)
    program = program_of(source)
    trial = Trial.of(program, costs_of(request, program, source.slot_cycles))
    assert trial.few.rows < program.rows
    turns = trial.turns_at(source.step[trial.first_rows].astype(np.int64) * source.slot_cycles)
    assert trial.booked(turns).end <= request.cycles(source)
    best = improve(source, request)
    assert verify_schedule(best).valid
    assert request.cycles(best) <= request.cycles(source)


def test_fine_slots_of_some_endpoints_and_with_waits():
    """A chain that waits twice as long as it must; messages that wait at a switch for another one can leave later, or before it."""
    some = ct.synthesize("mesh:2x3", ct.collective("broadcast", root=0, members=[0, 1, 5]), size="4KiB", method="chain")
    slow = replace(some, step=2 * some.step, rounds=np.ones(2 * some.steps, np.int32), certificate=None)
    assert (fine_times(slow).cycles, fine_times(ct.improve(slow)).cycles) == (1212, 768)
    waiting = into_one(random.Random(3))
    better = ct.improve(waiting)
    assert (fine_times(waiting).cycles, fine_times(better).cycles) == (33, 28)
    assert (waiting.waits is None, better.waits is None) == (False, True)


@pytest.mark.parametrize(
    ("network", "method", "kind", "cycles"),
    [
        ("mesh:3x3", "recursive-doubling", "all-reduce", (2371, 1805)),
        ("mesh:3x3", "flows", "all-to-all", (867, 805)),
        ("fattree:3x3", "binomial", "broadcast", (2622, 1458)),
    ],
)
def test_equal_slots_of_some_endpoints(network, method, kind, cycles):
    """Other slots for the transfers; no trees grown again, which would reach everyone."""
    collective = ct.collective(kind, root=2 if kind == "broadcast" else None, members=[0, 2, 4, 6, 8])
    some = ct.synthesize(network, collective, size="4KiB", method=method)
    better = ct.improve(some)
    request = replace(ask(network, message_bytes=4096), collective=collective)
    assert (request.cycles(some), request.cycles(better)) == cycles
    assert better.collective == some.collective


def test_routes_stay_in_their_layers_of_virtual_channels():
    layered = direct(switch_ring(), small(vcs=2), 4096)
    better = ct.improve(layered)
    assert (layered.virtual_channel.tolist(), layered.routes) == (better.virtual_channel.tolist(), better.routes)
    assert ct.deadlock(better).free
    request = replace(ask(layered.topology, message_bytes=4096), machine=layered.made_for.machine)
    assert (request.cycles(layered), request.cycles(better)) == (6029, 5287)


def test_same_seed_same_bytes():
    source = make("multitree", "mesh:3x3", "all-gather")
    first, again = (improve(source, ask("mesh:3x3", "all-gather", 1 << 14, seed=3)) for _ in range(2))
    assert first.digest == again.digest
    assert first.provenance == again.provenance


def test_an_interruption_leaves_the_best_so_far():
    source = make("multitree", "mesh:4x4", message_bytes=1 << 15)

    def stop(text: str) -> None:
        raise KeyboardInterrupt

    request = ask("mesh:4x4", "all-reduce", 1 << 15, monitor=Monitor(sink=stop))
    with pytest.raises(KeyboardInterrupt):
        improve(source, request)
    assert verify_schedule(request.monitor.best).valid
    assert request.monitor.best_cycles < request.cycles(source)


def reslotted(schedule: Schedule, slots: list[int], delay: int) -> Schedule:
    step = np.array(slots)
    return replace(schedule, step=step, rounds=np.ones(int(step.max(initial=0)) + 1, int), delay=delay, certificate=None)


@given_at_least(21, rngs)
@examples(150)
def test_precedence_keeps_what_every_transfer_carries(rng):
    """Random right schedules with routes and wide links, in random orders and other delays: still right, by the integers too."""
    schedule = random_schedule(rng)
    if schedule.period is not None or (schedule.rounds != 1).any() or not schedule.transfers:
        return False
    delay = rng.randint(1, 4)
    precedence = Precedence.of(schedule, delay)
    order = sorted(range(schedule.transfers), key=lambda row: (schedule.step[row], rng.random()))
    slots = justified(precedence, schedule.step.tolist(), order)
    if slots is None:
        return False
    other = reslotted(schedule, slots, delay)
    assert verify_schedule(other).valid
    assert brute_force(other).clean
    return slots != schedule.step.tolist()


def test_a_violated_constraint_is_a_wrong_schedule():
    """The constraints of a chain are needed: one slot less and the verifier refuses."""
    rows = [(0, REDUCE, 0, 0, 1), (0, REDUCE, 1, 1, 2), (0, COPY, 2, 2, 1), (0, COPY, 3, 1, 0)]
    chain = build("mesh:1x3", "all-reduce", rows)
    for delay in (1, 2, 3):
        slots = justified(Precedence.of(chain, delay), [0, 1, 2, 3], [0, 1, 2, 3])
        assert slots == [0, delay, 2 * delay, 3 * delay]
        for row in (1, 2, 3):
            earlier = [slot - (number >= row) for number, slot in enumerate(slots)]
            assert not verify_schedule(reslotted(chain, earlier, delay)).valid


def test_an_exchange_stays_one():
    """Each of two neighbours sends its sum before the other's lands: with any delay they stay less than that apart."""
    schedule = build("ring:2", "all-reduce", [(0, REDUCE, 0, 0, 1), (0, REDUCE, 0, 1, 0)])
    precedence = Precedence.of(schedule, 3)
    assert sorted(precedence.before[0]) == [(1, -2)]
    assert justified(precedence, [0, 0], [0, 1]) == [0, 0]


@pytest.mark.parametrize("backwards", [False, True])
def test_trees_grown_again_stay_right(backwards):
    for seed, spec in enumerate(("mesh:3x3", "torus:3x4,without-node=5", "torus:3x3,capacity=2", "full:4")):
        source = make("multitree", spec, message_bytes=1 << 14)
        forest = Forest.of(in_unit_rounds(source))
        assert forest.schedule(source).digest == in_unit_rounds(source).digest
        before = forest.slots
        work = Regrowth(forest.mirrored() if backwards else forest, backwards=backwards)
        chance = random.Random(seed)
        kept = [work.try_again(work.late_chunks(chance, 4)) for _ in range(30)]
        grown = (work.forest.mirrored() if backwards else work.forest).schedule(source)
        assert verify_schedule(grown).valid
        assert grown.steps <= before
        assert any(kept)


def test_the_last_slot_is_emptied_where_it_can_be():
    """Three copies over one link in slots 0, 1 and 3; a fourth slot is needed by nobody. Wide links take two at once."""
    for capacity, least in ((1, 2), (2, 1)):
        rows = [(chunk, COPY, slot, 0, 1) for chunk, slot in enumerate((0, 1, 3))]
        schedule = build(f"ring:2,capacity={capacity}", "broadcast", rows, roots=[0, 0, 0], collective_root=0)
        precedence, slots = Precedence.of(schedule, 1), [0, 1, 3]
        budget, chance = Budget(5.0), random.Random(1)
        while (found := without_last_slot(precedence, slots, budget, chance, Monitor())) is not None:
            assert max(found) < max(slots)
            assert verify_schedule(reslotted(schedule, found, 1)).valid
            slots = found
        assert max(slots) == least


def test_what_is_too_large_is_left_alone(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 10)
    source = make("recursive-doubling", "hypercube:3")
    with pytest.raises(UnsupportedError, match="24 transfers; slots are searched for up to 10"):
        Precedence.of(source, 1)
    assert improve(source, ask("hypercube:3")) is source
