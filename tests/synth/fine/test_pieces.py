"""Messages in pieces that pass routers without waiting for credits, and schedules in which they wait last."""

from dataclasses import replace

import numpy as np
import pytest

from certree.hw.engines.runs import Options as RunOptions
from certree.hw.run import run
from certree.models.common.errors import UnsupportedError
from certree.models.routers.transparency import pass_without_waiting
from certree.synth.fine.fine_schedule import MOST_IN_PIECES, in_fine_slots, in_pieces
from certree.synth.fine.program import program_of
from certree.synth.method import load_methods
from certree.synth.monitor import Monitor
from certree.synth.packing.slotting import Clock, Reach, SlotRules
from certree.verify.checker import verify_schedule
from certree.verify.order.agreement import waits_for_credits
from tests.synth.execution import ask, make

FAR = "ace-torus:2x2x2"  # wires of 90 and 200 cycles: a credit takes 404, a buffer holds 318 flits


def flits_of(schedule, request) -> int:
    """Flits of a message of a schedule in one iteration."""
    return 1 + -(-request.message_bytes // (16 * schedule.message_chunks))


def test_pieces_of_a_program() -> None:
    """Each chunk becomes as many as fit; cells, stages, owners and routes stay those of the chunk."""
    request = ask(FAR, "reduce-scatter", message_bytes=1 << 17)
    whole = program_of(make("multitree", FAR, "reduce-scatter", message_bytes=1 << 17))
    cut, pieces = in_pieces(request, whole)
    assert (len(whole.chunk_root), pieces) == (8, 4)  # 1,024 flits of data, 317 in each piece at most
    assert cut.chunk_root.tolist() == np.repeat(whole.chunk_root, 4).tolist()
    for piece in range(4):
        assert ((cut.chunk[piece::4] - piece) // 4).tolist() == whole.chunk.tolist()
        for name in ("src", "dst", "op", "reads", "writes"):
            assert getattr(cut, name)[piece::4].tolist() == getattr(whole, name).tolist()
        assert cut.routes[piece::4] == whole.routes
    for asked in (
        replace(request, chunks=8),
        replace(request, message_bytes=8 * 16 * 317),
        ask("torus:2x4", message_bytes=1 << 17),
    ):
        assert in_pieces(asked, whole) == (whole, 1)
    huge = replace(request, message_bytes=1 << 26)
    assert in_pieces(huge, whole) == (whole, 1)
    assert in_pieces(replace(huge, effort=1 << 10), whole)[1] * sum(map(len, whole.routes)) > MOST_IN_PIECES


@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather"])
def test_fine_slots_run_as_planned(collective: str) -> None:
    """In pieces: the closed form through routers, flit by flit; of as many chunks as before they wait, and take longer."""
    request = ask(FAR, collective, message_bytes=1 << 18)
    made = load_methods()["two-shot"](request)
    assert verify_schedule(made).valid
    assert flits_of(made, request) <= 318
    assert not waits_for_credits(made, request.machine, request.message_bytes)
    ended = run(made, RunOptions(engine="flit"), message_bytes=request.message_bytes, machine=request.machine)
    assert (ended.cycles, ended.contention_cycles, ended.late) == (ended.closed_form_cycles, 0, 0)
    whole = load_methods()["two-shot"](replace(request, chunks=8, monitor=Monitor()))
    assert waits_for_credits(whole, request.machine, request.message_bytes)
    ended = run(whole, RunOptions(engine="flit"), message_bytes=request.message_bytes, machine=request.machine)
    assert ended.cycles > request.cycles(made)
    assert ended.cycles > request.cycles(whole)


def test_programs_that_wait_are_left_out_where_others_do_not() -> None:
    request = replace(ask(FAR, message_bytes=1 << 20), chunks=8)
    programs = [("trees", program_of(make("multitree", FAR, message_bytes=1 << 20)))]
    assert waits_for_credits(in_fine_slots(request, programs, "retime", {}), request.machine, request.message_bytes)
    with pytest.raises(UnsupportedError, match=r"^retime: messages would wait for credits in the routers of machine multitree$"):
        in_fine_slots(replace(request, monitor=Monitor(bar=1 << 40)), programs, "retime", {})


@pytest.mark.parametrize("network", [FAR, "switch-fc:2x2x4x2"])
def test_auto_takes_what_runs_as_planned(network: str) -> None:
    """A schedule of 4 MiB takes the closed form through routers; what would wait is named, though it may take fewer cycles by
    closed form."""
    request = ask(network, message_bytes=1 << 22)
    made = load_methods()["auto"](request)
    told = made.provenance["auto"]["considered"]
    assert any(text.endswith(" cycles, and waiting for credits") for text in told.values())
    assert not waits_for_credits(made, request.machine, request.message_bytes)
    ended = run(made, RunOptions(engine="flit"), message_bytes=request.message_bytes, machine=request.machine)
    assert (ended.cycles, ended.contention_cycles, ended.late) == (request.cycles(made), 0, 0)


def test_auto_takes_what_waits_where_there_is_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    request = ask(FAR, message_bytes=1 << 22)
    monkeypatch.setattr("certree.synth.methods.auto.candidates", lambda _: iter([("multitree", "multitree", {})]))
    made = load_methods()["auto"](request)
    assert waits_for_credits(made, request.machine, request.message_bytes)
    assert made.provenance["auto"]["considered"]["multitree"].endswith(" cycles, and waiting for credits")


def test_numbers_of_repeats() -> None:
    """The best of those whose messages do not wait; where none of them is as short, any."""
    request = ask(FAR, message_bytes=1 << 28)
    clock, rules = Clock(request, Reach(209)), SlotRules(3, 20, 0)
    _, repeats = clock.best(64, rules, 40, 1)
    assert clock.passes(64, np.array([repeats])).all()
    flits = 1 + -(-(1 << 28) // (64 * 16 * repeats))
    assert flits == 318  # fewer repeats would wait, more have more headers
    few = Clock(replace(request, message_bytes=64 * 16 * 4), Reach(209))
    assert few.best(64, SlotRules(3, None, 0), 40, 1)[1] == 1
    assert pass_without_waiting(request.topology, request.machine, np.array([318, 319])).tolist() == [True, False]


def test_the_monitor_keeps_what_waits_only_where_nothing_else_is() -> None:
    slow, fast = make("multitree", "ring:3"), make("ring", "ring:3")
    monitor = Monitor(bar=100)
    monitor.offer(fast, 10, waits=True)
    assert (monitor.best, monitor.best_cycles) == (fast, 100)
    monitor.offer(slow, 200)
    assert monitor.best is fast  # not below the bar
    monitor.offer(slow, 90)
    assert (monitor.best, monitor.best_cycles) == (slow, 90)
    monitor.offer(fast, 10, waits=True)
    assert monitor.best is slow
