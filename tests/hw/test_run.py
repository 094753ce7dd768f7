"""Which engine runs a collective: the fast one only where routers add nothing."""

from dataclasses import replace

import pytest

from certree.hw.engines.flit import simulate_flits
from certree.hw.engines.schedule_run import Plan
from certree.hw.engines.simulator import simulate
from certree.hw.engines.split_runs import simulate_in_parts, simulate_paced
from certree.hw.run import run_exactly
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Request, load_methods

BOOKSIM2, MULTITREE = load_machine("booksim2"), load_machine("multitree")
SIZE = 1 << 14
REFUSED = "the fast engine is not exact with these routers: messages over several links share an interface"


def made(method: str) -> Schedule:
    request = Request(parse_topology("torus:4x4"), parse_collective("all-reduce"), SIZE, BOOKSIM2)
    return load_methods()[method](request)


@pytest.mark.parametrize("run", ["slotted", "paced"])
def test_the_fast_engine_refuses_routers_that_add_something(run: str):
    tables = lower(made("multitree"), SIZE, BOOKSIM2)
    for engine in ("auto", "fast"):
        with pytest.raises(UnsupportedError, match=REFUSED):
            simulate(tables, run, engine=engine)
    lanes = simulate(tables, run, engine="lanes")
    assert replace(simulate(tables, run, without_routers=True), engine="lanes") == lanes
    through, _ = simulate_flits(tables, run)
    assert run_exactly(tables, run) == through
    assert through.cycles > lanes.cycles


def test_packets_may_meet_what_messages_do_not():
    """The flow counts: so few VCs last for long messages, not for short packets."""
    machine = replace(MULTITREE, vc_count=2, packet_payload_bytes=16, router_cycles=6)
    tables = lower(made("ring"), 1 << 16, machine)
    assert simulate(tables).late == 0
    with pytest.raises(UnsupportedError, match="2 virtual channels are used up before"):
        simulate(tables, flow="packet")
    assert run_exactly(tables, flow="packet").engine == "flit"
    assert run_exactly(tables).engine == "fast"


def test_parts_are_not_paced_without_their_routers():
    schedule = made("ring-2d")
    plan = Plan.of(schedule, SIZE, BOOKSIM2)
    with pytest.raises(UnsupportedError, match="the fast engine is not exact with these routers"):
        simulate_in_parts(schedule, SIZE, BOOKSIM2)
    with pytest.raises(UnsupportedError, match="the fast engine is not exact with these routers"):
        simulate_paced(plan)
    with pytest.raises(UnsupportedError, match="without tables only slots keep the two apart"):
        run_exactly(plan, "paced")
