"""Paced runs with planned waits: as fast as without them nothing is, kept by lanes, and with room for all that waits."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from certree.hw.engines.runs import Options
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.fine.forwarding import unkept_waits
from certree.models.fine.list_scheduler import ListScheduler
from certree.models.fine.slots import fine_times
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.booking import rows_of
from certree.synth.fine.fine_schedule import costs_of, schedule_of
from certree.synth.fine.order import order_of
from certree.synth.fine.paced import with_planned_waits
from certree.synth.fine.program import Stages, program_of
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask, make, valid
from tests.verify.build import network

#: a ring of three nodes with links in one direction
CIRCLE = network("eee", [(0, 1, 1), (1, 2, 1), (2, 0, 1)])


def test_a_circle_of_messages_is_faster_with_waits():
    """Three messages of 300 flits over two links each: each waits at the router for the one that starts there. Without waits two of
    them go one after the other on each link."""
    request = ask(CIRCLE, message_bytes=3 * 299 * 16)
    stages = Stages()
    stages.add(np.arange(3), Op.COPY, np.arange(3), (np.arange(3) + 2) % 3, 0, 1)
    program = stages.program(CIRCLE, request.collective, [0] * 3, lambda src, dst: [(one, (one + 1) % 3) for one in src.tolist()])
    order, costs = order_of(program), costs_of(request, program)
    assert costs.ser == 300
    rigid = ListScheduler(rows_of(program), order).run(costs)
    made = with_planned_waits(request, program, 1 << 20)
    assert (rigid.end, fine_times(made).cycles) == (1064, 758)
    assert made.waits == ((147,),) * 3
    assert list(unkept_waits(made)) == []
    assert not verify_schedule(made).counts.keys() & {"reserved", "waiting"}
    assert with_planned_waits(request, program, 758) is None
    without = schedule_of(program, order, rigid, 1, MadeFor(request.message_bytes, request.machine), {})
    assert fine_times(without).cycles == 1064


@pytest.mark.parametrize(("name", "paced", "senders"), [("fattree:4x4", 123_557, 127_748), ("leafspine:3x2x4@2", 120_825, 122_355)])
def test_a_ring_in_both_directions_is_as_fast_as_paced(name, paced, senders):
    """Links of endpoints are busy all the time, and routes differ in length: what comes too early waits. Of the two directions each
    has virtual channels of its own."""
    options = {"of": "ring,bidirectional=true", "from": "paced"}
    request, made = ask(name), valid("retime", name, options=options)
    assert request.cycles(made) == paced < senders
    request.require_runnable(made)
    tables = lower(made, request.message_bytes, request.machine)
    done = run(tables, Options(without_routers=True))
    assert (done.cycles, done.closed_form_cycles, done.late, done.data_ok) == (paced, paced, 0, True)
    assert done.contention_cycles == fine_times(made).reservations.wait.sum() > 0
    without = make("retime", name, options=options | {"waits": "senders"})
    assert without.waits is None
    assert paced < request.cycles(without) <= senders


@pytest.mark.parametrize(("room", "channels"), [(318, 4), (318, 1), (200, 2), (1, 4)])
def test_what_has_no_room_to_wait_leaves_later(room, channels):
    """Messages of 683 flits: they wait for as many cycles as a buffer has flits, in virtual channels that there are."""
    request = ask("fattree:2x3", message_bytes=1 << 17)
    request = replace(request, machine=replace(request.machine, vc_buffer_flits=room, vc_count=channels))
    source = make("ring", "fattree:2x3", message_bytes=1 << 17, options={"bidirectional": "true"})
    made = with_planned_waits(request, program_of(source), 1 << 30)
    assert verify_schedule(made).valid
    assert list(unkept_waits(made)) == []
    waits = fine_times(made).reservations.wait
    assert 0 < waits.max() <= room < fine_times(made).ser
    assert made.virtual_channel is None or set(made.virtual_channel.tolist()) <= set(range(channels))
    request.require_runnable(made)


def test_in_one_virtual_channel_messages_meet_where_one_waits():
    """The channels are needed: where all routes share one, what follows a message that waits comes into its buffer."""
    made = valid("retime", "fattree:4x4", options={"of": "ring,bidirectional=true", "from": "paced"})
    shared = replace(made, virtual_channel=np.zeros_like(made.virtual_channel))
    assert set(verify_schedule(shared).counts) == {"waiting"}
    row = next(row for row, waits in enumerate(made.waits) if any(waits))
    longer = [list(waits) for waits in made.waits]
    longer[row][-1] += 1
    assert "is to enter link" in next(unkept_waits(replace(made, waits=tuple(map(tuple, longer)))))


@pytest.mark.parametrize("name", ["fattree:2x3", "mesh:2x4", "torus:3x3", "tree:2x3@2", "leafspine:2x2x2@2", "switch:5,capacity=2"])
@pytest.mark.parametrize(("room", "channels"), [(318, 4), (40, 2)])
def test_waits_are_valid_and_kept_whatever_is_sent(name, room, channels):
    """Each paced run that has room, of several methods and sizes, runs on lanes as planned."""
    ran = 0
    for method, size in product(("ring", "cps", "halving-doubling"), (1000, 20_000, 1 << 18)):
        options = {"bidirectional": "true"} if method == "ring" else {}
        request = ask(name, message_bytes=size)
        request = replace(request, machine=replace(request.machine, vc_buffer_flits=room, vc_count=channels))
        made = with_planned_waits(request, program_of(make(method, name, message_bytes=size, options=options)), 1 << 30)
        if made is None:
            continue
        verdict = verify_schedule(made)
        assert verdict.valid, (method, size, verdict.violations)
        request.require_runnable(made)
        if made.waits is not None:
            done = run(lower(made, size, request.machine), Options(without_routers=True))
            assert (done.cycles, done.late, done.data_ok) == (request.cycles(made), 0, True), (method, size)
            assert done.contention_cycles == fine_times(made).reservations.wait.sum(), (method, size)
            ran += 1
    assert ran
