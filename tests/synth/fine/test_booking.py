"""Programs in fine slots: the times are those of the model, no transfer could leave earlier, and a fault is found."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import Costs, Turns
from certree.models.fine.list_scheduler import ListScheduler
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.timing import chunk_bytes_of
from certree.synth.fine import search
from certree.synth.fine.booking import least_cycles, rows_of
from certree.synth.fine.fine_routes import default_routes, even_routes
from certree.synth.fine.fine_schedule import schedule_of
from certree.synth.fine.order import order_of
from certree.synth.fine.program import Stages, program_of
from certree.synth.fine.search import Trial, searched, tried
from certree.synth.fine.shots import by_dimension, flat
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask, make


def bytes_of_chunk(request, program):
    """Bytes of a chunk."""
    return chunk_bytes_of(request.message_bytes, len(program.chunk_root), 1, request.machine)


def booked(request, program):
    """The program in the order of its rows: (order, booking, schedule)."""
    order = order_of(program)
    found = ListScheduler(rows_of(program), order).run(
        Costs.of(program.topology, bytes_of_chunk(request, program), request.machine)
    )
    made_for = request.remember(make("ring", request.topology)).made_for
    return order, found, schedule_of(program, order, found, 1, made_for, {})


@pytest.mark.parametrize("network", ["torus:3x4", "fattree:2x3", "mesh:2x3", "dgx1", "torus:3x3,without-link=0-1"])
@pytest.mark.parametrize("scattered", [0, 1, None])
@pytest.mark.parametrize("size", [1000, 65537])
def test_the_times_are_those_of_the_model(network, scattered, size):
    request = ask(network, message_bytes=size)
    programs = flat(request, scattered is None) if scattered != 1 and network == "dgx1" else by_dimension(request, scattered)
    _, program = next(iter(programs))
    _, found, schedule = booked(request, program)
    verdict = verify_schedule(schedule)
    assert verdict.valid, verdict.violations
    assert fine_times(schedule).cycles == request.machine.ni_start_cycles + found.end
    assert found.end >= least_cycles(program, Costs.of(program.topology, bytes_of_chunk(request, program), request.machine))


@pytest.mark.parametrize(
    ("network", "size"),
    [("switch:6", 1 << 10), ("switch:6", 1 << 16), ("ring:3", 1 << 16), ("mesh:1x2", 1 << 10)],
)
def test_fewest_cycles_of_a_program_of_one_queue_or_chain(network, size):
    """The links of an endpoint, its reduction unit, or a single exchange."""
    request = ask(network, message_bytes=size)
    _, program = next(iter(flat(request, scattered=False)))
    _, found, _ = booked(request, program)
    assert least_cycles(program, Costs.of(program.topology, bytes_of_chunk(request, program), request.machine)) == found.end


def test_a_message_that_leaves_a_cycle_earlier_is_wrong():
    """Each of them waits for a link or for what it carries: moved alone, all but those of cycle 0 break a rule."""
    request = ask("torus:2x3", message_bytes=4096)
    _, program = next(iter(by_dimension(request, 0)))
    _, _, schedule = booked(request, program)
    late = np.flatnonzero((schedule.step > 0) & (schedule.src != schedule.dst))
    assert len(late) > 10
    for row in late.tolist():
        step = schedule.step.copy()
        step[row] -= 1
        assert verify_schedule(replace(schedule, step=step)).counts, row


@pytest.mark.parametrize(("patient", "apart"), [(False, False), (True, False), (True, True)])
def test_times_scale_with_costs_and_priorities_order(patient, apart):
    """Near events and events that are far away are handled in one order."""
    request, rng = ask("torus:3x4", message_bytes=4096), np.random.default_rng(7)
    _, program = next(iter(by_dimension(request, 1)))
    booking, costs = (
        ListScheduler(rows_of(program), order_of(program)),
        Costs.of(program.topology, bytes_of_chunk(request, program), request.machine),
    )
    turns = Turns(rng.integers(60, size=program.rows), rng.integers(200, size=program.rows), patient, apart)
    turns.release[::5] *= 500
    found = booking.run(costs, turns)
    for factor in (2, 300, 10_007, 1 << 30):
        times = {name: getattr(costs, name) * factor for name in ("ser", "red", "ends", "start", "slot")}
        other = booking.run(Costs(hop=[factor * hop for hop in costs.hop], **times), replace(turns, release=turns.release * factor))
        np.testing.assert_array_equal(other.fire, found.fire * factor)
        np.testing.assert_array_equal(other.landed, found.landed * factor)
    for factor, shift in ((1, -(1 << 62)), (1 << 40, 0), (1 << 57, -(1 << 62))):
        other = booking.run(costs, replace(turns, priority=turns.priority * factor + shift))
        np.testing.assert_array_equal(other.fire, found.fire)


def test_an_exchange_of_accumulators_leaves_in_one_cycle():
    request = ask("ring:2", message_bytes=1024)
    program = program_of(make("recursive-doubling", "ring:2", message_bytes=1024))
    order, found, schedule = booked(request, program)
    assert order.groups == [[0, 1]]
    assert found.fire.tolist() == [0, 0]
    assert verify_schedule(schedule).valid


def test_exchanges_that_meet_on_a_link_are_refused():
    """On a switch with one link to each of three endpoints nobody sends two messages in one cycle."""
    request = ask("switch:3")
    stages, (src, dst) = Stages(), np.nonzero(~np.eye(3, dtype=bool))
    stages.add(0, Op.REDUCE, src, dst)
    program = stages.program(request.topology, request.collective, [0], default_routes(request.topology))
    with pytest.raises(UnsupportedError, match="have to leave in one cycle meet on a link; more buffers would part them"):
        booked(request, program)


def test_originals_are_read_where_they_are_at_first():
    """The first messages leave in cycle 0 from the data buffer, and nobody needs a copy on a fully joined network."""
    schedule = make("one-shot", "full:4", message_bytes=256, options={"groups": "all"})
    assert (schedule.buffers, schedule.steps, schedule.transfers) == (1, 1, 12)
    schedule = make("one-shot", "switch:4", message_bytes=256, options={"groups": "all"})
    assert schedule.buffers == 2
    assert (schedule.step[schedule.src_buffer == 0] == 0).all()


def test_turns_like_others_differ_in_one_link_or_part():
    """What comes over one link waits for one time, or one part of the message has other priorities by one number."""
    request = ask("torus:3x3", message_bytes=4096)
    _, program = next(iter(by_dimension(request, 0)))
    trial = Trial.of(program, Costs.of(program.topology, bytes_of_chunk(request, program), request.machine))
    turns, rng = tried(trial, request)[0], np.random.default_rng(1)
    part, kinds = trial.groups[1], set()
    for other in (trial.like(turns, rng) for _ in range(100)):
        later, waits = other.priority - turns.priority, other.release != turns.release
        assert len(set(part[later != 0].tolist())) <= 1
        assert len(set(later[later != 0].tolist())) <= 1
        assert len(set(other.release[waits].tolist())) <= 1
        kinds |= {(bool(later.any()), bool(waits.any()), other.patient, other.apart)}
        trial.booked(other)
    assert {kind[:2] for kind in kinds} >= {(True, False), (False, True)}
    assert len({kind[2:] for kind in kinds}) == 4


def test_nothing_leaves_before_its_release():
    """A transfer that waits fires in that cycle or later, what does not depend on it when it did before."""
    request = ask("torus:3x3", message_bytes=4096)
    _, program = next(iter(by_dimension(request, 0)))
    costs = Costs.of(program.topology, chunk_bytes_of(4096, len(program.chunk_root), 1, request.machine), request.machine)
    booking = ListScheduler(rows_of(program), order_of(program))
    first, none = booking.run(costs), np.zeros(program.rows, np.int64)
    moving = np.flatnonzero((first.fire == 0) & (program.src != program.dst))
    release = none.copy()
    release[moving[0]] = 40
    later = booking.run(costs, Turns(np.arange(program.rows), release))
    assert later.fire[moving[0]] >= 40
    assert (later.fire >= release).all()
    assert (later.fire[moving[1:]] == 0).sum() >= len(moving) - 2


def test_a_search_finds_no_worse_turns_and_the_same_again():
    request = ask("torus:2x8", message_bytes=20_000)
    label, program = next(one for one in by_dimension(request, 1) if "in runs, groups of 4" in one[0])
    costs = Costs.of(program.topology, chunk_bytes_of(20_000, len(program.chunk_root), 1, request.machine), request.machine)
    trial = Trial.of(program, costs)
    assert trial.few.rows < program.rows, label
    start = tried(trial, request)
    found = [searched(trial, request, start, 0) for _ in range(2)]
    assert found[0].end <= start[1].end <= trial.first.end
    assert (found[0].fire == found[1].fire).all()


def test_a_search_that_cannot_win_ends_after_its_first_round(monkeypatch):
    request = ask("torus:3x4", message_bytes=4096)
    _, program = next(iter(by_dimension(request, 1)))
    trial = Trial.of(program, Costs.of(program.topology, bytes_of_chunk(request, program), request.machine))
    first, calls, local_search = tried(trial, request), [], search._local_search
    monkeypatch.setattr(search, "_local_search", lambda *given: calls.append(given) or local_search(*given))
    whole = searched(trial, request, first, 0)
    rounds = [len(calls)]
    for bar in (1, whole.end + 1):
        calls.clear()
        assert searched(trial, request, first, 0, None, bar).end >= whole.end
        rounds.append(len(calls))
    assert rounds[1] <= search.KEPT[0] < rounds[0] == rounds[2]


@pytest.mark.parametrize("is_refused", [False, True])
def test_turns_that_are_not_those_of_all_rows_never_win(monkeypatch, is_refused):
    """All rows with turns that one row of each block takes, if they end later, or meet in turns that these do not meet in."""
    request = ask("torus:3x3", message_bytes=16384)
    _, program = next(iter(by_dimension(request, 2)))
    trial = Trial.of(program, Costs.of(program.topology, bytes_of_chunk(request, program), request.machine))
    start, true = tried(trial, request), Trial.booked
    late = Trial.of(program, replace(trial.costs, red=4 * trial.costs.red)).first

    def other(self, turns):
        if is_refused:
            raise UnsupportedError("they meet")
        return late

    monkeypatch.setattr(Trial, "booked", other)
    assert searched(trial, request, start, 0).end == min(start[1].end, trial.first.end)
    monkeypatch.setattr(Trial, "booked", true)
    assert searched(trial, request, start, 0).end <= min(start[1].end, trial.first.end)


@pytest.mark.parametrize("find", [default_routes, even_routes])
def test_routes_are_shortest(find):
    topology = ask("torus:4x4").topology
    src, dst = np.nonzero(~np.eye(16, dtype=bool))
    for start, end, route in zip(src.tolist(), dst.tolist(), find(topology)(src, dst), strict=True):
        assert topology.src[route[0]] == start
        assert topology.dst[route[-1]] == end
        assert (topology.src[list(route[1:])] == topology.dst[list(route[:-1])]).all()
        assert len(route) == topology.distances(start)[end]


def test_even_routes_load_a_torus_evenly():
    """256 hops over 64 links: 4 each, where the default routes put 6 on some."""
    topology = ask("torus:4x4").topology
    src, dst = np.nonzero(~np.eye(16, dtype=bool))
    load = [np.bincount(np.concatenate(find(topology)(src, dst)), minlength=64).max() for find in (even_routes, default_routes)]
    assert load[0] < load[1]
    assert load[0] <= 9


def test_copies_that_nothing_reads_delay_nothing():
    """One-shot on a torus 3x3 by its first program: its 72 local copies, 8 at each node, take twice as long as its messages."""
    request = ask("torus:3x3", message_bytes=65_537)
    with_copies, *_ = (booked(request, program)[1].end for _, program in by_dimension(request, 0))
    made = make("one-shot", "torus:3x3", message_bytes=65_537)
    assert request.cycles(made) < 0.6 * with_copies
    assert not (made.src == made.dst).any()


def test_apart_no_two_rows_come_to_a_unit_in_one_cycle():
    """On a torus what comes from both sides is added together; apart, one of two leaves a cycle later, and nothing is wrong."""
    request = ask("torus:3x3", message_bytes=4096)
    _, program = next(iter(by_dimension(request, 0)))
    costs = Costs.of(program.topology, chunk_bytes_of(4096, len(program.chunk_root), 1, request.machine), request.machine)
    order, adds = order_of(program), program.op == Op.REDUCE
    met = []
    for apart in (False, True):
        turns = Turns.first_of(np.arange(program.rows, dtype=np.int64), apart=apart)
        found = ListScheduler(rows_of(program), order).run(costs, turns)
        made_for = request.remember(make("ring", request.topology)).made_for
        schedule = schedule_of(program, order, found, 1, made_for, {})
        assert verify_schedule(schedule).valid
        moving = adds & (program.src != program.dst)
        times = list(zip(program.dst[moving].tolist(), found.landed[moving].tolist(), strict=True))
        met.append(len(times) - len(set(times)))
    assert met[0] > 0
    assert met[1] == 0


def test_on_a_torus_the_longest_ways_go_first():
    """Everyone sends to everyone: where all nodes send equally far in each direction, long routes first, links are full sooner. The
    paced run takes 13,088 cycles."""
    request = ask("torus:8x8", message_bytes=65_537)
    program = program_of(make("cps", "torus:8x8", message_bytes=65_537))
    trial = Trial.of(program, Costs.of(program.topology, bytes_of_chunk(request, program), request.machine))
    ends = [trial.booked(turns).end for turns in islice(trial.starts(0), 16)]
    assert min(ends[12:]) < 12_700
    assert min(ends[:12]) > 13_088
